// What a text call books of its attempts: how each went, what it used, and how certain its cost is.
import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { GONE } from '../../../lib/calls/context.ts';
import { createRouteHealth } from '../../../lib/calls/health.ts';
import type { Attempt } from '../../../lib/money/attempt.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import {
  type Answer,
  CLOSE,
  delta,
  FINISH,
  hang,
  never,
  OPEN,
  playing,
  START,
  Stage,
  usage,
  usageJson,
  whole,
} from './stage.ts';

describe('attempts of a text call', () => {
  const stage = new Stage();
  before(() => stage.open());
  // The audit computes each cost again.
  afterEach(() => stage.check());
  after(() => stage.close());

  const good = whole('Hello', { input: 7, output: 900 });
  const refusing = (status: number): Answer => playing([], upstreamFault('request', 'no', { status }));
  const brief = (attempts: readonly Attempt[]) =>
    attempts.map(({ upstream, ending, certainty, usage: used, cost }) => [
      upstream,
      ending,
      certainty,
      used,
      Number(cost?.costRub),
    ]);
  const price = (input: number, output: number) => input * 100 + output * 500;

  it('books an answer with what the upstream reported', async () => {
    const { attempts, charge } = await stage.call({ routes: [good] });
    expect(brief(attempts)).to.deep.equal([['up-0', 'answered', 'reported', usageJson(7, 900), price(7, 900)]]);
    expect(attempts[0]).to.include({
      charge: charge?.id,
      wallet: charge?.wallet,
      number: 1,
      last: true,
      model: 'model-a',
      upstreamModel: 'up-model',
      requestId: 'up_1',
      keyPlace: null,
    });
    expect(attempts[0]?.cost).to.include({ currency: 'RUB', rate: 1_000_000n });
    expect(attempts[0]?.firstMs).to.be.within(0, attempts[0]?.totalMs ?? -1);
    expect(attempts[0]?.at).to.be.closeTo(charge?.createdAt ?? 0, 2000);
  });

  it("books the vendor's own report where more was reported than is charged", async () => {
    const { attempts, charge } = await stage.call({ routes: [whole('Hello', { input: 7, output: 5000 })] });
    expect(charge?.usage).to.equal(usageJson(7, 1000));
    expect(brief(attempts)).to.deep.equal([['up-0', 'answered', 'reported', usageJson(7, 5000), price(7, 5000)]]);
    const absurd = await stage.call({ routes: [whole('Hello', { input: 10_000_000, output: 10 })] });
    expect(JSON.parse(absurd.charge?.usage ?? '').tokens_input).to.be.below(10_000_000);
    expect(absurd.attempts[0]?.usage).to.equal(usageJson(10_000_000, 10));
  });

  it('books no cost for counts that no vendor bills, which a store would refuse', async () => {
    const count = Number.MAX_SAFE_INTEGER;
    const { attempts, charge } = await stage.call({ routes: [whole('Hello', { input: count, output: count })] });
    expect([charge?.state, attempts[0]?.certainty, attempts[0]?.cost]).to.deep.equal(['settled', 'reported', null]);
    expect(attempts[0]?.usage).to.equal(usageJson(count, count));
  });

  it('books an id of the vendor as far as any store can keep it', async () => {
    for (const [id, kept] of [
      ['\ud800x', '\ufffdx'],
      ['a\0b', 'ab'],
      ['x'.repeat(100_000), 'x'.repeat(100)],
    ]) {
      const steps = [[{ ...START, id }, OPEN, delta('Hello'), CLOSE, usage(7, 30), FINISH]];
      const { attempts } = await stage.call({ routes: [playing(...steps)] });
      expect(attempts[0]?.requestId).to.equal(kept);
    }
  });

  it('books an answer without counts, and one that is not believed, as an estimate', async () => {
    for (const delivery of ['stream', 'buffered'] as const) {
      const { attempts, charge } = await stage.call({ routes: [whole('Hello')], delivery });
      expect(brief(attempts)[0]?.slice(0, 3)).to.deep.equal(['up-0', 'answered', 'estimated']);
      expect(attempts[0]?.usage).to.equal(charge?.usage);
    }
  });

  it('books every attempt of a call that falls back', async () => {
    const broken = playing([START], upstreamFault('server', 'no', { status: 500 }));
    const unreached = playing([], upstreamFault('network', 'no', { unsent: true }));
    const { attempts } = await stage.call({ routes: [broken, unreached, good] });
    expect(brief(attempts)).to.deep.equal([
      ['up-0', 'failed', 'possible', usageJson(5, 0), price(5, 0)],
      ['up-1', 'refused', 'none', null, 0],
      ['up-2', 'answered', 'reported', usageJson(7, 900), price(7, 900)],
    ]);
    expect(attempts.map(({ number, last }) => `${number} ${last}`)).to.deep.equal(['1 false', '2 false', '3 true']);
  });

  it('books what a refused or failed call may have cost, though its hold goes back', async () => {
    const refused = await stage.call({ routes: [refusing(400)] });
    expect([refused.charge?.state, ...brief(refused.attempts)]).to.deep.equal([
      'released',
      ['up-0', 'refused', 'none', null, 0],
    ]);
    const late = await stage.call({ routes: [never], timeouts: { firstTokenTimeoutMs: 20 } });
    expect(brief(late.attempts)).to.deep.equal([['up-0', 'timeout', 'possible', usageJson(5, 0), price(5, 0)]]);
    expect(late.attempts[0]).to.include({ firstMs: null, requestId: null });
  });

  it('books a part of an answer as an estimate, however short', async () => {
    for (const text of ['a', 'Hello, how are you today?']) {
      const broken = playing([START, OPEN, delta(text)], upstreamFault('network', 'reset'));
      const cut = await stage.call({ routes: [broken, good] });
      expect(brief(cut.attempts).map((row) => row.slice(0, 3))).to.deep.equal([['up-0', 'cut', 'estimated']]);
      expect(cut.attempts[0]?.usage).to.equal(usageJson(5, JSON.parse(cut.charge?.usage ?? '{}').tokens_output));
    }
  });

  it('books what was asked for a client that left, before and after a fragment', async () => {
    for (const content of [[], [[START, OPEN, delta('Hello there')]]]) {
      const controller = new AbortController();
      const leave = () => controller.abort(GONE);
      const { attempts } = await stage.call({ routes: [playing(...content, leave, hang)], controller });
      expect(brief(attempts).map((row) => row.slice(0, 3))).to.deep.equal([['up-0', 'left', 'estimated']]);
    }
  });

  it('books nothing of a call that no upstream was asked for', async () => {
    const controller = new AbortController();
    const onOpen = () => controller.abort(fault('shutting_down'));
    const { attempts, charge } = await stage.call({ routes: [good], controller, onOpen });
    expect([charge?.state, attempts]).to.deep.equal(['released', []]);
  });

  it('books the counts that come after a stop string', async () => {
    const steps = [
      [START, OPEN, delta('one STOP two')],
      [CLOSE, usage(7, 30), FINISH],
    ];
    const { attempts } = await stage.call({ routes: [playing(...steps)], request: { stops: ['STOP'] } });
    expect(brief(attempts)).to.deep.equal([['up-0', 'answered', 'reported', usageJson(7, 30), price(7, 30)]]);
  });

  it('books the model that answered in place of another', async () => {
    const request = { images: 1 };
    const { attempts, charge } = await stage.call({ routes: [good], vision: 'stream', request });
    expect([charge?.model, attempts[0]?.model]).to.deep.equal(['model-a', 'sight']);
  });

  it('times each route until its first fragment', async () => {
    const timed: string[] = [];
    const health = createRouteHealth();
    const begin: typeof health.begin = (left) => {
      const trial = health.begin(left);
      const note = (what: string) => void timed.push(`${trial.route.upstream} ${what}`);
      return { ...trial, first: () => note('first'), end: () => note('end') };
    };
    for (const delivery of ['stream', 'buffered'] as const) {
      await stage.call({
        routes: [playing([], upstreamFault('server', '')), good],
        delivery,
        health: { ...health, begin },
      });
      expect(timed.splice(0), delivery).to.deep.equal(['up-0 end', 'up-1 first', 'up-1 end']);
    }
  });
});
