// The gateway's side of the growth benchmark: a process on a large store, asked by messages for one figure at a time.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createHolders } from '../../lib/accounts/holders.ts';
import { hashKey, makeKey } from '../../lib/accounts/key.ts';
import { createLimiter } from '../../lib/accounts/rate-limiter.ts';
import { verifyChanges } from '../../lib/ledger/audit-changes.ts';
import { createQueue } from '../../lib/ledger/queue.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { openStore } from '../../lib/store/open.ts';
import { makeAttempt, nameKey } from './fill.ts';
import { heldMemory } from './held.ts';

export interface Load {
  readonly what: 'pairs' | 'audit' | 'first' | 'keys';
  /** The wallets, or for `keys` the accounts that get them. */
  readonly wallets: readonly string[];
  readonly callers: number;
  readonly seconds: number;
  /** For `keys`. */
  readonly count?: number;
}

export interface LoadFigures {
  readonly perSecond: number;
  /** Of a pair of hold and settle, in ms. */
  readonly p50: number;
  readonly p99: number;
  /** User and system time for a pair, in µs: of all threads, and of those besides the main one. */
  readonly cpuUs: number;
  readonly storeCpuUs: number;
  readonly pairs: number;
  /** For what ran beside the pairs. */
  readonly besideMs: number;
  readonly bytes: number;
}

const PRICES = '{"input":"40000000","output":"240000000"}';
const USAGE = '{"tokens_input":100,"tokens_output":200}';
/** The minimum cost of a call. */
const LEAST = 500_000n;

const [, , url = ''] = process.argv;
const store = await openStore(url);
const queue = createQueue({ store: store.ledger });
const works: Readonly<Record<Load['what'], (load: Load) => Promise<LoadFigures>>> = {
  pairs: (load) => pairs(load),
  audit: (load) => pairs(load, () => verifyChanges(store)),
  first,
  keys,
};
process.on('message', async (load: Load) => process.send?.(await works[load.what](load)));
process.on('disconnect', () => void store.close());
process.send?.('ready');

const rank = (list: readonly number[], share: number) =>
  [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? 0;
const computeFigures = (times: readonly number[], from: Start, besideMs = 0): LoadFigures => {
  const cpuUs = (process.cpuUsage(from.cpu).user + process.cpuUsage(from.cpu).system) / times.length;
  const main = process.threadCpuUsage(from.mainCpu);
  return {
    perSecond: (times.length * 1000) / (performance.now() - from.at),
    p50: rank(times, 0.5),
    p99: rank(times, 0.99),
    pairs: times.length,
    cpuUs,
    storeCpuUs: cpuUs - (main.user + main.system) / times.length,
    besideMs,
    bytes: 0,
  };
};

interface Start {
  readonly at: number;
  readonly cpu: NodeJS.CpuUsage;
  readonly mainCpu: NodeJS.CpuUsage;
}

const startNow = (): Start => ({
  at: performance.now(),
  cpu: process.cpuUsage(),
  mainCpu: process.threadCpuUsage(),
});

/** For this long, or as long as what runs beside them. */
async function pairs({ wallets, callers, seconds }: Load, beside?: () => Promise<unknown>): Promise<LoadFigures> {
  const from = startNow();
  let until = beside ? Number.POSITIVE_INFINITY : from.at + seconds * 1000;
  const times: number[] = [];
  let next = 0;
  const caller = async () => {
    while (performance.now() < until) {
      next += 1;
      times.push(await pair(wallets[next % wallets.length] as string));
    }
  };
  const all = Promise.all(Array.from({ length: callers }, caller));
  let besideMs = 0;
  if (beside) {
    await beside();
    besideMs = performance.now() - from.at;
    until = 0;
  }
  await all;
  return computeFigures(times, from, besideMs);
}

/** One call of each wallet, one after the other, each the wallet's first since the start. */
async function first({ wallets }: Load): Promise<LoadFigures> {
  const from = startNow();
  const times: number[] = [];
  for (const wallet of wallets) times.push(await pair(wallet));
  return computeFigures(times, from);
}

/** How long it takes to see this many keys, each once. */
async function keys({ wallets: accounts, count = 0 }: Load): Promise<LoadFigures> {
  const texts = Array.from({ length: count }, () => makeKey('tg-'));
  const at = Date.now();
  let made = 0;
  const row = (key: string) => ({
    id: `key_${randomBytes(8).toString('hex')}`,
    account: accounts[made++ % accounts.length] as string,
    name: 'k',
    createdAt: at,
    hash: hashKey(key),
    last4: key.slice(-4),
  });
  for (let done = 0; done < count; done += 500) {
    await Promise.all(
      texts.slice(done, done + 500).map((key) => store.keys.add({ ...row(key), limits: NO_LIMITS }, count + 1)),
    );
  }
  const before = (await heldMemory()).rss;
  const holders = createHolders({ store, prefix: 'tg-' });
  const limiter = createLimiter({ store: store.limits });
  const from = startNow();
  for (const key of texts) {
    const holder = await holders.find(key);
    assert(holder);
    holders.countUse(holder.id);
    await limiter.hit({ name: 'generate', perMinute: 30 }, holder.id);
  }
  const ms = performance.now() - from.at;
  const bytes = (await heldMemory()).rss - before;
  await holders.close();
  return { ...computeFigures([], from), perSecond: (count * 1000) / ms, bytes };
}

/** Like the ledger service does it for a text call; resolves to the time, in ms. */
async function pair(wallet: string): Promise<number> {
  const from = performance.now();
  const at = Date.now();
  const charge = { wallet, at, chargeId: `req_${at.toString(36)}${randomBytes(9).toString('hex')}` };
  const start = {
    key: nameKey(wallet),
    chargeKind: 'text',
    model: 'bench',
    prices: PRICES,
  } as const;
  const hold = { amount: 1_000_000n, owner: 'own_0123456789abcdef01234567', lease: at + 60_000 };
  await apply({ kind: 'reserve', ...charge, ...start, ...hold });
  await apply({ kind: 'settle', ...charge, amount: LEAST, usage: USAGE, attempts: [makeAttempt(Date.now())] });
  return performance.now() - from;
}

async function apply(op: Operation): Promise<void> {
  assert.equal((await queue.submit(op, { persistent: true })).status, 'done');
}
