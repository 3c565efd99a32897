// The stores that what matters to money is tested on: each makes empty databases.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreKind } from '../test/contract/store/context.ts';
import { createMongoDatabase } from './mongod.ts';

export const SQLITE: StoreKind = {
  name: 'sqlite',
  async create() {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'));
    return {
      url: `sqlite:${join(folder, 'data', 'tollgate.db')}`,
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

/** In the calling thread, as commands have it. */
export const SQLITE_HERE: StoreKind = { ...SQLITE, name: 'sqlite in the calling thread', opening: { here: true } };

export const MONGODB: StoreKind = { name: 'mongodb', create: createMongoDatabase };

export const STORES: readonly StoreKind[] = [SQLITE, MONGODB];
