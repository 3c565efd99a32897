// `npm run bench -- --growth`: how calls, startup and operators' work change as the ledger grows. The same figures on
// stores of several sizes, and how much the last differs from the first.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { hashKey, makeKey } from '../../lib/accounts/key.ts';
import { openStore } from '../../lib/store/open.ts';
import { startFlags, startVariables } from '../../testkit/npm-start.ts';
import { startReplicaSet } from '../../testkit/replica-set.ts';
import { asked, said } from '../../testkit/talk.ts';
import { writeBenchCatalog } from './account.ts';
import { runCommand, startAlone } from './beside.ts';
import { fillLedger, keyOf, LARGE, smallWallet } from './fill.ts';
import type { Load, LoadFigures } from './growth-child.ts';

const { values } = parseArgs({
  options: {
    growth: { type: 'boolean' },
    entries: { type: 'string', default: '10000,200000,2000000' },
    store: { type: 'string', default: 'sqlite,mongodb' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string' },
  },
});
const sizes = values.entries.split(',').map(Number);
const seconds = Number(values.seconds);
/** `calls`, `audit`, `gateway`, `operator`, `keys` or `reload`; all of them by default. */
const wanted = (part: string) => values.only === undefined || values.only === part;

/** The average number of entries a wallet, three quarters of all; the large wallet has the rest. */
const ENTRIES_PER_WALLET = 40;
const CALLS_OF_SMALL = 14;
/** As many wallets have calls whatever the size: more of them are more pages in use, however few entries there are. */
const BUSY_WALLETS = Math.ceil(Math.min(...sizes) / ENTRIES_PER_WALLET);
const CALLERS = 64;
const FIRST_CALLS = 200;
const BALANCES = 100;
const KEYS = 50_000;
const MODELS = 2000;
/** Nothing on a call's path may differ by more than this between the first size and the last. */
const GROWTH_MAX = 1.1;
const ON_THE_PATH = new Set(['pairs a second', 'pair p99, ms', 'first call p50, ms', 'GET /balance p50, ms']);

type Figures = Readonly<Record<string, number>>;

interface Place {
  readonly url: string;
  /** Bytes on disk, including indexes. */
  size(): Promise<number>;
  remove(): Promise<void>;
}

async function main(): Promise<void> {
  console.log(`node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`);
  const onStores = ['calls', 'audit', 'gateway', 'operator'].some(wanted);
  for (const kind of onStores ? values.store.split(',') : []) {
    const all: Figures[] = [];
    for (const entries of sizes) all.push(await measure(kind, entries));
    report(kind, all);
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-growth-'));
  if (wanted('keys')) await reportKeys(folder);
  if (wanted('reload')) await reportReload(folder);
  rmSync(folder, { recursive: true, force: true });
}

async function measure(kind: string, entries: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-growth-'));
  const place = kind === 'sqlite' ? filePlace(folder) : await databasePlace();
  const figures: Record<string, number> = {};
  const note = (name: string, value: number) => {
    figures[name] = value;
    console.log(`${kind} ${entries}: ${name} ${value.toFixed(2)}`);
  };
  try {
    const wallets = Math.ceil(entries / ENTRIES_PER_WALLET);
    await (await openStore(place.url)).close();
    const empty = await place.size();
    const startedAt = performance.now();
    const filled = await fillLedger(place.url, { entries, wallets, calls: CALLS_OF_SMALL });
    note('fill, s', (performance.now() - startedAt) / 1000);
    note('bytes a call', ((await place.size()) - empty) / (filled / 2));
    if (wanted('calls')) await measureCalls(place.url, wallets, note);
    if (wanted('audit')) await measureAudit(place.url, note);
    if (wanted('gateway')) await measureGateway(place.url, folder, note);
    if (wanted('operator')) await measureOperator(place.url, folder, note);
  } finally {
    await place.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

type Note = (name: string, value: number) => void;

async function measureCalls(url: string, wallets: number, note: Note): Promise<void> {
  const child = await startChild(url);
  const ask = (more: Partial<Load>) => asked<LoadFigures>(child, { ...loadOf(), ...more });
  const last = Array.from({ length: Math.min(FIRST_CALLS, wallets) }, (_, at) => smallWallet(wallets - 1 - at));
  note('first call p50, ms', (await ask({ what: 'first', wallets: last })).p50);
  await ask({ seconds: 1 });
  const pairs = await ask({});
  note('pairs a second', pairs.perSecond);
  note('pair p99, ms', pairs.p99);
  await endChild(child);
}

/** The first reads everything, the next what came meanwhile. */
async function measureAudit(url: string, note: Note): Promise<void> {
  const child = await startChild(url);
  const ask = (more: Partial<Load>) => asked<LoadFigures>(child, { ...loadOf(), callers: 8, ...more });
  note('pair p99 of 8 callers, ms', (await ask({})).p99);
  const whole = await ask({ what: 'audit' });
  note('first audit, s', whole.besideMs / 1000);
  note('pair p99 beside it, ms', whole.p99);
  await ask({});
  const changes = await ask({ what: 'audit' });
  note('audit of what changed, s', changes.besideMs / 1000);
  note('pair p99 beside that, ms', changes.p99);
  await endChild(child);
}

function loadOf(): Load {
  const many = Array.from({ length: BUSY_WALLETS }, (_, at) => smallWallet(at));
  return { what: 'pairs', wallets: [LARGE, ...many], callers: CALLERS, seconds };
}

async function endChild(child: ChildProcess): Promise<void> {
  child.disconnect();
  await new Promise((resolve) => child.once('exit', resolve));
}

async function startChild(url: string): Promise<ChildProcess> {
  const file = new URL('./growth-child.ts', import.meta.url);
  const env = { ...process.env, ...startVariables() };
  const child = fork(file, [url], { execArgv: [...startFlags()], env, serialization: 'advanced' });
  await said(child);
  return child;
}

/** A whole gateway on it: its startup, and the balance of the wallet that has a quarter of all entries. */
async function measureGateway(databaseUrl: string, folder: string, note: Note): Promise<void> {
  const store = await openStore(databaseUrl);
  const key = makeKey('tg-');
  const row = { id: keyOf(LARGE), account: LARGE, name: 'bench', hash: hashKey(key), last4: key.slice(-4) };
  await store.keys.add({ ...row, createdAt: Date.now() }, 10);
  await store.close();
  writeBenchCatalog(folder, 'http://127.0.0.1:1');
  // The first start of a store also looks whether it is empty.
  await (await startAlone(folder, databaseUrl)).stop();
  const gateway = await startAlone(folder, databaseUrl);
  note('start until ready, ms', gateway.readyMs);
  const times: number[] = [];
  for (let left = BALANCES; left > 0; left -= 1) {
    const from = performance.now();
    const reply = await fetch(`${gateway.url}/api/v1/balance`, { headers: { 'x-api-key': key } });
    if (reply.status !== 200) throw new Error(`the balance was answered ${reply.status}`);
    await reply.text();
    times.push(performance.now() - from);
  }
  note('GET /balance p50, ms', times.sort((a, b) => a - b)[BALANCES / 2] ?? 0);
  note('RSS of the gateway, MiB', gateway.rssBytes() / 1024 / 1024);
  await gateway.stop();
}

async function measureOperator(databaseUrl: string, folder: string, note: Note): Promise<void> {
  const backup = join(folder, 'backup.db');
  const copies = {
    backup: ['store', 'backup', backup],
    'copy to SQLite': ['store', 'copy', '--from-env', 'DATABASE_URL', `sqlite:${join(folder, 'copy.db')}`, '--force'],
  };
  for (const [name, args] of Object.entries(copies)) {
    const { ms, peakBytes } = await runCommand(args, { DATABASE_URL: databaseUrl, DATA_DIR: folder });
    note(`${name}, s`, ms / 1000);
    note(`${name}, MiB at most`, peakBytes / 1024 / 1024);
  }
}

function filePlace(folder: string): Place {
  const path = join(folder, 'growth.db');
  return {
    url: `sqlite:${path}`,
    size: async () =>
      ['', '-wal'].reduce((sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0), 0),
    remove: async () => undefined,
  };
}

async function databasePlace(): Promise<Place> {
  const set = await startReplicaSet({ members: 1, cacheGB: 1 });
  const url = set.url('growth');
  return {
    url,
    async size() {
      const client = await MongoClient.connect(url);
      // What is in the cache reaches the disk only at a checkpoint.
      await client.db('admin').command({ fsync: 1 });
      const { storageSize, indexSize } = await client.db().stats();
      await client.close();
      return storageSize + indexSize;
    },
    remove: () => set.stop(),
  };
}

async function reportKeys(folder: string): Promise<void> {
  const url = `sqlite:${join(folder, 'keys.db')}`;
  await (await openStore(url)).close();
  await fillLedger(url, { entries: 1, wallets: KEYS / 10, calls: 1 });
  const wallets = Array.from({ length: KEYS / 10 }, (_, index) => smallWallet(index));
  const child = await startChild(url);
  const load: Load = { what: 'keys', wallets, callers: 1, seconds: 0, count: KEYS };
  const { bytes, perSecond } = await asked<LoadFigures>(child, load);
  child.disconnect();
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

function report(kind: string, all: readonly Figures[]): void {
  console.log(`\n${kind.padEnd(32)}${sizes.map((size) => `${size}`.padStart(12)).join('')}   last/first`);
  for (const name of Object.keys(all[0] ?? {})) {
    const row = all.map((figures) => figures[name] ?? 0);
    const ratio = (row.at(-1) ?? 0) / (row[0] ?? 1);
    const worse = name === 'pairs a second' ? 1 / ratio : ratio;
    const judged = ON_THE_PATH.has(name) && worse > GROWTH_MAX ? '  grows' : '';
    const columns = row.map((value) => value.toFixed(value < 100 ? 2 : 0).padStart(12));
    console.log(`${name.padEnd(32)}${columns.join('')}${ratio.toFixed(2).padStart(13)}${judged}`);
  }
  console.log();
}

await main();
