// The backup of a MongoDB store is a SQLite store: a single file that any Tollgate can open and copy back.
import { resolve } from 'node:path';
import { BACKUP_SETTING, writeBackup } from '../backup-file.ts';
import { copyStore } from '../copy.ts';
import { openSqliteStore } from '../sqlite/store.ts';
import type { OnProgress, Store } from '../store.ts';

/** Each wallet is copied as a snapshot, which is consistent because money never moves between wallets. */
export async function backUpToFile(store: Omit<Store, 'close'>, name: string, onProgress?: OnProgress): Promise<void> {
  await writeBackup(resolve(name), async (path) => {
    const copy = await openSqliteStore(path, { temporary: true, repeatable: true });
    try {
      await copyStore({ from: store, to: copy, live: true, onProgress });
      await copy.settings.set(BACKUP_SETTING, new Date().toISOString());
    } finally {
      await copy.close();
    }
  });
}
