// Calls to the server: their deadlines, what is retried, and the outcome of a failed write.
import { expect } from 'chai';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { call, read, withDeadline } from '../../../lib/store/mongodb/call.ts';
import { OutOfTime } from '../../../lib/store/mongodb/failure.ts';
import { StoreError } from '../../../lib/store/store.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { rejection } from '../../contract/store/context.ts';

const NOT_PRIMARY = 10_107;
const BAD_VALUE = 2;
const INTERRUPTED = 11_600;

const serverError = (code: number) => new MongoServerError({ code, message: `code ${code}`, ok: 0 });
const never = () => new Promise<never>(() => undefined);

describe('calls to MongoDB', () => {
  /** Fails with each of the errors in turn, then succeeds. */
  function failing(...errors: readonly Error[]) {
    const left = [...errors];
    const tries = { count: 0 };
    const work = async () => {
      tries.count += 1;
      const error = left.shift();
      if (error) throw error;
      return 'done';
    };
    return { work, tries };
  }

  async function failureOf(promise: Promise<unknown>): Promise<StoreError> {
    const error = await rejection(promise);
    expect(error).to.be.instanceOf(StoreError);
    return error as StoreError;
  }

  const rows: readonly [what: string, error: Error, repeatable: boolean, again: boolean, applied: 'no' | 'unknown'][] =
    [
      ['during a change of the primary', serverError(NOT_PRIMARY), false, true, 'no'],
      ['that was interrupted and may be repeated', serverError(INTERRUPTED), true, true, 'unknown'],
      ['that was interrupted and may not', serverError(INTERRUPTED), false, false, 'unknown'],
      ['whose connection broke and may be repeated', new MongoNetworkError('reset'), true, true, 'unknown'],
      ['whose connection broke and may not', new MongoNetworkError('reset'), false, false, 'unknown'],
      ['that the server refuses', serverError(BAD_VALUE), true, false, 'no'],
      ['that our own rules refuse', new RangeError('too large'), true, false, 'no'],
    ];
  for (const [what, error, repeatable, again, applied] of rows) {
    it(`${again ? 'retry' : 'do not retry'} a call ${what}`, async () => {
      const { work, tries } = failing(error);
      const sent = call({ repeatable }, work);
      if (again) expect(await sent).to.equal('done');
      else expect(await failureOf(sent)).to.include({ applied, cause: error });
      expect(tries.count).to.equal(again ? 2 : 1);
    });
  }

  it('have an unknown outcome if one of several attempts has', async () => {
    const { work, tries } = failing(serverError(INTERRUPTED), serverError(BAD_VALUE));
    expect(await failureOf(call({ repeatable: true }, work))).to.include({ applied: 'unknown', blames: 'batch' });
    expect(tries.count).to.equal(2);
  });

  it('pause between attempts, longer after each', async () => {
    const { work, tries } = failing(...Array(3).fill(serverError(NOT_PRIMARY)));
    const startedAt = performance.now();
    expect(await call({ repeatable: false }, work)).to.equal('done');
    expect(tries.count).to.equal(4);
    // At least half of 20, 40 and 80 ms; a timer may fire one ms early.
    expect(performance.now() - startedAt).to.be.at.least(67);
  });

  it('give up each attempt and the whole call at their deadlines', async () => {
    const signals: AbortSignal[] = [];
    const work = (signal: AbortSignal) => {
      signals.push(signal);
      return never();
    };
    const error = await failureOf(call({ repeatable: true, attemptMs: 10, callMs: 150 }, work));
    expect(error).to.include({ applied: 'unknown', blames: 'store' });
    expect(error.cause).to.be.instanceOf(OutOfTime);
    expect(signals.length).to.be.within(2, 15);
    for (const signal of signals) expect(signal.reason).to.be.instanceOf(OutOfTime);
  });

  itTimed('never start an attempt after their deadline', async function () {
    // A busy machine fires timers late.
    this.retries(4);
    const { work, tries } = failing(...Array.from({ length: 100 }, () => serverError(NOT_PRIMARY)));
    const from = performance.now();
    const error = await failureOf(call({ repeatable: false, callMs: 60 }, work));
    expect(performance.now() - from).to.be.below(60);
    expect(error).to.include({ applied: 'no', blames: 'store' });
    expect(tries.count).to.be.within(2, 6);
  });

  itTimed('end at their deadline even if an attempt could last longer', async () => {
    const from = performance.now();
    await failureOf(call({ repeatable: true, attemptMs: 20_000, callMs: 30 }, never));
    expect(performance.now() - from).to.be.below(10_000);
  });

  it('do not abort the signal of an answered call', async () => {
    let kept: AbortSignal | undefined;
    const answer = await withDeadline(20, async (signal) => {
      kept = signal;
      return 7;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect([answer, kept?.aborted]).to.deep.equal([7, false]);
  });

  describe('that read', () => {
    it('are retried until their deadline', async () => {
      const { now } = performance;
      let aheadMs = 0;
      performance.now = () => aheadMs;
      const readFor = (ms: number) => {
        const { work } = failing(new MongoNetworkError('reset'));
        return read((_signal) => {
          aheadMs += 6000;
          return work();
        }, ms);
      };
      try {
        expect(await readFor(15_000)).to.equal('done');
        expect(await failureOf(readFor(1500))).to.include({ applied: 'no' });
      } finally {
        performance.now = now;
      }
    });

    it('are retried after any transient failure, and never count as written', async () => {
      const { work, tries } = failing(new MongoNetworkError('reset'), serverError(INTERRUPTED));
      expect(await read(work)).to.equal('done');
      expect(tries.count).to.equal(3);
      const refused = serverError(BAD_VALUE);
      expect(await failureOf(read(failing(serverError(INTERRUPTED), refused).work))).to.include({
        applied: 'no',
        cause: refused,
        blames: 'store',
      });
    });
  });
});
