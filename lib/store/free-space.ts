// How much room is left where the service writes: the folder of a SQLite database, and that of stored media.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { splitDatabaseUrl } from './open.ts';

/** With less an operator should make room soon. */
export const LITTLE_BYTES = 2 * 1024 ** 3;
/** With less an operator should make room now. */
export const NOTHING_BYTES = 200 * 1024 ** 2;

export function listDataFolders(config: { readonly databaseUrl: string; readonly dataDir: string }): readonly string[] {
  const { databaseUrl, dataDir } = config;
  const { scheme, rest } = splitDatabaseUrl(databaseUrl);
  return [...new Set(scheme.toLowerCase() === 'sqlite' ? [dirname(rest), dataDir] : [dataDir])];
}

export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
