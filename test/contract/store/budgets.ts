// The running sum of a key with a budget: in the hold's transaction, exact however many hold at once.
import { expect } from 'chai';
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

export function budgetContract(context: StoreContext): void {
  const terms = (rub: number, period = 1000) => ({ period, limit: BigInt(rub) * RUB });

  it('accepts three of many concurrent holds from two openers on a budget for three', async () => {
    const openers = [context.store, await context.other()];
    const [wallet, key] = [await newWallet(context.store), newId('key')];
    const holds = Array.from({ length: longer(10, 50) }, (_, at) =>
      statuses(openers[at % 2] as Store, reserve(wallet, { key, amount: 2n * RUB, budget: terms(7) })),
    );
    const answers = (await Promise.all(holds)).flat();
    expect(answers.filter((status) => status === 'done')).to.have.length(3);
    expect(answers.filter((status) => status === 'key_budget')).to.have.length(holds.length - 3);
    expect(await readSpent(context.store, key)).to.deep.equal({ period: 1000, rub: 6 });
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  itLong('accepts three holds by a key and its two replacements from two openers on a budget for three', async () => {
    const openers = [context.store, await context.other()];
    const [wallet, key] = [await newWallet(context.store), newId('key')];
    const calls = Array.from({ length: 60 }, (_, at) => {
      const budget = at % 3 === 0 ? terms(7) : { ...terms(7), key };
      return reserve(wallet, { key: at % 3 === 0 ? key : `${key}_${at % 3}`, amount: 2n * RUB, budget });
    });
    const answers = await Promise.all(calls.map((op, at) => applied(openers[at % 2] as Store, op)));
    const held = answers.flat().filter(({ status }) => status === 'done');
    expect(held).to.have.length(3);
    expect(answers.flat().filter(({ status }) => status === 'key_budget')).to.have.length(calls.length - 3);
    expect(await readSpent(context.store, key)).to.deep.equal({ period: 1000, rub: 6 });
    expect(await context.store.ledger.budgets([`${key}_1`, `${key}_2`])).to.deep.equal([]);
    for (const { charge: row } of held) {
      expect(await openers[1]?.ledger.charge(row?.id ?? '')).to.deep.equal(row);
      expect(row?.budgetKey).to.equal(row?.key === key ? null : key);
    }
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('returns money to the sum in which a call counts, whichever process ends it', async () => {
    const { store } = context;
    const other = await context.other();
    const [wallet, key] = [await newWallet(store), newId('key')];
    const ids = [newId('req'), newId('req'), newId('req')] as const;
    const by = { key: newId('key'), amount: 2n * RUB, budget: { ...terms(6), key } };
    const begun = ids.map((chargeId) => reserve(wallet, { ...by, chargeId }));
    expect(await statuses(store, ...begun)).to.deep.equal(['done', 'done', 'done']);
    expect(await statuses(other, settle(wallet, ids[0], { amount: RUB }))).to.deep.equal(['done']);
    const ends = [giveBack('refund', wallet, ids[0]), giveBack('release', wallet, ids[1]), settle(wallet, ids[2])];
    expect(await statuses(store, ...ends)).to.deep.equal(['done', 'done', 'done']);
    expect(await readSpent(other, key)).to.deep.equal({ period: 1000, rub: 1 });
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('counts the operations of one batch in order', async () => {
    const { store } = context;
    const [wallet, key] = [await newWallet(store), newId('key')];
    const ids = [newId('req'), newId('req'), newId('req')] as const;
    const hold = (chargeId: string) => reserve(wallet, { key, chargeId, amount: 4n * RUB, budget: terms(8) });
    const batch = [
      hold(ids[0]),
      hold(ids[1]),
      hold(ids[2]),
      settle(wallet, ids[0], { amount: RUB }),
      hold(newId('req')),
    ];
    expect(await statuses(store, ...batch)).to.deep.equal(['done', 'done', 'key_budget', 'done', 'key_budget']);
    const rest = [giveBack('release', wallet, ids[1]), charge(wallet, { key, amount: 7n * RUB, budget: terms(8) })];
    expect(await statuses(store, ...rest)).to.deep.equal(['done', 'done']);
    expect(await readSpent(store, key)).to.deep.equal({ period: 1000, rub: 8 });
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('counts a repeated batch once, even from another opener', async () => {
    const { store } = context;
    const other = await context.other();
    const [wallet, key, ended, kept] = [await newWallet(store), newId('key'), newId('req'), newId('req')];
    const batch = [
      reserve(wallet, { key, chargeId: ended, amount: 5n * RUB, budget: terms(6) }),
      settle(wallet, ended, { amount: 2n * RUB }),
      reserve(wallet, { key, chargeId: kept, amount: 4n * RUB, budget: terms(6) }),
    ];
    const first = await applied(store, ...batch);
    const before = await everythingOf(store, wallet);
    for (const by of [other, store]) {
      const again = await applied(by, ...batch);
      expect(again.map(({ status }) => status)).to.deep.equal(['exists', 'exists', 'exists']);
      expect(again[2]?.charge).to.deep.equal(first[2]?.charge);
    }
    expect(await everythingOf(store, wallet)).to.deep.equal(before);
    expect(await readSpent(store, key)).to.deep.equal({ period: 1000, rub: 6 });
  });

  it('keeps the period of a call, whichever process ends it in whichever period', async () => {
    const { store } = context;
    const other = await context.other();
    const [wallet, key, old, late] = [await newWallet(store), newId('key'), newId('req'), newId('req')];
    const [held] = await applied(store, reserve(wallet, { key, chargeId: old, amount: 5n * RUB, budget: terms(6) }));
    expect(held?.charge?.period).to.equal(1000);
    const next = reserve(wallet, { key, chargeId: late, amount: 5n * RUB, budget: terms(6, 2000) });
    expect(await statuses(other, next)).to.deep.equal(['done']);
    expect(await statuses(other, giveBack('release', wallet, old))).to.deep.equal(['done']);
    expect(await readSpent(store, key)).to.deep.equal({ period: 2000, rub: 5 });
    // A clock that is behind: the period that has begun is the one that counts.
    const [behind] = await applied(store, charge(wallet, { key, amount: RUB, budget: terms(6) }));
    expect([behind?.status, behind?.charge?.period]).to.deep.equal(['done', 2000]);
    expect(await store.ledger.charge(behind?.charge?.id ?? '')).to.deep.equal(behind?.charge);
    expect(await statuses(store, settle(wallet, late, { amount: 9n * RUB }))).to.deep.equal(['done']);
    expect(await readSpent(other, key)).to.deep.equal({ period: 2000, rub: 10 });
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  itLong(
    'is exact in the later of two periods if clocks differ and two openers send calls of both periods',
    async () => {
      const openers = [context.store, await context.other()];
      const [wallet, key] = [await newWallet(context.store), newId('key')];
      const calls = Array.from({ length: 60 }, (_, at) => {
        const opener = openers[(at >> 1) % 2] as Store;
        return applied(
          opener,
          reserve(wallet, { key, amount: 2n * RUB, budget: terms(7, at % 2 === 0 ? 1000 : 2000) }),
        );
      });
      const held = (await Promise.all(calls)).flat().filter(({ status }) => status === 'done');
      const periods = held.map(({ charge: row }) => row?.period);
      expect(periods.filter((period) => period === 2000)).to.have.length(3);
      expect(periods.filter((period) => period === 1000)).to.have.length.below(4);
      expect(held).to.have.length(periods.filter((period) => period === 1000).length + 3);
      expect(await readSpent(context.store, key)).to.deep.equal({ period: 2000, rub: 6 });
      expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
    },
  );

  it('changes nothing after a refusal, and stores nothing for a key without a budget', async () => {
    const { store } = context;
    const [wallet, key, free] = [await newWallet(store), newId('key'), newId('key')];
    const before = await everythingOf(store, wallet);
    const refused = [reserve(wallet, { key, budget: terms(0) }), charge(wallet, { key, budget: terms(0) })];
    const outcomes = await applied(store, ...refused);
    const wanted = { status: 'key_budget', wallet: before.wallet, left: 0n };
    for (const outcome of outcomes) expect(outcome).to.deep.equal(wanted);
    expect(await everythingOf(store, wallet)).to.deep.equal(before);
    const chargeId = newId('req');
    await applied(store, reserve(wallet, { key: free, chargeId }), settle(wallet, chargeId));
    expect((await store.ledger.charge(chargeId))?.period).to.equal(null);
    expect(await store.ledger.budgets([key, free])).to.deep.equal([]);
    expect(await store.ledger.budgets([])).to.deep.equal([]);
  });
}
