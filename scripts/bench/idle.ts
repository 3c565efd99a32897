// Memory of open, silent streams, for everything that is compared.
import type { ChildProcess } from 'node:child_process';
import { asked, said } from '../../testkit/talk.ts';
import type { LoadJob } from './load.ts';
import { OTHER_CORE, type Running, readRss, start } from './process.ts';

const SETTLE_MS = 1000;
/** Beforehand: neither what is made on first use nor the heap of new objects, which grows with use, is a stream's. */
const WARM_UP_CALLS = 2000;
const WARM_UP_STREAMS = 100;

export interface IdleOptions {
  readonly streams: number;
  /** In processes that have served nothing else: memory freed by earlier loads would be used again. */
  readonly fresh: boolean;
}

interface Idling {
  readonly pipe: Running;
  readonly gateway: Running;
  readonly other: Running | undefined;
}

export async function reportIdle(
  { pipe, gateway, other }: Idling,
  upstream: ChildProcess,
  { streams, fresh }: IdleOptions,
): Promise<void> {
  console.log(`\n${streams} idle streams, ${fresh ? 'in fresh processes' : 'in processes that have served before'}`);
  const all = { pipe, gateway, ...(other && { other }) };
  for (const [name, running] of Object.entries(all)) {
    const clients = start('load.ts', [], OTHER_CORE);
    await said(clients);
    const { url, path, key } = running;
    const caller = { url, path, key, stream: true };
    await asked(clients, { ...caller, model: 'stream-20', calls: WARM_UP_CALLS, atOnce: 32 } satisfies LoadJob);
    const job: LoadJob = { ...caller, model: 'idle', calls: WARM_UP_STREAMS, atOnce: 1, hold: true };
    await asked(clients, job);
    await asked(clients, 'release');
    const before = await readMemory(running);
    await asked(clients, { ...job, calls: streams });
    await pause(SETTLE_MS);
    const grown = kilobytes(readRss(running.child) - before.now, streams);
    const after = await readMemory(running);
    const held = kilobytes(after.held - before.held, streams);
    await asked(clients, 'release');
    clients.disconnect();
    await pause(SETTLE_MS / 2);
    const { open } = await asked<{ open: number }>(upstream, {});
    const heap = kilobytes(after.heap - before.heap, streams);
    const figures = `${held} KB each, ${heap} of it heap; ${grown} before a collection of garbage`;
    console.log(`${`  ${name}`.padEnd(30)}${figures}; still open upstream 0.5 s after the clients left: ${open}`);
  }
}

const kilobytes = (bytes: number, streams: number) => (bytes / 1024 / streams).toFixed(1);

interface Memory {
  /** Resident, as is. */
  readonly now: number;
  /** The same after garbage collection, where it can be requested. */
  readonly held: number;
  /** Objects after it, buffers included. */
  readonly heap: number;
}

async function readMemory({ child }: Running): Promise<Memory> {
  await pause(SETTLE_MS);
  const now = readRss(child);
  const { rss, heapUsed, external } = await asked<NodeJS.MemoryUsage>(child, 'memory');
  return { now, held: rss, heap: heapUsed + external };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
