// The UTC days of a wallet's usage beside its hours. A year of a busy wallet is a hundred thousand hours of keys and models,
// but only some thousand days of them.
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import type { UsageDay, UsageHour, UsageQuery, UsageSlotQuery, UsageTotals } from './ports/usage.ts';
import { findDay } from './service-sums.ts';
import { splitTime, type TimeSpan } from './time-spans.ts';
import { addUsageTotals, NO_USAGE } from './usage-totals.ts';

/** One row for each day, key, model and kind. */
export function sumUsageDays(hours: readonly UsageHour[]): readonly UsageDay[] {
  const days = new Map<string, UsageDay>();
  for (const { hour, key, model, kind, ...totals } of hours) {
    const labels = { day: findDay(hour), key, model, kind };
    const name = getUsageDayKey(labels);
    days.set(name, { ...labels, ...addUsageTotals(days.get(name) ?? NO_USAGE, totals) });
  }
  return [...days.values()];
}

/** The key of a day in a map. */
export function getUsageDayKey({ day, key, model, kind }: Pick<UsageDay, 'day' | 'key' | 'model' | 'kind'>): string {
  return JSON.stringify([day, key, model, kind]);
}

/** What usage is kept by, and how long each is, ms. */
const USAGE_GRAINS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
] as const;

export type UsageSpan = TimeSpan<(typeof USAGE_GRAINS)[number][0]>;

type SpanQuery = Pick<UsageSlotQuery, 'starts' | 'to'> & Pick<UsageQuery, 'by'>;

/** What the parts of a time are added up from; only from hours if the query asks for each of them. */
export function listUsageSpans({ starts, to, by }: SpanQuery): readonly UsageSpan[] {
  return splitTime(starts, to, by === 'hour' ? USAGE_GRAINS.slice(-1) : USAGE_GRAINS);
}

/** Not all zero, as what a day has besides the hours that are taken away from it. */
export function isUsed(totals: UsageTotals): boolean {
  return Object.values(totals).some((count) => count !== 0 && count !== 0n);
}
