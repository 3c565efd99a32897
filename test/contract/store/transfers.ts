// What came into all wallets and went back, listed and summed.
import { expect } from 'chai';
import { DAY_MS } from '../../../lib/base/durations.ts';
import type { Entry, Operation } from '../../../lib/money/decide.ts';
import { walkFrom } from '../../../lib/store/walks.ts';
import { AT, adjust, applied, charge, grant, newAccount, RUB, type StoreContext, topup } from './context.ts';
import { creditOf, newSucceeded, refundOf } from './payments.ts';

export function transferContract(context: StoreContext): void {
  /** Of these tests alone. */
  const from = AT + 50 * DAY_MS;
  const span = { from, to: from + 10 };

  it('is listed newest first, without calls, bonuses and what moved nothing, and summed', async () => {
    const { store } = context;
    const [wallet, other] = [await newAccount(store), await newAccount(store)];
    const payment = await newSucceeded(store, wallet);
    const at = (ms: number, op: Operation): Operation => ({ ...op, at: from + ms });
    await applied(store, at(-1, topup(wallet, 1000n * RUB)), at(10, topup(wallet, 2n)), at(10, adjust(other, 3n)));
    await applied(store, at(0, topup(wallet, 1000n * RUB)), at(1, creditOf(payment)));
    await applied(store, at(1, topup(other, 2000n * RUB)), at(2, grant(other, RUB)));
    await applied(store, at(3, charge(other, { amount: RUB })), at(1, adjust(other, -30n * RUB)));
    const credited = await store.payments.get(payment.id);
    if (credited) await applied(store, at(9, refundOf(credited, payment.id, 100n * RUB)));
    const list = async (limit: number, before?: Pick<Entry, 'at' | 'opId'>) =>
      store.ledger.transfers({ ...span, limit, before });
    const all = await list(10);
    expect(all.map((entry) => [entry.wallet, entry.kind, (entry.topped + entry.adjusted) / RUB])).to.deep.equal([
      [wallet, 'payback', -100n],
      [other, 'topup', 2000n],
      [wallet, 'pay', 1000n],
      [other, 'adjust', -30n],
      [wallet, 'topup', 1000n],
    ]);
    const paged: Entry[] = [];
    for await (const page of walkFrom(2, (last?: Entry) => list(2, last))) paged.push(...page);
    expect(paged).to.deep.equal(all);
    const sums = await store.ledger.paymentSums(span);
    expect(Object.fromEntries(sums.map(({ kind, count, amount }) => [kind, [count, amount / RUB]]))).to.deep.equal({
      topup: [2, 3000n],
      pay: [1, 1000n],
      payback: [1, -100n],
    });
    expect(await store.ledger.correctionSum(span)).to.equal(-30n * RUB);
    expect(await store.ledger.correctionSum({ from: from + 2, to: from + 9 })).to.equal(0n);
  });

  it('has no refund whose request has moved the money already', async () => {
    const { store } = context;
    const wallet = await newAccount(store);
    const order = await newSucceeded(store, wallet);
    await applied(store, { ...creditOf(order), at: from + 20 });
    const payment = await store.payments.get(order.id);
    if (payment) await applied(store, { ...refundOf(payment, order.id, 0n), at: from + 21 });
    const found = await store.ledger.transfers({ from: from + 20, to: from + 30, limit: 10 });
    expect(found.map(({ kind }) => kind)).to.deep.equal(['pay']);
  });
}
