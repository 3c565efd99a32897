// `npm run soak -- --minutes N`: rounds of streams, calls, leaving clients, sessions of agents and reloads. After the first
// minute, memory in use must stay within a twentieth, and at the end every rouble must be where the ledger says.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MINUTE_MS } from '../../lib/base/durations.ts';
import { asked, said } from '../../testkit/talk.ts';
import { describeScriptedModels } from '../agents/catalog.ts';
import { MODELS } from '../bench/cases.ts';
import { median } from '../bench/compare.ts';
import type { LoadJob, LoadResult } from '../bench/load.ts';
import { OTHER_CORE, type Running, serve, start } from '../bench/process.ts';
import { readOptions } from '../options.ts';
import type { AgentsJob, AgentsResult } from './agents.ts';

const values = readOptions({ minutes: { type: 'string', default: '5' } });
const GROWTH_MAX = 0.05;
const READINGS = 5;

type Load = Pick<LoadJob, 'model' | 'stream' | 'atOnce' | 'leaveAfterBytes'>;

const LOADS: readonly Load[] = [
  { model: 'stream-20', stream: true, atOnce: 64 },
  { model: 'burst-100', stream: false, atOnce: 64 },
  { model: 'idle', stream: true, atOnce: 64, leaveAfterBytes: 1 },
  { model: 'burst-500', stream: true, atOnce: 32 },
  { model: 'paced-50', stream: true, atOnce: 100 },
];
/** Seconds of each kind of load, per round. */
const LOAD_S = 2;
/** Sessions of agents at once, in each dialect. */
const AGENTS_AT_ONCE = 8;
/** Micro-roubles a token. */
const AGENT_PRICE = { input: 100, cacheRead: 10, cacheWrite: 125, output: 500 };

interface Audit {
  readonly ok: boolean;
  readonly entries: number;
  /** In micro-roubles. */
  readonly drift: string;
  readonly held: string;
}

async function main(): Promise<void> {
  const upstream = start('upstream.ts', [], OTHER_CORE);
  const { port } = await said<{ port: number }>(upstream);
  const load = start('load.ts', [], OTHER_CORE);
  await said(load);
  const agents = start('../soak/agents.ts', [], OTHER_CORE);
  const scripted = await said<{ upstream: string }>(agents);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
  writeFileSync(
    join(folder, 'agents.json'),
    JSON.stringify(describeScriptedModels(scripted.upstream, AGENT_PRICE, 'k')),
  );
  const env = { BENCH_CATALOG: join(folder, 'agents.json') };
  const gateway = await serve('gateway.ts', [`http://127.0.0.1:${port}`, ...MODELS], { env });
  const { child } = gateway;
  const readings: number[] = [];
  let calls = 0;
  const startedAt = performance.now();
  const passed = () => performance.now() - startedAt;
  while (passed() < Number(values.minutes) * MINUTE_MS || readings.length < 2 * READINGS) {
    for (const each of LOADS) calls += await runLoad(load, gateway, each);
    calls += await runAgents(agents, gateway);
    await asked(child, 'reload');
    const { heapUsed, external, rss } = await asked<NodeJS.MemoryUsage>(child, 'memory');
    if (passed() > MINUTE_MS) readings.push(heapUsed + external);
    const figures = `${mebibytes(heapUsed + external)} MiB in use, ${mebibytes(rss)} resident`;
    console.log(`${(passed() / MINUTE_MS).toFixed(1)} min: ${calls} calls, ${figures}`);
  }
  // The calls of the last clients to leave are settled by then.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const audit = await asked<Audit>(child, 'audit');
  for (const process of [child, load, agents, upstream]) process.disconnect();
  rmSync(folder, { recursive: true });
  judge(readings, audit);
}

async function runLoad(load: ChildProcess, { url, path, key }: Running, each: Load): Promise<number> {
  const job: LoadJob = { ...each, url, path, key, calls: 0, seconds: LOAD_S };
  const { failed, total, failure } = await asked<LoadResult>(load, job);
  if (failed > 0) throw new Error(`${failed} of ${total} calls of ${each.model} failed, the first with ${failure}`);
  return total;
}

async function runAgents(agents: ChildProcess, { url, key }: Running): Promise<number> {
  const job: AgentsJob = { url, key, seconds: LOAD_S, atOnce: AGENTS_AT_ONCE };
  const { calls, cached, thoughtsDue, thoughtsBack, failures } = await asked<AgentsResult>(agents, job);
  if (failures.length > 0) throw new Error(`sessions of agents failed: ${failures.join('; ')}`);
  if (thoughtsBack < thoughtsDue) throw new Error(`${thoughtsBack} of ${thoughtsDue} thoughts came back`);
  if (cached === 0) throw new Error('nothing came from a cache');
  return calls;
}

const mebibytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);

function judge(readings: readonly number[], { ok, entries, drift, held }: Audit): void {
  const first = median(readings.slice(0, READINGS));
  const last = median(readings.slice(-READINGS));
  const growth = last / first - 1;
  console.log(`memory in use: ${mebibytes(first)} to ${mebibytes(last)} MiB, ${(growth * 100).toFixed(1)} %`);
  console.log(`ledger: ${entries} entries, drift ${drift}, held ${held}`);
  if (growth <= GROWTH_MAX && ok && drift === '0' && held === '0') return;
  console.error('NOT within bounds');
  process.exitCode = 1;
}

await main();
