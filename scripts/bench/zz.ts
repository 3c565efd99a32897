// Measures the ledger of a store: reserve + settle pairs a second with 1, 8, 64 and 256 calls in flight.
// Run it with `node scripts/bench/store.ts [--url <database url>] [--seconds 3] [--wallets 1]`; the default is a new
// SQLite file in a temporary folder.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Outcome } from '../../lib/ledger/decide.ts';
import { createQueue, type Queue } from '../../lib/ledger/queue.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';

const IN_FLIGHT = [300, 300];
const FUNDS = 1_000_000_000_000_000n;

interface Bench {
  readonly store: Store;
  readonly queue: Queue;
  readonly wallets: readonly string[];
}

interface Result {
  readonly pairs: number;
  readonly seconds: number;
  /** Processor time of the main thread, which a gateway would not have for its calls. */
  readonly mainSeconds: number;
  readonly latenciesMs: readonly number[];
}

const { values } = parseArgs({
  options: { url: { type: 'string' }, seconds: { type: 'string' }, wallets: { type: 'string' } },
});

const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const store = await openStore(values.url ?? `sqlite:${join(folder, 'bench.db')}`);
try {
  await run(store);
} finally {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

async function run(opened: Store): Promise<void> {
  const queue = createQueue({ store: opened.ledger });
  const wallets: string[] = [];
  for (let index = 0; index < Number(values.wallets ?? 1); index += 1) wallets.push(await openWallet(opened, queue));
  const bench = { store: opened, queue, wallets };
  await measure(bench, { inFlight: 64, seconds: 1 });
  for (const inFlight of IN_FLIGHT) report(inFlight, await measure(bench, { inFlight, seconds: secondsEach() }));
}

function secondsEach(): number {
  return Number(values.seconds ?? 3);
}

async function openWallet(opened: Store, queue: Queue): Promise<string> {
  const id = `acc_${randomBytes(12).toString('hex')}`;
  await opened.accounts.create({ id, name: 'bench', createdAt: Date.now() });
  const topup = { kind: 'topup', wallet: id, at: Date.now(), amount: FUNDS, paymentId: id } as const;
  done(await queue.submit(topup, { persistent: false }));
  return id;
}

async function measure(bench: Bench, { inFlight, seconds }: { inFlight: number; seconds: number }): Promise<Result> {
  const latenciesMs: number[] = [];
  const from = performance.now();
  const until = from + seconds * 1000;
  const cpu = process.threadCpuUsage();
  const caller = async () => {
    while (performance.now() < until) await pair(bench, latenciesMs);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const { user, system } = process.threadCpuUsage(cpu);
  return {
    pairs: latenciesMs.length / 2,
    seconds: (performance.now() - from) / 1000,
    mainSeconds: (user + system) / 1e6,
    latenciesMs,
  };
}

/** As the ledger service does it for a text call. */
async function pair({ queue, wallets }: Bench, latenciesMs: number[]): Promise<void> {
  const wallet = wallets[Math.floor(Math.random() * wallets.length)] as string;
  const chargeId = `req_${Date.now().toString(36)}${randomBytes(9).toString('hex')}`;
  const at = Date.now();
  const start = {
    wallet,
    at,
    chargeId,
    key: 'key_0123456789abcdef01234567',
    chargeKind: 'text',
    model: 'bench',
  } as const;
  const prices = '{"input":"40000000","output":"240000000"}';
  const hold = { amount: 5_000_000n, owner: 'own_0123456789abcdef01234567', lease: at + 15_000 };
  const used = { amount: 1_234_567n, tokensInput: 100, tokensOutput: 200 };
  const timed = async (operation: Promise<Outcome>) => {
    const from = performance.now();
    done(await operation);
    latenciesMs.push(performance.now() - from);
  };
  await timed(queue.submit({ kind: 'reserve', ...start, prices, ...hold }, { persistent: false }));
  await timed(queue.submit({ kind: 'settle', wallet, at: Date.now(), chargeId, ...used }, { persistent: true }));
}

function done(outcome: Outcome): void {
  assert.equal(outcome.status, 'done');
}

function report(inFlight: number, { pairs, seconds, mainSeconds, latenciesMs }: Result): void {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
  const columns = [
    `${inFlight} in flight`.padEnd(14),
    `${Math.round(pairs / seconds)} pairs/s`.padEnd(14),
    `${((seconds * 1e6) / pairs).toFixed(1)} µs a pair`.padEnd(18),
    `${((mainSeconds * 1e6) / pairs).toFixed(1)} µs of the main thread`.padEnd(28),
    `operation p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  ];
  console.log(columns.join(''));
}
