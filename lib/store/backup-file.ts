// An unfinished backup has a name under which no store can be opened; it is renamed once it is complete and on disk.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../base/operator-error.ts';
import { syncToDisk } from './disk.ts';

/**
 * The setting that a backup has and its source has not: when it was made. A service that starts on it learns from it that
 * it does not know what happened since, and notes so under the same name.
 */
export const BACKUP_SETTING = 'store.backup';
const SUFFIX = '.unfinished';
/** The side files of a SQLite database. */
const SIDE_FILES = ['-journal', '-wal', '-shm'];

/** The default folder of a database's media files. */
export function getDefaultMediaFolder(file: string): string {
  return `${file}.media`;
}

/** Whether a file was left behind by a killed backup. */
export function isUnfinishedBackup(path: string): boolean {
  return path.endsWith(SUFFIX);
}

/**
 * Lets `write` fill an empty file and a folder beside it, then renames both to their final names. Throws
 * `OperatorError`.
 */
export async function writeBackup(file: string, write: (path: string) => Promise<void>): Promise<void> {
  refuseExisting(file);
  const path = `${file}.${randomBytes(4).toString('hex')}${SUFFIX}`;
  try {
    await makeBackupFile(file, path);
    await write(path);
    stripWal(path);
    await syncToDisk(path);
    refuseExisting(file);
    await renameToFinal(path, file);
  } catch (error) {
    for (const name of ['', ...SIDE_FILES]) await rm(path + name, { force: true });
    await rm(getDefaultMediaFolder(path), { recursive: true, force: true });
    // The store would be blamed otherwise, whose disk may be another one.
    throw isDiskFull(error) ? new OperatorError(`The file ${file} cannot be written: its disk is full.`) : error;
  }
}

/** As SQLite and the file system say it. */
function isDiskFull(error: unknown): boolean {
  return error instanceof Error && /database or disk is full|ENOSPC/.test(error.message);
}

/** Renames the folder first, so that a file with its final name is complete. */
async function renameToFinal(path: string, file: string): Promise<void> {
  const media = getDefaultMediaFolder(path);
  const folder = getDefaultMediaFolder(file);
  if (!existsSync(media)) await rename(path, file);
  else {
    await rename(media, folder);
    try {
      await syncToDisk(dirname(folder));
      await rename(path, file);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }
  await syncToDisk(dirname(file));
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new OperatorError(`The file ${file} already exists.`);
  if (existsSync(getDefaultMediaFolder(file)))
    throw new OperatorError(`The folder ${getDefaultMediaFolder(file)} already exists.`);
}

/** The file is readable only by its owner. */
async function makeBackupFile(file: string, path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new OperatorError(`The file ${file} cannot be written: ${code}.`);
  }
}

/**
 * Removes the write-ahead log, so that the backup is a single file that also opens on read-only media, and the list of
 * live gateways, which do not use the copy.
 */
function stripWal(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA journal_mode = DELETE; DELETE FROM owners');
  } finally {
    db.close();
  }
}
