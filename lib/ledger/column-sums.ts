// The sums of the columns of a journal, which the audit and the archives compare.
import type { Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';

export const SUM_COLUMNS = ['avail', 'held', 'charged', 'topped', 'adjusted', 'granted', 'overshoot'] as const;
export type ColumnSums = Record<(typeof SUM_COLUMNS)[number], Micro>;

export const ZERO_SUMS: ColumnSums = {
  avail: 0n,
  held: 0n,
  charged: 0n,
  topped: 0n,
  adjusted: 0n,
  granted: 0n,
  overshoot: 0n,
};

/** Adds the entries after an opening to the sums. */
export function addEntriesAfter(sums: ColumnSums, entries: readonly Entry[], opened: number): void {
  for (const entry of entries) if (entry.seq > opened) addEntry(sums, entry);
}

export function addEntry(sums: ColumnSums, entry: Entry): void {
  for (const name of SUM_COLUMNS) sums[name] += entry[name] ?? 0n;
}
