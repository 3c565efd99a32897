// The running sum of a budget: what its key holds and was charged, less refunds, in the current period. A replacement
// key counts in the sum of the key it replaced: both share one budget.
import type { Micro } from './money.ts';

/** Kept from the first call with a budget; calls of a key without one leave it unchanged. */
export interface KeyBudget {
  /** The id of the key that the sum started with. */
  readonly key: string;
  readonly wallet: string;
  /** The start of the period, ms since the epoch; 0 for a budget that never resets. Never decreases. */
  readonly period: number;
  readonly spent: Micro;
}

/** What a new call says about its key's budget. */
export interface BudgetTerms {
  /** The key whose sum it counts in; absent: its own. */
  readonly key?: string;
  /** The period by the caller's clock. */
  readonly period: number;
  /** The limit of the period; null if it was checked before: in a copy of the journal. */
  readonly most: Micro | null;
}

/** What a call did to its key's sum. */
export interface Spending extends Omit<KeyBudget, 'spent'> {
  readonly amount: Micro;
}

/** The period that a call counts in: if callers' clocks differ, the one ahead has started it for all. */
export function periodOf(budget: KeyBudget | undefined, { period }: BudgetTerms): number {
  return budget && budget.period > period ? budget.period : period;
}

/** The key whose sum another key counts in. */
export interface SharesBudget {
  /** The first key in the chain of replacements; null for a key with its own sum. */
  readonly budgetKey: string | null;
}

/** The key under which this one's sum is found. */
export function sumKeyOf({ id, budgetKey }: SharesBudget & { readonly id: string }): string {
  return budgetKey ?? id;
}

export function isOverBudget(budget: KeyBudget | undefined, terms: BudgetTerms, amount: Micro): boolean {
  if (terms.most === null) return false;
  return spentIn(budget, periodOf(budget, terms)) + amount > terms.most;
}

/** What is spent in the current period. */
export function spentIn(budget: KeyBudget | undefined, period: number): Micro {
  return budget && budget.period >= period ? budget.spent : 0n;
}

/** The sum after a call; undefined if unchanged: what a call of an earlier period returns is no longer part of it. */
export function book(budget: KeyBudget | undefined, { amount, ...call }: Spending): KeyBudget | undefined {
  if (budget && budget.period > call.period) return undefined;
  return { ...call, spent: spentIn(budget, call.period) + amount };
}
