// The UTC days and weeks of a wallet's usage beside its hours. A year of a busy wallet is a hundred thousand hours of keys and
// models, but only some thousand days of them, and a quarter as many weeks.
import { DAY_MS, WEEK_MS } from '../base/durations.ts';
import type { UsageGrain, UsageOf, UsageQuery, UsageSlotQuery, UsageTotals } from './ports/usage.ts';
import { GRAIN_MS, GRAINS, splitTime, type TimeSpan } from './time-spans.ts';
import { addUsageTotals, NO_USAGE } from './usage-totals.ts';

/** The coarsest first. */
export const USAGE_GRAINS: readonly UsageGrain[] = GRAINS.map(([grain]) => grain);

/** How a migration makes the sums of a grain from those of a finer one; `ms` is the length of what is made. */
export const DAYS_OF_HOURS = { from: 'hour', to: 'day', ms: DAY_MS } as const;
export const WEEKS_OF_DAYS = { from: 'day', to: 'week', ms: WEEK_MS } as const;
export type UsageFilling = typeof DAYS_OF_HOURS | typeof WEEKS_OF_DAYS;

/** The sums of rows of a finer grain, one for each part of the time, key, model and kind. */
export function sumUsage<From extends UsageGrain, To extends UsageGrain>(
  rows: readonly UsageOf<From>[],
  from: From,
  to: To,
): readonly UsageOf<To>[] {
  const ms = GRAIN_MS[to];
  const sums = new Map<string, UsageOf<To>>();
  for (const row of rows) {
    const { [from]: start, key, model, kind, ...totals } = row;
    const labels = { [to]: start - (start % ms), key, model, kind } as UsageLabels<To>;
    const name = getUsageKey(labels, to);
    sums.set(name, {
      ...labels,
      ...addUsageTotals(sums.get(name) ?? NO_USAGE, totals as unknown as UsageTotals),
    } as UsageOf<To>);
  }
  return [...sums.values()];
}

type UsageLabels<Grain extends UsageGrain> = Pick<UsageOf<Grain>, Grain | 'key' | 'model' | 'kind'>;

/** The key of a sum in a map. */
export function getUsageKey<Grain extends UsageGrain>(labels: UsageLabels<Grain>, grain: Grain): string {
  return JSON.stringify([labels[grain], labels.key, labels.model, labels.kind]);
}

/** For a time without an end: a whole number of all grains, so that nothing is read besides. */
export const NO_END = Number.MAX_SAFE_INTEGER - (Number.MAX_SAFE_INTEGER % WEEK_MS);

export type UsageSpan = TimeSpan<UsageGrain>;

type SpanQuery = Pick<UsageSlotQuery, 'starts' | 'to'> & Pick<UsageQuery, 'by'>;

/** What the parts of a time are added up from; from nothing longer than what the query asks for each of. */
export function listUsageSpans({ starts, to, by }: SpanQuery): readonly UsageSpan[] {
  const longest = GRAINS.findIndex(([grain]) => grain === by);
  return splitTime(starts, to, GRAINS.slice(Math.max(longest, 0)));
}

/** Not all zero, as what a day has besides the hours that are taken away from it. */
export function isUsed(totals: UsageTotals): boolean {
  return Object.values(totals).some((count) => count !== 0 && count !== 0n);
}
