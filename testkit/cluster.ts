// The deployment of docker-compose.yml as processes of this machine: three database members with its configuration, its
// script that creates the replica set, and its proxy.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { parse } from 'yaml';
import { DATABASE, GATEWAY, makeReplicaSet, SET_NAME, type SetOptions } from '../deploy/replica-set.ts';
import { findMongod } from './mongod-binary.ts';
import { type Child, spawnChild } from './process.ts';

const DEPLOY = fileURLToPath(new URL('../deploy/', import.meta.url));
const ADMIN_PASSWORD = 'admin-password-of-the-test';
const GATEWAY_PASSWORD = 'gateway-password-of-the-test';
const KEY = 'c0ffee'.repeat(10);
/** Small, and silent outside its folder. */
const SMALL = ['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64', '--nounixsocket'];

/** The parameters that every member is started with, in the form of `--setParameter`. */
export function serverParameters(): readonly string[] {
  const { setParameter } = parse(readFileSync(join(DEPLOY, 'mongod.conf'), 'utf8'));
  return Object.entries(setParameter).map(([name, value]) => `${name}=${value}`);
}

export interface Cluster {
  /** A `DATABASE_URL` for the gateways' user. */
  readonly url: string;
  stepDown(): Promise<void>;
  /** The process of the current primary. */
  primary(): Promise<Child>;
  /** Restarts a killed member on the data it had. */
  revive(member: Child): Promise<void>;
  /** Size of the gateways' database in bytes, its charges, and the processes of the members. */
  measure(): Promise<{ readonly bytes: number; readonly charges: number; readonly members: readonly number[] }>;
  /** Runs the replica set's setup again, which changes nothing if all is well; resolves to its output. */
  make(passwords?: Partial<Pick<SetOptions, 'adminPassword' | 'gatewayPassword'>>): Promise<readonly string[]>;
  /** Kills every process, including frozen ones, and removes the data. */
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cluster-'));
  const mongod = await findMongod();
  const ports = await freePorts(3);
  const start = (port: number) => {
    const home = join(folder, String(port));
    mkdirSync(join(home, 'db'), { recursive: true });
    const env = {
      PATH: process.env.PATH ?? '',
      MONGOD: mongod,
      MONGODB_KEY: KEY,
      MONGODB_KEYFILE: join(home, 'key'),
    };
    const own = ['--dbpath', join(home, 'db'), '--port', String(port), '--bind_ip', '127.0.0.1'];
    const log = ['--logpath', join(home, 'log'), '--logappend'];
    return spawnChild('sh', [join(DEPLOY, 'mongod.sh'), ...own, ...log, ...SMALL], env);
  };
  const members = new Map(ports.map((port) => [port, start(port)]));
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const buildUrl = (user: string, password: string, database: string) =>
    `mongodb://${user}:${password}@${hosts.join(',')}/${database}?replicaSet=${SET_NAME}&authSource=admin`;
  const adminUrl = buildUrl('admin', ADMIN_PASSWORD, 'admin');
  const cluster: Cluster = {
    url: buildUrl(GATEWAY, GATEWAY_PASSWORD, DATABASE),
    stepDown: () => stepDown(adminUrl),
    primary: async () => members.get(await primaryPort(adminUrl)) as Child,
    async revive(member) {
      await member.exit;
      for (const [port, found] of members) if (found === member) members.set(port, start(port));
    },
    async measure() {
      const client = await MongoClient.connect(adminUrl);
      try {
        const db = client.db(DATABASE);
        const { dataSize, indexSize } = await db.stats();
        const charges = await db.collection('charges').countDocuments();
        const pids = [...members.values()].map(({ process: { pid = 0 } }) => pid);
        return { bytes: dataSize + indexSize, charges, members: pids };
      } finally {
        await client.close();
      }
    },
    async make(passwords = {}) {
      const said: string[] = [];
      const defaults = { adminPassword: ADMIN_PASSWORD, gatewayPassword: GATEWAY_PASSWORD };
      const say = (line: string) => void said.push(line);
      await makeReplicaSet({ members: hosts, local: hosts[0] as string, ...defaults, ...passwords, say });
      return said;
    },
    async stop() {
      for (const member of members.values()) {
        member.kill('SIGCONT');
        member.kill('SIGKILL');
      }
      await Promise.all([...members.values()].map(({ exit }) => exit));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.race([cluster.make(), ...[...members.values()].map(ended)]);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function ended({ exit }: Child): Promise<never> {
  const { code, stdout, stderr } = await exit;
  throw new Error(`it ended with ${code}: ${stderr || stdout.slice(-500)}`);
}

/** Makes the primary of a replica set step down. */
export async function stepDown(url: string): Promise<void> {
  const client = await MongoClient.connect(url);
  try {
    await client.db('admin').command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 });
  } finally {
    await client.close();
  }
}

export async function primaryPort(url: string): Promise<number> {
  const client = await MongoClient.connect(url);
  try {
    const { primary } = await client.db('admin').command({ hello: 1 });
    return Number(String(primary).split(':').at(-1));
  } finally {
    await client.close();
  }
}

export interface ProxyProcess {
  readonly url: string;
  /** Its output so far. */
  log(): string;
  stop(): Promise<void>;
}

const CADDYFILE = ['--adapter', 'caddyfile', '--config', join(DEPLOY, 'Caddyfile')];

/** Why the proxy of docker-compose.yml cannot run here; undefined if it can. */
export function proxyProblem(): string | undefined {
  const { error, status, stderr } = spawnSync('caddy', ['adapt', ...CADDYFILE], { encoding: 'utf8' });
  if (error) return 'caddy is not on PATH';
  // An older one does not support everything in the file.
  return status === 0 ? undefined : `the caddy on PATH does not take the file: ${stderr.trim().split('\n').at(-1)}`;
}

/** The proxy in front of two gateways, given as host:port. */
export async function startProxy(first: string, second: string): Promise<ProxyProcess> {
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'));
  const place = { PROXY_BIND: '127.0.0.1', PROXY_PORT: String(port), GATEWAY_1: first, GATEWAY_2: second };
  const env = { PATH: process.env.PATH ?? '', HOME: folder, ...place };
  const child = spawnChild('caddy', ['run', ...CADDYFILE], env);
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([answers(url), ended(child)]);
  return {
    url,
    log: () => child.stdout() + child.stderr(),
    async stop() {
      child.kill('SIGKILL');
      await child.exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<void> {
  const until = performance.now() + 10_000;
  while (true) {
    try {
      await fetch(`${url}/metrics`);
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Resident memory of a process, as Linux counts it. */
export function residentMiB(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** Below those that systems give to whoever names no port: another test would get one before it is used. */
const PORTS = { from: 15_000, to: 32_000 } as const;

/** Ports that are free now and hopefully stay so. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
