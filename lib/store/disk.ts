// What SQLite does for its own file, for files beside it.
import { open } from 'node:fs/promises';

/** Waits until a file, or the names in a folder, are on the disk. */
export async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
