// `npm run bench -- --workers`: what a second worker adds where each has a core of its own. On a machine with few cores
// such a core is a share of a real one that the kernel enforces, so that clients, upstream, database and the primary have
// the rest. Needs Linux and root. `--share 0.3`, `--rounds 3`, `--seconds 10`.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReplicaSet } from '../../testkit/replica-set.ts';
import { said } from '../../testkit/talk.ts';
import { readOptions } from '../options.ts';
import { openBenchAccount, writeBenchCatalog } from './account.ts';
import { type Alone, startAlone } from './beside.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { listChildren, start } from './process.ts';

const values = readOptions({
  workers: { type: 'boolean', default: true },
  share: { type: 'string', default: '0.3' },
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '10' },
});
const share = Number(values.share);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

const LOADS = [
  { name: 'call, 100 tokens', model: 'burst-100', stream: false },
  { name: 'stream of 20 fragments', model: 'stream-20', stream: true },
] as const;
/** On a wallet of its own each: two processes that write to one wallet wait for each other. */
const CALLERS = 16;
const AT_ONCE = 6;
const WARM_UP_S = 5;
const COUNTS = [1, 2] as const;

/** Short, so that a worker that has used up its share does not keep the store's lock for long. */
const PERIOD_US = 5000;
const CPU_GROUPS = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup'].find((path) => existsSync(join(path, 'cgroup.procs')));

interface Service {
  readonly workers: number;
  readonly alone: Alone;
  /** One for each caller. */
  readonly keys: readonly string[];
  stop(): Promise<void>;
}

async function main(): Promise<void> {
  if (CPU_GROUPS === undefined) throw new Error('needs the control groups of Linux');
  console.log(`node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores; each worker has ${share} of one`);
  const upstream = start('upstream.ts', []);
  const { port } = await said<{ port: number }>(upstream);
  const load = start('load.ts', []);
  await said(load);
  await compareStores({ load, target: `http://127.0.0.1:${port}` });
  for (const child of [load, upstream]) child.disconnect();
}

interface Stage {
  readonly load: ChildProcess;
  /** The upstream. */
  readonly target: string;
}

async function compareStores(stage: Stage): Promise<void> {
  await compareWorkers(stage, { store: 'SQLite', urlIn: (folder) => `sqlite:${join(folder, 'bench.db')}` });
  const set = await startReplicaSet({ members: 1, cacheGB: 1 });
  try {
    let count = 0;
    const urlIn = () => {
      count += 1;
      return set.url(`bench${count}`);
    };
    await compareWorkers(stage, { store: 'MongoDB', urlIn });
  } finally {
    await set.stop();
  }
}

interface Kind {
  readonly store: string;
  /** The address of a database of its own. */
  readonly urlIn: (folder: string) => string;
}

async function compareWorkers({ load, target }: Stage, { store, urlIn }: Kind): Promise<void> {
  const services: Service[] = [];
  for (const workers of COUNTS) services.push(await startService({ target, urlIn, workers }));
  for (const { name, ...what } of LOADS) {
    const measure = (service: Service, during: number) => measureRate(load, service, { ...what, seconds: during });
    for (const service of services) await measure(service, WARM_UP_S);
    const rates: number[][] = services.map(() => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, service] of services.entries()) rates[at]?.push(await measure(service, seconds));
    }
    const [one = 0, two = 0] = rates.map(findMedian);
    const times = (two / one).toFixed(2);
    console.log(
      `${store}, ${name}: ${one.toFixed(0)} a second by one worker, ${two.toFixed(0)} by two: ${times} times`,
    );
  }
  for (const { stop } of services) await stop();
}

async function startService({
  target,
  urlIn,
  workers,
}: Pick<Stage, 'target'> & Pick<Kind, 'urlIn'> & { readonly workers: number }): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-workers-'));
  writeBenchCatalog(folder, target);
  const alone = await startAlone(folder, urlIn(folder), { WORKERS: String(workers) });
  const keys: string[] = [];
  while (keys.length < CALLERS) keys.push((await openBenchAccount(alone.env)).key);
  const pids = workers === 1 ? [Number(alone.child.pid)] : listChildren(Number(alone.child.pid));
  if (pids.length !== workers) throw new Error(`${pids.length} workers have started instead of ${workers}`);
  const groups = pids.map(holdToShare);
  return {
    workers,
    alone,
    keys,
    async stop() {
      await alone.stop();
      for (const group of groups) rmdirSync(group);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Puts a process with its threads into a group of its own, which gets no more than the share of a core. */
function holdToShare(pid: number): string {
  const group = join(`${CPU_GROUPS}`, `tollgate-bench-${pid}`);
  mkdirSync(group);
  const quota = Math.round(PERIOD_US * share);
  if (existsSync(join(group, 'cpu.max'))) writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD_US}`);
  else {
    writeFileSync(join(group, 'cpu.cfs_period_us'), `${PERIOD_US}`);
    writeFileSync(join(group, 'cpu.cfs_quota_us'), `${quota}`);
  }
  writeFileSync(join(group, 'cgroup.procs'), `${pid}`);
  return group;
}

/** Answers a second. */
async function measureRate(
  load: ChildProcess,
  { alone, keys }: Service,
  what: Pick<LoadJob, 'model' | 'stream'> & { readonly seconds: number },
): Promise<number> {
  const path = '/api/v1/chat/completions';
  const jobs = keys.map((key): LoadJob => ({ url: alone.url, path, key, calls: 0, atOnce: AT_ONCE, ...what }));
  const results = new Promise<readonly LoadResult[]>((resolve) => {
    const all: LoadResult[] = [];
    load.on('message', function take(result: LoadResult) {
      if (all.push(result) < jobs.length) return;
      load.off('message', take);
      resolve(all);
    });
  });
  for (const job of jobs) load.send(job);
  const rates = (await results).map(({ total, failed, ms }) => {
    // Those that the deadline cuts off.
    if (failed > AT_ONCE) throw new Error(`${failed} of ${total} calls failed`);
    return ((total - failed) * 1000) / ms;
  });
  return rates.reduce((sum, rate) => sum + rate, 0);
}

function findMedian(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}

await main();
