// Archives: one unfinished at a time; calls leave whole, behind the opening of their wallet only, and only as archived.

import { expect } from 'chai';
import { eachConcurrently } from '../../../lib/base/each-concurrently.ts';
import type { Archive, Opening, WholeCall } from '../../../lib/store/ports/archives.ts';
import { StoreError } from '../../../lib/store/store.ts';
import {
  AT,
  applied,
  charge,
  giveBack,
  newAccount,
  newAttempt,
  newId,
  newWallet,
  problemsOf,
  RUB,
  rejection,
  reserve,
  type StoreKind,
  settle,
  useStore,
  walletOf,
} from './context.ts';

export function archiveContract(kind: StoreKind): void {
  const context = useStore(kind);
  const note = (more: Partial<Archive> = {}): Archive => ({
    id: newId('arc'),
    file: '/backup/calls.gz',
    before: AT,
    state: 'writing',
    startedAt: AT,
    sha256: null,
    calls: 0,
    entries: 0,
    charged: 0n,
    first: null,
    last: null,
    ...more,
  });

  /** A wallet with some calls of one rouble, and its opening behind the last of them. */
  async function opened(count: number): Promise<{ wallet: string; calls: WholeCall[]; opening: Opening }> {
    const { store } = context;
    const wallet = await newWallet(store);
    const ids = Array.from({ length: count }, () => newId('req'));
    await applied(
      store,
      ...ids.flatMap((chargeId) => [
        reserve(wallet, { chargeId }),
        settle(wallet, chargeId, { attempts: [newAttempt()] }),
      ]),
    );
    const calls: WholeCall[] = [];
    // Not all at once: a busy machine would keep some waiting for a connection for too long.
    await eachConcurrently([...ids.entries()], 8, async ([at, id]) => {
      calls[at] = await wholeOf(id);
    });
    const { id: _id, status: _status, ...sums } = await walletOf(store, wallet);
    const opening = { wallet, ...sums, overshoot: 0n, lasting: 1, budgets: [], kept: null };
    return { wallet, calls, opening };
  }

  async function wholeOf(id: string): Promise<WholeCall> {
    const { ledger, attempts } = context.store;
    const found = await ledger.charge(id);
    if (!found) throw new Error(`no charge ${id}`);
    return { charge: found, entries: await ledger.listChargeEntries(id), attempts: await attempts.list([id]) };
  }

  const seqsOf = async (wallet: string) =>
    (await context.store.ledger.entries(wallet, { limit: 1000 })).map(({ seq }) => seq);

  it('starts once until it is done, and keeps the last progress', async () => {
    const { archives } = context.store;
    const first = note();
    const both = await Promise.all([archives.begin(first), archives.begin(note())]);
    expect(both[0]).to.deep.equal(both[1]);
    const [begun] = both;
    const leaving: Archive = {
      ...begun,
      state: 'leaving',
      sha256: 'ab',
      calls: 3,
      entries: 6,
      charged: -5n,
      first: 1,
      last: 2,
    };
    await archives.put(leaving);
    await archives.drop(begun.id);
    expect(await archives.begin(note())).to.deep.equal(leaving);
    await archives.put({ ...leaving, state: 'done' });
    await archives.put(leaving);
    expect(await archives.list()).to.deep.equal([{ ...leaving, state: 'done' }]);
    const second = note({ startedAt: AT + 1 });
    expect(await archives.begin(second)).to.deep.equal(second);
    await archives.drop(second.id);
    const copied = note({ state: 'done', sha256: 'cd', startedAt: AT - 1 });
    await archives.put(copied);
    expect(await archives.list()).to.deep.equal([copied, { ...leaving, state: 'done' }]);
    const twins = ['b', 'c', 'a'].map((letter) => ({ ...copied, id: newId(`arc_${letter}`), startedAt: AT - 2 }));
    for (const twin of twins) await archives.put(twin);
    const ids = (await archives.list()).slice(0, 3).map(({ id }) => id);
    expect(ids, 'of one moment').to.deep.equal(twins.map(({ id }) => id).toSorted());
  });

  it('fails if the store does not accept its progress, at the start and later', async () => {
    const { archives } = context.store;
    const before = await archives.list();
    const wrong = note({ state: 'odd' as 'done' });
    expect(await rejection(archives.put(wrong))).to.be.instanceOf(StoreError);
    expect(await rejection(archives.begin(wrong))).to.be.instanceOf(StoreError);
    expect(await archives.list()).to.deep.equal(before);
  });

  it('moves the opening of a wallet, with its checkpoint', async () => {
    const { store } = context;
    const { wallet, opening } = await opened(2);
    const later = opening;
    const earlier = { ...opening, seq: 3 };
    expect(await store.archives.opening(wallet)).to.equal(undefined);
    expect(await store.archives.open(earlier, 0)).to.equal(true);
    for (const other of [0, 4]) expect(await store.archives.open(later, other)).to.equal(false);
    expect(await store.archives.opening(wallet)).to.deep.equal(earlier);
    const budgets = [{ key: 'key_1', period: 7, spent: -(2n ** 60n) }];
    const next = { ...later, overshoot: 4n, budgets, kept: 'req_kept' };
    expect(await store.archives.open(next, 3)).to.equal(true);
    expect(await store.archives.openings({ after: '', limit: 1000 })).to.deep.include(next);
    expect(await store.archives.openings({ after: wallet, limit: 1000 })).to.not.deep.include(next);
    const found = (await store.checkpoints.page('', 1000)).find(({ id }) => id === wallet)?.checkpoint;
    expect(found).to.include({ seq: 5, overshoot: 4n });
    const page = await store.journal.walletPage(wallet, 0, 2);
    expect(page.openings).to.deep.equal([next]);
    // Its entries were all on the page before.
    expect((await store.journal.walletPage(wallet, later.seq, 2)).openings).to.deep.equal([next]);
  });

  it('lists the openings in order of wallet, page by page', async () => {
    const { archives } = context.store;
    const { opening } = await opened(1);
    const ids = ['b', 'c', 'a'].map((letter) => newId(`acc_zz${letter}`));
    for (const wallet of ids) await archives.open({ ...opening, wallet }, 0);
    const pageOf = async (after: string, limit: number) =>
      (await archives.openings({ after, limit })).map(({ wallet }) => wallet);
    const [first, ...others] = ids.toSorted() as [string, string, string];
    expect(await pageOf('acc_zz', 2)).to.deep.equal([first, others[0]]);
    expect(await pageOf(first, 5)).to.deep.equal(others);
  });

  it('moves an opening beyond a checkpoint without moving the checkpoint back', async () => {
    const { store } = context;
    const { wallet, opening } = await opened(2);
    const { seq, avail, held, charged, topped, adjusted } = opening;
    const sums = { held, charged, topped, adjusted, overshoot: 0n };
    const found = async () => (await store.checkpoints.page('', 1000)).find(({ id }) => id === wallet)?.checkpoint;
    await store.checkpoints.put([{ wallet, seq, avail: avail - 1n, ...sums }]);
    await store.archives.open({ ...opening, seq: seq - 2 }, 0);
    expect(await found()).to.deep.include({ seq, avail: avail - 1n });
    await store.archives.open(opening, seq - 2);
    expect(await found()).to.deep.include({ seq, avail: avail - 1n });
  });

  it('removes whole calls once, and the ledger still balances', async () => {
    const { store } = context;
    const { wallet, calls, opening } = await opened(3);
    const before = await walletOf(store, wallet);
    await store.archives.open(opening, 0);
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
    await store.archives.remove(wallet, calls.slice(0, 2));
    await store.archives.remove(wallet, calls.slice(0, 2));
    expect(await seqsOf(wallet)).to.deep.equal([7, 6, 1]);
    const id = calls[0]?.charge.id ?? '';
    expect(await store.ledger.charge(id)).to.equal(undefined);
    expect(await store.attempts.list([id])).to.deep.equal([]);
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
    await store.archives.remove(wallet, calls);
    expect(await seqsOf(wallet)).to.deep.equal([1]);
    expect(await walletOf(store, wallet)).to.deep.equal(before);
    await applied(store, reserve(wallet, { amount: 2n * RUB }));
    expect(await seqsOf(wallet)).to.deep.equal([8, 1]);
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('removes any number of calls at once, and restores them any number of times', async () => {
    const { store } = context;
    const { wallet, calls, opening } = await opened(120);
    const before = await seqsOf(wallet);
    await store.archives.open(opening, 0);
    await store.archives.remove(wallet, calls);
    expect(await seqsOf(wallet)).to.deep.equal([1]);
    const rows = { charges: calls.map(({ charge }) => charge), entries: calls.flatMap(({ entries }) => entries) };
    for (let times = 0; times < 2; times += 1) {
      await store.archives.restoreRows(rows);
      await store.attempts.put(calls.flatMap(({ attempts }) => attempts));
    }
    expect(await seqsOf(wallet)).to.deep.equal(before);
    expect(await wholeOf(calls[119]?.charge.id ?? '')).to.deep.equal(calls[119]);
  });

  it('removes nothing after the opening and nothing that differs from the archive', async () => {
    const { store } = context;
    const { wallet, calls, opening } = await opened(2);
    const [first, second] = calls as [WholeCall, WholeCall];
    expect(await rejection(store.archives.remove(wallet, calls))).to.be.instanceOf(StoreError);
    await store.archives.open({ ...opening, seq: 3 }, 0);
    expect(await rejection(store.archives.remove(wallet, calls))).to.be.instanceOf(StoreError);
    await store.archives.open(opening, 3);
    const other = { ...second, charge: { ...second.charge, charged: 1n } };
    expect(await rejection(store.archives.remove(wallet, [first, other]))).to.be.instanceOf(StoreError);
    const unattempted = { ...second, attempts: [] };
    expect(await rejection(store.archives.remove(wallet, [first, unattempted]))).to.be.instanceOf(StoreError);
    expect(await seqsOf(wallet)).to.deep.equal([5, 4, 3, 2, 1]);
  });

  it('skips a call that has moved since', async () => {
    const { store } = context;
    const { wallet, calls, opening } = await opened(2);
    const [first] = calls as [WholeCall];
    await store.archives.open(opening, 0);
    await applied(store, giveBack('refund', wallet, first.charge.id));
    await store.archives.remove(wallet, calls);
    expect(await seqsOf(wallet)).to.deep.equal([6, 3, 2, 1]);
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('restores every sum of a wallet, once', async () => {
    const copy = await context.open();
    const { opening } = await opened(1);
    const target = await newAccount(copy);
    const sums = { seq: 9, avail: 5n, held: 1n, charged: 2n, topped: 10n, adjusted: -2n };
    await copy.archives.restore({ ...opening, ...sums, wallet: target, lasting: 0, budgets: [] });
    expect(await walletOf(copy, target)).to.deep.equal({ id: target, status: 'active', ...sums });
    await copy.archives.restore({
      ...opening,
      ...sums,
      seq: 8,
      avail: 6n,
      topped: 11n,
      wallet: target,
      lasting: 0,
      budgets: [],
    });
    expect(await walletOf(copy, target)).to.deep.equal({ id: target, status: 'active', ...sums });
  });

  it('restores whether a wallet was suspended', async () => {
    const { store } = context;
    const { wallet, opening } = await opened(1);
    const target = await newAccount(store);
    await store.accounts.setStatus(wallet, 'suspended');
    const [last] = await store.ledger.entries(wallet, { limit: 1 });
    if (last)
      await store.archives.restoreRows({ charges: [], entries: [{ ...last, wallet: target, opId: newId('op') }] });
    await store.archives.restore({ ...opening, wallet: target, lasting: 0, budgets: [] });
    expect((await walletOf(store, target)).status).to.equal('suspended');
  });

  it('restores the state of a wallet at its opening, and lets it continue', async () => {
    const { store } = context;
    const copy = await context.open();
    const { wallet, opening } = await opened(1);
    const held = newId('req');
    await applied(store, reserve(wallet, { chargeId: held }), charge(wallet));
    const { id: _id, status: _status, ...sums } = await walletOf(store, wallet);
    const target = await newAccount(copy);
    const budgets = [{ key: newId('key'), period: 5, spent: 3n }];
    const rowsOf = async () => {
      const entries = (await store.ledger.entries(wallet, { limit: 10 })).toReversed().slice(3);
      const charges = await Promise.all(entries.map((entry) => store.ledger.charge(entry.charge ?? '')));
      const moved = (id: string) => `${id}-copy`;
      return {
        entries: entries.map((entry) => ({
          ...entry,
          wallet: target,
          opId: moved(entry.opId),
          charge: moved(entry.charge ?? ''),
        })),
        charges: charges.flatMap((found) => (found ? [{ ...found, wallet: target, id: moved(found.id) }] : [])),
      };
    };
    const rows = await rowsOf();
    await copy.archives.restoreRows(rows);
    await copy.archives.restoreRows(rows);
    const from = { ...opening, ...sums, wallet: target, lasting: 0, budgets };
    await copy.archives.restore(from);
    const [budget] = budgets as [(typeof budgets)[number]];
    expect(await copy.ledger.budgets([budget.key])).to.deep.equal([{ ...budget, wallet: target }]);
    await applied(copy, settle(target, `${held}-copy`));
    const more = { key: budget.key, amount: 4n, budget: { period: budget.period, limit: null } };
    await applied(copy, charge(target, more));
    await copy.archives.restore(from);
    const { seq, held: left, charged } = await walletOf(copy, target);
    expect({ seq, left, charged }).to.deep.equal({ seq: 7, left: 0n, charged: sums.charged + RUB + 4n });
    expect(await copy.ledger.budgets([budget.key])).to.deep.equal([{ ...budget, spent: 7n, wallet: target }]);
    expect(await problemsOf(copy, target)).to.deep.equal([]);
  });

  it('replaces the folded usage of a wallet', async () => {
    const { usage } = context.store;
    const wallet = newId('acc');
    const target = newId('acc');
    const counts = {
      calls: 2,
      charged: 2n ** 55n,
      refunded: 1n,
      failed: 2,
      cost: 3n,
      unpriced: 1,
      tokensInput: 3,
      tokensAudio: 9,
      tokensCacheRead: 6,
      tokensCacheWrite: 7,
      tokensCacheWrite1h: 8,
      tokensOutput: 4,
      tokensReasoning: 2,
      images: 0,
      seconds: 5,
    };
    const hour = { hour: 3_600_000, key: 'key_1', model: 'm', kind: 'text' as const, ...counts };
    await usage.add({ wallet, from: 0, to: 4, hours: [hour, { ...hour, model: 'n' }] });
    const whole = await usage.readAll(wallet);
    expect(whole.cursor).to.equal(4);
    for (const from of [0, 5]) expect(await usage.add({ wallet, from, to: 9, hours: [hour] })).to.equal(false);
    expect(await usage.readAll(wallet)).to.deep.equal(whole);
    expect(whole.hours).to.have.deep.members([hour, { ...hour, model: 'n' }]);
    await usage.add({ wallet: target, from: 0, to: 9, hours: [{ ...hour, key: 'other' }] });
    await usage.put(target, whole);
    await usage.put(target, whole);
    expect(await usage.readAll(target)).to.deep.include({ cursor: 4 });
    expect((await usage.readAll(target)).hours).to.have.deep.members([hour, { ...hour, model: 'n' }]);
    const none = { hours: [], days: [], weeks: [], routes: [], jobs: [], isPartial: false };
    await usage.put(target, { ...none, cursor: 1 });
    expect(await usage.readAll(target)).to.deep.equal({ ...none, cursor: 1 });
    const many = Array.from({ length: 1001 }, (_, at) => ({ ...hour, charged: 3n, hour: at * 3_600_000 }));
    await usage.put(target, { ...none, cursor: 5, hours: many });
    expect((await usage.readAll(target)).hours).to.have.length(1001);
    const [sums] = await usage.sums(target, { by: 'key' });
    expect(sums).to.deep.include({ group: 'key_1', calls: 2002, charged: 3003n });
    await usage.put(target, { ...none, cursor: 0 });
    expect(await usage.readAll(target)).to.deep.equal({ ...none, cursor: 0 });
  });
}
