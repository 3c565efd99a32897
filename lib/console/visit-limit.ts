// Limits how often a signed-in user may open pages and download files. Each process counts for itself.
import { createLimiter, type Limiter } from '../accounts/rate-limiter.ts';
import { fault } from '../base/faults.ts';
import type { LimitStore } from '../store/ports/limits.ts';

/** `file`: may read everything of an account; `entry`: starts a session, whose rows stay for a while. */
type VisitKind = 'page' | 'file' | 'entry';

export interface VisitLimit {
  /** Counts one visit of a user; throws a 429 fault beyond the limit. */
  hit(kind: VisitKind, user: string): Promise<void>;
}

/** Files, and new sessions, are allowed once per this many pages. */
const PAGES_PER_FILE = 15;

export function createVisitLimit(store: LimitStore, pagesPerMinute: number): VisitLimit {
  // Not told of other processes, it counts in memory.
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
