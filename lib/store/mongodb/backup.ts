// A backup of a MongoDB store is a SQLite store: one file that any Tollgate opens, and that copies back.
import { closeSync, openSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { OperatorError } from '../../config.ts';
import { copyStore } from '../copy.ts';
import { openSqliteStore } from '../sqlite/store.ts';
import type { Store } from '../store.ts';

/** Each wallet is copied as it is at one moment; money never moves between wallets. */
export async function backUp(store: Omit<Store, 'close'>, name: string): Promise<void> {
  const file = resolve(name);
  reserveName(file);
  try {
    const copy = await openSqliteStore(file);
    try {
      await copyStore({ from: store, to: copy, live: true });
    } finally {
      await copy.close();
    }
  } catch (error) {
    for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true });
    throw error;
  }
}

function reserveName(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (code === 'EEXIST') throw new OperatorError(`The file ${file} exists already.`);
    throw new OperatorError(`The file ${file} cannot be written: ${code}.`);
  }
}
