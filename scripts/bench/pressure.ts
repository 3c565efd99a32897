// The gateway under pressure: the cost of stalled readers, its loop beside floods, how soon a disconnect is passed on.
import type { ChildProcess } from 'node:child_process';
import { asked, said } from '../../testkit/talk.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { OTHER_CORE, type Running, serve, start } from './process.ts';
import type { ReadersJob } from './readers.ts';

const FLOOD = '../../testkit/flood.ts';
const FLOODS = ['tiny-events', 'big-events', 'endless-line', 'comments', 'empty-deltas'];

export const STOPPED_KB_MAX = 256;
const DELAY_MS_MAX = 50;
const FLOOD_S = 5;
/** After this many checks at this interval without new bytes, all buffers on the way are full. */
const STILL_MS = 250;
const STILL_LOOKS = 3;
const MEMORY_READINGS = 3;
const STILL_MS_MAX = 30_000;

/** A gateway in front of a flooding upstream, and clients that stop reading. */
interface Stage {
  readonly gateway: Running;
  readonly flood: ChildProcess;
  readonly clients: ChildProcess;
  /** An idle process on the gateway's core. */
  readonly idle: Running;
  close(): void;
}

export async function openStage(): Promise<Stage> {
  const flood = start(FLOOD, [], OTHER_CORE);
  const { port } = await said<{ port: number }>(flood);
  const gateway = await serve('gateway.ts', [`http://127.0.0.1:${port}`, ...FLOODS]);
  const idle = await serve('pipe.ts', [`http://127.0.0.1:${port}`]);
  const clients = start('readers.ts', [], OTHER_CORE);
  await said(clients);
  return {
    idle,
    gateway,
    flood,
    clients,
    close() {
      for (const child of [clients, gateway.child, idle.child, flood]) child.disconnect();
    },
  };
}

/** What the gateway holds for each of them, in KB. */
interface Held {
  /** Objects and buffers together, including those known only to native code, as sockets have while they write. */
  readonly usedKB: number;
  readonly heapKB: number;
  readonly rssKB: number;
  /** While they are connected and nothing moves. */
  readonly delay: Delay;
}

export async function stopReaders(stage: Stage, { model, readers }: { model: string; readers: number }): Promise<Held> {
  const { gateway, clients, flood } = stage;
  const memory = () => leastMemory(gateway);
  const job: ReadersJob = { url: gateway.url, key: gateway.key, model, readers };
  // A trial first: what is created on first use is not a cost of a reader.
  await asked(clients, { ...job, readers: Math.ceil(readers / 10) });
  await asked(clients, 'leave');
  await untilStill(flood);
  const before = await memory();
  await asked(clients, job);
  await untilStill(flood);
  const during = await memory();
  const delay = await delayWhile(stage, () => pause(1000));
  await asked(clients, 'leave');
  const each = (of: (usage: NodeJS.MemoryUsage) => number) => (of(during) - of(before)) / 1024 / readers;
  return {
    usedKB: each(usedBytes),
    heapKB: each(({ heapUsed }) => heapUsed),
    rssKB: each(({ rss }) => rss),
    delay,
  };
}

function usedBytes({ heapUsed, external, arrayBuffers }: NodeJS.MemoryUsage): number {
  return heapUsed + Math.max(external, arrayBuffers);
}

/** The lowest of several readings: what is released late is not held. */
async function leastMemory({ child }: Running): Promise<NodeJS.MemoryUsage> {
  const readings: NodeJS.MemoryUsage[] = [];
  for (let at = 0; at < MEMORY_READINGS; at += 1) {
    readings.push(await asked<NodeJS.MemoryUsage>(child, 'memory'));
    await pause(STILL_MS);
  }
  return readings.reduce((least, reading) => (usedBytes(reading) < usedBytes(least) ? reading : least));
}

interface Delay {
  readonly p99Ms: number;
  readonly mostMs: number;
  /** What the machine itself adds. */
  readonly idleP99Ms: number;
}

async function delayWhile({ gateway, idle }: Stage, work: () => Promise<unknown>): Promise<Delay> {
  // Earlier work, especially garbage collection, still shows in the next tick of the loop.
  await pause(100);
  for (const { child } of [gateway, idle]) await asked(child, 'delay');
  await work();
  const delay = await asked<Delay>(gateway.child, 'delay');
  return { ...delay, idleP99Ms: (await asked<Delay>(idle.child, 'delay')).p99Ms };
}

function describeDelay({ p99Ms, mostMs, idleP99Ms }: Delay): string {
  const figures = `p99 ${p99Ms.toFixed(1)} ms, most ${mostMs.toFixed(1)} ms (an idle process there: p99 ${idleP99Ms.toFixed(1)} ms)`;
  return `loop delay ${figures}; bound ${DELAY_MS_MAX} ms`;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when nothing more is read from a flooding upstream. */
export async function untilStill(flood: ChildProcess): Promise<void> {
  const deadline = performance.now() + STILL_MS_MAX;
  let last = -1;
  let still = 0;
  for (;;) {
    const { written } = await asked<{ written: number }>(flood, {});
    still = written === last ? still + 1 : 0;
    if (still === STILL_LOOKS) return;
    if (performance.now() > deadline) throw new Error('a reader that stopped did not stop the upstream');
    last = written;
    await pause(STILL_MS);
  }
}

export async function reportStopped(stage: Stage, readers: number): Promise<void> {
  for (const model of ['tiny-events', 'big-events']) {
    const held = await stopReaders(stage, { model, readers });
    const figures = `${held.usedKB.toFixed(0)} KB (heap ${held.heapKB.toFixed(0)}), RSS ${held.rssKB.toFixed(0)} KB`;
    console.log(`${readers} stopped readers of ${model}: ${figures} each; bound ${STOPPED_KB_MAX} KB`);
    console.log(`  beside them: ${describeDelay(held.delay)}`);
  }
}

/** Each flood is read as fast as it comes, over and over. */
export async function reportDelay(stage: Stage, load: ChildProcess): Promise<void> {
  const { gateway } = stage;
  for (const model of FLOODS) {
    const before = await asked<NodeJS.MemoryUsage>(gateway.child, 'memory');
    const { url, path, key } = gateway;
    const job: LoadJob = { url, path, key, model, stream: true, calls: 0, atOnce: 1, seconds: FLOOD_S };
    let bytes = 0;
    const delay = await delayWhile(stage, async () => {
      ({ bytes } = await asked<LoadResult>(load, job));
    });
    const after = await asked<NodeJS.MemoryUsage>(gateway.child, 'memory');
    const grown = (of: (usage: NodeJS.MemoryUsage) => number) => ((of(after) - of(before)) / 1024 / 1024).toFixed(1);
    console.log(`flood of ${model}: ${describeDelay(delay)}`);
    console.log(
      `  ${(bytes / 1e6).toFixed(0)} MB read; left after it ${grown((m) => m.heapUsed + m.external)} MB, RSS ${grown((m) => m.rss)} MB`,
    );
  }
}

/** They all leave at the same moment; the clock runs until the upstream sees all its connections closed. */
export async function reportLeaving(
  { gateway, upstream }: { gateway: Running; upstream: ChildProcess },
  readers: number,
): Promise<void> {
  const clients = start('readers.ts', [], OTHER_CORE);
  await said(clients);
  const job: ReadersJob = { url: gateway.url, key: gateway.key, model: 'idle', readers };
  await asked(clients, job);
  await asked(upstream, {});
  const { leftAt } = await asked<{ leftAt: string }>(clients, 'leave');
  const times: number[] = [];
  const deadline = performance.now() + 10_000;
  while (times.length < readers && performance.now() < deadline) {
    await pause(1000);
    const { closes } = await asked<{ closes: readonly string[] }>(upstream, {});
    for (const at of closes) times.push(Number(BigInt(at) - BigInt(leftAt)) / 1e6);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => `${(times[Math.floor((times.length - 1) * share)] ?? Number.NaN).toFixed(0)} ms`;
  console.log(
    `${times.length} of ${readers} upstream requests closed after all clients left at once: ` +
      `p50 ${at(0.5)}, p99 ${at(0.99)}, last ${at(1)}`,
  );
  clients.disconnect();
}
