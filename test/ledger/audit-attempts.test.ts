// The audit of attempts at upstreams: what it says of rows that are missing, wrong or out of place.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { type Attempt, type NewAttempt, toAttemptRows } from '../../lib/money/attempt.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import {
  AT,
  applied,
  charge,
  giveBack,
  newAttempt,
  newId,
  newWallet,
  problemsOf,
  reserve,
  type StoreDatabase,
  settle,
} from '../contract/store/context.ts';

const SINCE = 'attempts.since';
const COST = newAttempt().cost as NonNullable<NewAttempt['cost']>;

for (const kind of longer([SQLITE], STORES)) {
  describe(`the audit of attempts: ${kind.name}`, () => {
    let database: StoreDatabase;
    let store: Store;

    before(async () => {
      database = await kind.create();
      store = await openStore(database.url, { inProcess: true });
    });
    after(async () => {
      await store.close();
      await database.remove();
    });

    async function call(attempts: readonly NewAttempt[] = [newAttempt()]): Promise<{ wallet: string; id: string }> {
      const wallet = await newWallet(store);
      const id = newId('req');
      await applied(store, reserve(wallet, { chargeId: id }), settle(wallet, id, { attempts }));
      return { wallet, id };
    }

    it('finds nothing in what the ledger wrote', async () => {
      const none = newAttempt({ usage: null, certainty: 'none', cost: { ...COST, cost: 0n, costRub: 0n } });
      const { wallet } = await call([none, newAttempt()]);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });

    const wrong: readonly [problem: string, change: (row: Attempt) => NewAttempt][] = [
      ['its cost is 51 micro-USD, but its usage costs 50', (row) => ({ ...row, cost: { ...COST, cost: 51n } })],
      ['its cost is 4001 micro-roubles instead of 4000', (row) => ({ ...row, cost: { ...COST, costRub: 4001n } })],
      ['its prices are {}', (row) => ({ ...row, cost: { ...COST, prices: '{}' } })],
      ['its cost is 50 micro-USD, but its usage costs undefined', (row) => ({ ...row, usage: '{"images":1}' })],
    ];
    for (const [problem, change] of wrong) {
      it(`reports one whose values do not follow from each other: ${problem}`, async () => {
        const { wallet, id } = await call();
        const [row] = await store.attempts.list([id]);
        await store.attempts.put(toAttemptRows({ charge: id, wallet }, [change(row as Attempt)]));
        expect(await problemsOf(store, wallet)).to.deep.equal([`call ${id}: attempt 1: ${problem}`]);
      });
    }

    it('reports one that was changed past the ledger, or is of another account', async () => {
      const { wallet, id } = await call([newAttempt({ reason: 'limit' })]);
      const [row] = (await store.attempts.list([id])) as [Attempt];
      for (const change of [{ model: 'model-2' }, { reason: 'quota' }] as const) {
        await store.attempts.put([{ ...row, ...change }]);
        expect(await problemsOf(store, wallet)).to.deep.equal([`call ${id}: attempt 1: its mark says other values`]);
      }
      await store.attempts.put(toAttemptRows({ charge: id, wallet: 'acc_other' }, [row]));
      expect(await problemsOf(store, wallet)).to.deep.equal([`call ${id}: attempt 1: it is of acc_other`]);
    });

    it('reports a gap in the numbers, and a missing end', async () => {
      const { wallet, id } = await call();
      const [, second, third] = toAttemptRows({ charge: id, wallet }, [newAttempt(), newAttempt(), newAttempt()]);
      await store.attempts.put([third as Attempt]);
      const gap = `call ${id}: attempt 1: the attempt after it is missing`;
      expect(await problemsOf(store, wallet)).to.deep.equal([gap, `call ${id}: attempt 3: attempt 2 is missing`]);
      await store.attempts.put([second as Attempt]);
      expect(await problemsOf(store, wallet)).to.deep.equal([gap]);
    });

    it('reports attempts of a running call, and of one that does not exist', async () => {
      const wallet = await newWallet(store);
      const [held, unknown] = [newId('req'), newId('req')];
      await applied(store, reserve(wallet, { chargeId: held }));
      for (const id of [held, unknown]) await store.attempts.put(toAttemptRows({ charge: id, wallet }, [newAttempt()]));
      expect(await problemsOf(store, wallet)).to.deep.equal([
        `call ${held}: it is held, but has attempts already`,
        `call ${unknown}: it has attempts, but no charge`,
      ]);
    });

    it('reports charged calls and jobs without attempts, since calls record them', async () => {
      const wallet = await newWallet(store);
      const [bare, back, job] = [newId('req'), newId('req'), newId('req')];
      const made = { id: newId('vid'), wallet, charge: job, model: 'model-1', upstream: 'up', facts: '{}' };
      const lease = { owner: 'own_a', lease: AT, createdAt: AT, deadline: AT + 1000 };
      await applied(store, reserve(wallet, { chargeId: bare }), settle(wallet, bare));
      await applied(store, reserve(wallet, { chargeId: back }), giveBack('release', wallet, back));
      const paid = {
        ...charge(wallet, { chargeId: job }),
        job: { kind: 'create', job: { ...made, ...lease } },
      } as const;
      await applied(store, paid as Parameters<typeof applied>[1]);
      const begin = { kind: 'begin', id: made.id, version: 1, at: AT, ref: '{}', dueAt: AT + 1 } as const;
      const problems = async (at: number) => {
        await store.settings.set(SINCE, new Date(at).toISOString());
        return problemsOf(store, wallet);
      };
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
      expect(await problems(AT + 1)).to.deep.equal([]);
      const missing = `call ${bare}: it was charged, but it has no attempt at an upstream`;
      expect(await problems(AT)).to.deep.equal([missing]);
      await store.jobs.change(begin);
      expect(await problems(AT)).to.deep.equal([missing, `job ${made.id}: it has no attempt at an upstream`]);
      await store.attempts.put(toAttemptRows({ charge: job, wallet }, [newAttempt({ ending: 'running' })]));
      await store.jobs.change({ kind: 'complete', id: made.id, version: 2, at: AT, result: '{}' });
      expect(await problems(AT)).to.deep.equal([
        missing,
        `job ${made.id}: it is completed, and its last attempt is running`,
      ]);
    });

    it('fails if the attempts cannot be read', async () => {
      const broken = {
        ...store,
        attempts: { ...store.attempts, unknownCharges: () => Promise.reject(new Error('no')) },
      };
      const [result] = await Promise.allSettled([verifyLedger(broken)]);
      expect(result).to.have.property('status', 'rejected');
    });
  });
}
