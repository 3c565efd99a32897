import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { isFault } from '../../../lib/base/faults.ts';
import type { StreamPart } from '../../../lib/stream/part.ts';
import { itTimed } from '../../../testkit/timed.ts';
import {
  type Answer,
  BALANCE,
  type CallResult,
  CLOSE,
  cost,
  delta,
  FINISH,
  hang,
  never,
  OPEN,
  playing,
  START,
  Stage,
  upstreamError,
  usage,
  usageJson,
  whole,
} from './stage.ts';

/** How much later than asked a limit may work on a busy machine. */
const LATE_MS = 250;

describe('attempt', () => {
  const stage = new Stage();
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);
  let others: NodeJS.UnhandledRejectionListener[];

  before(async () => {
    others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', onUnhandled);
    await stage.open();
  });
  after(async () => {
    await stage.close();
    process.off('unhandledRejection', onUnhandled);
    for (const listener of others) process.on('unhandledRejection', listener);
  });
  afterEach(async () => {
    await sleep(5);
    expect(unhandled.splice(0)).to.deep.equal([]);
    await stage.check();
  });

  const boom = new Error('the secret words of a plugin');

  /** What the client was told: the message of the last error part, or of what was thrown. */
  function failureOf({ parts, thrown }: CallResult): string | undefined {
    const last = parts.at(-1);
    if (last?.type === 'error') return last.fault.message;
    return isFault(thrown) ? thrown.message : undefined;
  }

  function expectRefunded(result: CallResult, message: string): void {
    expect(failureOf(result)).to.equal(`${message} Charge refunded.`);
    expect(result.charge).to.include({ state: 'released', charged: 0n });
    expect(result.wallet.avail).to.equal(BALANCE);
    expect(result.text).to.equal('');
  }

  function expectAnswered(result: CallResult, { text, tokens }: { text: string; tokens: [number, number] }): void {
    const [input, output] = tokens;
    expect(result.thrown).to.equal(undefined);
    expect(result.text).to.equal(text);
    expect(result.parts.slice(-3).map(({ type }) => type)).to.deep.equal(['usage', 'finish', 'billing']);
    expect(result.parts.at(-3)).to.deep.equal(usage(input, output));
    const charged = cost({ input, output });
    expect(result.charge).to.include({ state: 'settled', charged, usage: usageJson(input, output) });
    expect(result.wallet.avail).to.equal(BALANCE - charged);
  }

  it('brings an answer to its end', async () => {
    const result = await stage.call({ routes: [whole('Hello there.', { input: 7, output: 900 })] });
    expectAnswered(result, { text: 'Hello there.', tokens: [7, 900] });
    expect(result.parts.slice(0, 3)).to.deep.equal([
      usage(5, 0),
      { type: 'start', id: result.charge?.id, model: 'model-a' },
      OPEN,
    ]);
    expect([result.opened, result.ended]).to.deep.equal([1, 1]);
  });

  describe('before the first fragment', () => {
    const failures: Readonly<Record<string, Answer>> = {
      'throws at once': () => {
        throw boom;
      },
      'gives nothing': () => undefined,
      'gives something else': () => ({ text: 'hi' }),
      'gives a promise': async () => playing([START])({} as never, new AbortController().signal),
      'gives a promise that fails': () => Promise.reject(boom),
      'throws at its first step': playing(boom),
      'throws after its start': playing([START, usage(7, 0)], boom),
      'throws in an empty block': playing([START, OPEN, delta('')], boom),
      'throws no error': playing(() => Promise.reject('text')),
      'throws nothing': playing(() => Promise.reject(undefined)),
      'yields no array': playing(START),
      'yields nothing': playing(null),
      'yields nonsense': playing([START], [{ type: 'nonsense' }]),
      'yields text outside a block': playing([START, { type: 'block-delta', text: 'x' }]),
      'yields a bill': playing([START, { type: 'billing', charged: 0n }]),
    };
    for (const [name, answer] of Object.entries(failures)) {
      it(`refunds an upstream that ${name}`, async () => {
        for (const live of [true, false]) {
          const result = await stage.call({ routes: [answer], live });
          expectRefunded(result, 'The upstream provider failed.');
          expect(result.thrown === undefined, 'told by a part').to.equal(live);
          expect(result.opened).to.equal(1);
          expect(JSON.stringify(result.parts)).not.to.contain('secret words');
          expect(result.warnings.length).to.be.at.least(1);
        }
      });
    }

    it('refunds an answer that just stops, and one that is empty', async () => {
      expectRefunded(
        await stage.call({ routes: [playing([START, OPEN])] }),
        'The upstream provider stopped before the answer was complete.',
      );
      expectRefunded(
        await stage.call({ routes: [playing([START, OPEN, CLOSE, usage(7, 0), FINISH])] }),
        'The upstream provider returned an empty answer.',
      );
    });

    itTimed('has its own words for every kind of failure', async () => {
      const words: Readonly<Record<string, string>> = {
        request: 'The upstream provider refused this request.',
        timeout: 'The upstream provider did not answer in time.',
        auth: 'The upstream provider failed.',
        quota: 'The upstream provider failed.',
        rate: 'The upstream provider failed.',
        overloaded: 'The upstream provider failed.',
        server: 'The upstream provider failed.',
        network: 'The upstream provider failed.',
        protocol: 'The upstream provider failed.',
        'no such kind': 'The upstream provider failed.',
      };
      for (const [kind, message] of Object.entries(words)) {
        expectRefunded(await stage.call({ routes: [playing([START], upstreamError(kind))] }), message);
      }
    });

    itTimed('waits no longer than for the first fragment, whatever hangs', async () => {
      const timeouts = { firstTokenTimeoutMs: 60, idleTimeoutMs: 5000 };
      const early = playing([START, usage(7, 0), OPEN], hang);
      for (const answer of [never, early]) {
        const result = await stage.call({ routes: [answer], timeouts });
        expectRefunded(result, 'The upstream provider did not answer in time.');
        expect(result.ms).to.be.within(55, 60 + LATE_MS);
      }
    });

    itTimed('does not take a drip of empty arrays, starts and counts for an answer', async () => {
      const drip: Answer = async function* () {
        yield [START];
        while (true) {
          await sleep(10);
          yield [];
          yield [usage(7, 0)];
        }
      };
      const timeouts = { firstTokenTimeoutMs: 80, idleTimeoutMs: 5000 };
      const result = await stage.call({ routes: [drip], timeouts });
      expectRefunded(result, 'The upstream provider did not answer in time.');
      expect(result.ms).to.be.below(80 + LATE_MS);
    });
  });

  describe('after the first fragment', () => {
    const text = ' word'.repeat(500);
    const begun: readonly unknown[] = [[START, OPEN], [delta(text)]];

    const failures: Readonly<Record<string, unknown>> = {
      'throws an error': boom,
      'throws a fault': upstreamError('server'),
      'throws no error': () => Promise.reject('text'),
      'yields nonsense': [{ type: 'nonsense' }],
      'yields null': [null],
      'starts again': [START],
    };
    for (const [name, step] of Object.entries(failures)) {
      it(`keeps the charge of what was delivered when the upstream ${name}`, async () => {
        const result = await stage.call({ routes: [playing(...begun, step), whole('never asked')] });
        expect(failureOf(result)).to.equal('The upstream provider failed.');
        expect(result.text).to.equal(text);
        expect(result.asked).to.deep.equal([0]);
        expect(result.charge).to.include({
          state: 'settled',
          charged: cost({ output: 500 }),
          usage: usageJson(5, 500, { ended: 'error' }),
        });
        expect(result.ended).to.equal(1);
      });

      it(`refunds a reply that was collected when the upstream ${name}`, async () => {
        const result = await stage.call({ routes: [playing(...begun, step)], live: false });
        expect(failureOf(result)).to.equal('The upstream provider failed. Charge refunded.');
        expect(result.charge?.state).to.equal('released');
        expect(result.wallet.avail).to.equal(BALANCE);
      });
    }

    it('delivers what came in the same array before a breach', async () => {
      const result = await stage.call({ routes: [playing([START, OPEN, delta('seen'), null, delta('unseen')])] });
      expect(result.text).to.equal('seen');
      expect(failureOf(result)).to.equal('The upstream provider failed.');
      expect(result.charge).to.include({ state: 'settled', charged: cost({ output: 1 }) });
    });

    it('bills the larger of the last report and the text', async () => {
      const more = await stage.call({ routes: [playing(...begun, [usage(9, 700)], boom)] });
      expect(more.charge?.charged).to.equal(cost({ input: 9, output: 700 }));
      const less = await stage.call({ routes: [playing(...begun, [usage(9, 300)], boom)] });
      expect(less.charge?.charged).to.equal(cost({ input: 9, output: 500 }));
    });

    it('fails an answer that just stops', async () => {
      const result = await stage.call({ routes: [playing(...begun, [CLOSE])] });
      expect(failureOf(result)).to.equal('The upstream provider stopped before the answer was complete.');
      expect(result.charge?.charged).to.equal(cost({ output: 500 }));
    });

    itTimed('waits no longer than between fragments', async () => {
      const timeouts = { firstTokenTimeoutMs: 5000, idleTimeoutMs: 60 };
      const result = await stage.call({ routes: [playing(...begun, hang)], timeouts });
      expect(failureOf(result)).to.equal('The upstream provider did not answer in time.');
      expect(result.charge?.charged).to.equal(cost({ output: 500 }));
      expect(result.ms).to.be.within(55, 60 + LATE_MS);
    });

    itTimed('waits no longer than in all, however often something comes', async () => {
      const drip: Answer = async function* () {
        yield [START, OPEN];
        while (true) {
          yield [delta(' word')];
          await sleep(10);
        }
      };
      const result = await stage.call({ routes: [drip], timeouts: { totalTimeoutMs: 100 } });
      expect(failureOf(result)).to.equal('The upstream provider did not answer in time.');
      expect(result.ms).to.be.within(95, 100 + LATE_MS);
      expect(result.charge?.usage).to.equal(usageJson(5, result.text.length / 5, { ended: 'error' }));
    });
  });

  describe('after the finish', () => {
    const start: readonly unknown[] = [[START, OPEN, delta('Hello'), CLOSE], [FINISH]];
    const tokens: [number, number] = [7, 900];

    const late: Readonly<Record<string, readonly unknown[]>> = {
      'throws an error': [[usage(7, 900)], boom],
      'counts in a later array': [[], [usage(7, undefined)], [usage(undefined, 900)]],
      'yields null': [[usage(7, 900)], null],
      'yields nonsense': [[usage(7, 900), { type: 'nonsense' }], 7],
      'starts again': [[usage(7, 900), START, OPEN, delta('more'), FINISH]],
    };
    for (const [name, steps] of Object.entries(late)) {
      it(`keeps an answer whose upstream ${name}`, async () => {
        for (const live of [true, false]) {
          const result = await stage.call({ routes: [playing(...start, ...steps)], live });
          expectAnswered(result, { text: 'Hello', tokens });
        }
      });
    }

    itTimed('waits a little for an upstream that does not end, also when it ignores its signal', async () => {
      const timeouts = { idleTimeoutMs: 60 };
      const result = await stage.call({ routes: [playing(...start, [usage(7, 900)], hang)], timeouts });
      expectAnswered(result, { text: 'Hello', tokens });
      expect(result.ms).to.be.within(55, 60 + LATE_MS);
    });

    itTimed('does not wait longer for one that always has something to say', async () => {
      const drip: Answer = async function* () {
        yield [START, OPEN, delta('Hello'), CLOSE, FINISH];
        while (true) {
          yield [usage(7, 900)];
          yield [];
          await sleep(10);
        }
      };
      const result = await stage.call({ routes: [drip], timeouts: { idleTimeoutMs: 60 } });
      expectAnswered(result, { text: 'Hello', tokens });
      expect(result.ms).to.be.below(60 + LATE_MS);
    });
  });

  describe('a slow reader', () => {
    itTimed('pauses the upstream, and its silence does not count', async () => {
      let yielded = 0;
      const steady: Answer = async function* () {
        yield [START, OPEN];
        for (; yielded < 3; yielded += 1) yield [delta('word')];
        yield [CLOSE, usage(7, 900), FINISH];
      };
      const counts: number[] = [];
      const onWrite = async (parts: readonly StreamPart[]) => {
        if (!parts.some(({ type }) => type === 'block-delta')) return;
        const before = yielded;
        await sleep(100);
        counts.push(yielded - before);
      };
      const result = await stage.call({ routes: [steady], onWrite, timeouts: { idleTimeoutMs: 50 } });
      expectAnswered(result, { text: 'wordwordword', tokens: [7, 900] });
      expect(counts).to.deep.equal([0, 0, 0]);
    });

    itTimed('waits no longer than between fragments once it goes on', async () => {
      const onWrite = (parts: readonly StreamPart[]) =>
        parts.some(({ type }) => type === 'block-delta') ? sleep(20) : undefined;
      const timeouts = { idleTimeoutMs: 60, totalTimeoutMs: 8000 };
      const result = await stage.call({ routes: [playing([START, OPEN], [delta('one')], hang)], onWrite, timeouts });
      expect(failureOf(result)).to.equal('The upstream provider did not answer in time.');
      expect(result.ms).to.be.below(4000);
    });

    itTimed('has no more than the total time', async () => {
      const result = await stage.call({
        routes: [whole('one two three')],
        onWrite: hang,
        timeouts: { totalTimeoutMs: 80 },
      });
      expect(failureOf(result)).to.equal('The upstream provider did not answer in time.');
      expect(result.charge?.charged).to.equal(500_000n);
      expect(result.ms).to.be.below(80 + LATE_MS);
    });
  });
});
