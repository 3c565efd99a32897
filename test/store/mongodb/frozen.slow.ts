// A server that freezes during a transaction and comes back: the remains of the transaction lock no wallet.
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { type Connection, connect } from '../../../lib/store/mongodb/connection.ts';
import { createTransactions } from '../../../lib/store/mongodb/transaction.ts';
import { createSessions, type TransactionSessions } from '../../../lib/store/mongodb/transaction-sessions.ts';
import { openStore } from '../../../lib/store/open.ts';
import { type ReplicaSet, startReplicaSet } from '../../../testkit/replica-set.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { newWallet, rejection, walletOf } from '../../contract/store/context.ts';

/** After the call gave up: longer than the tries to end its transaction take. */
const FROZEN_MS = 4000;
/** The server itself would give up after a minute and more. */
const LOCKED_MS_MAX = 20_000;

describe('MongoDB: a server that froze', () => {
  let set: ReplicaSet;
  before(async function () {
    this.timeout(60_000);
    set = await startReplicaSet({ members: 1 });
  });
  after(() => set.stop());

  itTimed('ends the transactions it could not end while the server was frozen', async () => {
    const url = set.url('tollgate');
    const store = await openStore(url);
    const wallet = await newWallet(store);
    await store.close();

    // The only process on the store, so that nobody else kills its sessions, and no spare connection to say it on.
    const connection = await connect(`${url}&maxPoolSize=1`);
    const sessions = createSessions(connection);
    try {
      await loseTransaction(connection, sessions, wallet);
      const { run } = createTransactions(connection.db, sessions);
      const until = performance.now() + LOCKED_MS_MAX;
      while (!(await run({ steps: (step) => step(add(wallet, 1)) }).catch(() => undefined))) {
        expect(performance.now(), 'the wallet is locked').to.be.lessThan(until);
      }
    } finally {
      await sessions.close();
      await Promise.all([connection.client.close(), connection.scanner.close()]);
    }
    const again = await openStore(url);
    expect((await walletOf(again, wallet)).seq, 'nothing of the lost transaction').to.equal(4);
    await again.close();
  }).timeout(60_000);

  /** Leaves a transaction open on the server that has written the wallet, with nothing on its way to end it. */
  async function loseTransaction(
    { db, client }: Connection,
    sessions: TransactionSessions,
    wallet: string,
  ): Promise<void> {
    const { run } = createTransactions(db, sessions);
    // Two sessions at once, so that the next transaction does not reuse that of the lost one.
    await Promise.all([1, 1].map((seq) => run({ steps: (step) => step(add(wallet, seq)) })));
    const pid = await set.primary();
    const stuck = run({
      steps: async (step) => {
        await step(add(wallet, 100));
        process.kill(pid, 'SIGSTOP');
        // Takes the only connection.
        client
          .db('admin')
          .command({ ping: 1 })
          .catch(() => undefined);
        await new Promise(() => undefined);
      },
    });
    expect(await rejection(stuck)).to.include({ name: 'StoreError', applied: 'no' });
    await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
    process.kill(pid, 'SIGCONT');
  }
});

function add(wallet: string, seq: number): Document {
  return { update: 'wallets', updates: [{ q: { _id: wallet }, u: { $inc: { seq } } }] };
}
