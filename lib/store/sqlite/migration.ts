// Migrates a file to the schema of this version, and refuses files that are not ours or too new.
import type { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../base/operator-error.ts';
import { APPLICATION_ID, MIGRATIONS, type Migration, READABLE_SINCE, SCHEMA_VERSION } from './schema.ts';

interface Identity {
  readonly application: number;
  readonly version: number;
  readonly tables: number;
}

/** Refuses a file that is not ours, before anything is written to it. */
export function checkIdentity(db: DatabaseSync, path: string): void {
  const { application, version, tables } = readIdentity(db);
  const fresh = application === 0 && version === 0 && tables === 0;
  if (!fresh && application !== APPLICATION_ID) {
    throw new OperatorError(`The file ${path} belongs to another program.`);
  }
  if (version > SCHEMA_VERSION) {
    throw new OperatorError(
      `The database ${path} has schema version ${version}, this version of Tollgate knows ${SCHEMA_VERSION}: ` +
        'start a newer Tollgate on it.',
    );
  }
}

/** Refuses a file without the tables of Tollgate. */
export function requireTables(db: DatabaseSync, path: string): void {
  if (readIdentity(db).version === 0) throw noStoreError(path);
}

/** Refuses a file that this version could read only after a migration. */
export function checkReadable(db: DatabaseSync, path: string): void {
  checkIdentity(db, path);
  requireTables(db, path);
  const { version } = readIdentity(db);
  if (version >= READABLE_SINCE) return;
  throw new OperatorError(`The database ${path} has schema version ${version}: start this Tollgate on it once.`);
}

/** The error for a store that must exist but does not. */
export function noStoreError(path: string): OperatorError {
  return new OperatorError(
    `There is no Tollgate store at ${path}: the server, "tollgate account create" and "tollgate import" make one.`,
  );
}

/** Migrates the schema; if several processes start at once, one migrates and the others find it done. */
export function migrate(db: DatabaseSync, path: string): void {
  while (readIdentity(db).version < SCHEMA_VERSION) {
    db.exec('BEGIN IMMEDIATE');
    try {
      checkIdentity(db, path);
      const { version } = readIdentity(db);
      const step = MIGRATIONS[version];
      if (step !== undefined) {
        const isDone = runStep(db, step);
        if (isDone) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + 1}`);
      }
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Returns false if a further part of the step follows. */
function runStep(db: DatabaseSync, step: Migration): boolean {
  if (typeof step !== 'string') return step(db) !== true;
  db.exec(step);
  return true;
}

/** A single statement, so that it sees a consistent state while another process migrates the file. */
function readIdentity(db: DatabaseSync): Identity {
  const row = db
    .prepare(
      `SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
      FROM pragma_application_id, pragma_user_version`,
    )
    .get();
  return row as unknown as Identity;
}
