// `npm run bench`: the gateway, wallet switched on, beside a bare pipe on the same core, in alternating rounds.
import type { ChildProcess } from 'node:child_process';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { LoadJob, LoadResult } from './load.ts';
import { openStage, reportDelay, reportLeaving, reportStopped } from './pressure.ts';
import { asked, cpuOf, hasTaskset, OTHER_CORE, type Running, said, serve, start } from './process.ts';

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
  if (wanted('idle')) await holdIdle(gateway, load, upstream);
  if (wanted('leave')) await reportLeaving({ gateway, upstream }, IDLE_STREAMS);
  if (wanted('pressure')) await pressure(load);
  for (const child of [pipe.child, gateway.child, load, upstream]) child.disconnect();
}

const wanted = (part: string) => values.only === undefined || values.only === part;

async function pressure(load: ChildProcess): Promise<void> {
  const stage = await openStage();
  console.log();
  await reportStopped(stage, values.quick ? 50 : 200);
  await reportDelay(stage, load);
  stage.close();
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
  const memory = async () => (await asked<NodeJS.MemoryUsage>(gateway.child, 'memory')).rss;
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
