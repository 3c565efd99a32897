// MongoDB for tests: one server for the whole run, and a separate database for each suite.
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';

export interface MongoDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** An empty database on the server of `MONGODB_TEST_URL`, or on the one that the run starts itself. */
export async function createMongoDatabase(): Promise<MongoDatabase> {
  const name = `tollgate_test_${randomBytes(6).toString('hex')}`;
  const server = process.env.MONGODB_TEST_URL || (await askForServer());
  const url = server.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(.*)$/, `$1/${name}$2`);
  return {
    url,
    async remove() {
      const client = await MongoClient.connect(url);
      // A process killed by a test may have left a transaction open, which locks the database.
      const left = await client.db(name).collection('sessions').find().toArray();
      const sessions = left.flatMap((row) => row.sessions);
      if (sessions.length > 0) await client.db('admin').command({ killSessions: sessions });
      await client.db(name).dropDatabase();
      await client.close();
    },
  };
}

/** `run.ts` answers, in the one process that outlives all test files. */
async function askForServer(): Promise<string> {
  const answer = await fetch(process.env.MONGODB_TEST_DESK ?? '');
  const text = await answer.text();
  if (!answer.ok) throw new Error(`no MongoDB to test with: ${text}`);
  return text;
}
