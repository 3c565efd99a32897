// Watches the budget of a key: alerts once per period at each of several percentages.
import { type BudgetSum, getBudgetKeyId, getSpent, type SharesBudget } from '../money/budget.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { formatRub } from '../money/money.ts';
import { findPeriod } from '../money/period.ts';
import type { Watch } from './watch.ts';

/** Percent of the budget, highest first. */
const FIRST_SHARE = 80n;
const SHARES = [100n, 95n, FIRST_SHARE];

export interface WatchedKey extends SharesBudget {
  readonly id: string;
  readonly name: string;
  readonly limits: KeyLimits;
}

/** Whether a sum reaches the first share. */
export function isBudgetDue({ limits }: WatchedKey, sum: BudgetSum | undefined): boolean {
  return sum !== undefined && sum.spent * 100n >= (limits.budget ?? 0n) * FIRST_SHARE;
}

/** A refund does not re-arm the alert, so spending that hovers around a share alerts once. */
export function watchBudget(key: WatchedKey, sum: BudgetSum | undefined, at: number): Watch {
  const { id, name, limits } = key;
  const budget = limits.budget ?? 0n;
  // Another process with a clock ahead may already have started the next period.
  const period = Math.max(findPeriod(at, limits).start, sum?.period ?? 0);
  const spent = getSpent(sum, period);
  const reached = SHARES.find((share) => spent * 100n >= budget * share);
  return {
    subject: `budget:${getBudgetKeyId(key)}`,
    decide(mark) {
      const isSameBudget = mark?.budget === `${budget}`;
      // The mark of an earlier period stays: a process with a clock behind is still in that period.
      if (reached === undefined) return { kind: mark && !isSameBudget ? 'rearm' : 'stay' };
      if (isSameBudget && mark.period === `${period}` && BigInt(mark.percent ?? 0) >= reached) return { kind: 'stay' };
      return {
        kind: 'alert',
        mark: { period: `${period}`, budget: `${budget}`, percent: `${reached}` },
        content: {
          type: 'budget.used',
          data: { key: id, name, percent: `${reached}`, budget: formatRub(budget), spent: formatRub(spent) },
        },
      };
    },
  };
}
