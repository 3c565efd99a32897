// Processes on one replica set: one that dies locks no wallet, and two that write one wallet share it fairly.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import { createQueue } from '../../../lib/ledger/queue.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { itLong } from '../../../testkit/long.ts';
import { createMongoDatabase, type MongoDatabase } from '../../../testkit/mongod.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { applied, newWallet, reserve, statuses, walletOf } from '../../contract/store/context.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
/** The lease of a dead process's sessions, and the time to detect that it has ended. */
const LOCKED_MS_MAX = 4500;

describe('MongoDB: several processes', () => {
  let database: MongoDatabase;
  const stores: Store[] = [];
  const open = async () => {
    const store = await openStore(database.url);
    stores.push(store);
    return store;
  };
  before(async () => {
    database = await createMongoDatabase();
  });
  after(async () => {
    for (const store of stores) await store.close();
    await database.remove();
  });

  itLong('continues soon after a process died in the middle of a transaction', async () => {
    const store = await open();
    const wallet = await newWallet(store);
    const other = await newWallet(store);
    const child = fork(CHILD, [database.url, wallet]);
    await once(child, 'message');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const from = performance.now();
    expect(await statuses(store, reserve(other)), 'other wallets').to.deep.equal(['done']);
    expect(performance.now() - from).to.be.lessThan(500);
    const queue = createQueue({ store: store.ledger });
    const outcome = await queue.submit(reserve(wallet), { persistent: false });
    expect(outcome.status).to.equal('done');
    expect(performance.now() - from, 'ms').to.be.lessThan(LOCKED_MS_MAX);
    expect((await walletOf(store, wallet)).seq, 'nothing of the dead transaction').to.equal(2);
  })
    ?.timeout(20_000)
    .retries(3);

  it('records its sessions while it works, and removes them at the close', async () => {
    const store = await open();
    const client = await MongoClient.connect(database.url);
    const rows = () => client.db().collection('sessions').countDocuments();
    const before = await rows();
    const working = await openStore(database.url);
    await applied(working, reserve(await newWallet(working)));
    expect(await rows()).to.equal(before + 1);
    await working.close();
    expect(await rows()).to.equal(before);
    await client.close();
    await store.ping();
  });

  itLong('shares a wallet between two writers that never pause', async () => {
    const writers = [await open(), await open()];
    const wallet = await newWallet(writers[0] as Store, 1_000_000n);
    const until = performance.now() + 2000;
    const counts = await Promise.all(
      writers.map(async ({ ledger }) => {
        const queue = createQueue({ store: ledger });
        const slowest = { count: 0, ms: 0 };
        const caller = async () => {
          while (performance.now() < until) {
            const from = performance.now();
            expect((await queue.submit(reserve(wallet), { persistent: false })).status).to.equal('done');
            slowest.count += 1;
            slowest.ms = Math.max(slowest.ms, performance.now() - from);
          }
        };
        await Promise.all(Array.from({ length: 20 }, caller));
        return slowest;
      }),
    );
    const [least, most] = counts.map(({ count }) => count).toSorted((a, b) => a - b) as [number, number];
    expect(most / least, `${least} and ${most} operations`).to.be.lessThan(4);
    for (const { ms } of counts) expect(ms, 'slowest').to.be.lessThan(2500);
    expect((await walletOf(writers[0] as Store, wallet)).seq).to.equal(least + most + 1);
    expect((await verifyLedger(writers[0] as Store)).problems).to.deep.equal([]);
  })?.timeout(20_000);

  itTimed('suspends a wallet that is always busy', async () => {
    const store = await open();
    const wallet = await newWallet(store, 1_000_000n);
    const queue = createQueue({ store: store.ledger });
    let writing = true;
    const found = new Set<string>();
    const callers = Promise.allSettled(
      Array.from({ length: 30 }, async () => {
        while (writing) found.add((await queue.submit(reserve(wallet), { persistent: false })).status);
      }),
    );
    try {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const from = performance.now();
      expect(await store.accounts.setStatus(wallet, 'suspended')).to.equal(true);
      expect(performance.now() - from, 'ms').to.be.lessThan(1000);
    } finally {
      writing = false;
      await callers;
    }
    expect(await statuses(store, reserve(wallet))).to.deep.equal(['suspended']);
    expect(found).to.include('done');
  });
});
