// A money operation from outside the service, against a store that fails in every way before it works.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { bookOperation } from '../../lib/ledger/booking.ts';
import type { Operation, Outcome } from '../../lib/money/decide.ts';
import { openStore } from '../../lib/store/open.ts';
import type { LedgerStore } from '../../lib/store/ports/ledger.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';

describe('a booking', () => {
  let folder: string;
  let store: Store;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-money-'));
    store = await openStore(`sqlite:${join(folder, 'test.db')}`, { inProcess: true });
  });

  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  /** The real store, whose `apply` fails a given number of times, before or after writing. */
  function failing(times: number, applied: StoreError['applied']): Store & { tries: number } {
    const ledger: LedgerStore = Object.create(store.ledger);
    const flaky = { ...store, ledger, tries: 0 };
    ledger.apply = async (batch) => {
      flaky.tries += 1;
      if (flaky.tries > times) return store.ledger.apply(batch);
      if (applied === 'unknown') await store.ledger.apply(batch);
      throw new StoreError('disk is slow', applied);
    };
    return flaky;
  }

  async function adjustOf(adjustId: string): Promise<Operation> {
    const { id: wallet } = await createAccounts({ store, keyPrefix: 'tg-' }).create(adjustId);
    return { kind: 'adjust', wallet, at: Date.now(), amount: 5_000_000n, reason: 'test', adjustId };
  }

  it('retries an operation that was certainly not written', async () => {
    const op = await adjustOf('adj_no');
    const flaky = failing(2, 'no');
    expect((await bookOperation(flaky, op)).status).to.equal('done');
    expect(flaky.tries).to.equal(3);
    expect((await store.ledger.wallet(op.wallet))?.avail).to.equal(5_000_000n);
  });

  it('books an operation once that may have been written', async () => {
    const op = await adjustOf('adj_unknown');
    const { status, wallet } = await bookOperation(failing(2, 'unknown'), op);
    expect([status, wallet?.avail, wallet?.seq]).to.deep.equal(['done', 5_000_000n, 1]);
  });

  it('sends an operation again if the entry of the first attempt cannot be read', async () => {
    const op = await adjustOf('adj_unread');
    const flaky = failing(1, 'unknown');
    let reads = 0;
    flaky.ledger.entry = async (id) => {
      reads += 1;
      if (reads === 1) throw new StoreError('disk is slow', 'no');
      return store.ledger.entry(id);
    };
    const { status, wallet } = await bookOperation(flaky, op);
    expect([status, wallet?.avail, wallet?.seq]).to.deep.equal(['done', 5_000_000n, 1]);
    expect([flaky.tries, reads]).to.deep.equal([3, 2]);
  });

  it('reports a repeat of what was booked before as such, even if its first answer is lost', async () => {
    const op = await adjustOf('adj_before');
    expect((await bookOperation(store, op)).status).to.equal('done');
    const repeat = { ...op, at: op.at + 1 };
    const { status, wallet } = await bookOperation(failing(1, 'unknown'), repeat);
    expect([status, wallet?.avail, wallet?.seq]).to.deep.equal(['exists', 5_000_000n, 1]);
  });

  for (const [applied, line] of [
    ['no', /^disk is slow$/],
    ['unknown', /may have been booked: check "tollgate ledger list acc_/],
  ] as const) {
    it(`gives up after the last attempt (written: ${applied})`, async () => {
      const op = await adjustOf(`adj_never_${applied}`);
      const flaky = failing(Number.POSITIVE_INFINITY, applied);
      const error = await bookOperation(flaky, op).then(
        () => undefined,
        (thrown: unknown) => thrown as StoreError,
      );
      expect(error).to.be.instanceOf(StoreError);
      expect(error?.applied).to.equal(applied);
      expect(error?.message).to.match(line);
      expect(flaky.tries).to.equal(5);
    });
  }

  describe('with a scripted store', () => {
    const op: Operation = { kind: 'adjust', wallet: 'w', at: 1, amount: 5n, reason: 'test', adjustId: 'a' };
    afterEach(() => mock.timers.reset());

    /** The result of a booking whose tries end as listed, and the number of tries. */
    async function outcomeOf(...ends: readonly (Error | Outcome[])[]): Promise<readonly [unknown, number]> {
      let tries = 0;
      const apply = async () => {
        const end = ends[Math.min(tries, ends.length - 1)] as Error | Outcome[];
        tries += 1;
        if (end instanceof Error) throw end;
        return end;
      };
      mock.timers.enable({ apis: ['setTimeout'] });
      let result: unknown;
      const booked = bookOperation({ ledger: { ...store.ledger, apply } }, op).catch((error: unknown) => error);
      void booked.then((found) => {
        result = found;
      });
      for (let turns = 0; result === undefined && turns < 20; turns += 1) {
        await waitOneTick();
        mock.timers.tick(200);
      }
      return [result, tries];
    }

    it('reports that it may be booked if any attempt may have been, whatever the last one was', async () => {
      const [unknown, no] = [new StoreError('lost', 'unknown'), new StoreError('disk is slow', 'no')];
      const [error, tries] = await outcomeOf(no, unknown, no);
      expect(error).to.be.instanceOf(StoreError).with.property('applied', 'unknown');
      expect((error as StoreError).message).to.match(/^disk is slow\. It may have been booked/);
      expect(tries).to.equal(5);
    });

    it('does not retry an error that is not a failure of the store', async () => {
      const mistake = new TypeError('a mistake');
      expect(await outcomeOf(mistake)).to.deep.equal([mistake, 1]);
    });
  });
});
