// Stores that earlier versions left behind in `fixtures/`: written once by `npm run store:fixture`, restored by tests.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import { BSON, type Db, type Document, type IndexDescription, MongoClient } from 'mongodb';
import { getDefaultMediaFolder } from '../../lib/store/backup-file.ts';
import type { Contents } from './contents.ts';

const FOLDER = join(import.meta.dirname, 'fixtures');

/** `backup.db` is the MongoDB store's. */
export type FixtureFile = 'sqlite.db' | 'backup.db';

/** A file in the media folder of a SQLite store. */
export interface MediaFile {
  readonly id: string;
  readonly bytes: Buffer;
}

interface FixtureCollection {
  readonly name: string;
  /** With its validator of that time. */
  readonly options: Document;
  readonly indexes: readonly IndexDescription[];
  readonly documents: readonly Document[];
}

/** The versions of which there are stores, oldest first; `version-1` is of a time before releases. */
export function listReleases(): readonly string[] {
  const order = new Intl.Collator('en', { numeric: true });
  return readdirSync(FOLDER)
    .filter((name) => /^\d/.test(name))
    .toSorted(order.compare);
}

/** What the ports of that version read from its stores; `of` tells them apart where both were not filled alike. */
export function readExpected(release: string, of = 'expected'): Contents {
  return JSON.parse(read(release, `${of}.json`).toString());
}

export function restoreFile(path: string, release: string, name: FixtureFile, media: MediaFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, read(release, name));
  const folder = join(getDefaultMediaFolder(path), media.id.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, media.id), media.bytes);
}

/** Every number has the type that it had: some validators tell them apart. */
export async function restoreDatabase(url: string, release: string): Promise<void> {
  const text = read(release, 'mongodb.json').toString();
  const collections = BSON.EJSON.parse(text, { relaxed: false }) as readonly FixtureCollection[];
  await withDatabase(url, async (db) => {
    for (const { name, options, indexes, documents } of collections) {
      const collection = await db.createCollection(name, options);
      if (indexes.length > 0) await collection.createIndexes([...indexes]);
      if (documents.length > 0) await collection.insertMany([...documents]);
    }
  });
}

function read(release: string, name: string): Buffer {
  return gunzipSync(readFileSync(join(FOLDER, release, `${name}.gz`)));
}

interface NewFixture {
  /** The paths of closed SQLite stores. */
  readonly files: Readonly<Record<FixtureFile, string>>;
  readonly mongodb: string;
  /** By `sqlite` and `mongodb`. */
  readonly expected: Readonly<Record<string, Contents>>;
}

/** Has rows only while a process has the store open. */
const OF_PROCESSES = 'sessions';

/** Refuses a release that has a fixture, and stores with an empty table. */
export async function writeFixture(release: string, { files, mongodb, expected }: NewFixture): Promise<void> {
  const collections = await withDatabase(mongodb, readCollections);
  const unused = collections.filter(({ name, documents }) => documents.length === 0 && name !== OF_PROCESSES);
  const empty = [...listEmptyTables(files['sqlite.db']), ...unused.map(({ name }) => name)];
  if (empty.length > 0) throw new Error(`no rows in ${empty.join(', ')}: add some to test/store/everything.ts`);
  mkdirSync(join(FOLDER, release));
  const write = (name: string, bytes: string | Buffer) =>
    writeFileSync(join(FOLDER, release, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  for (const [name, path] of Object.entries(files)) write(name, readVacuumed(path));
  write('mongodb.json', BSON.EJSON.stringify(collections, { relaxed: false }));
  for (const [of, contents] of Object.entries(expected)) write(`${of}-expected.json`, JSON.stringify(contents));
}

/** The names of tables without rows. */
function listEmptyTables(path: string): readonly string[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return tables
      .map(({ name }) => String(name))
      .filter((name) => !db.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get());
  } finally {
    db.close();
  }
}

function readVacuumed(path: string): Buffer {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return readFileSync(path);
}

async function readCollections(db: Db): Promise<readonly FixtureCollection[]> {
  const found = await db.listCollections().toArray();
  const collections = found.map(async ({ name, ...rest }) => {
    const indexes = await db.collection(name).indexes();
    const documents = await db.collection(name).find({}, { promoteValues: false, promoteLongs: false }).toArray();
    const own = indexes.filter((index) => index.name !== '_id_').map(({ v: _, ...index }) => index as IndexDescription);
    return { name, options: 'options' in rest ? (rest.options as Document) : {}, indexes: own, documents };
  });
  return Promise.all(collections);
}

export async function withDatabase<T>(url: string, use: (db: Db) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(url);
  try {
    return await use(client.db());
  } finally {
    await client.close();
  }
}
