// MongoDB for tests: one server for all suites of a run, and a database of its own for each.
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { type ReplicaSet, startReplicaSet } from './replica-set.ts';

let shared: Promise<ReplicaSet> | undefined;

// Of the root suite: the server outlives the suite that needed it first.
after(async () => {
  await (await shared)?.stop();
});

export interface MongoDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** An empty database on the server of `MONGODB_TEST_URL`, or on one that the run starts for itself. */
export async function createMongoDatabase(): Promise<MongoDatabase> {
  const name = `tollgate_test_${randomBytes(6).toString('hex')}`;
  const url = await urlOf(name);
  return {
    url,
    async remove() {
      const client = await MongoClient.connect(url);
      // A process that a test killed may have left a transaction open, which holds the database.
      const left = await client.db(name).collection('sessions').find().toArray();
      const sessions = left.flatMap((row) => row.sessions);
      if (sessions.length > 0) await client.db('admin').command({ killSessions: sessions });
      await client.db(name).dropDatabase();
      await client.close();
    },
  };
}

async function urlOf(database: string): Promise<string> {
  const given = process.env.MONGODB_TEST_URL;
  if (given) return given.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(.*)$/, `$1/${database}$2`);
  shared ??= startReplicaSet({ members: 1 });
  return (await shared).url(database);
}
