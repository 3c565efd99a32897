// Returns holds of dead owners, page by page, starting over at the end. Holds that cannot be returned, because their
// wallet is missing or damaged, are not queued twice and do not block the others.
import type { NewAttempt } from '../money/attempt.ts';
import type { Charge, Outcome, ReturnOp } from '../money/decide.ts';
import type { LedgerStore, OrphanPage } from '../store/ports/ledger.ts';

interface SweepOptions {
  readonly store: Pick<LedgerStore, 'orphans'>;
  readonly leaseMs: number;
  /** Resolves to undefined if the outcome will arrive later. */
  readonly end: (op: ReturnOp, onLate: (outcome: Outcome) => void) => Promise<Outcome | undefined>;
  readonly now: () => number;
}

/** Processes the next page; resolves to how many holds were returned since the last call. `now` is the time of the store. */
export type Sweep = (page: Pick<OrphanPage, 'now' | 'limit'>) => Promise<number>;

/** When a hold that could not be returned is tried again. */
const RETRY_MS = 60_000;

export function createSweep({ store, leaseMs, end, now: clock }: SweepOptions): Sweep {
  /** Holds to skip, and until when (performance.now()); queued ones until they have an outcome. */
  const skipped = new Map<string, number>();
  let after: OrphanPage['after'];
  let returned = 0;

  async function expire(charge: Charge): Promise<void> {
    const { wallet, id: chargeId, lease } = charge;
    const settle = ({ status }: Outcome) => {
      // Another process may have been faster, or a service has renewed its hold.
      if (status === 'done') returned += 1;
      if (status === 'done' || status === 'exists') skipped.delete(chargeId);
      else skipped.set(chargeId, performance.now() + RETRY_MS);
    };
    skipped.set(chargeId, Number.POSITIVE_INFINITY);
    const at = clock();
    // A service of the operator asks no upstream.
    const attempts = charge.kind === 'service' ? [] : [presumeAttempt(charge, at)];
    const outcome = await end({ kind: 'expire', wallet, chargeId, at, lease, attempts }, settle);
    if (outcome) settle(outcome);
  }

  return async ({ now, limit }) => {
    for (const [id, until] of skipped) if (until <= performance.now()) skipped.delete(id);
    const size = limit + skipped.size;
    const orphans = await store.orphans({ now, leaseMs, limit: size, after });
    const last = orphans.at(-1);
    after = last && orphans.length === size ? { lease: last.lease ?? 0, id: last.id } : undefined;
    const pending = orphans.filter(({ id }) => !skipped.has(id));
    // A hold that cannot be returned must not stall the sweep.
    await waitAtMost(Promise.all(pending.map(expire)), leaseMs / 3);
    const count = returned;
    returned = 0;
    return count;
  };
}

/** The dead process may have asked an upstream; nobody knows which. */
function presumeAttempt({ model, createdAt }: Charge, now: number): NewAttempt {
  return {
    model,
    upstream: null,
    upstreamModel: null,
    keyPlace: null,
    requestId: null,
    at: createdAt,
    ending: 'lost',
    firstMs: null,
    totalMs: Math.max(0, now - createdAt),
    usage: null,
    certainty: 'possible',
    cost: null,
  };
}

async function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
