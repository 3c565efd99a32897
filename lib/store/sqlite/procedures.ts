// What the worker threads can be asked to do; each thread has its own connection.
import type { DatabaseSync } from 'node:sqlite';
import { accountReads, accountWrites } from './accounts.ts';
import { alertReads, alertWrites } from './alerts.ts';
import { archiveReads, archiveWrites } from './archives.ts';
import { auditLogReads, auditLogWrites } from './audit-log.ts';
import { copyDatabase } from './backup.ts';
import { checkpointReads, checkpointWrites } from './checkpoints.ts';
import { type ConnectionOptions, openForReads, openForWrites } from './connection.ts';
import { departureWrites, formerUserReads } from './departures.ts';
import { idempotencyReads, idempotencyWrites } from './idempotency.ts';
import { jobReads, jobWrites } from './jobs.ts';
import { journalReads } from './journal.ts';
import { keyReads, keyWrites } from './keys.ts';
import { ledgerReads, ledgerWrites } from './ledger.ts';
import { limitWrites } from './limits.ts';
import { mediaReads, mediaWrites } from './media.ts';
import { ownerWrites } from './owners.ts';
import { paymentReads, paymentWrites } from './payments.ts';
import { attemptWrites, deviceWrites, linkWrites, sessionReads, sessionWrites } from './sessions.ts';
import { settingReads, settingWrites } from './settings.ts';
import { usageReads, usageWrites } from './usage.ts';
import { userReads, userWrites } from './users.ts';

export type Writes = ReturnType<typeof openWriter>['procedures'];
export type Reads = ReturnType<typeof openReader>['procedures'];

export function openWriter(options: ConnectionOptions) {
  const connection = openForWrites(options);
  const procedures = {
    ...ping(connection.db),
    ...ledgerWrites(connection),
    ...accountWrites(connection),
    ...keyWrites(connection),
    ...limitWrites(connection),
    ...ownerWrites(connection),
    ...settingWrites(connection),
    ...jobWrites(connection),
    ...paymentWrites(connection),
    ...mediaWrites(connection),
    ...usageWrites(connection),
    ...checkpointWrites(connection),
    ...archiveWrites(connection),
    ...userWrites(connection),
    ...departureWrites(connection),
    ...sessionWrites(connection),
    ...linkWrites(connection),
    ...attemptWrites(connection),
    ...deviceWrites(connection),
    ...auditLogWrites(connection),
    ...alertWrites(connection),
    ...idempotencyWrites(connection),
  };
  return { db: connection.db, procedures };
}

export function openReader(options: ConnectionOptions) {
  const db = openForReads(options);
  const procedures = {
    ...ping(db),
    ...ledgerReads(db),
    ...accountReads(db),
    ...keyReads(db),
    ...settingReads(db),
    ...journalReads(db),
    ...jobReads(db),
    ...paymentReads(db),
    ...mediaReads(db),
    backup: (file: string, pages: Int32Array) => copyDatabase(options, file, pages),
    ...usageReads(db),
    ...checkpointReads(db),
    ...archiveReads(db),
    ...userReads(db),
    ...formerUserReads(db),
    ...sessionReads(db),
    ...auditLogReads(db),
    ...alertReads(db),
    ...idempotencyReads(db),
  };
  return { db, procedures };
}

function ping(db: DatabaseSync) {
  const version = db.prepare('PRAGMA user_version');
  return {
    ping: (): void => {
      version.get();
    },
  };
}
