// The MongoDB store: any number of processes on one replica set.

import { withGracefulClose } from '../graceful-close.ts';
import { withoutWrites } from '../read-only.ts';
import type { Store, StoreOptions } from '../store.ts';
import { accountStore } from './accounts.ts';
import { alertStore } from './alerts.ts';
import { archiveStore } from './archives.ts';
import { attemptStore } from './attempts.ts';
import { auditLogStore } from './audit-log.ts';
import { backUpToFile } from './backup.ts';
import { BATCH_MAX, createApply } from './batch.ts';
import { read } from './call.ts';
import { catalogVersionStore } from './catalog-versions.ts';
import { checkpointStore } from './checkpoints.ts';
import { NOW } from './clock.ts';
import { type Connection, connect } from './connection.ts';
import { toStoreError } from './failure.ts';
import { idempotencyStore } from './idempotency.ts';
import { jobStore } from './jobs.ts';
import { journalStore } from './journal.ts';
import { keyStore } from './keys.ts';
import { ledgerReads } from './ledger.ts';
import { limitStore } from './limits.ts';
import { managementStore } from './management.ts';
import { mediaStore } from './media.ts';
import { migrate, requireMigrated, requireStore } from './migration.ts';
import { listAliveOwners, ownerStore } from './owners.ts';
import { paperStore } from './papers.ts';
import { paymentStore } from './payments.ts';
import { promoStore } from './promos.ts';
import { rateStore } from './rates.ts';
import { refusalStore } from './refusals.ts';
import { settingStore } from './settings.ts';
import { signinStore } from './signins.ts';
import { createTransactions } from './transaction.ts';
import { createSessions, type TransactionSessions } from './transaction-sessions.ts';
import { usageStore } from './usage.ts';
import { userStore } from './users.ts';

/** Connects and migrates the schema. Rejects with `OperatorError` if the server or the database cannot be used. */
export async function openMongoStore(
  url: string,
  { existing = false, readOnly = false }: StoreOptions = {},
): Promise<Store> {
  const connection = await connect(url);
  try {
    if (readOnly) await requireMigrated(connection.db);
    else {
      if (existing) await requireStore(connection.db);
      await migrate(connection);
    }
  } catch (error) {
    await disconnect(connection);
    throw toStoreError(error, 'no');
  }
  const sessions = createSessions(connection);
  const store = createStore(connection, sessions);
  const end = async () => {
    await sessions.close();
    await disconnect(connection);
  };
  return withGracefulClose(readOnly ? withoutWrites(store) : store, end);
}

async function disconnect({ client, scanner }: Connection): Promise<void> {
  await Promise.all([client.close(), scanner.close()]);
}

function createStore(connection: Connection, sessions: TransactionSessions): Omit<Store, 'close'> {
  const { client, db } = connection;
  const transactions = createTransactions(db, sessions);
  const store: Omit<Store, 'close'> = {
    ledger: {
      lane: 'wallet',
      batchMax: BATCH_MAX,
      apply: createApply(transactions),
      ...ledgerReads(connection),
    },
    journal: journalStore(connection),
    attempts: attemptStore(connection),
    checkpoints: checkpointStore(connection),
    archives: archiveStore(connection, transactions),
    accounts: accountStore(connection, transactions),
    keys: keyStore(connection, transactions),
    limits: limitStore(connection, transactions),
    owners: ownerStore(connection, sessions),
    settings: settingStore(connection),
    jobs: jobStore(connection, transactions),
    payments: paymentStore(connection, transactions),
    media: mediaStore(connection),
    usage: usageStore(connection, transactions),
    users: userStore(connection, transactions),
    sessions: signinStore(connection),
    auditLog: auditLogStore(connection),
    alerts: alertStore(connection),
    idempotency: idempotencyStore(connection),
    rates: rateStore(connection),
    refusals: refusalStore(connection),
    promos: promoStore(connection, transactions),
    papers: paperStore(connection, transactions),
    catalogVersions: catalogVersionStore(connection),
    management: managementStore(connection),
    async ping() {
      await read((signal) => client.db('admin').command({ ping: 1 }, { signal }));
    },
    gateways: () => listAliveOwners(db, NOW),
    backup: (file, onProgress) => backUpToFile(store, file, onProgress),
  };
  return store;
}
