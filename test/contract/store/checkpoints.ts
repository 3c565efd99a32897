// Checkpoints of the audit: each wallet beside what was verified of it, and never an earlier one in the place of a later one.
import { expect } from 'chai';
import type { Checkpoint } from '../../../lib/store/ports/checkpoints.ts';
import { newAccount, newId, newWallet, type StoreKind, useStore } from './context.ts';

export function checkpointContract(kind: StoreKind): void {
  const context = useStore(kind);
  const at = (wallet: string, seq: number, avail = 5n): Checkpoint => ({
    ...{ wallet, seq, avail, held: 1n, charged: 2n, topped: 10n, adjusted: -2n, overshoot: 3n },
  });
  const all = (limit: number) => pagesOf(limit, (after) => context.store.checkpoints.page(after, limit));

  it('stand beside their wallets, in order of id, whatever the limit', async () => {
    const { store } = context;
    const wallets = [await newWallet(store), await newAccount(store), await newWallet(store)].toSorted();
    const [first = '', , last = ''] = wallets;
    const gone = [newId('aaa'), `${first}-gone`, newId('zzz')];
    const kept = [first, last, ...gone].map((id) => at(id, 1));
    await store.checkpoints.put(kept);
    for (const limit of [1, 2, 3, 100]) {
      const rows = await all(limit);
      expect(rows.map(({ id }) => id)).to.deep.equal([...wallets, ...gone].toSorted());
      for (const { id, wallet, checkpoint } of rows) {
        expect(wallet).to.deep.equal(await store.ledger.wallet(id));
        expect(checkpoint).to.deep.equal(kept.find((one) => one.wallet === id));
      }
    }
  });

  it('go forward only', async () => {
    const { store } = context;
    const id = await newWallet(store);
    const found = async () => (await all(100)).find((row) => row.id === id)?.checkpoint;
    await store.checkpoints.put([]);
    await store.checkpoints.put([at(id, 7)]);
    await store.checkpoints.put([at(id, 6, 100n), at(id, 7, 100n)]);
    expect(await found()).to.deep.equal(at(id, 7));
    const others = [newId('acc'), newId('acc')] as const;
    await store.checkpoints.put([at(others[0], 1), at(id, 6, 100n), at(others[1], 2)]);
    expect(await found()).to.deep.equal(at(id, 7));
    const put = (await all(100)).filter((row) => others.includes(row.id)).map(({ checkpoint }) => checkpoint);
    expect(put).to.have.deep.members([at(others[0], 1), at(others[1], 2)]);
    await Promise.all([at(id, 9, -(2n ** 60n)), at(id, 8)].map((checkpoint) => store.checkpoints.put([checkpoint])));
    expect(await found()).to.deep.equal(at(id, 9, -(2n ** 60n)));
  });
}

async function pagesOf<Row extends { readonly id: string }>(
  limit: number,
  read: (after: string) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after = ''; ; ) {
    const page = await read(after);
    rows.push(...page);
    const last = page.at(-1);
    if (!last || page.length < limit) return rows;
    after = last.id;
  }
}
