// The calls that a database thread answers, by port and name; each thread has its own connection.
import type { DatabaseSync } from 'node:sqlite';
import { accountReads, accountWrites } from './accounts.ts';
import { alertReads, alertWrites } from './alerts.ts';
import { archiveReads, archiveWrites } from './archives.ts';
import { attemptReads, attemptWrites } from './attempts.ts';
import { auditLogReads, auditLogWrites } from './audit-log.ts';
import { copyDatabase } from './backup.ts';
import { catalogVersionReads, catalogVersionWrites } from './catalog-versions.ts';
import { checkpointReads, checkpointWrites } from './checkpoints.ts';
import { type ConnectionOptions, openForReads, openForWrites } from './connection.ts';
import { idempotencyReads, idempotencyWrites } from './idempotency.ts';
import { jobReads, jobWrites } from './jobs.ts';
import { journalReads } from './journal.ts';
import { keyReads, keyWrites } from './keys.ts';
import { ledgerReads, ledgerWrites } from './ledger.ts';
import { limitWrites } from './limits.ts';
import { managementReads, managementWrites } from './management.ts';
import { mediaReads, mediaWrites } from './media.ts';
import { createListAliveOwners, ownerWrites } from './owners.ts';
import { paperReads, paperWrites } from './papers.ts';
import { paymentReads, paymentWrites } from './payments.ts';
import { promoReads, promoWrites } from './promos.ts';
import { rateReads, rateWrites } from './rates.ts';
import { refusalReads, refusalWrites } from './refusals.ts';
import { sessionReads, sessionWrites } from './sessions.ts';
import { settingReads, settingWrites } from './settings.ts';
import type { PortReads, PortWrites, ThreadPorts } from './thread-ports.ts';
import { usageReads, usageWrites } from './usage.ts';
import { userReads, userWrites } from './users.ts';

export interface ThreadOptions {
  readonly role: 'writer' | 'reader' | 'scanner';
  readonly connection: ConnectionOptions;
}

export interface DatabaseCalls {
  readonly db: DatabaseSync;
  run(port: string, name: string, args: readonly unknown[]): unknown;
}

type PortCalls = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** A port is made for the first call of it: to prepare the statements of all takes 8 ms of CPU time in each process. */
type PortMakers<Calls> = { readonly [Name in keyof Calls]: () => Calls[Name] };

/** Opens the database. Throws `OperatorError`. */
export function openDatabaseCalls({ role, connection }: ThreadOptions): DatabaseCalls {
  const { db, ports } = role === 'writer' ? openWriter(connection) : openReader(connection);
  const makers: Readonly<Record<string, () => unknown>> = ports;
  const made = new Map<string, PortCalls | undefined>();
  const find = (port: string): PortCalls | undefined => {
    if (!made.has(port)) made.set(port, makers[port]?.() as PortCalls | undefined);
    return made.get(port);
  };
  // A database that cannot do the calls of money should not open.
  find('ledger');
  return {
    db,
    run(port, name, args) {
      const call = find(port)?.[name];
      if (!call) throw new Error(`the ${role} of the database has no ${port}.${name}`);
      return call(...args);
    },
  };
}

function openWriter(options: ConnectionOptions) {
  const connection = openForWrites(options);
  const ports: PortMakers<{ readonly [Name in keyof ThreadPorts]: PortWrites<Name> }> = {
    ledger: () => ledgerWrites(connection),
    journal: () => ({}),
    attempts: () => attemptWrites(connection),
    checkpoints: () => checkpointWrites(connection),
    archives: () => archiveWrites(connection),
    accounts: () => accountWrites(connection),
    keys: () => keyWrites(connection),
    limits: () => limitWrites(connection),
    owners: () => ownerWrites(connection),
    settings: () => settingWrites(connection),
    jobs: () => jobWrites(connection),
    payments: () => paymentWrites(connection),
    media: () => mediaWrites(connection),
    usage: () => usageWrites(connection),
    users: () => userWrites(connection),
    sessions: () => sessionWrites(connection),
    auditLog: () => auditLogWrites(connection),
    alerts: () => alertWrites(connection),
    idempotency: () => idempotencyWrites(connection),
    rates: () => rateWrites(connection),
    refusals: () => refusalWrites(connection),
    promos: () => promoWrites(connection),
    papers: () => paperWrites(connection),
    catalogVersions: () => catalogVersionWrites(connection),
    management: () => managementWrites(connection),
    file: () => ({}),
  };
  return { db: connection.db, ports };
}

function openReader(options: ConnectionOptions) {
  const db = openForReads(options);
  const version = db.prepare('PRAGMA user_version');
  const ports: PortMakers<{ readonly [Name in keyof ThreadPorts]: PortReads<Name> }> = {
    ledger: () => ledgerReads(db),
    journal: () => journalReads(db),
    attempts: () => attemptReads(db),
    checkpoints: () => checkpointReads(db),
    archives: () => archiveReads(db),
    accounts: () => accountReads(db),
    keys: () => keyReads(db),
    limits: () => ({}),
    owners: () => ({}),
    settings: () => settingReads(db),
    jobs: () => jobReads(db),
    payments: () => paymentReads(db),
    media: () => mediaReads(db),
    usage: () => usageReads(db),
    users: () => userReads(db),
    sessions: () => sessionReads(db),
    auditLog: () => auditLogReads(db),
    alerts: () => alertReads(db),
    idempotency: () => idempotencyReads(db),
    rates: () => rateReads(db),
    refusals: () => refusalReads(db),
    promos: () => promoReads(db),
    papers: () => paperReads(db),
    catalogVersions: () => catalogVersionReads(db),
    management: () => managementReads(db),
    file: () => ({
      ping: () => void version.get(),
      gateways: createListAliveOwners(db),
      backup: (file: string, pages: Int32Array) => copyDatabase(options, file, pages),
    }),
  };
  return { db, ports };
}
