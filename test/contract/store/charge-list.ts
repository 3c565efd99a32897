// The charges of a wallet, newest first: page after page, also where many began in the same moment, and filtered.
import { expect } from 'chai';
import type { Charge, Operation } from '../../../lib/money/decide.ts';
import type { ChargeFilter } from '../../../lib/store/ports/ledger.ts';
import {
  AT,
  applied,
  charge,
  giveBack,
  newAccount,
  newId,
  newWallet,
  reserve,
  type StoreContext,
  settle,
  walletOf,
} from './context.ts';

export function chargeListContract(context: StoreContext): void {
  async function pagesOf(wallet: string, limit: number, filter: ChargeFilter = {}): Promise<Charge[][]> {
    const pages: Charge[][] = [];
    let before: string | undefined;
    while (true) {
      const page = await context.store.ledger.charges(wallet, { limit, filter, ...(before && { before }) });
      if (page.length === 0) return pages;
      pages.push([...page]);
      before = page.at(-1)?.id as string;
    }
  }

  it('are listed unchanged, newest first, for one wallet only', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const other = await newWallet(store);
    const ids = ['b', 'a', 'c'].map((name) => `${name}_${newId('req')}`) as [string, string, string];
    for (const [index, chargeId] of ids.entries()) await applied(store, reserve(wallet, { chargeId, at: AT + index }));
    await applied(store, settle(wallet, ids[0], { at: AT + 10 }), giveBack('refund', wallet, ids[0]));
    await applied(store, reserve(other), charge(other));
    const found = await store.ledger.charges(wallet, { limit: 10 });
    expect(found.map(({ id }) => id)).to.deep.equal(ids.toReversed());
    expect(found).to.deep.equal(await Promise.all(ids.toReversed().map((id) => store.ledger.charge(id))));
    expect(await store.ledger.charges(await newAccount(store), { limit: 10 })).to.deep.equal([]);
    expect(await store.ledger.charges(newId('acc'), { limit: 10 })).to.deep.equal([]);
  });

  it('appear once in pages of any size, even if they have the same time', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const times = [AT, AT + 1, AT + 1, AT + 1, AT + 1, AT + 1, AT + 2, AT + 2, AT + 3];
    await applied(store, ...times.map((at, index) => (index % 2 ? charge(wallet, { at }) : reserve(wallet, { at }))));
    const all = await store.ledger.charges(wallet, { limit: 100 });
    expect(all.map(({ createdAt }) => createdAt)).to.deep.equal(times.toReversed());
    for (const limit of [1, 2, 3, 9]) {
      const pages = await pagesOf(wallet, limit);
      expect(pages.flat(), `pages of ${limit}`).to.deep.equal(all);
      for (const page of pages.slice(0, -1)) expect(page).to.have.length(limit);
    }
  });

  it('of adjoining parts of the journal are each in one of them', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const times = Array.from({ length: 9 }, (_, index) => AT + index);
    for (const at of times) {
      const chargeId = newId('req');
      await applied(store, reserve(wallet, { chargeId, at }), settle(wallet, chargeId, { at }));
    }
    const { seq } = await walletOf(store, wallet);
    // Each call has two entries.
    const edges = [0, 4, 10, seq].map((above) => ({ above, at: AT + (above - seq) / 2 + times.length }));
    const parts = edges.slice(0, -1).map(({ above, at }, index) => {
      const next = edges[index + 1] ?? { above, at };
      return { above, upTo: next.above, from: index === 0 ? 0 : Math.ceil(at), to: Math.ceil(next.at) };
    });
    const found = await Promise.all(
      parts.map(async (part) =>
        (await store.ledger.charges(wallet, { limit: 10, part })).map(({ createdAt }) => createdAt),
      ),
    );
    expect(found.toReversed().flat()).to.deep.equal(times.toReversed());
    expect(found.every((part) => part.length > 0)).to.equal(true);
    const some = { limit: 10, part: parts[1] as (typeof parts)[0], filter: { model: 'none' } };
    expect(await store.ledger.charges(wallet, some)).to.deep.equal([]);
  });

  it('keep their order if charges end and start between two pages', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const ids = Array.from({ length: 4 }, () => newId('req'));
    for (const [index, chargeId] of ids.entries()) await applied(store, reserve(wallet, { chargeId, at: AT + index }));
    const [first, second] = await store.ledger.charges(wallet, { limit: 2 });
    await applied(store, settle(wallet, second?.id ?? ''), reserve(wallet, { at: AT + 9 }));
    const rest = await store.ledger.charges(wallet, { limit: 2, before: second?.id ?? '' });
    expect([first, second, ...rest].map((row) => row?.id)).to.deep.equal(ids.toReversed());
  });

  it('are empty after a charge of another wallet', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const other = await newWallet(store);
    const foreign = newId('req');
    await applied(store, reserve(wallet));
    await applied(store, reserve(other, { chargeId: foreign, at: AT + 5 }));
    for (const before of [foreign, newId('req')]) {
      expect(await store.ledger.charges(wallet, { limit: 10, before })).to.deep.equal([]);
    }
  });

  it('are filtered by each filter, and by all of them in pages', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const names = ['plain', 'key', 'model', 'video', 'settled', 'late'] as const;
    const ids = Object.fromEntries(names.map((name) => [name, newId('req')])) as Record<string, string>;
    const hold = (name: string, more: object = {}) =>
      ({ ...reserve(wallet, { chargeId: ids[name] as string }), ...more }) as Operation;
    await applied(
      store,
      ...[hold('plain'), hold('key', { key: 'key_2' }), hold('model', { model: 'model-2' })],
      ...[charge(wallet, { chargeId: ids.video as string }), hold('settled'), hold('late', { at: AT + 100 })],
      ...[settle(wallet, ids.settled as string)],
    );
    const cases: readonly [ChargeFilter, readonly string[]][] = [
      [{}, names],
      [{ key: 'key_2' }, ['key']],
      [{ model: 'model-2' }, ['model']],
      [{ kind: 'video' }, ['video']],
      [{ state: 'settled' }, ['video', 'settled']],
      [{ state: 'settled', kind: 'text' }, ['settled']],
      [{ state: 'refunded' }, []],
      [{ from: AT + 1 }, ['late']],
      [{ from: AT + 100 }, ['late']],
      [{ from: AT + 101 }, []],
      [{ to: AT }, []],
      [{ to: AT + 100, state: 'held' }, ['plain', 'key', 'model']],
      [{ from: AT, to: AT + 1, key: 'key_1', model: 'model-1', kind: 'text', state: 'held' }, ['plain']],
    ];
    for (const [filter, wanted] of cases) {
      const expected = wanted.map((name) => ids[name]);
      for (const limit of [1, 10]) {
        const found = (await pagesOf(wallet, limit, filter)).flat().map(({ id }) => id);
        expect(found, JSON.stringify(filter)).to.have.members(expected).and.have.length(expected.length);
      }
    }
  });
}
