// The running sum of a budget: what its key holds and was charged, less what went back, in the current period. A key that
// was issued in the place of another counts in that one's sum: both spend one budget.
import type { Micro } from './money.ts';

/** Kept from the first call under a budget on; calls of a key without one leave it as it is. */
export interface KeyBudget {
  /** The id of the key that the sum began with. */
  readonly key: string;
  readonly wallet: string;
  /** The beginning of the period, ms since the epoch; 0 for a budget that never starts anew. It never goes back. */
  readonly period: number;
  readonly spent: Micro;
}

/** What a call that begins says of the budget of its key. */
export interface BudgetTerms {
  /** Whose sum it counts in; absent: its own key's. */
  readonly key?: string;
  /** The period by the caller's clock. */
  readonly period: number;
  /** The most that may be spent in it; null where it was asked before: in a copy of the journal. */
  readonly most: Micro | null;
}

/** What a call did to the sum of its key. */
export interface Spending extends Omit<KeyBudget, 'spent'> {
  readonly amount: Micro;
}

/** The period that a call counts in: of callers whose clocks differ, the one that is ahead has begun it for all. */
export function periodOf(budget: KeyBudget | undefined, { period }: BudgetTerms): number {
  return budget && budget.period > period ? budget.period : period;
}

/** The key whose sum another counts in. */
export interface SharesBudget {
  /** The first of those in whose place the key was issued, one after the other; null for a key with a sum of its own. */
  readonly budgetKey: string | null;
}

/** The key that the sum of this one is found by. */
export function sumKeyOf({ id, budgetKey }: SharesBudget & { readonly id: string }): string {
  return budgetKey ?? id;
}

export function isOverBudget(budget: KeyBudget | undefined, terms: BudgetTerms, amount: Micro): boolean {
  if (terms.most === null) return false;
  return spentIn(budget, periodOf(budget, terms)) + amount > terms.most;
}

/** What is spent in the period that is current now. */
export function spentIn(budget: KeyBudget | undefined, period: number): Micro {
  return budget && budget.period >= period ? budget.spent : 0n;
}

/** The sum after a call; undefined when it stays: what a call of an earlier period gives back is no longer part of it. */
export function book(budget: KeyBudget | undefined, { amount, ...call }: Spending): KeyBudget | undefined {
  if (budget && budget.period > call.period) return undefined;
  return { ...call, spent: spentIn(budget, call.period) + amount };
}
