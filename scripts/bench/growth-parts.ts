// The parts of the growth benchmark that run on filled stores.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hashKey, makeKey } from '../../lib/accounts/key.ts';
import { openStore } from '../../lib/store/open.ts';
import { startFlags, startVariables } from '../../testkit/npm-start.ts';
import { asked, said } from '../../testkit/talk.ts';
import { writeBenchCatalog } from './account.ts';
import { type Alone, runCommand, startAlone } from './beside.ts';
import { LARGE, nameKey } from './fill.ts';
import type { Load, LoadFigures } from './growth-child.ts';
import type { Figures } from './growth-rounds.ts';
import type { Stock } from './growth-stores.ts';
import { readCpu } from './process.ts';

interface Stage {
  readonly stocks: readonly Stock[];
  readonly figures: Figures;
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  /**
   * As many wallets have calls whatever the size, and they lie apart: what calls of neighbours save, because they change the
   * same pages, is no matter of entries.
   */
  readonly busy: number;
}

const CALLERS = 64;
const FEW_CALLERS = 8;
const WARM_S = 1;
const FIRST_CALLS = 40;
const BALANCES = 200;

/** Pairs of hold and charge, and the first call that a new process makes for a wallet. */
export async function measureCalls(stage: Stage): Promise<void> {
  const { stocks, figures, rounds } = stage;
  const children = await Promise.all(stocks.map(({ url }) => startChild(url)));
  const ask = (at: number, more: Partial<Load>) =>
    asked<LoadFigures>(children[at] as ChildProcess, { ...createLoad(stage, stocks[at] as Stock), ...more });
  for (const at of stocks.keys()) await ask(at, { seconds: WARM_S });
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { entries, server }] of stocks.entries()) {
      const before = server === undefined ? 0 : readCpu({ pid: server });
      const got = await ask(at, {});
      figures.note(entries, 'pairs a second', got.perSecond);
      figures.note(entries, 'pair p99, ms', got.p99);
      figures.note(entries, 'CPU of a pair, µs', got.cpuUs);
      figures.note(entries, 'its share of the store thread, µs', got.storeCpuUs);
      if (server === undefined) continue;
      figures.note(entries, 'CPU of a pair in mongod, µs', ((readCpu({ pid: server }) - before) * 1e6) / got.pairs);
    }
  }
  await Promise.all(children.map(endChild));
  for (let round = 0; round < rounds; round += 1) await measureFirst(stage, round);
}

/** Each round in new processes, with wallets of their own where there are enough. */
async function measureFirst({ stocks, figures }: Stage, round: number): Promise<void> {
  for (const { entries, url, wallets } of stocks) {
    const child = await startChild(url);
    const count = Math.min(FIRST_CALLS, wallets.length);
    const from = (round * count) % wallets.length;
    const last = Array.from({ length: count }, (_, at) => wallets.at(-1 - ((from + at) % wallets.length)) as string);
    const got = await asked<LoadFigures>(child, {
      what: 'first',
      wallets: last,
      callers: 1,
      seconds: 0,
    } satisfies Load);
    figures.note(entries, 'first call p50, ms', got.p50);
    figures.note(entries, 'first call CPU, µs', got.cpuUs);
    await endChild(child);
  }
}

/** The first audit reads everything, the next what came meanwhile. */
export async function measureAudit(stage: Stage): Promise<void> {
  const { stocks, figures } = stage;
  for (const stock of stocks) {
    const { entries, url } = stock;
    const child = await startChild(url);
    const ask = (more: Partial<Load>) =>
      asked<LoadFigures>(child, { ...createLoad(stage, stock), callers: FEW_CALLERS, ...more });
    await ask({ seconds: WARM_S });
    figures.note(entries, `pair p99 of ${FEW_CALLERS} callers, ms`, (await ask({})).p99);
    const whole = await ask({ what: 'audit' });
    figures.note(entries, 'first audit, s', whole.besideMs / 1000);
    figures.note(entries, 'pair p99 beside it, ms', whole.p99);
    await ask({});
    const changes = await ask({ what: 'audit' });
    figures.note(entries, 'audit of what changed, s', changes.besideMs / 1000);
    figures.note(entries, 'pair p99 beside that, ms', changes.p99);
    await endChild(child);
  }
}

function createLoad({ busy, seconds }: Stage, { wallets }: Stock): Load {
  const all = [...wallets].sort();
  const many = Array.from({ length: busy }, (_, at) => all[Math.floor((at * all.length) / busy)] as string);
  return { what: 'pairs', wallets: [LARGE, ...many], callers: CALLERS, seconds };
}

export async function startChild(url: string): Promise<ChildProcess> {
  const file = new URL('./growth-child.ts', import.meta.url);
  const env = { ...process.env, ...startVariables() };
  const child = fork(file, [url], { execArgv: [...startFlags()], env, serialization: 'advanced' });
  await said(child);
  return child;
}

export async function endChild(child: ChildProcess): Promise<void> {
  child.disconnect();
  await new Promise((resolve) => child.once('exit', resolve));
}

/** Whole gateways: their startup, and the balance of the wallet that has a quarter of all entries. */
export async function measureGateway({ stocks, figures, folder, rounds }: Stage): Promise<void> {
  const homes = stocks.map(() => mkdtempSync(join(folder, 'gateway-')));
  const keys: string[] = [];
  for (const [at, { url }] of stocks.entries()) {
    keys.push(await issueKey(url));
    writeBenchCatalog(homes[at] as string, 'http://127.0.0.1:1');
    // The first start of a store also looks whether it is empty.
    await (await startAlone(homes[at] as string, url)).stop();
  }
  const gateways: Alone[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const gateway of gateways.splice(0)) await gateway.stop();
    for (const [at, { entries, url }] of stocks.entries()) {
      const gateway = await startAlone(homes[at] as string, url);
      gateways.push(gateway);
      figures.note(entries, 'start until ready, ms', gateway.readyMs);
    }
    for (const [at, { entries }] of stocks.entries()) {
      const { p50, cpuUs } = await askBalance(gateways[at] as Alone, keys[at] as string);
      figures.note(entries, 'GET /balance p50, ms', p50);
      figures.note(entries, 'GET /balance CPU, µs', cpuUs);
      figures.note(entries, 'RSS of the gateway, MiB', (gateways[at] as Alone).rssBytes() / 1024 / 1024);
    }
  }
  for (const gateway of gateways) await gateway.stop();
}

async function issueKey(databaseUrl: string): Promise<string> {
  const store = await openStore(databaseUrl);
  const key = makeKey('tg-');
  const row = { id: nameKey(LARGE), account: LARGE, name: 'bench', hash: hashKey(key), last4: key.slice(-4) };
  await store.keys.add({ ...row, createdAt: Date.now() }, 10);
  await store.close();
  return key;
}

async function askBalance({ url, child }: Alone, key: string) {
  const times: number[] = [];
  const ask = async () => {
    const from = performance.now();
    const reply = await fetch(`${url}/api/v1/balance`, { headers: { 'x-api-key': key } });
    if (reply.status !== 200) throw new Error(`the balance was answered ${reply.status}`);
    await reply.text();
    times.push(performance.now() - from);
  };
  for (let left = BALANCES; left > 0; left -= 1) await ask();
  times.length = 0;
  const before = readCpu(child);
  for (let left = BALANCES; left > 0; left -= 1) await ask();
  const cpuUs = ((readCpu(child) - before) * 1e6) / BALANCES;
  return { p50: times.sort((a, b) => a - b)[BALANCES / 2] ?? 0, cpuUs };
}

/** Another database of the same server. */
const emptyBeside = (url: string) => url.replace(/[^/?]+(?=\?)/, 'copied');

/** CPU time includes the server's. `copy` verifies both sides besides, and `copy back` goes from a backup to MongoDB. */
export async function measureOperator({ stocks, figures, folder }: Stage): Promise<void> {
  for (const { entries, url, server } of stocks) {
    const home = mkdtempSync(join(folder, 'operator-'));
    const backup = join(home, 'backup.db');
    const commands = {
      verify: ['ledger', 'verify'],
      backup: ['store', 'backup', backup],
      'copy to SQLite': ['store', 'copy', url, `sqlite:${join(home, 'copy.db')}`, '--force'],
      ...(url.startsWith('mongodb:') && { 'copy back': ['store', 'copy', `sqlite:${backup}`, emptyBeside(url)] }),
    };
    for (const [name, args] of Object.entries(commands)) {
      const before = server === undefined ? 0 : readCpu({ pid: server });
      const { ms, peakBytes, cpuS } = await runCommand(args, { DATABASE_URL: url, DATA_DIR: home });
      const ofServer = server === undefined ? 0 : readCpu({ pid: server }) - before;
      figures.note(entries, `${name}, s`, ms / 1000);
      figures.note(entries, `${name}, CPU s`, cpuS + ofServer);
      figures.note(entries, `${name}, MiB at most`, peakBytes / 1024 / 1024);
    }
    rmSync(home, { recursive: true });
  }
}
