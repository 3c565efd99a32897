// Stores of earlier versions of both kinds, and the rules of their tables.
import { DatabaseSync } from 'node:sqlite';
import { SCHEMA_VERSION as MONGODB_VERSION } from '../../lib/store/mongodb/migration.ts';
import { SCHEMA_VERSION as SQLITE_VERSION } from '../../lib/store/sqlite/schema.ts';
import { MONGODB, SQLITE } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import type { Rows } from './contents.ts';
import { type FixtureFile, type MediaFile, restoreDatabase, restoreFile, withDatabase } from './fixture.ts';

export interface OldStore {
  /** `backup` is a SQLite file that was made from the MongoDB store. */
  readonly name: 'sqlite' | 'backup' | 'mongodb';
  createBare(): Promise<StoreDatabase>;
  restore(database: StoreDatabase): Promise<void>;
  /** Tables and indexes by name, with all their rules. */
  schema(database: StoreDatabase): Promise<Rows>;
  version(database: StoreDatabase): Promise<number>;
  readonly newest: number;
}

export const getFile = ({ url }: StoreDatabase) => url.slice('sqlite:'.length);

/** All that a version left behind. */
export function listOldStores(release: string, media: MediaFile): readonly OldStore[] {
  return [file('sqlite.db', release, media), file('backup.db', release, media), database(release)];
}

function file(name: FixtureFile, release: string, media: MediaFile): OldStore {
  const readRows = (of: StoreDatabase, sql: string) => {
    const db = new DatabaseSync(getFile(of), { readOnly: true });
    try {
      return db.prepare(sql).all();
    } finally {
      db.close();
    }
  };
  return {
    name: name === 'backup.db' ? 'backup' : 'sqlite',
    createBare: SQLITE.createBare,
    restore: async (of) => restoreFile(getFile(of), release, name, media),
    schema: async (of) => {
      const rows = readRows(of, "SELECT type || ' ' || name AS name, sql FROM sqlite_schema ORDER BY name");
      return Object.fromEntries(rows.map((row) => [String(row.name), row.sql]));
    },
    version: async (of) => Number(readRows(of, 'PRAGMA user_version')[0]?.user_version),
    newest: SQLITE_VERSION,
  };
}

function database(release: string): OldStore {
  return {
    name: 'mongodb',
    createBare: MONGODB.createBare,
    restore: ({ url }) => restoreDatabase(url, release),
    schema: ({ url }) =>
      withDatabase(url, async (db) => {
        const found = await db.listCollections().toArray();
        const rows = found.map(async (collection) => {
          const { name } = collection;
          const indexes = await db.collection(name).indexes();
          const byName = indexes.toSorted((one, other) => ((one.name ?? '') < (other.name ?? '') ? -1 : 1));
          return [name, { options: 'options' in collection ? collection.options : {}, indexes: byName }] as const;
        });
        return Object.fromEntries(await Promise.all(rows));
      }),
    version: ({ url }) =>
      withDatabase(url, async (db) => {
        const row = await db.collection<{ _id: string; version: number }>('schema').findOne({ _id: 'version' });
        return Number(row?.version);
      }),
    newest: MONGODB_VERSION,
  };
}

/** Of what is there now, the fields that were there before. */
export function project(now: unknown, before: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(before)) return now.map((value, at) => project(value, before[at]));
  if (!isRows(now) || !isRows(before)) return now;
  return Object.fromEntries(
    Object.keys(before).flatMap((name) => (name in now ? [[name, project(now[name], before[name])]] : [])),
  );
}

function isRows(value: unknown): value is Rows {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
