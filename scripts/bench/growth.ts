// `npm run bench -- --growth`: how calls, startup and operators' work change as the ledger grows. The same figures on
// stores of several sizes, in alternating rounds, and how much the last differs from the first.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../lib/store/open.ts';
import { asked } from '../../testkit/talk.ts';
import { readOptions } from '../options.ts';
import { writeBenchCatalog } from './account.ts';
import { startAlone } from './beside.ts';
import { addAccounts, fillLedger, smallWallets } from './fill.ts';
import type { Load, LoadFigures } from './growth-child.ts';
import { endChild, measureAudit, measureCalls, measureGateway, measureOperator, startChild } from './growth-parts.ts';
import { createFigures } from './growth-rounds.ts';
import { ENTRIES_PER_WALLET, openStock, type Stock } from './growth-stores.ts';

const values = readOptions({
  growth: { type: 'boolean' },
  size: { type: 'string', default: '10000,200000,2000000' },
  store: { type: 'string', default: 'sqlite,mongodb' },
  part: { type: 'string', default: 'calls,audit,gateway,operator,keys,reload' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '3' },
  /** Filled stores stay here. */
  cache: { type: 'string', default: fileURLToPath(new URL('../../.cache/growth/', import.meta.url)) },
});
const sizes = values.size.split(',').map(Number);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const parts = new Set(values.part.split(','));

const ON_STORES = { calls: measureCalls, audit: measureAudit, gateway: measureGateway, operator: measureOperator };
/** Between two busy ones of the smallest store. */
const WALLETS_APART = 10;
const KEYS = 50_000;
const MODELS = 2000;

async function main(): Promise<void> {
  console.log(`node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`);
  const from = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-growth-'));
  try {
    const wanted = Object.entries(ON_STORES).filter(([name]) => parts.has(name));
    for (const kind of values.store.split(',')) {
      if (wanted.length > 0 || parts.has('fill')) await measure(kind, folder, wanted);
    }
    if (parts.has('keys')) await timed('keys', () => reportKeys(folder));
    if (parts.has('reload')) await timed('reload', () => reportReload(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${Math.round((performance.now() - from) / 1000)} s in all, load ${loadavg()[0]?.toFixed(1)}`);
}

type Part = readonly [name: string, measure: typeof measureCalls];

async function measure(kind: string, folder: string, wanted: readonly Part[]): Promise<void> {
  const figures = createFigures(kind, sizes);
  const stocks: Stock[] = [];
  try {
    for (const entries of sizes) {
      const stock = await openStock({ kind, entries, cache: values.cache, folder });
      stocks.push(stock);
      figures.note(entries, 'fill, s', stock.filledS);
      figures.note(entries, 'bytes a call', stock.bytesPerCall);
    }
    const busy = Math.ceil(Math.min(...sizes) / ENTRIES_PER_WALLET / WALLETS_APART);
    for (const [name, part] of wanted) {
      await timed(`${kind}, ${name}`, () => part({ stocks, figures, folder, rounds, seconds, busy }));
    }
    figures.print();
  } finally {
    for (const stock of stocks) await stock.stop();
  }
}

async function timed(name: string, work: () => Promise<void>): Promise<void> {
  const from = performance.now();
  await work();
  console.log(`${name}: ${Math.round((performance.now() - from) / 1000)} s`);
}

async function reportKeys(folder: string): Promise<void> {
  const url = `sqlite:${join(folder, 'keys.db')}`;
  await (await openStore(url)).close();
  const filling = { entries: 1, wallets: KEYS / 10, calls: 1 };
  await addAccounts(url, filling);
  await fillLedger(url, filling);
  const wallets = smallWallets(filling);
  const child = await startChild(url);
  const load: Load = { what: 'keys', wallets, callers: 1, seconds: 0, count: KEYS };
  const { bytes, perSecond } = await asked<LoadFigures>(child, load);
  await endChild(child);
  console.log(
    `${KEYS} keys seen: ${(bytes / 1024 / 1024).toFixed(1)} MiB more, ${perSecond.toFixed(0)} first looks a second`,
  );
}

async function reportReload(folder: string): Promise<void> {
  const names = Array.from({ length: MODELS }, (_, index) => `model-${index}`);
  writeBenchCatalog(folder, 'http://127.0.0.1:1', names);
  const gateway = await startAlone(folder, `sqlite:${join(folder, 'reload.db')}`);
  const waits: number[] = [];
  let reloads = 0;
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    if (waits.length % 50 === 0) {
      gateway.reload();
      reloads += 1;
    }
    const from = performance.now();
    await (await fetch(`${gateway.url}/healthz`)).text();
    waits.push(performance.now() - from);
  }
  const sorted = waits.sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  console.log(
    `${MODELS} models, ${reloads} reloads: ready in ${gateway.readyMs.toFixed(0)} ms, a request waits ${at(0.5)} ms, ` +
      `at most ${at(1)} ms, ${(gateway.rssBytes() / 1024 / 1024).toFixed(0)} MiB`,
  );
  await gateway.stop();
}

await main();
