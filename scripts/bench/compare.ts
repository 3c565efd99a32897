// The same load on everything that is compared, in alternating rounds: their own CPU time, and how long calls take.
import type { ChildProcess } from 'node:child_process';
import { asked } from '../../testkit/talk.ts';
import type { Case } from './cases.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { cpuOf, type Running } from './process.ts';
import type { Profile } from './profile.ts';
import type { Steps } from './steps.ts';

export interface Compared {
  readonly load: ChildProcess;
  readonly pipe: Running;
  readonly gateway: Running;
  readonly other: Running | undefined;
}

interface Measured extends LoadResult {
  /** CPU of the measured process per call, in µs. */
  readonly cpuUs: number;
}

/** The compiler's work is not a cost of the calls: most of it is done after some 10,000 of them. */
const WARM_UP_ROUNDS = 3;
/** Modules and functions of a profile. */
const SHOWN = 24;

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
export async function compareAll(
  test: Case,
  { all, load }: { readonly all: Readonly<Record<string, Running>>; readonly load: ChildProcess },
  rounds: number,
): Promise<void> {
  const entrants = Object.entries(all).map(([name, running]) => ({ name, running, list: [] as Measured[] }));
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    for (const { running } of entrants) await measure(running, load, test);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { running, list } of round % 2 === 0 ? entrants : entrants.toReversed()) {
      list.push(await measure(running, load, test));
    }
  }
  const floors = entrants[0]?.list ?? [];
  for (const [at, { name, list }] of entrants.entries()) report(test, at === 0 ? test.name : `  ${name}`, list, floors);
}

async function measure(running: Running, load: ChildProcess, test: Case): Promise<Measured> {
  const before = cpuOf(running.child);
  const result = await asked<LoadResult>(load, jobOf(running, test));
  if (result.failed > 0) throw new Error(`${test.name}: ${result.failed} of ${test.calls} calls failed`);
  return { ...result, cpuUs: ((cpuOf(running.child) - before) * 1e6) / test.calls };
}

function jobOf({ url, path, key }: Running, { model, stream, calls, atOnce, leaveAfterBytes }: Case): LoadJob {
  return { url, path, key, model, stream, calls, atOnce, ...(leaveAfterBytes && { leaveAfterBytes }) };
}

/** What a call costs on the main thread, by who spends it; profiling slows everything down a little. */
export async function reportProfile(test: Case, { pipe, gateway, load }: Compared): Promise<void> {
  const [floor, spent] = [await profile(pipe, load, test), await profile(gateway, load, test)];
  const per = test.calls * (test.events ?? 1);
  console.log(`\n${test.name}: µs of the main thread${test.events ? ` for each of ${test.events} events` : ''}`);
  console.log(`${''.padEnd(50)}${'gateway'.padStart(9)}${'pipe'.padStart(9)}`);
  printShares(spent.parts, floor.parts, per);
  console.log('  of Node:');
  printShares(spent.node, floor.node, per);
}

/** The largest, and the sum. */
function printShares(spent: Readonly<Record<string, number>>, floor: Readonly<Record<string, number>>, per: number) {
  const names = [...new Set([...Object.keys(spent), ...Object.keys(floor)])];
  const line = (name: string, us: number, floorUs: number) =>
    console.log(`  ${name.slice(0, 47).padEnd(48)}${fixed(us / per, 2)}${fixed(floorUs / per, 2)}`);
  const byCost = names.sort((a, b) => (spent[b] ?? 0) - (spent[a] ?? 0));
  for (const name of byCost.slice(0, SHOWN)) line(name, spent[name] ?? 0, floor[name] ?? 0);
  const sum = (of: Readonly<Record<string, number>>) => Object.values(of).reduce((total, us) => total + us, 0);
  line('all together', sum(spent), sum(floor));
}

async function profile(running: Running, load: ChildProcess, test: Case): Promise<Profile> {
  await asked(running.child, 'profile');
  await asked<LoadResult>(load, jobOf(running, test));
  return asked<Profile>(running.child, 'profiled');
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
  { pipe, gateway, other, load, target }: Compared & { readonly target: string },
  calls: number,
): Promise<void> {
  const direct = { url: target, path: '/v1/chat/completions', key: '' };
  const all = { direct, pipe, gateway, ...(other && { other }) };
  const ways = Object.entries(all).map(([name, way]) => ({ name, way, times: [] as number[] }));
  for (let round = 0; round < 5; round += 1) {
    for (const { way, times } of ways) {
      const { url, path, key } = way;
      const job: LoadJob = { url, path, key, model: 'stream-20', stream: true, calls, atOnce: 1 };
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

/** What a call passes through until the first piece of its answer has come. */
export async function reportSteps({ gateway, load }: Compared, calls: number): Promise<void> {
  const { url, path, key, child } = gateway;
  await asked(child, 'steps');
  await asked<LoadResult>(load, { url, path, key, model: 'stream-20', stream: true, calls, atOnce: 1 });
  console.log('\nsteps of a call in the gateway, medians');
  for (const [name, times] of Object.entries(await asked<Steps>(child, 'stepped'))) {
    console.log(`${`  ${name}`.padEnd(72)}${fixed(1000 * median(times), 0)} µs`);
  }
}
