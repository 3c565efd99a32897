// One process of the ledger benchmark: concurrent calls, each a pair of hold and settle, through its own queue.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ACTIVE_KEYS_MAX } from '../../lib/accounts/accounts.ts';
import { createQueue } from '../../lib/ledger/queue.ts';
import type { NewAttempt } from '../../lib/money/attempt.ts';
import type { Outcome } from '../../lib/money/decide.ts';
import type { HoldOp } from '../../lib/money/operations.ts';
import { openStore } from '../../lib/store/open.ts';

/**
 * A key without a budget, the same with an attempt that is booked at the end, one with a budget, ten with one each that have replaced others (an account has no more), or one
 * whose calls also count in the caps of a member, an end user and a run.
 */
export type Keys = 'free' | 'attempt' | 'budget' | 'replaced' | 'capped';

export interface StoreJob {
  readonly keys: Keys;
  readonly wallets: readonly string[];
  readonly calls: number;
  readonly seconds: number;
}

export interface StoreResult {
  readonly pairs: number;
  readonly seconds: number;
  /** CPU time of the main thread, which a gateway could not use for its calls. */
  readonly mainSeconds: number;
  /** Of single operations. */
  readonly latenciesMs: readonly number[];
}

const BUDGET = 1_000_000_000_000_000n;

const USAGE = '{"tokens_input":100,"tokens_output":200}';
const ATTEMPT: NewAttempt = {
  model: 'bench',
  upstream: 'upstream',
  upstreamModel: 'model',
  keyPlace: 1,
  requestId: 'chatcmpl-0123456789abcdef',
  at: Date.UTC(2026, 10),
  ending: 'answered',
  firstMs: 180,
  totalMs: 900,
  usage: USAGE,
  certainty: 'reported',
  cost: { currency: 'USD', prices: '{"input":"1","output":"2"}', rate: 80_000_000n, cost: 10_000n, costRub: 800_000n },
};

const [, , url = ''] = process.argv;
const store = await openStore(url);
const queue = createQueue({ store: store.ledger });
process.on('message', async (job: StoreJob) => process.send?.(await measure(job)));
process.on('disconnect', () => store.close());
process.send?.('ready');

async function measure({ keys, wallets, calls, seconds }: StoreJob): Promise<StoreResult> {
  const latenciesMs: number[] = [];
  const from = performance.now();
  const until = from + seconds * 1000;
  const cpu = process.threadCpuUsage();
  const caller = async (_: unknown, index: number) => {
    const wallet = wallets[index % wallets.length] as string;
    const by = chooseCaller(wallet, keys, index);
    while (performance.now() < until) await pair(wallet, by, keys === 'attempt' ? [ATTEMPT] : undefined, latenciesMs);
  };
  await Promise.all(Array.from({ length: calls }, caller));
  const { user, system } = process.threadCpuUsage(cpu);
  return {
    pairs: latenciesMs.length / 2,
    seconds: (performance.now() - from) / 1000,
    mainSeconds: (user + system) / 1e6,
    latenciesMs,
  };
}

/** The key of a call, and what it says about its budget, which is never spent. */
function chooseCaller(wallet: string, keys: Keys, index: number): Pick<HoldOp, 'key' | 'budget' | 'caps'> {
  const nameKeyId = (name: string) => `key_${wallet.slice('acc_'.length, -name.length)}${name}`;
  const terms = { period: Date.UTC(2026, 10), limit: BUDGET };
  if (keys === 'free' || keys === 'attempt') return { key: nameKeyId('f0') };
  if (keys === 'budget') return { key: nameKeyId('b0'), budget: terms };
  if (keys === 'capped') {
    const caps = ['member', 'user', 'run'].map((kind) => ({ ...terms, id: `${kind}:${wallet}:one` }));
    return { key: nameKeyId('c0'), budget: terms, caps };
  }
  return {
    key: nameKeyId(`r${index % ACTIVE_KEYS_MAX}`),
    budget: { ...terms, key: nameKeyId(`s${index % ACTIVE_KEYS_MAX}`) },
  };
}

/** Like the ledger service does it for a text call. */
async function pair(
  wallet: string,
  by: ReturnType<typeof chooseCaller>,
  attempts: readonly NewAttempt[] | undefined,
  latenciesMs: number[],
): Promise<void> {
  const chargeId = `req_${Date.now().toString(36)}${randomBytes(9).toString('hex')}`;
  const at = Date.now();
  const start = {
    wallet,
    at,
    chargeId,
    ...by,
    chargeKind: 'text',
    model: 'bench',
  } as const;
  const prices = '{"input":"40000000","output":"240000000"}';
  const hold = { amount: 5_000_000n, owner: 'own_0123456789abcdef01234567', lease: at + 15_000 };
  const used = { amount: 1_234_567n, usage: USAGE, ...(attempts && { attempts }) };
  const timed = async (operation: Promise<Outcome>) => {
    const from = performance.now();
    assert.equal((await operation).status, 'done');
    latenciesMs.push(performance.now() - from);
  };
  await timed(queue.submit({ kind: 'reserve', ...start, prices, ...hold }, { persistent: false }));
  await timed(queue.submit({ kind: 'settle', wallet, at: Date.now(), chargeId, ...used }, { persistent: true }));
}
