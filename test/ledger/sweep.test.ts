// Sweeping on real stores: holds that cannot be returned keep nobody else's back.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { createSweep } from '../../lib/ledger/sweep.ts';
import type { Charge } from '../../lib/money/decide.ts';
import { STORES } from '../../testkit/stores.ts';
import { newId, newWallet, RUB, reserve, submission, useStore, walletOf } from '../contract/store/context.ts';

const LEASE_MS = 1000;
const PAGE = 50;

for (const kind of STORES) {
  describe(`sweep on ${kind.name}`, () => {
    const context = useStore(kind);

    /** As damage would leave it: the wallet's row is gone, its charges are there. */
    async function removeWallet(wallet: string): Promise<void> {
      if (kind.name === 'sqlite') {
        const db = new DatabaseSync(context.url.replace('sqlite:', ''), {
          enableForeignKeyConstraints: false,
          timeout: 5_000,
        });
        db.prepare('DELETE FROM wallets WHERE id = ?').run(wallet);
        db.close();
        return;
      }
      const client = await MongoClient.connect(context.url);
      await client.db().collection<{ _id: string }>('wallets').deleteOne({ _id: wallet });
      await client.close();
    }

    it('comes to the holds behind more orphans of missing wallets than it looks at in one go', async () => {
      const { store } = context;
      const [missing, wallet] = [await newWallet(store), await newWallet(store)];
      const now = Date.now();
      const holds = (of: string, count: number, lease: number) =>
        store.ledger.apply(
          Array.from({ length: count }, () =>
            submission(reserve(of, { chargeId: newId('req'), owner: 'gone', lease, amount: RUB })),
          ),
        );
      await holds(missing, 2 * PAGE, now - 100);
      await holds(wallet, 3, now - 50);
      await removeWallet(missing);
      const log = { warn: () => undefined, error: () => undefined };
      const ledger = createLedger({ store, ownerId: 'me', leaseMs: LEASE_MS, log });
      const sweep = () => ledger.expireOrphans({ now, limit: PAGE });
      expect([await sweep(), await sweep(), await sweep()]).to.deep.equal([0, 3, 0]);
      expect(await walletOf(store, wallet)).to.include({ held: 0n, avail: 1000n * RUB });
      // And around again: the next one that dies is found too.
      await holds(wallet, 1, now - 200);
      expect(await sweep()).to.equal(1);
    });
  });
}

describe('a sweep', () => {
  const { now } = performance;
  afterEach(() => {
    performance.now = now;
  });

  it('tries a hold that it could not return again after a minute, not before', async () => {
    const orphan = { id: newId('req'), wallet: 'w', lease: 0 } as Charge;
    let tries = 0;
    const sweep = createSweep({
      ...{ leaseMs: LEASE_MS, now: Date.now, store: { orphans: async () => [orphan] } },
      async end() {
        tries += 1;
        return { status: 'no_wallet' };
      },
    });
    const seen: number[] = [];
    for (const seconds of [0, 1, 59, 61, 62]) {
      performance.now = () => now.call(performance) + seconds * 1000;
      expect(await sweep({ now: Date.now(), limit: PAGE })).to.equal(0);
      seen.push(tries);
    }
    expect(seen).to.deep.equal([1, 1, 1, 2, 2]);
  });
});
