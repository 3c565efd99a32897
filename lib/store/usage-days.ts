// The UTC days of a wallet's usage beside its hours: what hours add to them, and which of both a range of time is added up
// from. A year of a busy wallet is a hundred thousand hours of keys and models, but only some thousand days of them.
import type { UsageDay, UsageHour } from './ports/usage.ts';
import { DAY_MS, findDay } from './service-sums.ts';
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

/** A range of hours or of whole days, `until` exclusive, and the part of the time that it belongs to. */
export interface UsageSpan {
  readonly start: number;
  readonly from: number;
  readonly until: number;
}

export interface UsageSpans {
  readonly hours: readonly UsageSpan[];
  readonly days: readonly UsageSpan[];
}

/** What each part of a time is added up from: the UTC days that lie in it, and the hours before and behind them. */
export function listUsageSpans(starts: readonly number[], to: number): UsageSpans {
  const hours: UsageSpan[] = [];
  const days: UsageSpan[] = [];
  for (const [at, start] of starts.entries()) {
    const until = starts[at + 1] ?? to;
    const firstDay = findDay(start + DAY_MS - 1);
    const endDay = findDay(until);
    if (firstDay >= endDay) {
      hours.push({ start, from: start, until });
      continue;
    }
    days.push({ start, from: firstDay, until: endDay });
    hours.push({ start, from: start, until: firstDay }, { start, from: endDay, until });
  }
  return { hours: hours.filter(({ from, until }) => from < until), days };
}
