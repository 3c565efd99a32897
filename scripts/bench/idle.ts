// Memory of open, silent streams, for everything that is compared.
import type { ChildProcess } from 'node:child_process';
import { asked, said } from '../../testkit/talk.ts';
import type { LoadJob } from './load.ts';
import { OTHER_CORE, type Running, rssOf, start } from './process.ts';

const SETTLE_MS = 1000;
/** Opened and closed beforehand: what is created on first use is not a cost of a stream. */
const WARM_UP = 100;

export async function reportIdle(
  { pipe, gateway, other }: { pipe: Running; gateway: Running; other: Running | undefined },
  upstream: ChildProcess,
  streams: number,
): Promise<void> {
  console.log(`\n${streams} idle streams`);
  const all = { pipe, gateway, ...(other && { other }) };
  for (const [name, running] of Object.entries(all)) {
    const clients = start('load.ts', [], OTHER_CORE);
    await said(clients);
    const { url, path, key } = running;
    const job: LoadJob = { url, path, key, model: 'idle', stream: true, calls: WARM_UP, atOnce: 1, hold: true };
    await asked(clients, job);
    await asked(clients, 'release');
    const before = await memoryOf(running, name === 'other');
    await asked(clients, { ...job, calls: streams });
    await pause(SETTLE_MS);
    const grown = (rssOf(running.child) - before.now) / 1024 / streams;
    const held = ((await memoryOf(running, name === 'other')).held - before.held) / 1024 / streams;
    await asked(clients, 'release');
    clients.disconnect();
    await pause(SETTLE_MS / 2);
    const { open } = await asked<{ open: number }>(upstream, {});
    const figures = `${held.toFixed(1)} KB each, ${grown.toFixed(1)} before a collection of garbage`;
    console.log(`${`  ${name}`.padEnd(30)}${figures}; still open upstream 0.5 s after the clients left: ${open}`);
  }
}

/** Resident, as is, and after garbage collection where it can be requested. */
async function memoryOf({ child }: Running, isForeign: boolean): Promise<{ now: number; held: number }> {
  await pause(SETTLE_MS);
  const now = rssOf(child);
  if (isForeign) return { now, held: now };
  return { now, held: (await asked<NodeJS.MemoryUsage>(child, 'memory')).rss };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
