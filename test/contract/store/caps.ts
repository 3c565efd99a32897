// Further budgets of a call, beside that of its key: each as exact as the first, in the hold's transaction.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { getAccountCallsId, getKeyCallsId } from '../../../lib/money/budget.ts';
import type { Operation } from '../../../lib/money/decide.ts';
import type { Store } from '../../../lib/store/store.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import {
  applied,
  charge,
  everythingOf,
  giveBack,
  newId,
  newWallet,
  problemsOf,
  RUB,
  readSpent,
  reserve,
  type StoreContext,
  settle,
  statuses,
} from './context.ts';

export function capContract(context: StoreContext): void {
  const cap = (id: string, rub: number, period = 1000) => ({ id, period, limit: BigInt(rub) * RUB });

  itLong('are each exact under many concurrent holds of two openers', async () => {
    const openers = [context.store, await context.other()];
    const [wallet, key, user, run] = [await newWallet(context.store), newId('key'), newId('user'), newId('run')];
    const budget = { period: 1000, limit: 900n * RUB };
    const calls = Array.from({ length: longer(45, 300) }, (_, at) => {
      // Every third call counts in both, the rest in one of them.
      const caps = [cap(user, 9), cap(run, 7)].filter((_each, index) => at % 3 === 2 || at % 3 === index);
      return reserve(wallet, { key, amount: 2n * RUB, budget, caps });
    });
    const answers = await Promise.all(calls.map((op, at) => applied(openers[at % 2] as Store, op)));
    const refused = answers.flat().filter(({ status }) => status === 'cap');
    expect(new Set(refused.map((outcome) => outcome.cap))).to.deep.equal(new Set([user, run]));
    expect(answers.flat().filter(({ status }) => status === 'done')).to.have.length(calls.length - refused.length);
    const held = answers.flat().flatMap(({ status, charge: row }) => (status === 'done' && row ? [row] : []));
    for (const [id, most] of Object.entries({ [user]: 4, [run]: 3 })) {
      const counted = held.filter(({ caps }) => caps?.some((each) => each.id === id));
      expect(counted, id).to.have.length(most);
      expect(await readSpent(context.store, id)).to.deep.equal({ period: 1000, rub: 2 * most });
    }
    for (const row of held) expect(await openers[1]?.ledger.charge(row.id)).to.deep.equal(row);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('of a member, an end user and a run are exact together with wallet and key, whatever the others refuse', async () => {
    const openers = [context.store, await context.other()];
    const calls = longer(30, 300);
    // Room for a fifth of the calls, the first of which reach the other limits.
    const rub = 200 * (calls / 5);
    const [wallet, key] = [await newWallet(context.store, BigInt(rub)), newId('key')];
    const limits = { key, member: newId('member'), user: newId('user'), run: newId('run') };
    const begun = Array.from({ length: calls }, (_, at) => {
      const name = [...Object.keys(limits), 'none'][at % 5];
      const budget = { period: 1000, limit: (name === 'key' ? 700n : 100_000n) * RUB };
      // Every call counts in all; only one of them is narrow for it.
      const caps = (['member', 'user', 'run'] as const).map((each) => cap(limits[each], name === each ? 700 : 100_000));
      return reserve(wallet, { key, amount: 200n * RUB, budget, caps });
    });
    const answers = (await Promise.all(begun.map((op, at) => applied(openers[at % 2] as Store, op)))).flat();
    const done = answers.filter(({ status }) => status === 'done');
    expect(done).to.have.length(calls / 5);
    const spent = await Promise.all(Object.values(limits).map((id) => readSpent(context.store, id)));
    expect(spent).to.deep.equal(Object.values(limits).map(() => ({ period: 1000, rub })));
    const reasons = answers.map(({ status, cap: id }) => id ?? status);
    expect(new Set(reasons)).to.deep.equal(
      new Set(['done', 'insufficient', 'key_budget', limits.member, limits.user, limits.run]),
    );
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('get back what a call returns, whichever process ends it', async () => {
    const { store } = context;
    const other = await context.other();
    const [wallet, run, user] = [await newWallet(store), newId('run'), newId('user')];
    const ids = [newId('req'), newId('req'), newId('req'), newId('req')] as const;
    const by = { amount: 2n * RUB, caps: [cap(run, 8), cap(user, 8)] };
    const begun = ids.map((chargeId) => reserve(wallet, { ...by, chargeId }));
    expect(await statuses(store, ...begun)).to.deep.equal(['done', 'done', 'done', 'done']);
    expect(await statuses(other, settle(wallet, ids[0], { amount: RUB }))).to.deep.equal(['done']);
    const ends = [giveBack('refund', wallet, ids[0]), giveBack('release', wallet, ids[1]), settle(wallet, ids[2])];
    expect(await statuses(store, ...ends)).to.deep.equal(['done', 'done', 'done']);
    expect(await statuses(other, giveBack('expire', wallet, ids[3]))).to.deep.equal(['done']);
    for (const id of [run, user]) expect(await readSpent(other, id)).to.deep.equal({ period: 1000, rub: 1 });
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('that open with their first call last from then on, and open anew after their time', async () => {
    const { store } = context;
    const [wallet, run] = [await newWallet(store), newId('run')];
    const hold = (now: number) =>
      reserve(wallet, { amount: 2n * RUB, caps: [{ id: run, period: now - 100, opens: now, limit: 5n * RUB }] });
    const [first] = await applied(store, hold(1000));
    expect(first?.charge?.caps).to.deep.equal([{ id: run, period: 1000 }]);
    expect(await statuses(store, hold(1050), hold(1099))).to.deep.equal(['done', 'cap']);
    expect(await readSpent(store, run)).to.deep.equal({ period: 1000, rub: 4 });
    const [anew] = await applied(store, hold(1100));
    expect(anew?.charge?.caps).to.deep.equal([{ id: run, period: 1100 }]);
    // A call of the time before returns nothing to the new one.
    expect(await statuses(store, giveBack('release', wallet, first?.charge?.id ?? ''))).to.deep.equal(['done']);
    expect(await readSpent(store, run)).to.deep.equal({ period: 1100, rub: 2 });
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('of runs are removed once they are over, and take nothing back from then on', async () => {
    const { store } = context;
    const [wallet, id, old] = [await newWallet(store), newId('x'), newId('req')];
    const [run, user] = [`run:${id}`, `user:${id}`];
    const caps = (now: number) => [
      { id: run, period: now - 100, opens: now, limit: 9n * RUB },
      { id: user, period: 0, limit: 9n * RUB },
    ];
    await applied(store, charge(wallet, { chargeId: old, caps: caps(5) }));
    expect(await store.ledger.removeRuns(5, 100)).to.equal(0);
    let removed = 0;
    for (let step = 1; step > 0; removed += step) step = await store.ledger.removeRuns(6, 100);
    expect(removed).to.be.above(0);
    expect(await readSpent(store, run)).to.equal(undefined);
    expect(await readSpent(store, user)).to.deep.equal({ period: 0, rub: 1 });
    expect(await statuses(store, giveBack('refund', wallet, old))).to.deep.equal(['done']);
    expect(await readSpent(store, run)).to.equal(undefined);
    expect(await readSpent(store, user)).to.deep.equal({ period: 0, rub: 0 });
    expect(await problemsOf(store, wallet), 'the audit does not miss them').to.deep.equal([]);
    await applied(store, reserve(wallet, { caps: caps(500) }));
    expect(await readSpent(store, run)).to.deep.equal({ period: 500, rub: 1 });
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('leave room for what running calls may cost above their holds', async () => {
    const openers = [context.store, await context.other()];
    const [wallet, user] = [await newWallet(context.store, 100_000n), newId('user')];
    const shared = { amount: 3n * RUB, excess: 160n * RUB, caps: [cap(user, 330)] };
    const answers = [];
    for (let at = 0; at < 6; at += 1)
      answers.push(...(await statuses(openers[at % 2] as Store, reserve(wallet, shared))));
    // The third needs 3 RUB beside 326 of the others, the fourth beside 489.
    expect(answers).to.deep.equal(['done', 'done', 'done', 'cap', 'cap', 'cap']);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('of calls at once never let more run, count in no money, and take each back at its end', async () => {
    const openers = [context.store, await context.other()];
    const [wallet, id] = [await newWallet(context.store), getAccountCallsId(newId('acc'))];
    const caps = [{ id, period: 0, limit: 5n }];
    const running = { now: 0, most: 0 };
    /** Tries until it has a place, runs for a moment, and ends in one of the ways that a call can end. */
    async function call(at: number): Promise<void> {
      const opener = openers[at % 2] as Store;
      const chargeId = newId('req');
      // What may come above the hold is money, not calls.
      while ((await applied(opener, reserve(wallet, { chargeId, caps, excess: RUB })))[0]?.status === 'cap') {
        await sleep(20 * Math.random());
      }
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      // On a busy machine the next hold may take longer than this call.
      for (let waits = 0; waits === 0 || (running.most < 2 && waits < 250); waits += 1) await sleep(20);
      running.now -= 1;
      const ends = [settle(wallet, chargeId, { amount: 1n }), giveBack('release', wallet, chargeId)];
      const end = [...ends, giveBack('expire', wallet, chargeId)][at % 3] as Operation;
      // Whoever ends it: the sweep of another gateway, for one.
      expect(await statuses(openers[(at >> 1) % 2] as Store, end)).to.deep.equal(['done']);
    }
    await Promise.all(Array.from({ length: longer(7, 40) }, (_, at) => call(at)));
    expect(running.most).to.be.within(2, 5);
    const count = async () => (await context.store.ledger.budgets([id]))[0]?.spent;
    expect(await count()).to.equal(0n);
    // A hold that had expired gave its place back before its late answer was charged.
    const chargeId = newId('req');
    const late = [reserve(wallet, { chargeId, caps }), giveBack('expire', wallet, chargeId), settle(wallet, chargeId)];
    expect(await statuses(context.store, ...late)).to.deep.equal(['done', 'done', 'done']);
    expect(await count()).to.equal(0n);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('of calls at once follow a limit that is lowered or removed while calls run', async () => {
    const { store } = context;
    const other = await context.other();
    const [wallet, id] = [await newWallet(store), getKeyCallsId(newId('key'))];
    const within = (limit: bigint) => reserve(wallet, { caps: [{ id, period: 0, limit }] });
    const begun = await applied(store, within(3n), within(3n), within(3n), within(3n));
    expect(begun.map(({ status, cap: refused }) => refused ?? status)).to.deep.equal(['done', 'done', 'done', id]);
    const end = (at: number) => giveBack('release', wallet, begun[at]?.charge?.id ?? '');
    // Lowered: nobody enters until there are fewer.
    expect(await statuses(other, within(2n), end(0), within(2n), end(1), within(2n), within(2n))).to.deep.equal([
      'cap',
      'done',
      'cap',
      'done',
      'done',
      'cap',
    ]);
    // Removed: new calls do not count, those that run take back what they have counted.
    expect(await statuses(store, reserve(wallet), end(2))).to.deep.equal(['done', 'done']);
    expect(await statuses(other, within(2n), within(2n))).to.deep.equal(['done', 'cap']);
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('change nothing when they refuse, and are checked after the wallet and the key', async () => {
    const { store } = context;
    const [wallet, key, run] = [await newWallet(store), newId('key'), newId('run')];
    const before = await everythingOf(store, wallet);
    const caps = [cap(run, 0)];
    const [refused] = await applied(store, reserve(wallet, { caps }));
    expect(refused).to.deep.equal({ status: 'cap', wallet: before.wallet, cap: run, left: 0n });
    const dear = reserve(wallet, { amount: 10_000n * RUB, caps });
    const overBudget = charge(wallet, { key, caps, budget: { period: 0, limit: 0n } });
    expect(await statuses(store, dear, overBudget)).to.deep.equal(['insufficient', 'key_budget']);
    expect(await everythingOf(store, wallet)).to.deep.equal(before);
    expect(await store.ledger.budgets([run, key])).to.deep.equal([]);
  });
}
