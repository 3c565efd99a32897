// The audit of budgets: what a key has spent in its current period must be the sum of its calls in that period,
// including those of the keys it replaced.
import type { KeyBudget } from '../money/key-budget.ts';
import type { Micro } from '../money/money.ts';
import { chargeOfEntry } from '../money/replay.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import { differences, type Found, isEntry } from './audit-rules.ts';

export interface BudgetCheck {
  /** The next page. */
  add(page: JournalPage): void;
  /** After the last page of a wallet. `isThere`: a missing wallet cannot be compared, its rows may go at any moment. */
  end(wallet: string, isThere: boolean): void;
}

/** The latest period of a budget that a call counts in, and the sum of that period's calls. */
interface Sum {
  period: number;
  spent: Micro;
}

export function createBudgetCheck(found: Found): BudgetCheck {
  /** By wallet and key, for wallets that continue on the next page. */
  const sums = new Map<string, Map<string, Sum>>();
  let rows = new Map<string, KeyBudget[]>();

  function add(page: JournalPage): void {
    rows = Map.groupBy(page.budgets, ({ wallet }) => wallet);
    const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
    for (const entry of page.entries.filter(isEntry)) {
      const charge = charges.get(chargeOfEntry(entry) ?? '');
      if (!charge || typeof charge.period !== 'number') continue;
      const ofWallet = sums.get(entry.wallet) ?? new Map<string, Sum>();
      sums.set(entry.wallet, ofWallet);
      count(ofWallet, charge.budgetKey ?? charge.key, { period: charge.period, spent: -entry.avail });
    }
  }

  function count(ofWallet: Map<string, Sum>, key: string, { period, spent }: Sum): void {
    const sum = ofWallet.get(key);
    if (!sum || sum.period < period) ofWallet.set(key, { period, spent });
    else if (sum.period === period) sum.spent += spent;
  }

  function end(wallet: string, isThere: boolean): void {
    const left = sums.get(wallet) ?? new Map<string, Sum>();
    sums.delete(wallet);
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
