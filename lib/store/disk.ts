// Makes files beside the database durable, as SQLite does for its own files.
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Waits until a file, or the entries of a folder, are on disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes a private folder and its parents, each synced to disk. Not `recursive`: if the parent exists but nothing can be
 * created in it, as in /proc, Node would loop for ever.
 */
export async function makeFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (found) throw Object.assign(new Error(`${folder} is not a folder`), { code: 'ENOTDIR' });
  await makeFolder(dirname(folder));
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have just made it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return;
  }
  await syncToDisk(dirname(folder));
}
