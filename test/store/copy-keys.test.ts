// Copies of keys that share a budget: the limits of each, and what they spent together.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { findChangedKeys } from '../../lib/store/copy-accounts.ts';
import { StoreError } from '../../lib/store/store.ts';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import { AT, applied, charge, RUB, rejection } from '../contract/store/context.ts';
import { useCopies } from './copies.ts';

describe('copy of keys that share a budget', () => {
  let from: FaultyStore;
  let to: FaultyStore;
  let wallet: string;

  const { copy, breakOff } = useCopies((opened) => {
    ({ source: from, target: to, wallet } = opened);
  });

  it('copies the limits of each key, even if they changed since it broke off', async () => {
    const { keys } = from.real;
    const limits = { ...NO_LIMITS, budget: 5n * RUB };
    const first = { id: 'key_1', account: wallet, name: 'n', hash: 'h1', last4: 'abcd', createdAt: AT, limits };
    await keys.add(first, 10);
    await copy();
    await breakOff();
    await keys.replace('key_1', { id: 'key_2', hash: 'h2', last4: 'abcd', createdAt: AT, endsAt: AT + 1 }, 10);
    await keys.limit('key_2', { ...limits, budget: 9n * RUB }, AT + 1);
    const call = { key: 'key_2', amount: RUB, budget: { key: 'key_1', period: 0, limit: 9n * RUB } };
    await applied(from.real, charge(wallet, call));
    await copy();
    const rows = await to.real.keys.list(wallet);
    expect(rows).to.deep.equal(await keys.list(wallet));
    expect(rows.map((row) => [row.budgetKey, row.limits.budget])).to.deep.equal([
      [null, 5n * RUB],
      ['key_1', 9n * RUB],
    ]);
    expect((await to.real.ledger.budgets(['key_1', 'key_2'])).map(({ spent }) => spent)).to.deep.equal([RUB]);
    await breakOff();
    await keys.limit('key_2', limits, AT + 1);
    to.next('keys.put', lose);
    expect(await rejection(copy())).to.be.instanceOf(StoreError);
    await copy();
    expect(await to.real.keys.list(wallet)).to.deep.equal(await keys.list(wallet));
    expect((await verifyLedger(to.real)).problems).to.deep.equal([]);
  });

  it('finds changed keys of an account on the first page of accounts and behind it', async () => {
    const nameAccount = (at: number) => String(at).padStart(9, '0');
    const side = (changed: string) => {
      const owners = async ({ after = '', limit = 0 }) =>
        Array.from({ length: 2 * limit }, (_, at) => nameAccount(at))
          .filter((id) => id > after)
          .slice(0, limit);
      const list = async (id: string) => [{ id, name: id === changed ? 'other' : 'name' }];
      return { accounts: {}, keys: { owners, list } } as never;
    };
    for (const changed of [nameAccount(0), nameAccount(700)])
      expect(await findChangedKeys(side(changed), side(''))).to.equal(changed);
    expect(await findChangedKeys(side(''), side(''))).to.equal(undefined);
  });

  it('copies all keys of an account', async () => {
    const { keys } = from.real;
    for (let count = 0; count < 60; count += 1) {
      const id = `key_${count}`;
      await keys.add({ id, account: wallet, name: 'n', hash: id, last4: 'abcd', createdAt: AT }, 100);
    }
    expect(await copy()).to.include({ keys: 60 });
    expect(await to.real.keys.list(wallet)).to.deep.equal(await keys.list(wallet));
  });
});
