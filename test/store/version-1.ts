// Restores stores made by the first release: `fixtures/version-1/README.md` lists their contents.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { BSON, type Document, type IndexDescription, MongoClient } from 'mongodb';
import { getDefaultMediaFolder } from '../../lib/store/backup-file.ts';
import type { Contents } from './contents.ts';

export const PASSWORD = 'the password of version 1';
export const PICTURE = { id: 'A'.repeat(43), bytes: Buffer.from('a picture of version 1\n') };

/** `backup.db` is the old MongoDB store's. */
export type OldFile = 'sqlite.db' | 'backup.db';

function read(name: string): Buffer {
  return gunzipSync(readFileSync(join(import.meta.dirname, 'fixtures', 'version-1', `${name}.gz`)));
}

/** What the ports of the first release read from any of the stores. */
export function readExpected(): Contents {
  return JSON.parse(read('expected.json').toString());
}

export function restoreFile(path: string, name: OldFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, read(name));
  const folder = join(getDefaultMediaFolder(path), PICTURE.id.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, PICTURE.id), PICTURE.bytes);
}

interface OldCollection {
  readonly name: string;
  /** With its validator of that time. */
  readonly options: Document;
  readonly indexes: readonly IndexDescription[];
  readonly documents: readonly Document[];
}

/** Every number has the type that it had: some validators tell them apart. */
export async function restoreDatabase(url: string): Promise<void> {
  const collections = BSON.EJSON.parse(read('mongodb.json').toString(), { relaxed: false }) as readonly OldCollection[];
  const client = await MongoClient.connect(url);
  const db = client.db();
  for (const { name, options, indexes, documents } of collections) {
    const collection = await db.createCollection(name, options);
    if (indexes.length > 0) await collection.createIndexes([...indexes]);
    if (documents.length > 0) await collection.insertMany([...documents]);
  }
  await client.close();
}
