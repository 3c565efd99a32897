// MongoDB for tests: one server for the whole run, and a separate database for each suite. To create the collections of
// a store takes 300 ms of CPU time, so a process empties the databases of suites that have ended and uses them again.
import { randomBytes } from 'node:crypto';
import { type Db, type Document, MongoClient } from 'mongodb';
import { openStore } from '../lib/store/open.ts';

export interface MongoDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

interface FreeDatabase {
  readonly name: string;
  /** Its collections as they were when it was new. */
  readonly schema: string;
}

const free: FreeDatabase[] = [];

/** A store without rows, on the server of `MONGODB_TEST_URL` or on the one that the run starts itself. */
export async function createMongoDatabase(): Promise<MongoDatabase> {
  const url = await findServer();
  const { name, schema } = free.pop() ?? (await createStore(url));
  return {
    url: toDatabaseUrl(url, name),
    remove: () =>
      onDatabase(url, name, async (client, db) => {
        await endSessions(client, db);
        const isReusable = !process.env.MONGODB_TEST_URL && (await describeSchema(db)) === schema;
        if (!isReusable) return void (await db.dropDatabase());
        await Promise.all((await listFilled(db)).map((collection) => db.collection(collection).deleteMany({})));
        free.push({ name, schema });
      }),
  };
}

/** A database without collections, for tests of what makes a store of it, and for those that change indexes. */
export async function createBareMongoDatabase(): Promise<MongoDatabase> {
  const url = await findServer();
  const name = newName();
  const remove = (client: MongoClient, db: Db) => endSessions(client, db).then(() => db.dropDatabase());
  return { url: toDatabaseUrl(url, name), remove: () => onDatabase(url, name, remove).then(() => undefined) };
}

async function createStore(server: string): Promise<FreeDatabase> {
  const name = newName();
  await (await openStore(toDatabaseUrl(server, name))).close();
  return { name, schema: await onDatabase(server, name, (_, db) => describeSchema(db)) };
}

function newName(): string {
  return `tollgate_test_${randomBytes(6).toString('hex')}`;
}

function toDatabaseUrl(server: string, name: string): string {
  return server.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(.*)$/, `$1/${name}$2`);
}

async function onDatabase<T>(server: string, name: string, work: (client: MongoClient, db: Db) => Promise<T>) {
  const client = await MongoClient.connect(server);
  try {
    return await work(client, client.db(name));
  } finally {
    await client.close();
  }
}

/** A process killed by a test may have left a transaction open, which locks the database. */
async function endSessions(client: MongoClient, db: Db): Promise<void> {
  const left = await db.collection('sessions').find().toArray();
  const sessions = left.flatMap((row) => row.sessions);
  if (sessions.length > 0) await client.db('admin').command({ killSessions: sessions });
}

/** Its collections with their validators, and the version that the store says it has. */
async function describeSchema(db: Db): Promise<string> {
  const { cursor } = await db.command({ listCollections: 1, cursor: { batchSize: 1000 } });
  const collections = cursor.firstBatch.map(({ name, options }: Document) => JSON.stringify([name, options])).sort();
  return JSON.stringify([await db.collection('schema').find().toArray(), collections]);
}

/** The collections with documents, but for the one with the version of the schema. */
async function listFilled(db: Db): Promise<readonly string[]> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  const readFirst = (name: string) => [{ $limit: 1 }, { $project: { _id: 0, name: { $literal: name } } }];
  const unions = names.map((name) => ({ $unionWith: { coll: name, pipeline: readFirst(name) } }));
  const found = await db.aggregate([{ $documents: [] }, ...unions]).toArray();
  return found.map(({ name }) => name).filter((name) => name !== 'schema');
}

async function findServer(): Promise<string> {
  return process.env.MONGODB_TEST_URL || (await askForServer());
}

/** `run.ts` answers, in the one process that outlives all test files. */
async function askForServer(): Promise<string> {
  const answer = await fetch(process.env.MONGODB_TEST_DESK ?? '');
  const text = await answer.text();
  if (!answer.ok) throw new Error(`no MongoDB to test with: ${text}`);
  return text;
}
