// A backup under way has a name that no store is opened by; its own it gets when it is whole and on the disk.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../operator-error.ts';

const SUFFIX = '.unfinished';
/** What SQLite puts beside a file. */
const SIDE_FILES = ['-journal', '-wal', '-shm'];

/** Whether a file is one that a killed backup has left. */
export function isUnfinished(path: string): boolean {
  return path.endsWith(SUFFIX);
}

/** Lets `write` fill an empty file, which then becomes `file`. Throws `OperatorError`. */
export async function writeBackup(file: string, write: (path: string) => Promise<void>): Promise<void> {
  refuseExisting(file);
  const path = `${file}.${randomBytes(4).toString('hex')}${SUFFIX}`;
  try {
    await makeFile(file, path);
    await write(path);
    seal(path);
    await synced(path);
    refuseExisting(file);
    await rename(path, file);
    await synced(dirname(file));
  } catch (error) {
    for (const name of ['', ...SIDE_FILES]) await rm(path + name, { force: true });
    throw error;
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new OperatorError(`The file ${file} exists already.`);
}

/** For its owner only. */
async function makeFile(file: string, path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new OperatorError(`The file ${file} cannot be written: ${code}.`);
  }
}

/**
 * Without a log, so that it is one file that can be read where nothing can be written, and without the gateways that
 * were alive: none of them works on the copy.
 */
function seal(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA journal_mode = DELETE; DELETE FROM owners');
  } finally {
    db.close();
  }
}

async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
