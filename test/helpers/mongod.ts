// MongoDB for tests: one server for all suites of a run, and replica sets of their own for those that break them.
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { ELECTION } from '../../deploy/replica-set.ts';
import { findMongod } from '../../scripts/mongod.ts';
import { primaryPort, serverParameters, stepDown } from './cluster.ts';

export interface ReplicaSet {
  /** A `DATABASE_URL`. */
  url(database: string): string;
  /** Makes the primary a secondary. */
  stepDown(): Promise<void>;
  /** The process of the member that is primary now. */
  primary(): Promise<number>;
  /** Ends every process, frozen ones too. */
  stop(): Promise<void>;
}

// Any server from 6.0 will do.
process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = 'false';

export async function binary(): Promise<{ readonly systemBinary: string }> {
  return { systemBinary: await findMongod() };
}

/** Memory and disk stay small; the election settings are those of our compose file. */
const ARGUMENTS = ['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64', '--setParameter', 'ttlMonitorEnabled=false'];
const FAILOVER = serverParameters();

export async function startReplicaSet({ members }: { readonly members: number }): Promise<ReplicaSet> {
  const set = await MongoMemoryReplSet.create({
    binary: await binary(),
    replSet: {
      name: 'tests',
      count: members,
      storageEngine: 'wiredTiger',
      args: [...ARGUMENTS, ...(members > 1 ? FAILOVER.flatMap((parameter) => ['--setParameter', parameter]) : [])],
      configSettings: ELECTION,
    },
  });
  const processes = new Map(set.servers.map(({ instanceInfo }) => [instanceInfo?.port, pidOf(instanceInfo)]));
  return {
    url: (database) => set.getUri(database),
    stepDown: () => stepDown(set.getUri()),
    primary: async () => processes.get(await primaryPort(set.getUri())) as number,
    async stop() {
      for (const pid of processes.values()) signal(pid, 'SIGCONT');
      await set.stop({ doCleanup: true, force: true });
    },
  };
}

function pidOf(info: MongoMemoryReplSet['servers'][number]['instanceInfo']): number {
  const pid = info?.instance.mongodProcess?.pid;
  if (pid === undefined) throw new Error('a member of the replica set has no process');
  return pid;
}

/** A process may be gone already. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

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
