// The same load on everything that is compared, in alternating rounds: their own CPU time, and how long calls take.
import type { ChildProcess } from 'node:child_process';
import { asked } from '../../testkit/talk.ts';
import type { Case } from './cases.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { type Running, readCpu } from './process.ts';

interface Compared {
  readonly load: ChildProcess;
  readonly pipe: Running;
  readonly gateway: Running;
  readonly other: Running | undefined;
}

interface Entrants {
  readonly load: ChildProcess;
  /** By the name that their lines have. */
  readonly all: Readonly<Record<string, Running>>;
}

interface Measured extends LoadResult {
  /** CPU of the measured process per call, in µs. */
  readonly cpuUs: number;
}

/** The compiler's work is not a cost of the calls: most of it is done after some 10,000 of them. */
const WARM_UP_ROUNDS = 3;

export const median = (list: readonly number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const fixed = (value: number, digits = 1) => value.toFixed(digits).padStart(9);

export function printHead(rounds: number): void {
  console.log(
    `${rounds} rounds, medians; CPU of each process per call, commits durable; ratios to the first line of a case\n`,
  );
  console.log(`${'case'.padEnd(30)}${'CPU µs'.padStart(9)}    ratio   p50 ms   p99 ms first ms  calls/s  event µs`);
}

export async function compare(test: Case, { pipe, gateway, other, load }: Compared, rounds: number): Promise<void> {
  await compareAll(test, { all: { pipe, gateway, ...(other && { other }) }, load }, rounds);
}

/** Ratios are to the first one, whose line has the name of the test. */
export async function compareAll(test: Case, { all, load }: Entrants, rounds: number): Promise<void> {
  const entrants = Object.entries(all).map(([name, running]) => ({ name, running, list: [] as Measured[] }));
  await warmUp(test, { all, load });
  for (let round = 0; round < rounds; round += 1) {
    for (const { running, list } of round % 2 === 0 ? entrants : entrants.toReversed()) {
      list.push(await measure(running, load, test));
    }
  }
  const floors = entrants[0]?.list ?? [];
  for (const [at, { name, list }] of entrants.entries()) report(test, at === 0 ? test.name : `  ${name}`, list, floors);
}

/** Also reaches SQLite's first checkpoint: until then the write-ahead log grows, which takes each commit more time. */
export async function warmUp(test: Case, { all, load }: Entrants): Promise<void> {
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    for (const running of Object.values(all)) await measure(running, load, test);
  }
}

async function measure(running: Running, load: ChildProcess, test: Case): Promise<Measured> {
  const before = readCpu(running.child);
  const result = await asked<LoadResult>(load, describeJob(running, test));
  if (result.failed > 0)
    throw new Error(`${test.name}: ${result.failed} of ${test.calls} calls failed, the first with ${result.failure}`);
  return { ...result, cpuUs: ((readCpu(running.child) - before) * 1e6) / test.calls };
}

export function describeJob(
  { url, path, key, headers = {} }: Running,
  { model, stream, calls, atOnce, leaveAfterBytes }: Case,
): LoadJob {
  return { url, path, key, headers, model, stream, calls, atOnce, ...(leaveAfterBytes && { leaveAfterBytes }) };
}

function report(test: Case, who: string, list: readonly Measured[], floors: readonly Measured[]): void {
  const of = (pick: (measured: Measured) => number) => median(list.map(pick));
  const ratio = median(list.map(({ cpuUs }, round) => cpuUs / (floors[round] as Measured).cpuUs));
  const cpuUs = of((measured) => measured.cpuUs);
  const columns = [
    who.padEnd(30),
    fixed(cpuUs, 0),
    fixed(ratio, 2),
    fixed(of(({ p50 }) => p50)),
    fixed(of(({ p99 }) => p99)),
    fixed(of(({ firstP50 }) => firstP50)),
    fixed(
      of(({ ms }) => (test.calls * 1000) / ms),
      0,
    ),
  ];
  console.log(columns.join('') + (test.events ? fixed(cpuUs / test.events, 2) : ''));
}

/** How much later than straight from the upstream the first byte of a stream arrives, with one call at a time. */
export async function reportFirstByte(
  { all, load, target }: Entrants & { readonly target: string },
  calls: number,
): Promise<void> {
  const direct = { url: target, path: '/v1/chat/completions', key: '' };
  const ways = Object.entries<Omit<Running, 'child'>>({ direct, ...all }).map(([name, way]) => ({
    name,
    way,
    times: [] as number[],
  }));
  for (let round = 0; round < 5; round += 1) {
    for (const { way, times } of ways) {
      const { url, path, key, headers = {} } = way;
      const job: LoadJob = { url, path, key, headers, model: 'stream-20', stream: true, calls, atOnce: 1 };
      times.push((await asked<LoadResult>(load, job)).firstP50);
    }
  }
  const [{ times: floor } = { times: [] }] = ways;
  console.log('\nfirst byte of a stream, one call at a time, p50');
  for (const { name, times } of ways) {
    const more = median(times.map((time, round) => time - (floor[round] ?? 0)));
    console.log(`${`  ${name}`.padEnd(30)}${median(times).toFixed(2)} ms, +${more.toFixed(2)} ms`);
  }
}
