// The walk over a whole store: every row once, in bounded pages, each account as it was at one moment.
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { journalPages } from '../../../lib/store/journal.ts';
import type { JournalPage } from '../../../lib/store/ports/journal.ts';
import type { Store } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import {
  AT,
  adjust,
  applied,
  charge,
  giveBack,
  newAccount,
  newId,
  newWallet,
  problemsInAll,
  reserve,
  type StoreKind,
  settle,
  useStore,
} from './context.ts';

export function journalContract(kind: StoreKind): void {
  const context = useStore(kind);

  it('is empty in an empty store', async () => {
    const [page, ...more] = await pagesOf(context.store, 10);
    expect(page).to.deep.include({ entries: [], wallets: [], accounts: [], charges: [], others: [], next: undefined });
    expect(more).to.deep.equal([]);
    expect(await context.store.journal.size()).to.deep.equal({ wallets: 0, entries: 0 });
    expect(await context.store.journal.unknownCharges('', 10)).to.deep.equal({ found: [] });
    expect(await context.store.journal.keys('', 10)).to.deep.equal([]);
  });

  it('returns everything once, in order, for any limit', async () => {
    const { store } = context;
    const wallets = [await newAccount(store), await newWallet(store), await newWallet(store), await newAccount(store)];
    const [first = ''] = await makeCalls(store, wallets[1] as string, 5);
    await makeCalls(store, wallets[2] as string, 1);
    const sum = { key: newId('key'), wallet: wallets[2] as string, period: 1000, spent: 7n };
    await applied(
      store,
      charge(wallets[2] as string, { key: sum.key, amount: sum.spent, budget: { period: sum.period, limit: null } }),
    );
    const ids = wallets.toSorted();
    const entries = (await Promise.all(ids.map((id) => store.ledger.entries(id, { limit: 100 })))).flatMap((list) =>
      list.toReversed(),
    );
    for (const limit of longer([2, 1000], [1, 2, 3, 4, 5, 11, 1000])) {
      const pages = await pagesOf(store, limit);
      expect(pages.flatMap((page) => page.entries)).to.deep.equal(entries);
      expect(pages.flatMap((page) => page.wallets.map(({ id }) => id))).to.deep.equal(ids);
      expect(pages.flatMap((page) => page.accounts)).to.deep.equal(ids.map((id) => ({ id })));
      expect(pages.flatMap((page) => page.budgets)).to.deep.equal([sum]);
      for (const page of pages) {
        expect(page.entries.length).to.be.at.most(limit);
        expect(page.wallets.length).to.be.at.most(limit);
      }
      for (const [index, { entries: some, wallets: ended, budgets, next }] of pages.entries()) {
        const rows = await store.journal.rows(pages[index - 1]?.next, limit);
        expect(rows).to.deep.equal({ entries: some, wallets: ended, budgets, next });
      }
      const page = pages.find((some) => some.entries.some((entry) => entry.charge === first));
      expect(page?.charges.find(({ id }) => id === first)).to.deep.equal(await store.ledger.charge(first));
      const both = [...(page?.entries ?? []), ...(page?.others ?? [])].filter((entry) => entry.charge === first);
      expect(both.toSorted((a, b) => a.seq - b.seq)).to.deep.equal(await store.ledger.listChargeEntries(first));
    }
    expect(await store.journal.size()).to.deep.equal({ wallets: 4, entries: entries.length });
    const charges = (await pagesOf(store, 1000)).flatMap((page) => page.charges.map(({ id }) => id)).sort();
    for (const limit of [1, 2]) {
      expect(await store.journal.unknownCharges('', limit)).to.deep.equal({ found: [], next: charges[limit - 1] });
    }
  });

  it('returns keys, their usage and their accounts', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const [used, unused] = ['a', 'b'].map((name) => `key_${name}_${wallet}`) as [string, string];
    for (const id of [used, unused]) {
      await store.keys.add({ id, account: wallet, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT }, 10);
    }
    await store.keys.use([{ id: used, count: 3, lastUsedAt: AT }]);
    const common = { account: wallet, hasAccount: true };
    const rows = [
      { id: used, ...common, requestsCount: 3, lastUsedAt: AT },
      { id: unused, ...common, requestsCount: 0, lastUsedAt: null },
    ];
    expect(await store.journal.keys('', 10)).to.deep.equal(rows);
    expect(await store.journal.keys('', 1)).to.deep.equal(rows.slice(0, 1));
    expect(await store.journal.keys(used, 1)).to.deep.equal(rows.slice(1));
    const start = { wallet, at: AT, chargeId: newId('req'), key: used, chargeKind: 'text', model: 'm' } as const;
    await applied(store, { kind: 'charge', ...start, prices: '{}', amount: 1n });
    const page = (await pagesOf(store, 1000)).at(-1);
    expect(page?.keys).to.deep.equal([{ id: used, account: wallet, budgetKey: null }]);
    expect(page?.keyed).to.deep.equal([wallet]);
    const part = await store.journal.walletPage(wallet, 0, 1);
    expect([part.keyed, part.accounts]).to.deep.equal([[wallet], []]);
  });

  it('reads each wallet consistently while it changes', async () => {
    const { store } = context;
    const wallet = await newWallet(store, 1_000_000n);
    await makeCalls(store, wallet, longer(12, 300));
    let writing = true;
    const writer = (async () => {
      while (writing) await makeCalls(store, wallet, 1);
    })();
    try {
      for (let turn = 0; turn < longer(2, 10); turn += 1) expect(await problemsInAll(store, wallet)).to.deep.equal([]);
    } finally {
      writing = false;
      await writer;
    }
  });

  it('reads a single wallet after an entry', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    await makeCalls(store, wallet, 3);
    await makeCalls(store, await newWallet(store), 2);
    const entries = (await store.ledger.entries(wallet, { limit: 100 })).toReversed();
    for (const seq of [0, 2, entries.length]) {
      for (const limit of longer([3], [1, 3, 100])) {
        const found = [];
        let page = await store.journal.walletPage(wallet, seq, limit);
        for (; page.next; page = await store.journal.walletPage(wallet, page.next.seq ?? 0, limit)) {
          found.push(...page.entries);
          expect([page.next.id, page.wallets]).to.deep.equal([wallet, []]);
        }
        expect([...found, ...page.entries]).to.deep.equal(entries.slice(seq));
        expect(page.wallets).to.deep.equal([await store.ledger.wallet(wallet)]);
        expect(page.accounts).to.deep.equal([{ id: wallet }]);
      }
    }
    expect(await store.journal.walletPage(newId('none'), 0, 10)).to.deep.include({
      entries: [],
      wallets: [],
      accounts: [],
    });
  });

  it('reads the rows for usage after an entry', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    await makeCalls(store, wallet, 3);
    await makeCalls(store, await newWallet(store), 2);
    const page = await store.journal.walletPage(wallet, 0, 100);
    const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
    const wanted = page.entries.map(({ seq, kind, charged, held, charge: id }) => {
      const { createdAt, key, model, kind: what, usage } = charges.get(id ?? '') ?? {};
      const call = id !== null && { charge: { id, createdAt, key, model, kind: what, usage } };
      return { seq, kind, charged, held, ...call, ...(kind === 'settle' && { attempts: [] }) };
    });
    // The first entry is the top-up's.
    expect(wanted.map((entry) => 'charge' in entry)).to.include.members([false, true]);
    for (const seq of [0, 2, wanted.length]) {
      for (const limit of longer([3], [1, 3, 100])) {
        expect(await store.journal.usedEntries(wallet, seq, limit)).to.deep.equal(wanted.slice(seq, seq + limit));
      }
    }
    expect(await store.journal.usedEntries(newId('none'), 0, 10)).to.deep.equal([]);
  });

  it('lists the live gateways', async () => {
    const { store } = context;
    await store.owners.renew({ id: 'own_gone', leaseMs: 1, alone: true });
    await store.owners.renew({ id: 'own_b', leaseMs: 60_000, alone: false });
    await store.owners.renew({ id: 'own_a', leaseMs: 60_000, alone: false });
    await setTimeout(10);
    expect(await store.gateways()).to.deep.equal(['own_a', 'own_b']);
    for (const id of ['own_a', 'own_b']) await store.owners.remove(id);
    expect(await store.gateways()).to.deep.equal([]);
  });
}

/** Calls with every end; resolves to their ids. */
async function makeCalls(store: Store, wallet: string, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => newId('req'));
  for (const [index, chargeId] of ids.entries()) {
    await applied(store, reserve(wallet, { chargeId }), adjust(wallet, 1n));
    if (index % 3 === 0) await applied(store, settle(wallet, chargeId), giveBack('refund', wallet, chargeId));
    if (index % 3 === 1) await applied(store, giveBack('expire', wallet, chargeId), settle(wallet, chargeId));
    if (index % 3 === 2) await applied(store, charge(wallet));
  }
  return ids;
}

async function pagesOf(store: Store, limit: number): Promise<readonly JournalPage[]> {
  return Array.fromAsync(journalPages(store.journal, limit));
}
