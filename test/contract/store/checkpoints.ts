// Checkpoints of the audit: each wallet beside what was verified of it, and never an earlier one in the place of a later one.
import { expect } from 'chai';
import { verifyChanges } from '../../../lib/ledger/audit-changes.ts';
import type { Wallet } from '../../../lib/money/decide.ts';
import type { ChangedWallets, Checkpoint } from '../../../lib/store/ports/checkpoints.ts';
import { type Store, StoreError } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import { AT, adjust, applied, newAccount, newId, newWallet, rejection, type StoreKind, useStore } from './context.ts';

const at = (wallet: string, seq: number, avail = 5n): Checkpoint => ({
  wallet,
  seq,
  avail,
  held: 1n,
  charged: 2n,
  topped: 10n,
  adjusted: -2n,
  overshoot: 3n,
});

export function checkpointContract(kind: StoreKind): void {
  const context = useStore(kind);
  const all = (limit: number) => pagesOf(limit, (after) => context.store.checkpoints.page(after, limit));

  it('are listed with their wallets in order of id, for any limit', async () => {
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

  it('only move forward', async () => {
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
    const wrong = at(newId('acc'), -1);
    expect(await rejection(store.checkpoints.put([at(id, 6), wrong]))).to.be.instanceOf(StoreError);
    await Promise.all([at(id, 9, -(2n ** 60n)), at(id, 8)].map((checkpoint) => store.checkpoints.put([checkpoint])));
    expect(await found()).to.deep.equal(at(id, 9, -(2n ** 60n)));
  });
}

/** In a store of its own: what has changed is asked of all wallets. */
export function changesContract(kind: StoreKind): void {
  const context = useStore(kind);

  /** As an audit that found nothing wrong leaves them. */
  async function verified(): Promise<void> {
    const rows = await pagesOf(100, (after) => context.store.checkpoints.page(after, 100));
    const entered = rows.flatMap(({ wallet }) => (wallet && wallet.seq > 0 ? [wallet] : []));
    await context.store.checkpoints.put(
      entered.map(({ id: wallet, status: _status, ...sums }) => ({ wallet, ...sums, overshoot: 0n })),
    );
  }

  it('are empty without wallets, except for leftover checkpoints', async () => {
    const { store } = context;
    expect(await store.checkpoints.changes('', 10)).to.deep.equal({ wallets: 0, found: [] });
    const left = [at(newId('zzz'), 3), at(newId('aaa'), 4)];
    await store.checkpoints.put(left);
    const found = left.toReversed().map((checkpoint) => ({ id: checkpoint.wallet, checkpoint }));
    expect(await store.checkpoints.changes('', 10)).to.deep.equal({ wallets: 0, found });
    const [first, last] = found.map(({ id }) => id) as [string, string];
    expect((await store.checkpoints.changes(first, 10)).found).to.deep.equal(found.slice(1));
    expect(await store.checkpoints.changes(last, 10)).to.deep.equal({ wallets: 0, found: [] });
  });

  it('are the wallets whose sums differ from their checkpoints, for any limit', async () => {
    const { store } = context;
    const { found: left } = await store.checkpoints.changes('', 10);
    const leftIds = left.map(({ id }) => id);
    const wallets = await Promise.all(Array.from({ length: 7 }, () => newWallet(store)));
    const empty = await newAccount(store);
    const all = [...wallets].sort();
    const ids = (found: ChangedWallets['found']) => found.map(({ id }) => id);
    for (const limit of [1, 3, 8, 9]) {
      const { wallets: count, looks, found } = await changesOf(store, limit);
      expect(count).to.equal(8);
      expect(looks).to.equal(Math.floor(8 / limit) + 1);
      expect(ids(found)).to.deep.equal([...all, ...leftIds].sort());
      expect(found.filter(({ checkpoint }) => checkpoint)).to.deep.equal(left);
    }
    await verified();
    expect((await changesOf(store, 3)).found).to.deep.equal(left);
    await applied(store, adjust(all[2] as string, 1n), adjust(all[2] as string, -1n));
    await applied(store, adjust(empty, 5n));
    await store.accounts.setStatus(all[4] as string, 'suspended');
    const { found } = await changesOf(store, 3);
    expect(ids(found)).to.deep.equal([all[2], all[4], empty, ...leftIds].sort());
    expect(found.find(({ id }) => id === all[2])?.checkpoint).to.deep.include({ wallet: all[2], seq: 1 });
    expect(found.find(({ id }) => id === empty)?.checkpoint).to.equal(undefined);
  });

  it('are detected by each single sum', async () => {
    const { store } = context;
    const id = await newWallet(store);
    const wallet = (await store.ledger.wallet(id)) as Wallet;
    const { status: _status, seq, playMoney: _play, opened: _opened, ...sums } = wallet;
    const { id: _id, ...money } = sums;
    const isFound = async () => (await changesOf(store, 100)).found.some((row) => row.id === id);
    let number = 0;
    for (const column of [...Object.keys(money), 'granted']) {
      number += 1;
      const fresh = await newWallet(store);
      const own = { wallet: fresh, seq, ...money, overshoot: 0n };
      await store.checkpoints.put([
        { ...own, [column]: (((own as Record<string, unknown>)[column] as bigint | undefined) ?? 0n) + 1n },
      ]);
      const { found } = await changesOf(store, 100);
      expect(
        found.filter((row) => row.id === fresh),
        column,
      ).to.have.length(1);
    }
    expect(number).to.equal(6);
    await store.checkpoints.put([{ wallet: id, seq, ...money, overshoot: 7n }]);
    expect(await isFound()).to.equal(false);
    await store.checkpoints.put([{ wallet: id, seq: seq + 1, ...money, overshoot: 7n }]);
    expect(await isFound()).to.equal(true);
  });

  it('include each entry of another process exactly once, whenever it is committed and whatever its time', async () => {
    const { store } = context;
    const other = await context.other();
    await verifyChanges(store);
    const wallets = await Promise.all(Array.from({ length: 5 }, () => newWallet(store)));
    let [entries, time] = [0, AT];
    const each = longer(15, 40);
    let isOver = false;
    const write = async (writer: Store, from: number) => {
      for (let count = 0; count < each; count += 1) {
        // Each earlier than those before it.
        time -= 1000;
        const wallet = wallets[(from + count) % wallets.length] as string;
        await applied(writer, { ...adjust(wallet, 1n), at: time });
        entries += 1;
      }
    };
    const writing = Promise.all([write(store, 0), write(other, 2), write(other, 4)]).finally(() => {
      isOver = true;
    });
    let read = 0;
    let audits = 0;
    const audit = async () => {
      const report = await verifyChanges(store);
      expect(report.problems.filter(({ wallet }) => wallets.includes(wallet))).to.deep.equal([]);
      read += report.entries;
      audits += 1;
    };
    while (!isOver) await audit();
    await writing;
    await audit();
    expect(entries).to.equal(3 * each);
    expect(read).to.equal(entries + wallets.length);
    expect(audits).to.be.at.least(2);
    expect((await verifyChanges(store)).entries).to.equal(0);
  }).timeout(30_000);
}

/** All of them, with the number of wallets that were looked at. */
async function changesOf({ checkpoints }: Store, limit: number) {
  const all = { wallets: 0, looks: 0, found: [] as ChangedWallets['found'][number][] };
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { wallets, found, next }: ChangedWallets = await checkpoints.changes(after, limit);
    expect(wallets).to.be.at.most(limit);
    all.wallets += wallets;
    all.looks += 1;
    all.found.push(...found);
    after = next;
  }
  return all;
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
