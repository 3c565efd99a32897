// How often somebody who is signed in may ask for pages and files: enough for any person, too little to keep a gateway
// busy. Counted by each process for itself.
import { createLimiter, type Limiter } from '../api/limiter.ts';
import { fault } from '../faults.ts';
import type { LimitStore } from '../store/ports/limits.ts';

/** `file`: reads everything that an account has. */
export type VisitKind = 'page' | 'file';

export interface VisitLimit {
  /** Counts one visit of a user; throws a 429 fault beyond the limit. */
  hit(kind: VisitKind, user: string): Promise<void>;
}

/** Of so many pages one may be a file. */
const PAGES_PER_FILE = 15;

export function createVisitLimit(store: LimitStore, pagesPerMinute: number): VisitLimit {
  // It never learns of other processes, so it counts in its memory and sweeps what is over.
  const limiter: Pick<Limiter, 'hit'> = createLimiter({ store });
  const rules = {
    page: { name: 'page', perMinute: pagesPerMinute },
    file: { name: 'file', perMinute: Math.ceil(pagesPerMinute / PAGES_PER_FILE) },
  };
  return {
    async hit(kind, user) {
      const { allowed, retryAfterS } = await limiter.hit(rules[kind], user);
      if (!allowed) throw fault('try_later', { retryAfterS });
    },
  };
}
