// Rate limits with several workers: the primary counts for all workers, so that the limits stay exact. A worker sends the
// hits of one event-loop tick together.
import {
  ANSWER_WITHIN_MS,
  type Limiter,
  type LimitResult,
  type LimitRule,
  withStoreTimeout,
} from '../accounts/rate-limiter.ts';
import type { Hit, Verdict } from './messages.ts';

export interface RemoteLimiter extends Pick<Limiter, 'hit'> {
  /** Handles the primary's answer to one message: the verdicts in the order of its hits. */
  answer(id: number, verdicts: readonly Verdict[]): void;
}

type PendingHit = Pick<PromiseWithResolvers<LimitResult>, 'resolve' | 'reject'>;

interface RemoteLimiterOptions {
  readonly send: (id: number, hits: readonly Hit[]) => void;
  /** How long a request waits for the primary. */
  readonly answerWithinMs?: number;
}

/** The limiter of a worker. */
export function createRemoteLimiter(options: RemoteLimiterOptions): RemoteLimiter {
  const { send, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const pendingBatches = new Map<number, readonly PendingHit[]>();
  let hits: Hit[] = [];
  let waiting: PendingHit[] = [];
  let lastId = 0;

  function sendHits(): void {
    lastId += 1;
    pendingBatches.set(lastId, waiting);
    send(lastId, hits);
    hits = [];
    waiting = [];
    // The requests of such old messages have already timed out.
    for (const id of pendingBatches.keys()) {
      if (id >= lastId - PENDING_BATCHES_MAX) break;
      pendingBatches.delete(id);
    }
  }

  return {
    hit({ name, perMinute }: LimitRule, keyId, waitedMs = 0) {
      const { promise, resolve, reject } = Promise.withResolvers<LimitResult>();
      if (hits.length === 0) setImmediate(sendHits);
      hits.push([name, perMinute, keyId]);
      waiting.push({ resolve, reject });
      return withStoreTimeout(promise, answerWithinMs - waitedMs);
    },
    answer(id, verdicts) {
      for (const [index, { resolve, reject }] of (pendingBatches.get(id) ?? []).entries()) {
        const verdict = verdicts[index] ?? 0;
        if (verdict === 0) reject(new Error('the store did not count'));
        else resolve({ allowed: verdict > 0, retryAfterS: Math.abs(verdict) });
      }
      pendingBatches.delete(id);
    },
  };
}

/** The maximum of unanswered messages. */
const PENDING_BATCHES_MAX = 10_000;

/** Counts the hits of a message in the primary. Never rejects. */
export function countHits({ hit }: Pick<Limiter, 'hit'>, hits: readonly Hit[]): Promise<readonly Verdict[]> {
  return Promise.all(hits.map(([name, perMinute, keyId]) => toVerdict(hit({ name, perMinute }, keyId))));
}

async function toVerdict(counted: LimitResult | Promise<LimitResult>): Promise<Verdict> {
  try {
    const { allowed, retryAfterS } = await counted;
    return allowed ? retryAfterS : -retryAfterS;
  } catch {
    return 0;
  }
}
