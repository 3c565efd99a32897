// Returns the holds that dead processes left. One that cannot be returned now stays queued: it is not queued again, and
// takes no other's place in the next sweep.
import type { Outcome, ReturnOp } from '../money/decide.ts';
import type { Store } from '../store/store.ts';

export interface ExpiryOptions {
  readonly store: Pick<Store, 'ledger'>;
  /** Resolves to undefined when the outcome comes later. */
  readonly end: (op: ReturnOp, onLate: (outcome: Outcome) => void) => Promise<Outcome | undefined>;
  readonly leaseMs: number;
  readonly now: () => number;
}

export interface Expiries {
  /** Resolves to how many holds went back since the last sweep. */
  sweep(limit: number): Promise<number>;
}

/** A hold without its wallet is looked at again after this. */
const HOPELESS_MS = 60_000;

export function createExpiries({ store, end, leaseMs, now }: ExpiryOptions): Expiries {
  /** Holds that a sweep passes over, and until when (performance.now()): what is queued until it has an outcome. */
  const passedOver = new Map<string, number>();
  let returned = 0;

  async function expire(wallet: string, chargeId: string): Promise<void> {
    const settle = ({ status }: Outcome) => {
      // Another process may have been there first.
      if (status === 'done') returned += 1;
      if (status === 'done' || status === 'exists') passedOver.delete(chargeId);
      else passedOver.set(chargeId, performance.now() + HOPELESS_MS);
    };
    passedOver.set(chargeId, Number.POSITIVE_INFINITY);
    const outcome = await end({ kind: 'expire', wallet, chargeId, at: now() }, settle);
    if (outcome) settle(outcome);
  }

  return {
    async sweep(limit) {
      for (const [id, until] of passedOver) if (until <= performance.now()) passedOver.delete(id);
      const found = await store.ledger.orphans(now(), limit + passedOver.size);
      const orphans = found.filter(({ id }) => !passedOver.has(id)).slice(0, limit);
      const expired = Promise.all(orphans.map(({ wallet, id }) => expire(wallet, id)));
      // Whoever sweeps has a lease to renew.
      await within(expired, leaseMs / 3);
      const count = returned;
      returned = 0;
      return count;
    },
  };
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
