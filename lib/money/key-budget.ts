// The running sum of a budget: what a key holds and was charged, less refunds, in the current period. A replacement key
// counts in the sum of the key that it replaced: both share one budget.
import type { Micro } from './money.ts';

/** Created by the first call with a budget; calls of a key without a budget leave it unchanged. */
export interface KeyBudget {
  /** The id of the key that the sum started with. */
  readonly key: string;
  readonly wallet: string;
  /** The start of the period, ms since the epoch; 0 for a budget that never resets. Never decreases. */
  readonly period: number;
  readonly spent: Micro;
}

/** The budget of a key, as a new call states it. */
export interface BudgetTerms {
  /** The key whose sum the call counts in; absent: its own key. */
  readonly key?: string;
  /** The period by the caller's clock. */
  readonly period: number;
  /** The limit of the period; null when the journal is replayed, where it was checked before. */
  readonly limit: Micro | null;
}

/** The effect of a call on the sum of its key. */
interface Spending extends Omit<KeyBudget, 'spent'> {
  readonly amount: Micro;
}

/** The period that a call counts in: if the clocks of callers differ, the one ahead starts the period for all. */
export function resolvePeriod(budget: KeyBudget | undefined, { period }: BudgetTerms): number {
  return budget && budget.period > period ? budget.period : period;
}

/** The key whose sum another key counts in. */
export interface SharesBudget {
  /** The first key in the chain of replacements; null for a key with its own sum. */
  readonly budgetKey: string | null;
}

/** The id under which the sum of a key is stored. */
export function getBudgetKeyId({ id, budgetKey }: SharesBudget & { readonly id: string }): string {
  return budgetKey ?? id;
}

export function isOverBudget(budget: KeyBudget | undefined, terms: BudgetTerms, amount: Micro): boolean {
  if (terms.limit === null) return false;
  return getSpent(budget, resolvePeriod(budget, terms)) + amount > terms.limit;
}

/** The amount spent in a period. */
export function getSpent(budget: KeyBudget | undefined, period: number): Micro {
  return budget && budget.period >= period ? budget.spent : 0n;
}

/** The sum after a call; undefined if unchanged, because the call belongs to an earlier period. */
export function addSpending(budget: KeyBudget | undefined, { amount, ...call }: Spending): KeyBudget | undefined {
  if (budget && budget.period > call.period) return undefined;
  return { ...call, spent: getSpent(budget, call.period) + amount };
}
