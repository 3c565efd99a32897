// The audit of budgets: what a key has spent in its current period must be the sum of its calls in that period,
// including those of the keys it replaced.
import type { KeyBudget } from '../money/key-budget.ts';
import type { Micro } from '../money/money.ts';
import { getEntryChargeId } from '../money/replay.ts';
import type { Opening } from '../store/ports/archives.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import { differences, type Found, isEntry } from './audit-rules.ts';

export interface BudgetCheck {
  /** The next page. */
  add(page: JournalPage): void;
  /** After the last page of a wallet. `isThere`: a missing wallet cannot be compared, its rows may go at any moment. */
  end(wallet: string, isThere: boolean): void;
}

/** How far a wallet was read, and the sums of its keys. */
interface Reading {
  last: number;
  /** Up to here the sums are those of the opening. */
  opened: number;
  readonly sums: Map<string, Sum>;
}

/** The latest period of a budget that a call counts in, and the sum of that period's calls. */
export interface Sum {
  period: number;
  spent: Micro;
}

export function createBudgetCheck(found: Found): BudgetCheck {
  /** By wallet, for those that continue on the next page. */
  const readings = new Map<string, Reading>();
  let rows = new Map<string, KeyBudget[]>();

  function add(page: JournalPage): void {
    rows = Map.groupBy(page.budgets, ({ wallet }) => wallet);
    for (const opening of page.openings) openAt(opening);
    const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
    for (const entry of page.entries.filter(isEntry)) {
      const reading = readingOf(entry.wallet);
      if (entry.seq <= reading.opened) continue;
      reading.last = entry.seq;
      const charge = charges.get(getEntryChargeId(entry) ?? '');
      if (!charge || typeof charge.period !== 'number') continue;
      count(reading.sums, charge.budgetKey ?? charge.key, { period: charge.period, spent: -entry.avail });
    }
  }

  function readingOf(wallet: string): Reading {
    const reading = readings.get(wallet) ?? { last: 0, opened: 0, sums: new Map<string, Sum>() };
    readings.set(wallet, reading);
    return reading;
  }

  /** As for the sums of the wallet: what was read before an archive moved the opening stays read. */
  function openAt({ wallet, seq, budgets }: Opening): void {
    const reading = readingOf(wallet);
    if (seq <= reading.last) return;
    Object.assign(reading, { last: seq, opened: seq });
    reading.sums.clear();
    for (const { key, period, spent } of budgets) reading.sums.set(key, { period, spent });
  }

  function end(wallet: string, isThere: boolean): void {
    const left = readings.get(wallet)?.sums ?? new Map<string, Sum>();
    readings.delete(wallet);
    if (!isThere) return;
    for (const { key, period, spent } of rows.get(wallet) ?? []) {
      const sum = left.get(key);
      left.delete(key);
      if (sum?.period !== period) {
        found(wallet, `the budget of key ${key}: its period is ${period} instead of ${sum?.period ?? 'none'}`);
      } else if (typeof spent !== 'bigint') found(wallet, `the budget of key ${key}: it is not an amount`);
      else {
        for (const { text, drift } of differences({ spent: { found: spent, wanted: sum.spent } })) {
          found(wallet, `the budget of key ${key}: ${text}`, drift);
        }
      }
    }
    for (const key of left.keys()) found(wallet, `the budget of key ${key}: there is no sum of its calls`);
  }

  return { add, end };
}

/** Adds what a call of a period spent, if no later period has begun. */
export function count(sums: Map<string, Sum>, key: string, { period, spent }: Sum): void {
  const sum = sums.get(key);
  if (!sum || sum.period < period) sums.set(key, { period, spent });
  else if (sum.period === period) sum.spent += spent;
}
