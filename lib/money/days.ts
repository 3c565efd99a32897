// Days of a time zone as people write them, `2026-11-26`, and the whole hours that usage is added up by.
import { formatMoment, momentOf } from './period.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function dayAt(at: number, zone: string): string {
  return formatMoment(at, zone).slice(0, 10);
}

/** Undefined for what is not a day of these centuries. */
export function readDay(text: string): string | undefined {
  const at = /^(?:19|2\d)\d{2}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) || utcDay(at) !== text ? undefined : text;
}

export function addDays(day: string, count: number): string {
  return utcDay(Date.parse(day) + count * DAY_MS);
}

function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Its first moment, ms since the epoch. */
export function startOfDay(day: string, zone: string): number {
  return momentOf(Date.parse(day), zone);
}

/**
 * The whole hour at which a day begins in sums by the hour: in zones half an hour or a quarter off, the nearest one to
 * its midnight.
 */
export function startHourOfDay(day: string, zone: string): number {
  return Math.ceil(startOfDay(day, zone) / HOUR_MS - 0.5) * HOUR_MS;
}

/** The day that has most of the hour of a moment; it agrees with `startHourOfDay`. */
export function dayOfHour(at: number, zone: string): string {
  return dayAt(at - (at % HOUR_MS) + HOUR_MS / 2, zone);
}

/** Whether some day of these begins between two hours. */
export function hasSplitHours(days: readonly string[], zone: string): boolean {
  return days.some((day) => startOfDay(day, zone) % HOUR_MS !== 0);
}
