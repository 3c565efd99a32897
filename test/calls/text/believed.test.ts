// The input that an upstream is believed, and what a call without a cap sets aside.
import { expect } from 'chai';
import { GONE } from '../../../lib/calls/context.ts';
import { expectCharged } from './outcome.ts';
import { cost, delta, hang, OPEN, playing, START, Stage, usage, whole } from './stage.ts';

describe('input that is believed', () => {
  const stage = new Stage();
  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());

  it('believes no more input than three times the prompt and what upstreams add', async () => {
    const within = await stage.call({ routes: [whole('Hi', { input: 20_018, output: 900 })] });
    expectCharged(within, cost({ input: 20_018, output: 900 }));
    expect(within.warnings).to.deep.equal([]);
    for (const input of [20_019, 1_000_000]) {
      const above = await stage.call({ routes: [whole('Hi', { input, output: 900 })] });
      expectCharged(above, cost({ input: 20_018, output: 900 }));
      expect(JSON.stringify(above.warnings)).to.contain(`input ${input}`);
      expect(above.notes.doubt).to.equal(`usage reported as input ${input}`);
    }
  });

  it('believes of a model what the catalog says that its upstream adds, more or less', async () => {
    for (const upstreamAdditions of [0, 500_000]) {
      const routes = [whole('Hi', { input: 600_000, output: 900 })];
      const result = await stage.call({ routes, upstreamAdditions });
      expectCharged(result, cost({ input: 18 + upstreamAdditions, output: 900 }));
    }
  });

  it('is logged when it is not believed, though the client leaves', async () => {
    const controller = new AbortController();
    const leave = () => controller.abort(GONE);
    const routes = [playing([START, usage(1_000_000, 1), OPEN, delta('Hi')], leave, hang)];
    const result = await stage.call({ routes, controller });
    expect(JSON.stringify(result.warnings)).to.contain('input 1000000');
    expect(result.charge?.usage).to.contain('"tokens_input":20018');
  });

  it('is estimated for a buffered model, whose hold carries what it may cost more', async () => {
    const routes = [whole('Hi', { input: 600_000, output: 900 })];
    const buffered = await stage.call({ routes, delivery: 'buffered' });
    expect(buffered.charge).to.include({ charged: 500_000n, reserved: cost({ output: 1000 }), excess: 163_840_000n });
    const capped = await stage.call({ routes });
    expect(capped.charge).not.to.have.property('excess');
  });
});
