// The stores that money-related behaviour is tested on: each creates empty databases.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreDatabase, StoreKind } from '../test/contract/store/context.ts';
import { createBareMongoDatabase, createMongoDatabase } from './mongod.ts';
import { watchCommands } from './open-commands.ts';

export const SQLITE: StoreKind = { name: 'sqlite', create: createSqliteDatabase, createBare: createSqliteDatabase };

/** In the calling thread, as in commands. */
export const SQLITE_HERE: StoreKind = { ...SQLITE, name: 'sqlite in the calling thread', opening: { inProcess: true } };

export const MONGODB: StoreKind = {
  name: 'mongodb',
  watch: watchCommands,
  create: createMongoDatabase,
  createBare: createBareMongoDatabase,
};

export const STORES: readonly StoreKind[] = [SQLITE, MONGODB];

async function createSqliteDatabase(): Promise<StoreDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'));
  return {
    url: `sqlite:${join(folder, 'data', 'tollgate.db')}`,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
