// Rate limits with several workers: the primary counts for all of them, so that they stay exact; the hits of one turn
// of a worker's loop are sent together.
import { ANSWER_WITHIN_MS, inTime, type Limiter, type LimitResult, type LimitRule } from '../accounts/rate-limiter.ts';
import type { Hit, Verdict } from './messages.ts';

export interface RemoteLimiter extends Pick<Limiter, 'hit'> {
  /** The primary's answers, in the order of the hits. */
  answer(id: number, verdicts: readonly Verdict[]): void;
}

type Waiting = Pick<PromiseWithResolvers<LimitResult>, 'resolve' | 'reject'>;

export interface RemoteLimiterOptions {
  readonly send: (id: number, hits: readonly Hit[]) => void;
  /** How long a request waits for the primary. */
  readonly answerWithinMs?: number;
}

/** The limiter of a worker. */
export function createRemoteLimiter(options: RemoteLimiterOptions): RemoteLimiter {
  const { send, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const asked = new Map<number, readonly Waiting[]>();
  let hits: Hit[] = [];
  let waiting: Waiting[] = [];
  let lastId = 0;

  function ask(): void {
    lastId += 1;
    asked.set(lastId, waiting);
    send(lastId, hits);
    [hits, waiting] = [[], []];
    // Requests still waiting for an answer have already timed out.
    for (const id of asked.keys()) {
      if (id >= lastId - ASKED_MAX) break;
      asked.delete(id);
    }
  }

  return {
    hit({ name, perMinute }: LimitRule, keyId, waitedMs = 0) {
      const { promise, resolve, reject } = Promise.withResolvers<LimitResult>();
      if (hits.length === 0) setImmediate(ask);
      hits.push([name, perMinute, keyId]);
      waiting.push({ resolve, reject });
      return inTime(promise, answerWithinMs - waitedMs);
    },
    answer(id, verdicts) {
      for (const [index, { resolve, reject }] of (asked.get(id) ?? []).entries()) {
        const verdict = verdicts[index] ?? 0;
        if (verdict === 0) reject(new Error('the store did not count'));
        else resolve({ allowed: verdict > 0, retryAfterS: Math.abs(verdict) });
      }
      asked.delete(id);
    },
  };
}

/** The maximum number of unanswered messages. */
const ASKED_MAX = 10_000;

/** The primary's part: counts the hits of a message; never rejects. */
export function countHits({ hit }: Pick<Limiter, 'hit'>, hits: readonly Hit[]): Promise<readonly Verdict[]> {
  return Promise.all(hits.map(([name, perMinute, keyId]) => verdictOn(hit({ name, perMinute }, keyId))));
}

async function verdictOn(counted: LimitResult | Promise<LimitResult>): Promise<Verdict> {
  try {
    const { allowed, retryAfterS } = await counted;
    return allowed ? retryAfterS : -retryAfterS;
  } catch {
    return 0;
  }
}
