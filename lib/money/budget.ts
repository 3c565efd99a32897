// Running sums of budgets: what calls hold and were charged, less refunds, in the current period. A key may have a
// budget; a replacement key counts in the sum of the key that it replaced, so that both share one. Further caps may
// limit what several calls spend together: those of one end user of a key, or of one run of a program. A sum may also
// count calls in place of money: those of a key, or of an account, that run now.
import { DAY_MS } from '../base/durations.ts';
import { type Micro, maxMicro } from './money.ts';

/** Created by the first call that counts in it; calls without a budget leave it unchanged. */
export interface BudgetSum {
  /** The id of the key that the sum started with, or the id of a cap. */
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

/** A further budget that a new call counts in. */
export interface CapTerms {
  /** The id of its sum. */
  readonly id: string;
  /** As for a key. With `opens`: a period that began later goes on. */
  readonly period: number;
  /** For a budget that starts with its first call: the start of the period, if none goes on. */
  readonly opens?: number;
  /** For a count of calls: how many may run at once. */
  readonly limit: Micro | null;
}

/** The part of a charge that says in which period of a cap it counts. */
export interface CapPeriod {
  readonly id: string;
  readonly period: number;
}

/** How long the calls of a run share its budget. */
export const RUN_MS = DAY_MS;

/** What the ids of runs' sums begin with, and a text that sorts after all of them. */
export const RUN_IDS = { first: 'run:', after: 'run;' } as const;

const CALL_COUNT_IDS = 'calls:';

/** The id of the count of the running calls of a key. */
export function getKeyCallsId(key: string): string {
  return `${CALL_COUNT_IDS}${key}`;
}

/** The id of the count of the running calls of an account. */
export function getAccountCallsId(account: string): string {
  return `${CALL_COUNT_IDS}account:${account}`;
}

/** Whether the sum with an id counts running calls, each as 1, in place of what they spend. */
export function isCallCount(id: string): boolean {
  return id.startsWith(CALL_COUNT_IDS);
}

/** What an entry of a call adds to its budgets. Not the change of the balance: what comes back to a grant may be gone. */
export function getSpending({ held, charged }: EntryAmounts): Micro {
  return held + charged;
}

/** The same for one of its caps: a hold adds a running call to a count, and its end takes it back. */
export function getCapSpending(id: string, entry: EntryAmounts): Micro {
  if (!isCallCount(id)) return getSpending(entry);
  return entry.held > 0n ? 1n : entry.held < 0n ? -1n : 0n;
}

interface EntryAmounts {
  readonly held: Micro;
  readonly charged: Micro;
}

/** The sum of a run that no call can count in any more, and that the store may have removed. */
export function isClosedRun({ key, period }: Pick<BudgetSum, 'key' | 'period'>, now: number): boolean {
  return key.startsWith(RUN_IDS.first) && period < now - RUN_MS;
}

/** The effect of a call on a sum. */
interface Spending extends Omit<BudgetSum, 'spent'> {
  readonly amount: Micro;
}

type PeriodTerms = Pick<CapTerms, 'period' | 'opens'> & Partial<Pick<CapTerms, 'limit'>>;

/** The period that a call counts in: if the clocks of callers differ, the one ahead starts the period for all. */
export function resolvePeriod(budget: BudgetSum | undefined, { period, opens = period }: PeriodTerms): number {
  return budget && budget.period > period ? budget.period : opens;
}

/** The key whose sum another key counts in. */
export interface SharesBudget {
  /** The first key in the chain of replacements; null for a key with its own sum. */
  readonly budgetKey: string | null;
}

/** By key: an account may have had thousands. */
export function indexSums(sums: readonly BudgetSum[]): ReadonlyMap<string, BudgetSum> {
  return new Map(sums.map((sum) => [sum.key, sum]));
}

/** The id under which the sum of a key is stored. */
export function getBudgetKeyId({ id, budgetKey }: SharesBudget & { readonly id: string }): string {
  return budgetKey ?? id;
}

type LimitTerms = PeriodTerms & Pick<CapTerms, 'limit'>;

export function isOverBudget(budget: BudgetSum | undefined, terms: LimitTerms, amount: Micro): boolean {
  if (terms.limit === null) return false;
  return getSpent(budget, resolvePeriod(budget, terms)) + amount > terms.limit;
}

/** What calls may still spend, if those that run cost what they may above their holds; without a limit, nothing says. */
export function findLeft(budget: BudgetSum | undefined, terms: LimitTerms, exposed: Micro): Micro | undefined {
  if (terms.limit === null) return undefined;
  return maxMicro(terms.limit - getSpent(budget, resolvePeriod(budget, terms)) - exposed, 0n);
}

/** The amount spent in a period. */
export function getSpent(budget: BudgetSum | undefined, period: number): Micro {
  return budget && budget.period >= period ? budget.spent : 0n;
}

/** The sum after a call; undefined if unchanged, because the call belongs to an earlier period. */
export function addSpending(budget: BudgetSum | undefined, { amount, ...call }: Spending): BudgetSum | undefined {
  if (budget && budget.period > call.period) return undefined;
  return { ...call, spent: getSpent(budget, call.period) + amount };
}
