// Returns what owners that are gone left held, page by page and around again: those that cannot be returned, because
// their wallet is missing or damaged, do not keep the rest from their turn.
import type { LedgerStore, OrphanPage } from '../store/store.ts';
import type { Charge, Outcome } from './decide.ts';

export interface SweepOptions {
  readonly store: Pick<LedgerStore, 'orphans'>;
  readonly leaseMs: number;
  /** Resolves to undefined when the store has not confirmed it in time. */
  readonly expire: (charge: Charge) => Promise<Outcome | undefined>;
}

/** Looks at the next page; resolves to how many holds it returned. `now` is the store's time. */
export type Sweep = (page: Pick<OrphanPage, 'now' | 'limit'>) => Promise<number>;

export function createSweep({ store, leaseMs, expire }: SweepOptions): Sweep {
  let after: OrphanPage['after'];
  return async ({ now, limit }) => {
    const orphans = await store.orphans({ now, leaseMs, limit, ...(after && { after }) });
    const last = orphans.at(-1);
    after = last && orphans.length === limit ? { lease: last.lease ?? 0, id: last.id } : undefined;
    const outcomes = await Promise.all(orphans.map(expire));
    // Another process may have been there first.
    return outcomes.filter((outcome) => outcome?.status === 'done').length;
  };
}
