// Calls that may cost more than their holds: what they may need is left alone, over all processes and within a batch.
import { expect } from 'chai';
import type { Operation } from '../../../lib/money/decide.ts';
import type { Store } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import {
  applied,
  balances,
  charge,
  giveBack,
  newId,
  newWallet,
  problemsOf,
  RUB,
  reserve,
  type StoreContext,
  settle,
  statuses,
  walletOf,
} from './context.ts';

export function exposureContract(context: StoreContext): void {
  /** 3 RUB are held, and up to 160 more may come. */
  const uncapped = (wallet: string, chargeId = newId('req')) =>
    reserve(wallet, { chargeId, amount: 3n * RUB, excess: 160n * RUB });

  it('leave a wallet at most one excess below zero, however many run concurrently', async () => {
    const openers = [context.store, await context.other(), await context.other(2)];
    const wallet = await newWallet(context.store);
    const calls = Array.from({ length: longer(18, 300) }, (_, at) => ({ at, op: uncapped(wallet) }));
    const statusOf = new Map<Operation, string>();
    const tries = openers.map(async (store, index) => {
      const own = calls.filter(({ at }) => at % 3 === index).map(({ op }) => op);
      for (let done = 0; done < own.length; done += 20) {
        const some = own.slice(done, done + 20);
        for (const [at, status] of (await statuses(store, ...some)).entries())
          statusOf.set(some[at] as Operation, status);
      }
    });
    await Promise.all(tries);
    const held = calls.map(({ op }) => op).filter((op) => statusOf.get(op) === 'done');
    // The seventh needs 3 RUB beside 960 of the others: 979 are left.
    expect(held).to.have.length(7);
    expect([...statusOf.values()].filter((status) => status === 'insufficient')).to.have.length(calls.length - 7);
    for (const [at, op] of held.entries()) {
      const { chargeId } = op as Operation & { chargeId: string };
      const store = openers[at % 3] as Store;
      expect(await statuses(store, settle(wallet, chargeId, { amount: 163n * RUB }))).to.deep.equal(['done']);
    }
    expect(balances(await walletOf(context.store, wallet))).to.deep.equal([-141, 0, 1141, 1000, 0]);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('need no more than their hold if no other call runs', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const first = newId('req');
    const second = newId('req');
    const whole = { amount: 1000n * RUB, excess: 5000n * RUB };
    expect(await statuses(store, reserve(wallet, { ...whole, chargeId: first }))).to.deep.equal(['done']);
    expect((await store.ledger.charge(first))?.excess).to.equal(5000n * RUB);
    await applied(store, giveBack('release', wallet, first));
    expect(await statuses(store, reserve(wallet, { ...whole, chargeId: second }))).to.deep.equal(['done']);
  });

  it('release their exposure to other calls, however they end', async () => {
    const store = context.store;
    const other = await context.other();
    for (const end of ['settle', 'release', 'expire'] as const) {
      const wallet = await newWallet(store);
      const chargeId = newId('req');
      await applied(store, reserve(wallet, { chargeId, amount: 3n * RUB, excess: 990n * RUB }));
      for (const next of [reserve(wallet, { amount: 8n * RUB }), charge(wallet, { amount: 8n * RUB })]) {
        const [outcome] = await other.ledger.apply([next]);
        expect(outcome).to.deep.include({ status: 'insufficient', exposed: 990n * RUB });
      }
      expect(await statuses(other, reserve(wallet, { amount: 7n * RUB }))).to.deep.equal(['done']);
      const ending = end === 'settle' ? settle(wallet, chargeId) : giveBack(end, wallet, chargeId);
      const after = reserve(wallet, { amount: 900n * RUB });
      expect(await statuses(store, ending, after)).to.deep.equal(['done', 'done']);
      expect(await problemsOf(other, wallet)).to.deep.equal([]);
    }
  });

  it('exceed the budget of a key and its replacement by at most one excess', async () => {
    const openers = [context.store, await context.other()];
    const [wallet, key] = [await newWallet(context.store, 100_000n), newId('key')];
    const budget = { period: 1000, limit: 330n * RUB };
    const by = [
      { key, budget },
      { key: `${key}_new`, budget: { ...budget, key } },
    ];
    const shared = { amount: 3n * RUB, excess: 160n * RUB };
    const calls = Array.from({ length: longer(6, 40) }, (_, at) => reserve(wallet, { ...shared, ...by[at % 2] }));
    const answers = await Promise.all(calls.map((op, at) => applied(openers[at % 2] as Store, op)));
    const held = answers.flat().flatMap(({ status, charge: row }) => (status === 'done' && row ? [row] : []));
    // The third needs 3 RUB beside 326 of the others, the fourth beside 489.
    expect(held).to.have.length(3);
    expect(answers.flat().filter(({ status }) => status === 'key_budget')).to.have.length(calls.length - 3);
    // Not those of another period, of a key without a budget, or of other keys.
    const later = { ...shared, key, budget: { ...budget, period: 2000 } };
    const others = [reserve(wallet, { ...shared, key }), reserve(wallet, { ...shared, key: newId('key'), budget })];
    expect(await statuses(context.store, ...others, reserve(wallet, later))).to.deep.equal(['done', 'done', 'done']);
    for (const { id } of held) await applied(context.store, settle(wallet, id, { amount: 163n * RUB }));
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('count within one batch, and only on their own wallet', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const another = await newWallet(store);
    const ops = [uncapped(wallet), uncapped(another), reserve(wallet, { amount: 840n * RUB }), reserve(wallet)];
    const batch = [...ops, reserve(another, { amount: 838n * RUB })];
    const wanted = ['done', 'done', 'insufficient', 'done', 'insufficient'];
    const outcomes = await store.ledger.apply(batch);
    expect(outcomes.map((outcome) => outcome?.status)).to.deep.equal(wanted);
  });
}
