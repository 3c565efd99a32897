import { expect } from 'chai';
import fc from 'fast-check';
import type { StreamPart } from '../../../lib/stream/part.ts';
import { longer } from '../../../testkit/long.ts';
import { itTimed } from '../../../testkit/timed.ts';
import {
  type Answer,
  type CallResult,
  CLOSE,
  cost,
  delta,
  FINISH,
  MAX_TOKENS,
  OPEN,
  playing,
  START,
  Stage,
  upstreamError,
  usage,
} from './stage.ts';

/** Parts, far above what is asked for. */
const FLOOD = longer(200_000, 1_000_000);

describe('text engine with hostile providers', () => {
  const stage = new Stage();
  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());

  describe('that flood', () => {
    it('cuts very many parts in one array at their limit', async function () {
      this.timeout(30_000);
      const flood: readonly StreamPart[] = Array.from({ length: FLOOD }, () => delta('a'));
      const result = await stage.call({ routes: [playing([START, OPEN], flood, [CLOSE, usage(7, 1000), FINISH])] });
      expect(result.text).to.have.length(16 * MAX_TOKENS);
      expect(result.charge?.charged).to.equal(cost({ output: MAX_TOKENS }));
    });

    it('cuts very many arrays at their limit, and never bills more than max_tokens', async function () {
      this.timeout(30_000);
      const flood: Answer = async function* () {
        yield [START, OPEN];
        for (let at = 0; at < FLOOD; at += 1) yield [delta('word')];
        yield [CLOSE, FINISH];
      };
      const result = await stage.call({ routes: [flood] });
      expect(result.text).to.have.length(16 * MAX_TOKENS);
      expect(result.parts.at(-2)).to.include({ type: 'finish', reason: 'length' });
      expect(result.charge?.charged).to.equal(cost({ output: MAX_TOKENS }));
    });

    itTimed('is over with the total time when there is no end, and other work goes on meanwhile', async () => {
      const flood: Answer = async function* () {
        yield [START, OPEN, delta('a')];
        while (true) yield [];
      };
      let ticks = 0;
      const ticker = setInterval(() => {
        ticks += 1;
      }, 5);
      const result = await stage.call({ routes: [flood], timeouts: { totalTimeoutMs: 300 } });
      clearInterval(ticker);
      expect(result.parts.at(-1)?.type).to.equal('error');
      expect(result.ms).to.be.below(1000);
      // Sixty on a quiet machine.
      expect(ticks).to.be.above(2);
    });
  });

  describe('that do anything', () => {
    const index = fc.constantFrom(0, 1, undefined, Number.NaN);
    const count = fc.constantFrom(0, 1, 7, 900, 1000, 1001, -1, 0.5, Number.NaN, 1e300, '7', null, undefined);
    const part = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<unknown>(START, OPEN, delta('word'), CLOSE, FINISH) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('usage'), input: count, output: count }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('block-delta'), index, text: fc.anything() }) },
      { weight: 1, arbitrary: fc.anything() },
    );
    const proper = fc.constantFrom<unknown>(
      [START],
      [OPEN],
      [delta('x'.repeat(3999))],
      [CLOSE],
      [usage(9, 800), FINISH],
    );
    const step = fc.oneof(
      { weight: 12, arbitrary: proper },
      { weight: 4, arbitrary: fc.array(part, { maxLength: 4 }) },
      { weight: 1, arbitrary: fc.anything().filter((value) => typeof value !== 'function') },
      { weight: 1, arbitrary: fc.constantFrom('server', 'request', 'none').map(upstreamError) },
    );
    const ordered = fc
      .tuple(fc.array(step, { maxLength: 2 }), fc.nat(5), fc.array(step, { maxLength: 2 }))
      .map(([first, upTo, last]) => {
        const whole = [[START], [OPEN], [delta('Hello')], [CLOSE], [usage(9, 800), FINISH]];
        return [...first, ...whole.slice(0, upTo), ...last];
      });
    const script = fc.oneof(fc.array(step, { maxLength: 7 }), ordered);

    function expectSound(result: CallResult, live: boolean): void {
      const { parts, charge, wallet, thrown } = result;
      const last = parts.at(-1);
      const delivered = live && result.text !== '';
      expect(charge?.state).to.equal(delivered || last?.type === 'billing' ? 'settled' : 'released');
      expect(wallet.charged).to.equal(charge?.charged);
      if (charge?.state === 'settled') {
        const { tokens_input: input, tokens_output: output } = JSON.parse(charge.usage ?? '');
        expect(output).to.be.within(0, MAX_TOKENS);
        expect(charge.charged).to.equal(cost({ input, output }));
      }
      if (last?.type === 'billing') {
        expect(last).to.include({ charged: charge?.charged, balance: wallet.avail, reserved: charge?.reserved });
        expect(thrown).to.equal(undefined);
      } else {
        const failure = last?.type === 'error' ? last.fault : thrown;
        expect(failure).to.be.instanceOf(Error);
        const { message } = failure as Error;
        expect(message.endsWith('Charge refunded.')).to.equal(charge?.state === 'released');
        expect(message).not.to.contain('secret words');
      }
      expect(parts.filter(({ type }) => type === 'start').length).to.be.at.most(1);
      expect(parts.filter(({ type }) => ['billing', 'error'].includes(type)).length).to.be.at.most(1);
    }

    it('brings every call to one end and its money to the micro-rouble', async function () {
      this.timeout(60_000);
      await fc.assert(
        fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: 3 }), fc.boolean(), async (scripts, live) => {
          const result = await stage.call({ routes: scripts.map((steps) => playing(...steps)), live });
          expectSound(result, live);
        }),
        { numRuns: longer(50, 150) },
      );
    });
  });
});
