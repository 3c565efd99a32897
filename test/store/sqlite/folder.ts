// A separate folder for the database files of a suite, and direct access to them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { openSqliteStore, type SqliteOptions } from '../../../lib/store/sqlite/store.ts';
import type { Store } from '../../../lib/store/store.ts';
import { keepThreads } from '../../../testkit/threads.ts';

export interface Folder {
  /** A file name that was not used before. */
  file(): string;
  /** Opens a store that is closed after the test. */
  open(path: string, options?: SqliteOptions): Promise<Store>;
  /** A plain connection, closed after the test. */
  raw(path: string): DatabaseSync;
}

export function useFolder(): Folder {
  const stores: Store[] = [];
  const connections: DatabaseSync[] = [];
  let folder = '';
  let files = 0;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'));
  });
  afterEach(async () => {
    for (const db of connections.splice(0)) db.close();
    for (const store of stores.splice(0)) await store.close();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    file() {
      files += 1;
      return join(folder, `${files}.db`);
    },
    async open(path, options) {
      const store = await openSqliteStore(path, options);
      stores.push(store);
      return store;
    },
    raw(path) {
      const db = new DatabaseSync(path);
      connections.push(db);
      return db;
    },
  };
}

/** The worker threads that start while the suite runs, by name; they end with their stores, as in the service. */
export function useWorkers(): { last(name: string): Worker } {
  const workers: Worker[] = [];
  const onWorker = (worker: Worker) => workers.push(worker);
  before(() => {
    keepThreads(false);
    process.on('worker', onWorker);
  });
  after(() => {
    process.off('worker', onWorker);
    keepThreads(true);
  });
  return {
    last(name) {
      const found = workers.findLast((worker) => worker.threadName === name && worker.threadId !== -1);
      if (!found) throw new Error(`no thread ${name}`);
      return found;
    },
  };
}
