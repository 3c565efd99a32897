// Which store the gateways of tests have: a file of SQLite, or with TESTS_STORE=mongodb a database on the MongoDB server of
// the run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMongoDatabase } from './mongod.ts';

const ON_MONGODB = process.env.TESTS_STORE === 'mongodb';

interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** An empty one, or that of an earlier gateway in the same folder. */
export async function openTestDatabase(folder: string): Promise<TestDatabase> {
  const remove = async () => undefined;
  if (!ON_MONGODB) return { url: `sqlite:${join(folder, 'tollgate.db')}`, remove };
  const note = join(folder, 'database-url');
  if (existsSync(note)) return { url: readFileSync(note, 'utf8'), remove };
  const database = await createMongoDatabase();
  writeFileSync(note, database.url);
  return database;
}

/** A test that needs the file or the threads of SQLite; undefined on MongoDB. */
export function itOnSqlite(title: string, run: (this: Mocha.Context) => unknown): Mocha.Test | undefined {
  return ON_MONGODB ? undefined : it(title, run as Mocha.AsyncFunc);
}

/** The same of a suite. */
export function describeOnSqlite(title: string, suite: (this: Mocha.Suite) => void): Mocha.Suite | undefined {
  return ON_MONGODB ? undefined : describe(title, suite);
}
