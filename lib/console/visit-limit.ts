// How often somebody who is signed in may ask for pages and files: enough for any person, too little to keep a gateway
// busy. Counted by each process for itself.
import { createLimiter, type Limiter } from '../accounts/rate-limiter.ts';
import { fault } from '../base/faults.ts';
import type { LimitStore } from '../store/ports/limits.ts';

/** `file`: may read all that an account has; `entry`: a session that starts, whose rows stay for a while. */
type VisitKind = 'page' | 'file' | 'entry';

export interface VisitLimit {
  /** Counts one visit of a user; throws a 429 fault beyond the limit. */
  hit(kind: VisitKind, user: string): Promise<void>;
}

/** Of so many pages one may be a file, and one a session that starts. */
const PAGES_PER_FILE = 15;

export function createVisitLimit(store: LimitStore, pagesPerMinute: number): VisitLimit {
  // It never learns of other processes, so it counts in its memory and sweeps what is over.
  const limiter: Pick<Limiter, 'hit'> = createLimiter({ store });
  const fewer = Math.ceil(pagesPerMinute / PAGES_PER_FILE);
  const rules = {
    page: { name: 'page', perMinute: pagesPerMinute },
    file: { name: 'file', perMinute: fewer },
    entry: { name: 'entry', perMinute: fewer },
  };
  return {
    async hit(kind, user) {
      const { allowed, retryAfterS } = await limiter.hit(rules[kind], user);
      if (!allowed) throw fault('try_later', { retryAfterS });
    },
  };
}
