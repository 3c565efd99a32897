// Transactions: what restarts them and how often, what their outcome is, and what happens to their session.
import { expect } from 'chai';
import { type ClientSession, type Db, MongoNetworkError, MongoServerError } from 'mongodb';
import { createTransactions, type Transactions } from '../../../lib/store/mongodb/transaction.ts';
import { rejection } from '../../contract/store/context.ts';

const WRITE_CONFLICT = 112;
const DUPLICATE = 11_000;
const NOT_PRIMARY = 10_107;
const KILLED = 11_601;
const BAD_VALUE = 2;
const failed = (code: number) => new MongoServerError({ code, message: `code ${code}`, ok: 0 });

describe('transactions on MongoDB', () => {
  const { now: realNow } = performance;
  const { random: realRandom } = Math;
  let aheadMs: number;
  let events: string[];
  let given: string[];
  let inStep: (Error | undefined)[];
  let inCommit: (Error | undefined)[];
  let inAbort: (Error | undefined)[];
  let isOpen: boolean;
  let begun: unknown[];
  let transactions: Transactions;

  beforeEach(() => {
    [aheadMs, events, given, inStep, inCommit, inAbort, isOpen, begun] = [0, [], [], [], [], [], true, []];
    performance.now = () => aheadMs;
    Math.random = () => 0;
    const next = (list: (Error | undefined)[], name: string) => async () => {
      events.push(name);
      const error = list.shift();
      if (error) throw error;
      return { n: 1 };
    };
    const session = {
      startTransaction: (options: unknown) => void begun.push(options),
      inTransaction: () => isOpen,
      commitTransaction: next(inCommit, 'commit'),
      abortTransaction: next(inAbort, 'abort'),
    };
    const sessions = {
      takeSession: async () => session as unknown as ClientSession,
      returnSession: (_: ClientSession, state: string) => void given.push(state),
      reap: async () => void events.push('reap'),
      close: async () => undefined,
    };
    transactions = createTransactions({ command: next(inStep, 'step') } as unknown as Db, sessions);
  });
  afterEach(() => {
    performance.now = realNow;
    Math.random = realRandom;
  });

  const run = () =>
    transactions.run({
      steps: async (step) => (await step({ ping: 1 })).n as number,
      onConflict: () => void events.push('conflict'),
    });

  it('commit once after their steps, and return a reusable session', async () => {
    expect(await run()).to.equal(1);
    expect(events).to.deep.equal(['step', 'commit']);
    expect(given).to.deep.equal(['idle']);
  });

  it('read a snapshot, and wait for a majority', async () => {
    await run();
    expect(begun).to.deep.equal([{ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } }]);
  });

  it('restart after a conflict, even of the commit, on a session that was rolled back', async () => {
    inStep.push(failed(WRITE_CONFLICT));
    inCommit.push(failed(WRITE_CONFLICT));
    expect(await run()).to.equal(1);
    const again = ['step', 'commit'];
    expect(events).to.deep.equal(['step', 'abort', 'conflict', ...again, 'abort', 'conflict', ...again]);
    expect(given).to.deep.equal(['idle', 'idle', 'idle']);
  });

  it('return a session as broken if it could not be rolled back or lost its transaction', async () => {
    inStep.push(failed(WRITE_CONFLICT));
    inAbort.push(failed(BAD_VALUE));
    await run();
    expect(given).to.deep.equal(['broken', 'idle']);
    isOpen = false;
    inStep.push(failed(WRITE_CONFLICT));
    await run();
    expect(given.slice(2)).to.deep.equal(['broken', 'idle']);
  });

  for (const [what, code] of [
    ['a change of the primary', NOT_PRIMARY],
    ['a killed session', KILLED],
  ] as const) {
    it(`restart on another session if ${what} interrupts their steps, and have an unknown outcome if it interrupts the commit`, async () => {
      inStep.push(failed(code));
      expect(await run()).to.equal(1);
      expect(events.filter((event) => event === 'conflict')).to.deep.equal([]);
      expect(given).to.deep.equal(['broken', 'idle']);
      inCommit.push(failed(code));
      expect(await rejection(run())).to.include({ name: 'StoreError', applied: 'unknown', blames: 'store' });
      expect(given).to.deep.equal(['broken', 'idle', 'broken']);
    });
  }

  it('fail without a retry if a step is refused', async () => {
    for (const error of [failed(BAD_VALUE), new MongoNetworkError('reset'), new RangeError('too large')]) {
      events = [];
      inStep.push(error);
      expect(await rejection(run())).to.include({ name: 'StoreError', applied: 'no', cause: error });
      expect(events.filter((event) => event === 'step')).to.have.length(1);
    }
    expect(given).to.deep.equal(['broken', 'broken', 'broken']);
  });

  it('fail if a duplicate persists, which blames the batch, and not if it passes', async () => {
    inStep.push(...Array.from({ length: 9 }, () => failed(DUPLICATE)));
    expect(await rejection(run())).to.include({ applied: 'no', blames: 'batch' });
    expect(events.filter((event) => event === 'step')).to.have.length(9);
    inStep.push(...Array.from({ length: 8 }, () => failed(DUPLICATE)), failed(WRITE_CONFLICT), failed(DUPLICATE));
    expect(await run(), 'in a row').to.equal(1);
  });

  it('search for dead processes if conflicts last, and give up in the end', async () => {
    const patient = (ms: number) => {
      inStep.push(failed(WRITE_CONFLICT));
      return transactions.run({
        steps: async (step) => {
          aheadMs += inStep.length > 0 ? ms : 0;
          return step({ ping: 1 });
        },
      });
    };
    await patient(100);
    expect(events).to.not.include('reap');
    await patient(250);
    expect(events.filter((event) => event === 'reap')).to.have.length(1);
    expect(await rejection(patient(5000))).to.include({ applied: 'no', blames: 'store' });
  });
});
