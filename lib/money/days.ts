// Days of a time zone as people write them, `2026-11-26`, and the whole hours that usage is added up by.
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import { findMoment, formatMoment } from './period.ts';

export function formatDay(at: number, zone: string): string {
  return formatMoment(at, zone).slice(0, 10);
}

/** Reads `2026-11-26`; undefined if it is not a valid day from 1900 to 2999. */
export function parseDay(text: string): string | undefined {
  const at = /^(?:19|2\d)\d{2}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) || utcDay(at) !== text ? undefined : text;
}

export function addDays(day: string, count: number): string {
  return utcDay(Date.parse(day) + count * DAY_MS);
}

function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The first moment of a day, ms since the epoch. */
export function findDayStart(day: string, zone: string): number {
  return findMoment(Date.parse(day), zone);
}

/**
 * The whole hour at which a day begins in sums by the hour: in zones half an hour or a quarter off, the nearest one to
 * its midnight.
 */
export function findDayStartHour(day: string, zone: string): number {
  return Math.ceil(findDayStart(day, zone) / HOUR_MS - 0.5) * HOUR_MS;
}

/** The day that contains most of the hour around a moment; consistent with `findDayStartHour`. */
export function findHourDay(at: number, zone: string): string {
  return formatDay(at - (at % HOUR_MS) + HOUR_MS / 2, zone);
}

/** Whether any of the days starts within an hour, as in zones half an hour off. */
export function hasSplitHours(days: readonly string[], zone: string): boolean {
  return days.some((day) => findDayStart(day, zone) % HOUR_MS !== 0);
}
