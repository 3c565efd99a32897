// Replica sets of real servers: for tests that break them, and for scripts.
import { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { ELECTION } from '../deploy/replica-set.ts';
import { primaryPort, serverParameters, stepDown } from './cluster.ts';
import { findMongod } from './mongod-binary.ts';

export interface ReplicaSet {
  /** A `DATABASE_URL`. */
  url(database: string): string;
  /** Makes the primary step down. */
  stepDown(): Promise<void>;
  /** The process of the current primary. */
  primary(): Promise<number>;
  /** Kills every process, including frozen ones. */
  stop(): Promise<void>;
}

// Any server version from 6.0 will do.
process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = 'false';

export async function binary(): Promise<{ readonly systemBinary: string }> {
  return { systemBinary: await findMongod() };
}

/** The disk usage stays small, and nobody reads its diagnostics; the election settings are those of our compose file. */
const QUIET = ['ttlMonitorEnabled=false', 'diagnosticDataCollectionEnabled=false'];
const ARGUMENTS = ['--oplogSize', '64', ...QUIET.flatMap((parameter) => ['--setParameter', parameter])];
const FAILOVER = serverParameters();

export interface SetOptions {
  readonly members: number;
  /** For each member; by default as little as a server accepts. */
  readonly cacheGB?: number;
  /** Enables failing commands. */
  readonly fallible?: boolean;
}

/** On a busy machine even a single server is slow to start. */
export const LAUNCH_MS_MAX = 60_000;

export async function startReplicaSet({ members, cacheGB = 0.25, fallible }: SetOptions): Promise<ReplicaSet> {
  const names = [...(members > 1 ? FAILOVER : []), ...(fallible ? ['enableTestCommands=1'] : [])];
  const parameters = names.flatMap((parameter) => ['--setParameter', parameter]);
  const set = await MongoMemoryReplSet.create({
    binary: await binary(),
    instanceOpts: Array.from({ length: members }, () => ({ launchTimeout: LAUNCH_MS_MAX })),
    replSet: {
      name: 'tests',
      count: members,
      storageEngine: 'wiredTiger',
      args: [...ARGUMENTS, '--wiredTigerCacheSizeGB', String(cacheGB), ...parameters],
      configSettings: ELECTION,
    },
  });
  const processes = new Map(set.servers.map(({ instanceInfo }) => [instanceInfo?.port, readPid(instanceInfo)]));
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

function readPid(info: MongoMemoryReplSet['servers'][number]['instanceInfo']): number {
  const pid = info?.instance.mongodProcess?.pid;
  if (pid === undefined) throw new Error('a member of the replica set has no process');
  return pid;
}

/** A process may have exited already. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
