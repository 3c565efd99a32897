// Homes of a service in which something is wrong: folders, plugins and databases that it must not start with.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Home, lockDatabase, openBooks } from '../../testkit/process.ts';

export function emptyFolder(parent: string): string {
  const folder = join(parent, 'empty');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A folder of plugins with one in it. */
export function plugin(name: string, index: string | undefined): (home: Home) => Record<string, string> {
  return ({ folder }) => {
    const plugins = join(folder, 'plugins');
    mkdirSync(join(plugins, name), { recursive: true });
    if (index !== undefined) writeFileSync(join(plugins, name, 'index.ts'), index);
    return { PROVIDERS_PATH: plugins };
  };
}

export function foreignDatabase({ database }: Home): void {
  const db = new DatabaseSync(database, { timeout: 5_000 });
  db.exec('CREATE TABLE birds (name TEXT)');
  db.close();
}

export async function newerDatabase(home: Home): Promise<() => Promise<void>> {
  await (await openBooks(home)).close();
  const db = new DatabaseSync(home.database, { timeout: 5_000 });
  db.exec('PRAGMA user_version = 1000');
  db.close();
  return async () => undefined;
}

export async function lockedDatabase(home: Home): Promise<() => Promise<void>> {
  await (await openBooks(home)).close();
  const lock = await lockDatabase(home.database);
  return () => lock.release();
}
