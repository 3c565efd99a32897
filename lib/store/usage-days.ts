// The UTC days of a wallet's usage beside its hours: what hours add to them, and which of both a range of time is added up
// from. A year of a busy wallet is a hundred thousand hours of keys and models, but only some thousand days of them.
import type { UsageDay, UsageHour, UsageTotals } from './ports/usage.ts';
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
  /** Hours of these days that do not belong to the part: they are taken away again. */
  readonly less: readonly UsageSpan[];
}

/**
 * What each part of a time is added up from: UTC days, and the hours around them. A day that lies in a part for the most is
 * read whole, without its other hours: a day in Moscow is one by UTC, three hours more and three less.
 */
export function listUsageSpans(starts: readonly number[], to: number): UsageSpans {
  const parts = starts.map((start, at) => listPartSpans(start, starts[at + 1] ?? to));
  return {
    hours: parts.flatMap(({ hours }) => hours),
    days: parts.flatMap(({ days }) => days),
    less: parts.flatMap(({ less }) => less),
  };
}

function listPartSpans(start: number, until: number): UsageSpans {
  const [firstDay, endDay] = [findNearestDay(start), findNearestDay(until)];
  const edges = Math.abs(firstDay - start) + Math.abs(endDay - until);
  // Two edges within one day are not worth a day.
  if (firstDay >= endDay || 2 * edges > until - start)
    return { hours: listSpan(start, { from: start, until }), days: [], less: [] };
  return {
    hours: [...listSpan(start, { from: start, until: firstDay }), ...listSpan(start, { from: endDay, until })],
    days: [{ start, from: firstDay, until: endDay }],
    less: [...listSpan(start, { from: firstDay, until: start }), ...listSpan(start, { from: until, until: endDay })],
  };
}

/** None if it is empty. */
function listSpan(start: number, span: Omit<UsageSpan, 'start'>): readonly UsageSpan[] {
  return span.from < span.until ? [{ start, ...span }] : [];
}

/** Where a UTC day begins or ends. */
function findNearestDay(at: number): number {
  return findDay(at + DAY_MS / 2);
}

/** Not all zero, as what a day has besides the hours that are taken away from it. */
export function isUsed(totals: UsageTotals): boolean {
  return Object.values(totals).some((count) => count !== 0 && count !== 0n);
}
