// `npm run bench`: the gateway, wallet switched on, beside a bare pipe on the same core, in alternating rounds.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { LoadJob, LoadResult } from './load.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const rounds = values.quick ? 2 : Number(values.rounds);

interface Case {
  readonly name: string;
  readonly model: string;
  readonly stream: boolean;
  readonly calls: number;
  readonly atOnce: number;
  /** What the cost is divided by besides calls. */
  readonly events?: number;
  readonly leaveAfterBytes?: number;
}

const scale = values.quick ? 0.3 : 1;
const CASES: readonly Case[] = [
  { name: 'call, not streaming', model: 'call', stream: false, calls: 3000 * scale, atOnce: 32 },
  { name: 'stream of 20 fragments', model: 'stream-20', stream: true, calls: 1500 * scale, atOnce: 32 },
  { name: 'burst of 500 fragments', model: 'burst-500', stream: true, calls: 200 * scale, atOnce: 8, events: 500 },
  { name: 'paced, 50 fragments a second', model: 'paced-50', stream: true, calls: 200, atOnce: 200, events: 50 },
  {
    name: 'disconnect after the first',
    model: 'idle',
    stream: true,
    calls: 600 * scale,
    atOnce: 32,
    leaveAfterBytes: 1,
  },
];
const IDLE_STREAMS = values.quick ? 300 : 2000;

const GATEWAY_CORE = '0';
const OTHER_CORE = '1';
const hasTaskset = cpus().length > 1 && spawnSync('taskset', ['-V']).status === 0;
const TICKS_PER_S = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
}

function start(file: string, args: readonly string[], core: string): ChildProcess {
  const path = new URL(file, import.meta.url);
  // As `npm start` runs it.
  const execArgv = file === 'gateway.ts' ? ['--max-semi-space-size=32'] : [];
  const child = fork(path, args, { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', core, String(child.pid)], { stdio: 'ignore' });
  return child;
}

function said<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a process of the benchmark ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

function asked<T>(child: ChildProcess, message: object | string): Promise<T> {
  const answer = said<T>(child);
  child.send(message);
  return answer;
}

/** CPU seconds of a process with all its threads. */
function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

async function serve(file: string, args: readonly string[]): Promise<Running> {
  const child = start(file, args, GATEWAY_CORE);
  const { port, key = '' } = await said<{ port: number; key?: string }>(child);
  // Threads that were started meanwhile are on the same core as their process.
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', GATEWAY_CORE, String(child.pid)], { stdio: 'ignore' });
  return { child, url: `http://127.0.0.1:${port}`, key };
}

interface Measured extends LoadResult {
  /** CPU of the measured process per call, in µs. */
  readonly cpuUs: number;
}

async function measure({ child, url, key }: Running, load: ChildProcess, test: Case): Promise<Measured> {
  const { model, stream, calls, atOnce, leaveAfterBytes } = test;
  const job: LoadJob = { url, key, model, stream, calls, atOnce, ...(leaveAfterBytes && { leaveAfterBytes }) };
  const before = cpuOf(child);
  const result = await asked<LoadResult>(load, job);
  if (result.failed > 0) throw new Error(`${test.name}: ${result.failed} of ${calls} calls failed`);
  return { ...result, cpuUs: ((cpuOf(child) - before) * 1e6) / calls };
}

const median = (list: readonly number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const fixed = (value: number, digits = 1) => value.toFixed(digits).padStart(9);

async function main(): Promise<void> {
  const upstream = start('upstream.ts', [], OTHER_CORE);
  const { port } = await said<{ port: number }>(upstream);
  const target = `http://127.0.0.1:${port}`;
  const load = start('load.ts', [], OTHER_CORE);
  await said(load);
  const pipe = await serve('pipe.ts', [target]);
  const gateway = await serve('gateway.ts', [target, ...CASES.map((test) => test.model)]);
  console.log(
    `node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores${hasTaskset ? ', pinned' : ', not pinned'}`,
  );
  console.log(`${rounds} rounds, medians; CPU of the process per call, commits durable\n`);
  console.log(`${'case'.padEnd(30)}  pipe µs  gate µs    ratio   p50 ms   p99 ms   first ms  calls/s`);
  for (const test of CASES) {
    if (values.only && !test.model.startsWith(values.only)) continue;
    await compare(test, { pipe, gateway, load });
  }
  if (!values.only || values.only === 'idle') await holdIdle(gateway, load, upstream);
  for (const child of [pipe.child, gateway.child, load, upstream]) child.disconnect();
}

async function compare(
  test: Case,
  { pipe, gateway, load }: { pipe: Running; gateway: Running; load: ChildProcess },
): Promise<void> {
  // A whole round first: what the compiler does at the start is no cost of a call.
  for (const running of [pipe, gateway]) await measure(running, load, test);
  const floors: number[] = [];
  const mine: Measured[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const floor = await measure(pipe, load, test);
    const own = await measure(gateway, load, test);
    floors.push(floor.cpuUs);
    mine.push(own);
    ratios.push(own.cpuUs / floor.cpuUs);
  }
  const of = (pick: (measured: Measured) => number) => median(mine.map(pick));
  const row = [
    fixed(median(floors), 0),
    fixed(
      of((m) => m.cpuUs),
      0,
    ),
    fixed(median(ratios), 2),
  ];
  const times = [
    fixed(of((m) => m.p50)),
    fixed(of((m) => m.p99)),
    fixed(of((m) => m.firstP50)),
    fixed(
      of((m) => (test.calls * 1000) / m.ms),
      0,
    ),
  ];
  console.log(test.name.padEnd(28) + row.join('') + times.join(''));
  if (test.events)
    console.log(
      `${'  per event, µs'.padEnd(28)}${fixed(median(floors) / test.events, 2)}${fixed(of((m) => m.cpuUs) / test.events, 2)}`,
    );
}

/** Memory of streams that are open and silent. */
async function holdIdle(gateway: Running, load: ChildProcess, upstream: ChildProcess): Promise<void> {
  const memory = async () => (await asked<{ memory: number }>(gateway.child, {})).memory;
  const before = await memory();
  const { url, key } = gateway;
  const job: LoadJob = { url, key, model: 'idle', stream: true, calls: IDLE_STREAMS, atOnce: 1, hold: true };
  await asked(load, job);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const kilobytes = ((await memory()) - before) / 1024 / IDLE_STREAMS;
  console.log(`\n${IDLE_STREAMS} idle streams: ${kilobytes.toFixed(1)} KB each`);
  await asked(load, 'release');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { open } = await asked<{ open: number }>(upstream, {});
  console.log(`upstream requests still open 0.5 s after the clients left: ${open}`);
}

await main();
