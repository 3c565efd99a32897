// What two workers carry compared to one. The clients and the upstream need CPU time too, and two workers on two cores
// leave none free for them: so calls per second cannot be compared, but the CPU time of a call over all processes of the
// start can. It is also taken with two workers on the one core that a single worker has, clients and upstream on the other:
// what sharing cores with others costs is not a cost of the second worker.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asked } from '../../testkit/talk.ts';
import { openBenchAccount, writeBenchCatalog } from './account.ts';
import { startAlone } from './beside.ts';
import { type Case, casesOf } from './cases.ts';
import { median } from './compare.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { CHAT_PATH, cpuOf, GATEWAY_CORE, pin } from './process.ts';

const BOTH_CORES = '0,1';
const SECONDS = 6;

/** Two workers, and where they run. */
type Setting = 'one' | 'both cores' | 'one core';
const SETTINGS: Readonly<Record<Setting, string>> = {
  one: '1 worker, its own core',
  'both cores': '2 workers, everything on 2 cores',
  'one core': '2 workers, their own core',
};

interface Crew {
  readonly target: string;
  readonly upstream: ChildProcess;
  readonly load: ChildProcess;
}

interface Group {
  readonly workers: number;
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
  stop(): Promise<void>;
}

interface Measured {
  readonly perSecond: number;
  /** Calls for a second of CPU time, over all processes of the start. */
  readonly perCpuSecond: number;
  readonly cpuUs: number;
  readonly p50: number;
  /** How much of both processors was used, by everything here. */
  readonly busy: number;
}

export async function reportWorkers(crew: Crew, rounds: number): Promise<void> {
  const [test] = casesOf({ only: 'call, 100', quick: false }) as [Case];
  console.log(`\nworkers, ${test.name}, ${2 * test.atOnce} at once for each, SQLite, ${rounds} rounds, medians`);
  console.log(`${' '.repeat(34)}   calls/s  CPU µs/call  calls per CPU second   p50 ms   processors busy`);
  const [one, two] = [await startGroup(1, crew.target), await startGroup(2, crew.target)];
  const groups: Readonly<Record<Setting, Group>> = { one, 'both cores': two, 'one core': two };
  const measured = new Map<Setting, Measured[]>();
  const settings = Object.keys(SETTINGS) as Setting[];
  try {
    for (const setting of settings) await measure(groups[setting], setting, crew, test);
    for (let round = 0; round < rounds; round += 1) {
      for (const setting of settings) {
        const found = await measure(groups[setting], setting, crew, test);
        measured.set(setting, [...(measured.get(setting) ?? []), found]);
      }
    }
  } finally {
    for (const group of [one, two]) await group.stop();
    pin(crew.load, '1');
    pin(crew.upstream, '1');
  }
  for (const setting of settings) report(SETTINGS[setting], measured.get(setting) ?? []);
  for (const setting of ['both cores', 'one core'] as const) {
    const ratios = (measured.get(setting) ?? []).map(
      ({ cpuUs }, round) => cpuUs / (measured.get('one')?.[round]?.cpuUs ?? Number.NaN),
    );
    const ratio = median(ratios);
    const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    console.log(
      `${SETTINGS[setting]}: a call takes ${ratio.toFixed(2)} times the CPU time (${spread}), ` +
        `so two cores of their own would carry ${(2 / ratio).toFixed(2)} times what one does`,
    );
  }
}

async function measure(group: Group, setting: Setting, crew: Crew, test: Case): Promise<Measured> {
  const { workers, child, url, key } = group;
  const { load, upstream } = crew;
  const others = setting === 'both cores' ? BOTH_CORES : '1';
  pinAll(child, setting === 'both cores' ? BOTH_CORES : GATEWAY_CORE);
  pin(load, others);
  pin(upstream, others);
  const all = () => [child, load, upstream].map(cpuOf) as [number, number, number];
  const before = all();
  const { model, stream, atOnce } = test;
  const job: LoadJob = {
    url,
    path: CHAT_PATH,
    key,
    model,
    stream,
    calls: 0,
    seconds: SECONDS,
    atOnce: 2 * atOnce * workers,
  };
  const { total, failed, ms, p50 } = await asked<LoadResult>(load, job);
  if (failed > 0) throw new Error(`${failed} of ${total} calls failed`);
  const [own, ...theirs] = all().map((cpu, index) => cpu - (before[index] ?? 0)) as [number, number, number];
  const busy = (own + theirs[0] + theirs[1]) / ((2 * ms) / 1000);
  return { perSecond: (total * 1000) / ms, perCpuSecond: total / own, cpuUs: (own * 1e6) / total, p50, busy };
}

/** Including the processes it has started. */
function pinAll({ pid }: ChildProcess, cores: string): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  for (const id of [pid, ...children.map(Number)]) pin({ pid: id } as ChildProcess, cores);
}

function report(name: string, list: readonly Measured[]): void {
  const of = (pick: (measured: Measured) => number, digits = 0) => median(list.map(pick)).toFixed(digits);
  const columns = [
    name.padEnd(34),
    of(({ perSecond }) => perSecond).padStart(10),
    of(({ cpuUs }) => cpuUs).padStart(13),
    of(({ perCpuSecond }) => perCpuSecond).padStart(22),
    of(({ p50 }) => p50, 1).padStart(9),
    `${of(({ busy }) => busy * 100)} %`.padStart(18),
  ];
  console.log(columns.join(''));
}

async function startGroup(workers: number, target: string): Promise<Group> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  writeBenchCatalog(folder, target);
  const database = `sqlite:${join(folder, 'bench.db')}`;
  const { child, url, env, stop } = await startAlone(folder, database, { WORKERS: `${workers}` });
  const { key } = await openBenchAccount(env);
  return {
    ...{ workers, child, url, key },
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
