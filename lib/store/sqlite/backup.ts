// A consistent copy of the database file, made while other connections write.
import { closeSync, openSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { Refusal } from './protocol.ts';

/** Pages copied per turn of the thread pool: 16 MiB. */
const PAGES_PER_STEP = 4096;

export async function copyDatabase(path: string, file: string): Promise<void> {
  reserveName(file);
  const source = new DatabaseSync(path);
  try {
    // The open read keeps one snapshot: without it every commit of another connection restarts the copy.
    source.exec('PRAGMA query_only = ON; BEGIN; SELECT count(*) FROM sqlite_schema');
    await backup(source, file, { rate: PAGES_PER_STEP });
  } catch (error) {
    for (const name of [file, `${file}-journal`]) rmSync(name, { force: true });
    throw error;
  } finally {
    source.close();
  }
}

function reserveName(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (code === 'EEXIST') throw new Refusal(`The file ${file} exists already.`);
    throw new Refusal(`The file ${file} cannot be written: ${code}.`);
  }
}
