// New SQLite stores of tests are copies of one that is migrated: to migrate an empty file takes 30 ms of CPU time.
import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { threadId } from 'node:worker_threads';
import { newFiles } from '../lib/store/sqlite/connection.ts';
import { migrate } from '../lib/store/sqlite/migration.ts';
import { workers } from '../lib/store/sqlite/thread.ts';

const makeEmptyFile = newFiles.create;
let copies = 0;

/** From now on in this thread, and in the threads of stores that it opens. */
export function useTemplate(): void {
  newFiles.create = createFromTemplate;
  workers.entry = new URL('./sqlite-worker.ts', import.meta.url);
}

function createFromTemplate(path: string): void {
  const template = process.env.SQLITE_TEST_TEMPLATE;
  if (existsSync(path)) return;
  if (template === undefined) {
    makeEmptyFile(path);
    return;
  }
  if (!existsSync(template)) makeTemplate(template);
  // The file of a store appears whole: another thread may open it at the same time.
  const copy = nameOwnFile(template);
  copyFileSync(template, copy);
  try {
    linkSync(copy, path);
  } catch {
    // The file exists by now, or SQLite will report the problem.
    makeEmptyFile(path);
  } finally {
    rmSync(copy);
  }
}

function makeTemplate(template: string): void {
  const file = nameOwnFile(template);
  makeEmptyFile(file);
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL');
  migrate(db, file);
  db.close();
  renameSync(file, template);
}

/** Not used by any other thread of the run. */
function nameOwnFile(template: string): string {
  copies += 1;
  return `${template}-${process.pid}-${threadId}-${copies}`;
}
