// The audit of budgets: the stored sum of a key or a cap must equal the sum of its calls in the current period,
// including the calls of the keys it replaced, and a count of running calls must equal the holds that are open.
import { type BudgetSum, getCapSpending, getSpending, isCallCount, isClosedRun } from '../money/budget.ts';
import type { Charge, Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { getEntryChargeId } from '../money/replay.ts';
import type { Opening } from '../store/ports/archives.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import { isEntry, listDifferences, type ReportProblem } from './audit-rules.ts';

interface BudgetCheck {
  /** Adds the next page of the journal. */
  add(page: JournalPage): void;
  /** Called after the last page of a wallet; without a wallet (`isThere` false) there is nothing to compare with. */
  end(wallet: string, isThere: boolean): void;
}

/** How far the journal of a wallet was read, and the sums of its keys. */
interface BudgetReading {
  last: number;
  /** The entry up to which the sums come from the opening. */
  opened: number;
  readonly sums: Map<string, PeriodSum>;
}

/** The latest period of a budget, and the sum of the calls in that period. */
export interface PeriodSum {
  period: number;
  spent: Micro;
}

export function createBudgetCheck(report: ReportProblem): BudgetCheck {
  /** By wallet; a wallet may continue on the next page. */
  const readings = new Map<string, BudgetReading>();
  let rows = new Map<string, BudgetSum[]>();

  function add(page: JournalPage): void {
    rows = Map.groupBy(page.budgets, ({ wallet }) => wallet);
    for (const opening of page.openings) openAt(opening);
    const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
    for (const entry of page.entries.filter(isEntry)) {
      const reading = getBudgetReading(entry.wallet);
      if (entry.seq <= reading.opened) continue;
      reading.last = entry.seq;
      const charge = charges.get(getEntryChargeId(entry) ?? '');
      if (charge) addToPeriodSums(reading.sums, charge, entry);
    }
  }

  function getBudgetReading(wallet: string): BudgetReading {
    const reading = readings.get(wallet) ?? { last: 0, opened: 0, sums: new Map<string, PeriodSum>() };
    readings.set(wallet, reading);
    return reading;
  }

  /** As for the sums of the wallet: entries read before an archive moved the opening still count. */
  function openAt({ wallet, seq, budgets }: Opening): void {
    const reading = getBudgetReading(wallet);
    if (seq <= reading.last) return;
    Object.assign(reading, { last: seq, opened: seq });
    reading.sums.clear();
    for (const { key, period, spent } of budgets) reading.sums.set(key, { period, spent });
  }

  function end(wallet: string, isThere: boolean): void {
    const remaining = readings.get(wallet)?.sums ?? new Map<string, PeriodSum>();
    readings.delete(wallet);
    if (!isThere) return;
    for (const { key, period, spent } of rows.get(wallet) ?? []) {
      const sum = remaining.get(key);
      remaining.delete(key);
      if (sum?.period !== period) {
        report(wallet, `the budget ${key}: its period is ${period} instead of ${sum?.period ?? 'none'}`);
      } else if (typeof spent !== 'bigint') report(wallet, `the budget ${key}: it is not an amount`);
      else if (isCallCount(key)) {
        if (spent !== sum.spent) report(wallet, `the count ${key}: ${spent} calls run instead of ${sum.spent}`);
      } else {
        for (const { text, drift } of listDifferences({ spent: { found: spent, wanted: sum.spent } })) {
          report(wallet, `the budget ${key}: ${text}`, drift);
        }
      }
    }
    for (const [key, { period }] of remaining) {
      if (!isClosedRun({ key, period }, Date.now())) report(wallet, `the budget ${key}: there is no sum of its calls`);
    }
  }

  return { add, end };
}

/** Adds what an entry of a call took from the wallet to the sums of the budgets that the call counts in. */
export function addToPeriodSums(
  sums: Map<string, PeriodSum>,
  { key, budgetKey, period, caps = [] }: Pick<Charge, 'key' | 'budgetKey' | 'period' | 'caps'>,
  entry: Pick<Entry, 'held' | 'charged'>,
): void {
  if (typeof period === 'number') addToPeriodSum(sums, budgetKey ?? key, { period, spent: getSpending(entry) });
  // A damaged row is reported elsewhere.
  for (const { id, period: of } of Array.isArray(caps) ? caps : [])
    addToPeriodSum(sums, id, { period: of, spent: getCapSpending(id, entry) });
}

/** Adds the spending of a call, unless a later period has started. */
function addToPeriodSum(sums: Map<string, PeriodSum>, key: string, { period, spent }: PeriodSum): void {
  const sum = sums.get(key);
  if (!sum || sum.period < period) sums.set(key, { period, spent });
  else if (sum.period === period) sum.spent += spent;
}
