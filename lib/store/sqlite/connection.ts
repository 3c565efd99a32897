// A connection to the database file: opened, checked and migrated, with write transactions that wait for their turn.
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { OperatorError } from '../../base/operator-error.ts';
import { isUnfinishedBackup } from '../backup-file.ts';
import { StoreError } from '../store.ts';
import { checkIdentity, checkReadable, migrate, noStoreError, requireTables } from './migration.ts';

export interface ConnectionOptions {
  readonly path: string;
  /** The folder of media files. */
  readonly mediaFolder: string;
  /** How long a write waits for other processes. */
  readonly busyMs: number;
  /** The file and its tables must exist; nothing is created. */
  readonly existing: boolean;
  /** The file and its tables must exist, and nothing is written. */
  readonly readOnly: boolean;
  /** The file is an unfinished backup, which only the process that makes it may open. */
  readonly temporary: boolean;
  /** Everything that a crash of the machine loses can be written again. */
  readonly repeatable: boolean;
}

/** `full`: synced to disk at commit. `normal`: survives a crash of the process, perhaps not of the machine. */
type Durability = 'full' | 'normal';

export interface Connection {
  readonly db: DatabaseSync;
  /** Runs `work` in a transaction and commits it, by default durably unless it is repeatable. Throws `StoreError`: `unknown` only when the commit itself failed. */
  write<T>(work: () => T, durability?: Durability): T;
}

const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;
/**
 * Busy, locked, out of memory, read-only, interrupted, I/O, full, cannot open, locking protocol: every write would
 * fail. A broken constraint, rule or page only affects the writes that touch it.
 */
const MACHINE_CODES: ReadonlySet<number | undefined> = new Set([
  SQLITE_BUSY,
  6,
  7,
  8,
  9,
  10,
  13,
  14,
  15,
  SQLITE_NOTADB,
]);

/** Enough for the upper pages of every index; a larger cache would be walked at each commit. */
const WRITER_CACHE_KIB = 8_192;
const READER_CACHE_KIB = 16_384;
/** Pages in the log before a commit copies them into the file. */
const CHECKPOINT_PAGES = 4000;
/** The log shrinks to this size after a burst. */
const LOG_BYTES_MAX = 67_108_864;

/** Tests replace this function: they open thousands of new stores, and to migrate each takes longer than a copy. */
export const newFiles = { create: makePrivateFile };

/** Opens the file for writing; creates it, its folder and its tables if needed and allowed. Throws `OperatorError`. */
export function openForWrites(options: ConnectionOptions): Connection {
  const { path, busyMs } = options;
  checkPlace(options);
  const db = withOpenErrors(path, () => retryWhileBusy(busyMs, () => prepareFile(options)));
  return { db, write: createWrite(db, options) };
}

/** Opens a file that has its tables. */
export function openForReads(options: ConnectionOptions): DatabaseSync {
  const { path, busyMs, readOnly } = options;
  if (readOnly) return withOpenErrors(path, () => openReadOnly(options));
  const db = new DatabaseSync(path, { timeout: busyMs });
  db.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${READER_CACHE_KIB}`);
  return db;
}

function openReadOnly({ path, busyMs, temporary }: ConnectionOptions): DatabaseSync {
  requireFile(path, temporary);
  const db = new DatabaseSync(path, { timeout: busyMs, readOnly: true });
  try {
    checkReadable(db, path);
    db.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Prepares a statement that returns integers as bigint, for rows with money. */
export function prepareBig(db: DatabaseSync, sql: string): StatementSync {
  return db.prepare(sql, { readBigInts: true });
}

/** Runs statements in a read transaction, so that all see the same commit. */
export function inReadTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN');
  try {
    return work();
  } finally {
    db.exec('COMMIT');
  }
}

/**
 * Explains problems of the path better than SQLite does. It never opens the file: closing it again would drop the locks
 * that other connections of this process have on it (https://sqlite.org/howtocorrupt.html, 2.2).
 */
function checkPlace({ path, existing, temporary }: ConnectionOptions): void {
  if (existing) requireFile(path, temporary);
  else refuseUnfinished(path, temporary);
  try {
    makeFolderSync(dirname(path));
  } catch (error) {
    throw new OperatorError(`The folder of the database ${path} cannot be created: ${getCode(error)}.`);
  }
  try {
    // SQLite creates its side files in the folder.
    accessSync(dirname(path), constants.W_OK);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw new OperatorError(`The database ${path} is a folder.`);
    if (found) accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The database ${path} cannot be written: ${getCode(error)}.`);
  }
}

function requireFile(path: string, temporary: boolean): void {
  if (!existsSync(path)) throw noStoreError(path);
  if (statSync(path).isDirectory()) throw new OperatorError(`The database ${path} is a folder.`);
  refuseUnfinished(path, temporary);
}

function refuseUnfinished(path: string, temporary: boolean): void {
  if (!temporary && isUnfinishedBackup(path)) throw new OperatorError(`The file ${path} is an unfinished backup.`);
}

function openFile(path: string): DatabaseSync {
  newFiles.create(path);
  // No SQLite timeout: it sleeps up to 100 ms between tries, so a busy writer would starve this one.
  // No foreign keys: parents are written in the same transactions, and checking them would cost every call.
  return new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
}

/**
 * Creates the file of a new database readable only by its owner: SQLite would use the umask, and gives its side files the
 * mode of the file. An existing file is not touched (see `checkPlace`).
 */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // The file exists, or SQLite will report the problem.
  }
}

/** Not `recursive`: if the parent exists but nothing can be created in it, as in /proc, Node would loop for ever. */
function makeFolderSync(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw Object.assign(new Error(`${folder} is not a folder`), { code: 'ENOTDIR' });
  makeFolderSync(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have just created it.
    if (!existsSync(folder)) throw error;
  }
}

function prepareFile({ path, existing }: ConnectionOptions): DatabaseSync {
  const db = openFile(path);
  try {
    checkIdentity(db, path);
    if (existing) requireTables(db, path);
    db.exec('PRAGMA journal_mode = WAL');
    setDurability(db, 'full');
    db.exec(`PRAGMA cache_size = -${WRITER_CACHE_KIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`);
    migrate(db, path);
    // Fails now, not at the first payment, if the file or its side files cannot be written.
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function withOpenErrors<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if (resultCode(error) === SQLITE_NOTADB) throw new OperatorError(`The file ${path} is not a SQLite database.`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The database ${path} cannot be opened: ${reason}.`);
  }
}

/**
 * SQLite goes on writing to a file that was removed or replaced: nothing of it would be there after the next start.
 * Returns what checks that the path still leads to the file that is open.
 */
function createPlaceCheck(path: string): () => void {
  const inode = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const opened = inode();
  return () => {
    if (inode() === opened) return;
    const what = `The database ${path} was removed or replaced while it was open: put it back, or restart.`;
    throw new StoreError(what, 'no');
  };
}

function createWrite(db: DatabaseSync, { path, busyMs, repeatable }: ConnectionOptions): Connection['write'] {
  const checkStillThere = createPlaceCheck(path);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const fairPause = createFairPause(db);
  let current: Durability = 'full';

  return (work, durability = repeatable ? 'normal' : 'full') => {
    let result: ReturnType<typeof work>;
    let began: number;
    fairPause.pause();
    checkStillThere();
    try {
      if (durability !== current) setDurability(db, durability);
      current = durability;
      retryWhileBusy(busyMs, () => begin.run());
      began = performance.now();
      result = work();
    } catch (error) {
      rollBackWrite(db);
      throw new StoreError(getMessage(error), 'no', error, isMachineFailure(error) ? 'store' : 'batch');
    }
    try {
      commit.run();
    } catch (error) {
      rollBackWrite(db);
      // The log may contain the whole transaction, which would count after a crash.
      throw new StoreError(getMessage(error), 'unknown', error);
    }
    fairPause.took(performance.now() - began);
    return result;
  };
}

function setDurability(db: DatabaseSync, durability: Durability): void {
  db.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
}

/** If the rollback fails, the connection is useless: the worker notices and exits. */
function rollBackWrite(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
  } catch {}
}

interface FairPause {
  /** Called before a transaction. */
  pause(): void;
  /** Called after a transaction, with its duration. */
  took(ms: number): void;
}

const OTHERS_MS = 1000;
const PAUSE_MS_MAX = 20;

/**
 * Writers that never pause starve each other, because the one that commits is the first to start again. While another
 * process has written within the last second, each transaction waits for up to the length of the previous one.
 */
function createFairPause(db: DatabaseSync): FairPause {
  const version = db.prepare('PRAGMA data_version', { returnArrays: true });
  let seenVersion: unknown;
  let seenAt = Number.NEGATIVE_INFINITY;
  let lastMs = 0;
  return {
    pause() {
      const now = performance.now();
      // Changes only when another connection has committed.
      const [current] = version.get() as unknown as readonly unknown[];
      if (seenVersion !== undefined && current !== seenVersion) seenAt = now;
      seenVersion = current;
      if (now - seenAt < OTHERS_MS) sleep(lastMs * Math.random());
    },
    took(ms) {
      lastMs = Math.min(ms, PAUSE_MS_MAX);
    },
  };
}

const RETRY_MS = 1;

function retryWhileBusy<T>(busyMs: number, attempt: () => T): T {
  const until = performance.now() + busyMs;
  while (true) {
    try {
      return attempt();
    } catch (error) {
      if (resultCode(error) !== SQLITE_BUSY || performance.now() > until) throw error;
      sleep(RETRY_MS * (0.5 + Math.random()));
    }
  }
}

const SLEEP_CELL = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread, which does nothing else. */
function sleep(ms: number): void {
  Atomics.wait(SLEEP_CELL, 0, 0, ms);
}

function isMachineFailure(error: unknown): boolean {
  return MACHINE_CODES.has(resultCode(error));
}

/** The primary result code of SQLite, without the extended part. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : getMessage(error);
}
