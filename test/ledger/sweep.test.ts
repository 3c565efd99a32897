// The sweep on real stores: holds that cannot be returned do not block others.
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { createSweep } from '../../lib/ledger/sweep.ts';
import type { Charge, Operation, Outcome } from '../../lib/money/decide.ts';
import { SERVICE_OWNER } from '../../lib/money/operations.ts';
import type { LedgerStore, OrphanPage } from '../../lib/store/ports/ledger.ts';
import { STORES } from '../../testkit/stores.ts';
import { newId, newWallet, RUB, reserve, useStore, walletOf } from '../contract/store/context.ts';

const LEASE_MS = 1000;
const PAGE = 50;

for (const kind of STORES) {
  describe(`the sweep on ${kind.name}`, () => {
    const context = useStore(kind);

    /** Damages the store: the row of the wallet is missing, its charges are there. */
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

    it('leaves a hold of a service alone that was renewed after it was found', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const [charge, owner, now] = [newId('hold'), SERVICE_OWNER, Date.now()];
      const held = { chargeId: charge, chargeKind: 'service', owner, lease: now - 100 } as const;
      await store.ledger.apply([{ ...reserve(wallet), ...held } as Operation]);
      const orphans = async (page: OrphanPage) => {
        const found = await store.ledger.orphans(page);
        // The renewal was asked for in time.
        await store.ledger.renewLease({ charge, owner, lease: now + 60_000, now: now - 101 });
        return found;
      };
      const ledger = createLedger({
        store: { ...store, ledger: { ...store.ledger, orphans } },
        ownerId: 'me',
        leaseMs: LEASE_MS,
        log: { warn: () => undefined, error: () => undefined },
      });
      expect(await ledger.expireOrphans({ now, limit: PAGE })).to.equal(0);
      expect(await store.ledger.charge(charge)).to.include({ state: 'held', lease: now + 60_000 });
      expect(await ledger.expireOrphans({ now: now + 60_001, limit: PAGE })).to.equal(1);
    });

    it('reaches the holds behind more orphans of missing wallets than fit in a page', async () => {
      const { store } = context;
      const missing = await newWallet(store);
      const wallet = await newWallet(store);
      const now = Date.now();
      const holds = (of: string, count: number, lease: number) =>
        store.ledger.apply(
          Array.from({ length: count }, () =>
            reserve(of, { chargeId: newId('req'), owner: 'gone', lease, amount: RUB }),
          ),
        );
      await holds(missing, 2 * PAGE, now - 100);
      await holds(wallet, 3, now - 50);
      await removeWallet(missing);
      const log = { warn: () => undefined, error: () => undefined };
      const ledger = createLedger({ store, ownerId: 'me', leaseMs: LEASE_MS, log });
      const sweep = () => ledger.expireOrphans({ now, limit: PAGE });
      // Those whose outcome takes long count in a later sweep.
      let ended = 0;
      for (let sweeps = 0; sweeps < 50 && ended < 3; sweeps += 1) ended += await sweep();
      expect(ended).to.equal(3);
      expect(await walletOf(store, wallet)).to.include({ held: 0n, avail: 1000n * RUB });
      // The sweep starts over: the next owner that dies is found, too.
      await holds(wallet, 1, now - 200);
      expect(await sweep()).to.equal(1);
    });
  });
}

describe('the sweep', () => {
  const { now } = performance;
  afterEach(() => {
    performance.now = now;
    mock.timers.reset();
  });

  it('retries a hold that it could not return after a minute', async () => {
    const orphan = { id: newId('req'), wallet: 'w', lease: 0 } as Charge;
    let tries = 0;
    const sweep = createSweep({
      leaseMs: LEASE_MS,
      now: Date.now,
      store: { orphans: async () => [orphan] },
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

  it('notes that a lost call may have cost something at an upstream, and that a service asked none', async () => {
    const of = { wallet: 'w', lease: 5, model: 'm', createdAt: 2 };
    const found = [{ ...of, id: 'a', kind: 'text' } as Charge, { ...of, id: 'b', kind: 'service' } as Charge];
    const [pages, ops]: [unknown[], unknown[]] = [[], []];
    const sweep = createSweep({
      leaseMs: LEASE_MS,
      now: () => 9,
      store: {
        async orphans(page) {
          pages.push(page);
          return found;
        },
      },
      async end(op) {
        ops.push(op);
        return { status: 'done' };
      },
    });
    expect(await sweep({ now: 10, limit: PAGE })).to.equal(2);
    expect(pages).to.deep.equal([{ now: 10, leaseMs: LEASE_MS, limit: PAGE, after: undefined }]);
    const unknown = {
      upstream: null,
      upstreamModel: null,
      keyPlace: null,
      requestId: null,
      firstMs: null,
      usage: null,
    };
    const attempt = { ...unknown, model: 'm', at: 2, ending: 'lost', totalMs: 7, certainty: 'possible', cost: null };
    const expire = { kind: 'expire', wallet: 'w', at: 9, lease: 5 };
    expect(ops).to.deep.equal([
      { ...expire, chargeId: 'a', attempts: [attempt] },
      { ...expire, chargeId: 'b', attempts: [] },
    ]);
  });

  for (const [status, more] of [
    ['done', 0],
    ['exists', 0],
    ['no_wallet', 1],
  ] as const) {
    it(`reads ${more} more than a page behind a hold whose end is ${status}`, async () => {
      const pages = [[{ id: 'a', wallet: 'w', lease: 5 } as Charge], []];
      const limits: number[] = [];
      const orphans: LedgerStore['orphans'] = async ({ limit }) => {
        limits.push(limit);
        return pages[limits.length - 1] ?? [];
      };
      const sweep = createSweep({
        leaseMs: LEASE_MS,
        now: Date.now,
        store: { orphans },
        end: async () => ({ status }),
      });
      for (let count = 0; count < 2; count += 1) await sweep({ now: 10, limit: PAGE });
      expect(limits).to.deep.equal([PAGE, PAGE + more]);
    });
  }

  it('continues after a full page, and starts over after one that was not full', async () => {
    const orphan = (id: string, lease: number) => ({ id, wallet: 'w', lease }) as Charge;
    const pages = [[orphan('a', 5), orphan('b', 7)], [orphan('c', 9)], []];
    const asked: unknown[] = [];
    const orphans: LedgerStore['orphans'] = async ({ after }) => {
      asked.push(after);
      return pages[asked.length - 1] ?? [];
    };
    const end = async () => ({ status: 'done' }) as const;
    const sweep = createSweep({ leaseMs: LEASE_MS, now: Date.now, store: { orphans }, end });
    const returned: number[] = [];
    for (let count = 0; count < 3; count += 1) returned.push(await sweep({ now: 10, limit: 2 }));
    expect(returned).to.deep.equal([2, 1, 0]);
    expect(asked).to.deep.equal([undefined, { lease: 7, id: 'b' }, undefined]);
  });

  it('waits a third of a lease for a slow return, queues it once, and counts it when it is done', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const late: ((outcome: Outcome) => void)[] = [];
    const sweep = createSweep({
      leaseMs: LEASE_MS,
      now: Date.now,
      store: { orphans: async () => [{ id: 'a', wallet: 'w', lease: 5 } as Charge] },
      end(_op, onLate) {
        late.push(onLate);
        return new Promise(() => undefined);
      },
    });
    let returned: number | undefined;
    const sweeping = sweep({ now: 10, limit: PAGE }).then((count) => {
      returned = count;
    });
    for (const [ms, count] of [
      [Math.floor(LEASE_MS / 3) - 1, undefined],
      [2, 0],
    ] as const) {
      await waitOneTick();
      mock.timers.tick(ms);
      await waitOneTick();
      expect(returned).to.equal(count);
    }
    await sweeping;
    performance.now = () => now.call(performance) + 3_600_000;
    expect(await sweep({ now: 10, limit: PAGE })).to.equal(0);
    late[0]?.({ status: 'done' });
    expect(late).to.have.length(1);
    const last = sweep({ now: 10, limit: PAGE });
    await waitOneTick();
    mock.timers.tick(LEASE_MS);
    expect(await last).to.equal(1);
  });
});
