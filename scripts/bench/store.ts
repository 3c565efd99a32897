// Measures a store's ledger: pairs of hold and settle per second, up to 300 calls at once, by default on one wallet.
// `npm run bench -- --store mongodb` starts a replica set of one member and runs SQLite beside it; with `--parts`, pairs
// without and with attempts, budgets and caps take turns, with `--before FOLDER` this checkout and another one.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Store } from '../../lib/store/store.ts';
import { startReplicaSet } from '../../testkit/replica-set.ts';
import { asked, said } from '../../testkit/talk.ts';
import { readOptions } from '../options.ts';
import { median } from './compare.ts';
import { readCpu } from './process.ts';
import type { Keys, StoreJob, StoreResult } from './store-load.ts';

const HERE = new URL('../../', import.meta.url);
const FUNDS = 1_000_000_000_000_000n;
const CALLS = 300;
/** The minimum for one member with one process, and for two processes. */
const BOUNDS = { pairs: 4000, p99Ms: 150, p99MsOfTwo: 400 };

const BUDGETS: Readonly<Record<Keys, string>> = {
  free: 'hold and settle',
  attempt: 'an attempt',
  budget: 'a budget',
  replaced: '10 replaced keys',
  capped: 'a budget, 3 caps',
};

interface Case {
  readonly calls: number;
  readonly processes: number;
}

/** A store, empty at first, and the code that works on it. */
interface Side {
  readonly children: readonly ChildProcess[];
  readonly wallets: readonly string[];
  /** The process of the store's server. */
  readonly server: number | undefined;
}

/** What takes turns: the calls of one kind of keys on one side. */
interface Entrant {
  readonly name: string;
  readonly keys: Keys;
  readonly side: Side;
  readonly rounds: Figures[];
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

const values = readOptions({
  store: { type: 'string', default: 'sqlite' },
  url: { type: 'string' },
  seconds: { type: 'string', default: '2' },
  rounds: { type: 'string', default: '5' },
  wallets: { type: 'string', default: '1' },
  calls: { type: 'string' },
  parts: { type: 'boolean', default: false },
  before: { type: 'string' },
});
const kinds: readonly Keys[] = values.parts ? ['free', 'attempt', 'budget', 'replaced', 'capped'] : ['free'];

const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
try {
  console.log(`node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores`);
  console.log(
    `${values.rounds} rounds of ${values.seconds} s, ${values.wallets} wallet(s), an operation's p50 and p99`,
  );
  if (values.url !== undefined) await compare(() => values.url as string, 'the store of --url');
  else await compareStores();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compareStores(): Promise<void> {
  await compare((name) => `sqlite:${join(folder, `${name}.db`)}`, 'SQLite');
  if (values.store !== 'mongodb') return;
  // The cache of a small server: the tiny one of the tests would measure its eviction.
  const set = await startReplicaSet({ members: 1, cacheGB: 1 });
  try {
    await compare(set.url, 'MongoDB, one member', await set.primary());
  } finally {
    await set.stop();
  }
}

function listCases(url: string): readonly Case[] {
  const most = Number(values.calls ?? CALLS);
  const alone = (values.calls ? [most] : [1, 64, most]).map((calls) => ({ calls, processes: 1 }));
  // Two busy writers on one SQLite file starve each other: SQLite is made for one.
  return url.startsWith('sqlite:') || values.parts ? alone : [...alone, { calls: most, processes: 2 }];
}

async function compare(createStoreUrl: (database: string) => string, title: string, server?: number): Promise<void> {
  const { before } = values;
  const now = await openSide(createStoreUrl('bench'), HERE, server);
  // Its store may have another schema.
  const then = before && (await openSide(createStoreUrl('before'), pathToFileURL(`${resolve(before)}/`), server));
  console.log(
    `\n${title.padEnd(41)}pairs/s (best)    p50 ms   p99 ms (best)   main thread, all, server: CPU µs    load`,
  );
  for (const test of listCases(createStoreUrl('bench'))) {
    const entrants = kinds.flatMap((keys): Entrant[] => {
      const name = values.parts ? BUDGETS[keys] : '';
      const older = then && { name: `before ${name && `(${name})`}`, keys, side: then, rounds: [] };
      return [{ name, keys, side: now, rounds: [] }, ...(older ? [older] : [])];
    });
    await measureRounds(entrants, test);
    for (const entrant of entrants) report(test, entrant, entrants, !createStoreUrl('bench').startsWith('sqlite:'));
  }
  for (const { children } of [now, ...(then ? [then] : [])]) await endAll(children);
}

async function openSide(url: string, code: URL, server: number | undefined): Promise<Side> {
  const { openStore }: typeof import('../../lib/store/open.ts') = await import(new URL('lib/store/open.ts', code).href);
  const store = await openStore(url);
  const wallets: string[] = [];
  while (wallets.length < Number(values.wallets)) wallets.push(await openWallet(store));
  await store.close();
  const load = new URL('scripts/bench/store-load.ts', code);
  return { children: await Promise.all([startChild(load, url), startChild(load, url)]), wallets, server };
}

async function endAll(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) child.disconnect();
  await Promise.all(children.map((child) => once(child, 'exit')));
}

/** They take turns, and so does who comes first. */
async function measureRounds(entrants: readonly Entrant[], test: Case): Promise<void> {
  for (const { side, keys } of entrants) await measure(side, test, { keys, seconds: 1 });
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const first = round % entrants.length;
    for (const { side, keys, rounds } of [...entrants.slice(first), ...entrants.slice(0, first)]) {
      rounds.push(await measure(side, test, { keys, seconds: Number(values.seconds) }));
    }
  }
}

async function openWallet(store: Store): Promise<string> {
  const id = `acc_${randomBytes(12).toString('hex')}`;
  await store.accounts.create({ id, name: 'bench', createdAt: Date.now() });
  const op = { kind: 'topup', wallet: id, at: Date.now(), amount: FUNDS, paymentId: id } as const;
  const [outcome] = await store.ledger.apply([op]);
  assert.equal(outcome?.status, 'done');
  return id;
}

async function startChild(load: URL, url: string): Promise<ChildProcess> {
  const child = fork(load, [url], { serialization: 'advanced' });
  await said(child);
  return child;
}

async function measure(
  { children, wallets, server }: Side,
  { calls, processes }: Case,
  { keys, seconds }: Pick<StoreJob, 'keys' | 'seconds'>,
): Promise<Figures> {
  const job: StoreJob = { keys, wallets, seconds, calls: Math.ceil(calls / processes) };
  const busy = children.slice(0, processes);
  const cpuSeconds = () => ({
    all: busy.map(readCpu).reduce((sum, of) => sum + of, 0),
    server: readCpu({ pid: server }),
  });
  const before = cpuSeconds();
  const results = await Promise.all(busy.map((child) => asked<StoreResult>(child, job)));
  const after = cpuSeconds();
  const latencies = results.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
  const sum = (pick: (result: StoreResult) => number) => results.reduce((total, result) => total + pick(result), 0);
  const perPairUs = (seconds: number) => (seconds * 1e6) / sum(({ pairs }) => pairs);
  return {
    pairs: sum(({ pairs, seconds: took }) => pairs / took),
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    mainUs: perPairUs(sum(({ mainSeconds }) => mainSeconds)),
    allUs: perPairUs(after.all - before.all),
    serverUs: perPairUs(after.server - before.server),
  };
}

function report({ calls, processes }: Case, entrant: Entrant, all: readonly Entrant[], bounded: boolean): void {
  const { name, rounds } = entrant;
  const middle = (pick: (figures: Figures) => number) => median(rounds.map(pick));
  const best = {
    pairs: Math.max(...rounds.map(({ pairs }) => pairs)),
    p99: Math.min(...rounds.map(({ p99 }) => p99)),
  };
  const columns = [
    `${calls} in flight`.padEnd(15),
    `${name} ${processes > 1 ? `${processes} processes` : ''}`.trim().padEnd(26),
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
  const beside = entrant === all[0] ? '' : ratios(rounds, all[0]?.rounds ?? []);
  console.log(columns.join('') + beside + (bounded && calls === CALLS ? verdict(processes, best) : ''));
}

/** To the first of the same round. */
function ratios(rounds: readonly Figures[], first: readonly Figures[]): string {
  const ratio = (pick: (figures: Figures) => number) =>
    median(rounds.map((figures, round) => pick(figures) / pick(first[round] as Figures))).toFixed(2);
  return `  pairs × ${ratio(({ pairs }) => pairs)}, CPU × ${ratio(({ allUs, serverUs }) => allUs + serverUs)}`;
}

/** From the best round: other work on the machine can only make it worse. */
function verdict(processes: number, { pairs, p99 }: { readonly pairs: number; readonly p99: number }): string {
  const reached = processes === 1 ? pairs >= BOUNDS.pairs && p99 <= BOUNDS.p99Ms : p99 <= BOUNDS.p99MsOfTwo;
  return reached ? '  within bounds' : '  NOT within bounds';
}
