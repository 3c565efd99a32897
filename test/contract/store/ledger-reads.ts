// What the ledger tells: wallets, charges, the journal, sums over time, and orphans.
import { expect } from 'chai';
import type { Charge } from '../../../lib/money/decide.ts';
import type { OrphanPage } from '../../../lib/store/ports/ledger.ts';
import type { Store } from '../../../lib/store/store.ts';
import {
  AT,
  adjust,
  applied,
  charge,
  giveBack,
  grant,
  newAccount,
  newId,
  newWallet,
  PRICES,
  RUB,
  reserve,
  type StoreContext,
  type StoreKind,
  settle,
  topup,
  useStore,
} from './context.ts';

export function ledgerReadContract(kind: StoreKind): void {
  const context = useStore(kind);
  rowTests(context);
  journalTests(context);
  describe('charged over time', () => chargedAtTests(context));
  describe('money moved otherwise than by calls', () => movementTests(context));
  describe('orphans', () => orphanTests(context));
}

function rowTests(context: StoreContext): void {
  it('finds nothing for unknown ids', async () => {
    const { ledger } = context.store;
    expect(await ledger.wallet(newId('acc'))).to.equal(undefined);
    expect(await ledger.charge(newId('req'))).to.equal(undefined);
    expect(await ledger.entries(newId('acc'), { limit: 10 })).to.deep.equal([]);
    expect(await ledger.listChargeEntries(newId('req'))).to.deep.equal([]);
    expect(await ledger.chargedAt(newId('acc'), AT)).to.equal(0n);
  });

  it('returns a new wallet, and a charge with all facts of its call', async () => {
    const { store } = context;
    const wallet = await newAccount(store);
    const empty = { avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, seq: 0, status: 'active' };
    expect(await store.ledger.wallet(wallet)).to.deep.equal({ id: wallet, ...empty });
    await applied(store, topup(wallet, 1000n * RUB));
    const chargeId = newId('req');
    await applied(store, reserve(wallet, { chargeId, amount: 3n * RUB, owner: 'own_7', lease: AT + 9 }));
    expect(await store.ledger.charge(chargeId)).to.deep.equal({
      id: chargeId,
      wallet,
      key: 'key_1',
      kind: 'text',
      state: 'held',
      reserved: 3n * RUB,
      charged: 0n,
      model: 'model-1',
      prices: PRICES,
      usage: null,
      owner: 'own_7',
      lease: AT + 9,
      createdAt: AT,
      endedAt: null,
      period: null,
      budgetKey: null,
    });
    await applied(store, settle(wallet, chargeId, { amount: 2n * RUB, at: AT + 5 }));
    expect(await store.ledger.charge(chargeId)).to.deep.include({
      state: 'settled',
      reserved: 3n * RUB,
      charged: 2n * RUB,
      usage: '{"tokens_input":10,"tokens_output":20}',
      owner: null,
      lease: null,
      createdAt: AT,
      endedAt: AT + 5,
    });
  });
}

function journalTests(context: StoreContext): void {
  it('lists entries newest first, in pages', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    await applied(store, ...Array.from({ length: 9 }, () => reserve(wallet)));
    const seqs = async (page: { before?: number; limit: number }) =>
      (await store.ledger.entries(wallet, page)).map((entry) => entry.seq);
    expect(await seqs({ limit: 4 })).to.deep.equal([10, 9, 8, 7]);
    expect(await seqs({ before: 7, limit: 4 })).to.deep.equal([6, 5, 4, 3]);
    expect(await seqs({ before: 3, limit: 4 })).to.deep.equal([2, 1]);
    expect(await seqs({ before: 1, limit: 4 })).to.deep.equal([]);
  });

  it('keeps every field of each entry', async () => {
    const { store } = context;
    const wallet = await newAccount(store);
    await applied(store, topup(wallet, 1000n * RUB, { paymentId: 'bank-1', at: AT + 1 }));
    await applied(store, adjust(wallet, -7n * RUB, { adjustId: `${wallet}-a`, reason: 'goodwill' }));
    const none = { charge: null, avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, overshoot: 0n };
    const rest = { ...none, wallet, chargedAfter: 0n, status: null };
    const entries = await store.ledger.entries(wallet, { limit: 10 });
    for (const { mark } of entries) expect(mark).to.match(/^[0-9a-f]{8}$/);
    expect(entries.map(({ mark: _, ...entry }) => entry)).to.deep.equal([
      {
        ...rest,
        opId: `adjust:${wallet}-a`,
        seq: 2,
        kind: 'adjust',
        at: AT,
        avail: -7n * RUB,
        adjusted: -7n * RUB,
        note: 'goodwill',
      },
      {
        ...rest,
        opId: 'topup:bank-1',
        seq: 1,
        kind: 'topup',
        at: AT + 1,
        avail: 1000n * RUB,
        topped: 1000n * RUB,
        note: 'bank-1',
      },
    ]);
  });

  it('lists the entries of one charge, oldest first', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const chargeId = newId('req');
    const other = newId('req');
    await applied(store, reserve(wallet, { chargeId }), reserve(wallet, { chargeId: other }));
    await applied(store, settle(wallet, other), settle(wallet, chargeId), giveBack('refund', wallet, chargeId));
    const entries = await store.ledger.listChargeEntries(chargeId);
    expect(entries.map(({ kind, seq }) => [kind, seq])).to.deep.equal([
      ['reserve', 2],
      ['settle', 5],
      ['refund', 6],
    ]);
    expect(new Set(entries.map((entry) => entry.charge))).to.deep.equal(new Set([chargeId]));
    for (const kind of ['release', 'expire'] as const) {
      const ended = newId('req');
      await applied(store, reserve(wallet, { chargeId: ended }), giveBack(kind, wallet, ended));
      const kinds = (await store.ledger.listChargeEntries(ended)).map((entry) => entry.kind);
      expect(kinds).to.deep.equal(['reserve', kind]);
    }
    const video = newId('req');
    await applied(store, charge(wallet, { chargeId: video }));
    expect((await store.ledger.listChargeEntries(video)).map((entry) => entry.kind)).to.deep.equal(['charge']);
  });

  it('does not confuse a payment with a charge of the same name', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const name = newId('req');
    await applied(store, topup(wallet, RUB, { paymentId: name }), reserve(wallet, { chargeId: name }));
    expect((await store.ledger.listChargeEntries(name)).map((entry) => entry.kind)).to.deep.equal(['reserve']);
  });
}

function chargedAtTests(context: StoreContext): void {
  it('is the charged sum up to a time, minus refunds', async () => {
    const { store } = context;
    const wallet = await newAccount(store);
    const first = newId('req');
    const second = newId('req');
    await applied(store, topup(wallet, 1000n * RUB, { at: AT }));
    await applied(store, reserve(wallet, { chargeId: first, at: AT + 10 }));
    await applied(store, settle(wallet, first, { amount: 5n * RUB, at: AT + 20 }));
    await applied(store, charge(wallet, { chargeId: second, amount: 8n * RUB, at: AT + 30 }));
    await applied(store, giveBack('refund', wallet, first, { at: AT + 40 }));
    await applied(store, reserve(wallet, { at: AT + 50 }));
    const moments: readonly [number, bigint][] = [
      [0, 0n],
      [AT - 1, 0n],
      [AT + 19, 0n],
      [AT + 20, 5n],
      [AT + 29, 5n],
      [AT + 30, 13n],
      [AT + 39, 13n],
      [AT + 40, 8n],
      [AT + 1_000_000, 8n],
    ];
    for (const [at, rub] of moments) {
      expect(await store.ledger.chargedAt(wallet, at), `at ${at - AT}`).to.equal(rub * RUB);
    }
  });

  it('includes all entries of the same millisecond', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    await applied(store, charge(wallet), charge(wallet), charge(wallet));
    expect(await store.ledger.chargedAt(wallet, AT)).to.equal(3n * RUB);
    expect(await store.ledger.chargedAt(wallet, AT - 1)).to.equal(0n);
  });

  it('has all that was written up to a time, even if a gateway’s clock was behind', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    for (const at of [AT + 30, AT + 20, AT + 25]) await applied(store, charge(wallet, { at }));
    const found = await Promise.all([19, 20, 24, 25, 29, 30].map((ms) => store.ledger.chargedAt(wallet, AT + ms)));
    expect(found).to.deep.equal([0n, 2n, 2n, 3n, 3n, 3n].map((rub) => rub * RUB));
  });
}

function movementTests(context: StoreContext): void {
  it('is listed in order of time and summed from a time on, without calls and those of others', async () => {
    const { store } = context;
    const wallet = await newAccount(store);
    const other = await newAccount(store);
    await applied(store, topup(wallet, 1000n * RUB, { at: AT }), topup(other, 5000n * RUB, { at: AT }));
    await applied(store, charge(wallet, { amount: 8n * RUB, at: AT + 10 }));
    await applied(store, { ...adjust(wallet, -30n * RUB), at: AT + 20 });
    await applied(store, topup(wallet, 500n * RUB, { at: AT + 15 }));
    await applied(store, grant(wallet, 7n * RUB, { at: AT + 30 }));
    const list = async (from: number, to: number, limit = 10) =>
      (await store.ledger.movements(wallet, { from, to, limit })).map(({ kind, topped, adjusted, granted = 0n }) => [
        kind,
        (topped + adjusted + granted) / RUB,
      ]);
    expect(await list(0, AT + 100)).to.deep.equal([
      ['topup', 1000n],
      ['topup', 500n],
      ['adjust', -30n],
      ['grant', 7n],
    ]);
    expect(await list(AT + 1, AT + 20)).to.deep.equal([['topup', 500n]]);
    expect(await list(0, AT + 100, 1)).to.deep.equal([['topup', 1000n]]);
    const sums = await Promise.all([AT, AT + 1, AT + 20, AT + 21].map((at) => store.ledger.movedSince(wallet, at)));
    expect(sums).to.deep.equal([1477n, 477n, -23n, 7n].map((rub) => rub * RUB));
    expect(await store.ledger.movedSince(newId('acc'), 0)).to.equal(0n);
  });

  it('is summed up to a time without grants, whose part of calls is summed by itself, less refunds', async () => {
    const { store } = context;
    const wallet = await newAccount(store);
    const [first, film] = [newId('req'), newId('req')];
    await applied(store, topup(wallet, 1000n * RUB, { at: AT }), grant(wallet, 7n * RUB, { at: AT + 1 }));
    await applied(store, reserve(wallet, { chargeId: first, amount: 9n * RUB, at: AT + 2 }));
    await applied(store, settle(wallet, first, { amount: 5n * RUB, at: AT + 3 }));
    await applied(store, charge(wallet, { chargeId: film, amount: 4n * RUB, at: AT + 4 }));
    await applied(store, giveBack('refund', wallet, film, { at: AT + 5 }));
    await applied(store, charge(wallet, { amount: 8n * RUB, at: AT + 6 }));
    await applied(store, adjust(wallet, -30n * RUB));
    const paid = await Promise.all([AT, AT + 1].map((at) => store.ledger.paidBefore(wallet, at)));
    expect(paid).to.deep.equal([0n, 970n * RUB]);
    expect(await Promise.all([wallet, newId('acc')].map((id) => store.ledger.hadGrants(id)))).to.deep.equal([
      true,
      false,
    ]);
    const spans = [
      [2, 4],
      [4, 5],
      [5, 6],
      [6, 9],
      [0, 9],
    ] as const;
    const sums = spans.map(([from, to]) => store.ledger.grantsCharged(wallet, { from: AT + from, to: AT + to }));
    expect(await Promise.all(sums)).to.deep.equal([5n, 2n, -2n, 2n, 7n].map((rub) => rub * RUB));
    expect(await store.ledger.grantsCharged(newId('acc'), { from: 0, to: AT })).to.equal(0n);
  });
}

function orphanTests(context: StoreContext): void {
  const LEASE_MS = 30_000;
  const page = (now: number, more: Partial<OrphanPage> = {}) => ({ now, leaseMs: LEASE_MS, limit: 10_000, ...more });
  const orphansOf = async (store: Store, wallet: string, now: number) =>
    (await store.ledger.orphans(page(now))).filter((row) => row.wallet === wallet);
  /** An owner that is alive for so long from the store's time, which it resolves to. */
  const renew = async (store: Store, id: string, leaseMs: number) =>
    (await store.owners.renew({ id, leaseMs, alone: false })).now;

  it('are held charges whose lease has ended and whose owner is not alive', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const alive = newId('own');
    const dead = newId('own');
    await renew(store, dead, 5000);
    const from = await renew(store, alive, LEASE_MS);
    const [ofAlive, ofDead, leased, settled, released] = Array.from({ length: 5 }, () => newId('req')) as [
      ...[string, string, string, string, string],
    ];
    await applied(
      store,
      reserve(wallet, { chargeId: ofAlive, owner: alive, lease: from + 10_000 }),
      reserve(wallet, { chargeId: ofDead, owner: dead, lease: from + 10_000 }),
      reserve(wallet, { chargeId: leased, owner: dead, lease: from + 60_000 }),
      reserve(wallet, { chargeId: settled, owner: dead, lease: from + 10_000 }),
      reserve(wallet, { chargeId: released, owner: dead, lease: from + 10_000 }),
    );
    await applied(store, settle(wallet, settled), giveBack('release', wallet, released));
    const ids = async (now: number) => (await orphansOf(store, wallet, now)).map((row) => row.id);
    expect(await ids(from + 10_000), 'the lease is not over').to.deep.equal([]);
    expect(await ids(from + 20_000)).to.deep.equal([ofDead]);
    expect(await ids(from + LEASE_MS - 1000), 'the owner lives until then').to.deep.equal([ofDead]);
    expect(await ids(from + LEASE_MS + 1000)).to.have.members([ofDead, ofAlive]);
    expect(await ids(from + 90_000)).to.have.members([ofDead, ofAlive, leased]);
    const [row] = await orphansOf(store, wallet, from + 20_000);
    expect(row).to.deep.equal(await store.ledger.charge(ofDead));
  });

  it('include charges from a clock that ran ahead: a lease that ends after more than two leases is over', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const owner = newId('own');
    const from = await renew(store, owner, LEASE_MS);
    const year = 365 * 86_400_000;
    const near = newId('req');
    const far = newId('req');
    await applied(
      store,
      reserve(wallet, { chargeId: near, owner: newId('own'), lease: from + 2 * LEASE_MS }),
      reserve(wallet, { chargeId: far, owner: newId('own'), lease: from + 2 * LEASE_MS + 1 }),
      reserve(wallet, { owner, lease: from + year }),
    );
    const ids = async (now: number) => (await orphansOf(store, wallet, now)).map((row) => row.id);
    expect(await ids(from)).to.deep.equal([far]);
    // As seen by a store whose clock was set back: the owner's own lease is far ahead too.
    expect(await ids(from - LEASE_MS - 1000)).to.have.length(3);
  });

  it('include charges of owners that never registered or have left', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const left = newId('own');
    const now = await renew(store, left, 90_000);
    await applied(
      store,
      reserve(wallet, { owner: newId('own'), lease: now - 1 }),
      reserve(wallet, { owner: left, lease: now - 1 }),
    );
    expect(await orphansOf(store, wallet, now)).to.have.length(1);
    await store.owners.remove(left);
    expect(await orphansOf(store, wallet, now)).to.have.length(2);
  });

  it('are returned page by page up to the limit, and not after they expired', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const leases = [AT - 3, AT - 2, AT - 2, AT - 2, AT - 1];
    await applied(store, ...leases.map((lease) => reserve(wallet, { owner: newId('own'), lease })));
    const pages: Charge[] = [];
    let after: OrphanPage['after'];
    while (true) {
      const found = await store.ledger.orphans(page(AT, { limit: 2, ...(after && { after }) }));
      pages.push(...found);
      const last = found.at(-1);
      if (!last) break;
      expect(found.length).to.be.at.most(2);
      after = { lease: last.lease!, id: last.id };
    }
    expect(pages).to.deep.equal(await store.ledger.orphans(page(AT)));
    expect(pages.filter((row) => row.wallet === wallet).map((row) => row.lease)).to.deep.equal(leases);
    const found = await orphansOf(store, wallet, AT);
    await applied(store, ...found.map((row) => giveBack('expire', wallet, row.id)));
    expect(await orphansOf(store, wallet, AT)).to.deep.equal([]);
  });
}
