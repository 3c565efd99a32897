// What a part of a wallet's usage adds up to.
import { mapUnits, UNIT_COUNTS } from '../money/usage-units.ts';
import type { UsageTotals } from './ports/usage.ts';

export const NO_USAGE: UsageTotals = {
  calls: 0,
  charged: 0n,
  refunded: 0n,
  failed: 0,
  cost: 0n,
  unpriced: 0,
  ...mapUnits(UNIT_COUNTS, () => 0),
};

export function addUsageTotals(left: UsageTotals, right: UsageTotals): UsageTotals {
  return {
    calls: left.calls + right.calls,
    charged: left.charged + right.charged,
    refunded: left.refunded + right.refunded,
    failed: left.failed + right.failed,
    cost: left.cost + right.cost,
    unpriced: left.unpriced + right.unpriced,
    ...mapUnits(UNIT_COUNTS, (name) => left[name] + right[name]),
  };
}

/** Added to others, it is taken away from them. */
export function negateUsage(totals: UsageTotals): UsageTotals {
  return Object.fromEntries(Object.entries(totals).map(([name, count]) => [name, -count])) as unknown as UsageTotals;
}
