// Measures a store's ledger: pairs of hold and settle per second, up to 300 calls at once, by default on one wallet.
// `npm run bench -- --store mongodb` starts a replica set of one member and runs SQLite beside it.
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
import type { StoreJob, StoreResult } from './store-load.ts';

const LOAD = new URL('./store-load.ts', import.meta.url);
const FUNDS = 1_000_000_000_000_000n;
const CALLS = 300;
/** The minimum for one member with one process, and for two processes. */
const BOUNDS = { pairs: 4000, p99Ms: 150, p99MsOfTwo: 400 };

interface Case {
  readonly calls: number;
  readonly processes: number;
}

interface Figures {
  readonly pairs: number;
  readonly p50: number;
  readonly p99: number;
  readonly mainUs: number;
}

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    url: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    wallets: { type: 'string', default: '1' },
    calls: { type: 'string' },
  },
});

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
    await compare(set.url('bench'), 'MongoDB, one member');
  } finally {
    await set.stop();
  }
}

function casesOf(url: string): readonly Case[] {
  const most = Number(values.calls ?? CALLS);
  const alone = (values.calls ? [most] : [1, 64, most]).map((calls) => ({ calls, processes: 1 }));
  // Two busy writers on one SQLite file starve each other: SQLite is made for one.
  return url.startsWith('sqlite:') ? alone : [...alone, { calls: most, processes: 2 }];
}

async function compare(url: string, title: string): Promise<void> {
  const store = await openStore(url);
  const wallets: string[] = [];
  while (wallets.length < Number(values.wallets)) wallets.push(await openWallet(store));
  await store.close();
  const children = await Promise.all([startChild(url), startChild(url)]);
  console.log(`\n${title.padEnd(26)}pairs/s (best)    p50 ms   p99 ms (best)  main thread µs   load`);
  for (const test of casesOf(url)) {
    await measure(children, { ...test, wallets, seconds: 1 });
    const rounds: Figures[] = [];
    while (rounds.length < Number(values.rounds)) {
      rounds.push(await measure(children, { ...test, wallets, seconds: Number(values.seconds) }));
    }
    report(test, rounds, !url.startsWith('sqlite:'));
  }
  for (const child of children) child.disconnect();
  await Promise.all(children.map((child) => once(child, 'exit')));
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

async function measure(all: readonly ChildProcess[], test: Case & Omit<StoreJob, 'calls'>): Promise<Figures> {
  const { wallets, seconds, processes } = test;
  const children = all.slice(0, processes);
  const results = await Promise.all(
    children.map((child) =>
      asked<StoreResult>(child, { wallets, seconds, calls: Math.ceil(test.calls / processes) } satisfies StoreJob),
    ),
  );
  const latencies = results.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
  const sum = (pick: (result: StoreResult) => number) => results.reduce((total, result) => total + pick(result), 0);
  return {
    pairs: sum(({ pairs, seconds: took }) => pairs / took),
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    mainUs: (sum(({ mainSeconds }) => mainSeconds) * 1e6) / sum(({ pairs }) => pairs),
  };
}

function report({ calls, processes }: Case, rounds: readonly Figures[], bounded: boolean): void {
  const sorted = (pick: (figures: Figures) => number) => rounds.map(pick).sort((a, b) => a - b);
  const median = (list: readonly number[]) => list[Math.floor(list.length / 2)] ?? 0;
  const [pairs, p99] = [sorted((figures) => figures.pairs), sorted((figures) => figures.p99)];
  const best = { pairs: pairs.at(-1) ?? 0, p99: p99[0] ?? 0 };
  const columns = [
    `${calls} in flight`.padEnd(15),
    (processes > 1 ? `${processes} processes` : '').padEnd(11),
    `${median(pairs).toFixed(0)} (${best.pairs.toFixed(0)})`.padEnd(18),
    median(sorted((figures) => figures.p50))
      .toFixed(1)
      .padStart(6),
    `${median(p99).toFixed(0)} (${best.p99.toFixed(0)})`.padStart(16),
    median(sorted((figures) => figures.mainUs))
      .toFixed(0)
      .padStart(16),
    (loadavg()[0] ?? 0).toFixed(1).padStart(7),
  ];
  console.log(columns.join('') + (bounded && calls === CALLS ? verdict(processes, best) : ''));
}

/** From the best round: other work on the machine can only make it worse. */
function verdict(processes: number, { pairs, p99 }: { readonly pairs: number; readonly p99: number }): string {
  const reached = processes === 1 ? pairs >= BOUNDS.pairs && p99 <= BOUNDS.p99Ms : p99 <= BOUNDS.p99MsOfTwo;
  return reached ? '  within bounds' : '  NOT within bounds';
}
