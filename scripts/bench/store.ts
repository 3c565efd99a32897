// Measures a store's ledger: pairs of hold and settle per second, up to 300 calls at once, by default on one wallet.
// `npm run bench -- --store mongodb` starts a replica set of one member and runs SQLite beside it; with `--budgets`, calls
// of keys with and without a budget take turns in one process.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { startReplicaSet } from '../../testkit/replica-set.ts';
import { asked, said } from '../../testkit/talk.ts';
import { median } from './compare.ts';
import { cpuOf } from './process.ts';
import type { Keys, StoreJob, StoreResult } from './store-load.ts';

const LOAD = new URL('./store-load.ts', import.meta.url);
const FUNDS = 1_000_000_000_000_000n;
const CALLS = 300;
/** The minimum for one member with one process, and for two processes. */
const BOUNDS = { pairs: 4000, p99Ms: 150, p99MsOfTwo: 400 };

const BUDGETS: Readonly<Record<Keys, string>> = { free: 'no budget', budget: 'a budget', replaced: '10 replaced keys' };

interface Case {
  readonly calls: number;
  readonly processes: number;
}

interface Stage {
  readonly children: readonly ChildProcess[];
  readonly wallets: readonly string[];
  /** The process of the store's server. */
  readonly server: number | undefined;
}

interface Figures {
  readonly pairs: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU time of a pair: of the main thread, of all threads, and of the store's server. */
  readonly mainUs: number;
  readonly allUs: number;
  readonly serverUs: number;
}

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    url: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    wallets: { type: 'string', default: '1' },
    calls: { type: 'string' },
    budgets: { type: 'boolean', default: false },
  },
});
const kinds: readonly Keys[] = values.budgets ? ['free', 'budget', 'replaced'] : ['free'];

const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
try {
  console.log(`node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores`);
  console.log(
    `${values.rounds} rounds of ${values.seconds} s, ${values.wallets} wallet(s), an operation's p50 and p99`,
  );
  if (values.url !== undefined) await compare(values.url, 'the store of --url');
  else await compareStores();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compareStores(): Promise<void> {
  await compare(`sqlite:${join(folder, 'bench.db')}`, 'SQLite');
  if (values.store !== 'mongodb') return;
  // The cache of a small server: the tiny one of the tests would measure its eviction.
  const set = await startReplicaSet({ members: 1, cacheGB: 1 });
  try {
    await compare(set.url('bench'), 'MongoDB, one member', await set.primary());
  } finally {
    await set.stop();
  }
}

function casesOf(url: string): readonly Case[] {
  const most = Number(values.calls ?? CALLS);
  const alone = (values.calls ? [most] : [1, 64, most]).map((calls) => ({ calls, processes: 1 }));
  // Two busy writers on one SQLite file starve each other: SQLite is made for one.
  return url.startsWith('sqlite:') || values.budgets ? alone : [...alone, { calls: most, processes: 2 }];
}

async function compare(url: string, title: string, server?: number): Promise<void> {
  const store = await openStore(url);
  const wallets: string[] = [];
  while (wallets.length < Number(values.wallets)) wallets.push(await openWallet(store));
  await store.close();
  const children = await Promise.all([startChild(url), startChild(url)]);
  const stage: Stage = { children, wallets, server };
  console.log(
    `\n${title.padEnd(33)}pairs/s (best)    p50 ms   p99 ms (best)   main thread, all, server: CPU µs    load`,
  );
  for (const test of casesOf(url)) {
    const rounds = await measureRounds(stage, test);
    for (const keys of kinds) report(test, keys, rounds, !url.startsWith('sqlite:'));
  }
  for (const child of children) child.disconnect();
  await Promise.all(children.map((child) => once(child, 'exit')));
}

type Rounds = Readonly<Record<Keys, readonly Figures[]>>;

/** The kinds of keys take turns, and so does which of them comes first. */
async function measureRounds(stage: Stage, test: Case): Promise<Rounds> {
  const rounds = { free: [] as Figures[], budget: [] as Figures[], replaced: [] as Figures[] };
  for (const keys of kinds) await measure(stage, test, { keys, seconds: 1 });
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const at of kinds.keys()) {
      const keys = kinds[(at + round) % kinds.length] as Keys;
      rounds[keys].push(await measure(stage, test, { keys, seconds: Number(values.seconds) }));
    }
  }
  return rounds;
}

async function openWallet(store: Store): Promise<string> {
  const id = `acc_${randomBytes(12).toString('hex')}`;
  await store.accounts.create({ id, name: 'bench', createdAt: Date.now() });
  const op = { kind: 'topup', wallet: id, at: Date.now(), amount: FUNDS, paymentId: id } as const;
  const [outcome] = await store.ledger.apply([{ op, tried: false, abandoned: false }]);
  assert.equal(outcome?.status, 'done');
  return id;
}

async function startChild(url: string): Promise<ChildProcess> {
  const child = fork(LOAD, [url], { serialization: 'advanced' });
  await said(child);
  return child;
}

async function measure(
  { children, wallets, server }: Stage,
  { calls, processes }: Case,
  { keys, seconds }: Pick<StoreJob, 'keys' | 'seconds'>,
): Promise<Figures> {
  const job: StoreJob = { keys, wallets, seconds, calls: Math.ceil(calls / processes) };
  const before = cpuOf({ pid: server });
  const results = await Promise.all(children.slice(0, processes).map((child) => asked<StoreResult>(child, job)));
  const serverSeconds = cpuOf({ pid: server }) - before;
  const latencies = results.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
  const sum = (pick: (result: StoreResult) => number) => results.reduce((total, result) => total + pick(result), 0);
  const usOf = (cpuSeconds: number) => (cpuSeconds * 1e6) / sum(({ pairs }) => pairs);
  return {
    pairs: sum(({ pairs, seconds: took }) => pairs / took),
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    mainUs: usOf(sum(({ mainSeconds }) => mainSeconds)),
    allUs: usOf(sum(({ allSeconds }) => allSeconds)),
    serverUs: usOf(serverSeconds),
  };
}

function report({ calls, processes }: Case, keys: Keys, all: Rounds, bounded: boolean): void {
  const rounds = all[keys];
  const middle = (pick: (figures: Figures) => number) => median(rounds.map(pick));
  const best = {
    pairs: Math.max(...rounds.map(({ pairs }) => pairs)),
    p99: Math.min(...rounds.map(({ p99 }) => p99)),
  };
  const columns = [
    `${calls} in flight`.padEnd(15),
    (processes > 1 ? `${processes} processes` : values.budgets ? BUDGETS[keys] : '').padEnd(18),
    `${middle(({ pairs }) => pairs).toFixed(0)} (${best.pairs.toFixed(0)})`.padEnd(18),
    middle(({ p50 }) => p50)
      .toFixed(1)
      .padStart(6),
    `${middle(({ p99 }) => p99).toFixed(0)} (${best.p99.toFixed(0)})`.padStart(16),
    ...[middle(({ mainUs }) => mainUs), middle(({ allUs }) => allUs), middle(({ serverUs }) => serverUs)].map((us) =>
      us.toFixed(0).padStart(12),
    ),
    (loadavg()[0] ?? 0).toFixed(1).padStart(8),
  ];
  const beside = keys === 'free' ? '' : ratios(rounds, all.free);
  console.log(columns.join('') + beside + (bounded && calls === CALLS ? verdict(processes, best) : ''));
}

/** To the calls without a budget of the same round. */
function ratios(rounds: readonly Figures[], free: readonly Figures[]): string {
  const ratio = (pick: (figures: Figures) => number) =>
    median(rounds.map((figures, round) => pick(figures) / pick(free[round] as Figures))).toFixed(2);
  return `  pairs × ${ratio(({ pairs }) => pairs)}, CPU × ${ratio(({ allUs, serverUs }) => allUs + serverUs)}`;
}

/** From the best round: other work on the machine can only make it worse. */
function verdict(processes: number, { pairs, p99 }: { readonly pairs: number; readonly p99: number }): string {
  const reached = processes === 1 ? pairs >= BOUNDS.pairs && p99 <= BOUNDS.p99Ms : p99 <= BOUNDS.p99MsOfTwo;
  return reached ? '  within bounds' : '  NOT within bounds';
}
