// Makes files beside the database durable, as SQLite does for its own.
import { open } from 'node:fs/promises';

/** Waits until a file, or the entries of a folder, are on disk. */
export async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
