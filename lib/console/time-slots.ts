// The hours or days of a chart: each has its place, whether anything happened in it or not.
import { HOUR_MS } from '../base/durations.ts';
import { addDays, findDayStartHour, findHourDay } from '../money/days.ts';
import { keepTogether, type Language, LOCALES } from './language.ts';

export interface TimeSlot {
  /** Whole hours, ms since the epoch; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** The day in the time zone, as `2026-11-26`. */
  readonly day: string;
}

/** The days from one to another, both included. */
export function listDaySlots(first: string, last: string, zone: string): readonly TimeSlot[] {
  const slots: TimeSlot[] = [];
  let from = findDayStartHour(first, zone);
  for (let day = first; day <= last; ) {
    const next = addDays(day, 1);
    const to = findDayStartHour(next, zone);
    slots.push({ day, from, to });
    [day, from] = [next, to];
  }
  return slots;
}

/** The hours from a time until before another, both at whole hours. */
export function listHourSlots(from: number, to: number, zone: string): readonly TimeSlot[] {
  const count = Math.max(0, Math.round((to - from) / HOUR_MS));
  return Array.from({ length: count }, (_, index) => {
    const start = from + index * HOUR_MS;
    return { from: start, to: start + HOUR_MS, day: findHourDay(start, zone) };
  });
}

/** The months from one day to another, both included; the first and the last one may be cut. */
export function listMonthSlots(first: string, last: string, zone: string): readonly TimeSlot[] {
  if (first > last) return [];
  const days = [first];
  for (let day = findNextMonth(first); day <= last; day = findNextMonth(day)) days.push(day);
  const [start = 0, ...ends] = [...days, addDays(last, 1)].map((day) => findDayStartHour(day, zone));
  return ends.map((to, at) => ({ day: days[at] ?? first, from: ends[at - 1] ?? start, to }));
}

/** Its first day. */
function findNextMonth(day: string): string {
  return `${addDays(`${day.slice(0, 7)}-01`, 31).slice(0, 7)}-01`;
}

export const SLOT_UNITS = ['hour', 'day', 'month'] as const;
export type SlotUnit = (typeof SLOT_UNITS)[number];

/** As many bars as can still be told apart. */
const HOURS_MAX = 400;
/** More take longer than 50 ms to add up for an account with a million calls. */
const DAYS_MAX = 124;
const HOURS_OF_DAYS = 2;
const DAYS_OF_MONTHS = 92;

/** The unit that was asked for, if the range is neither too long nor too short for it; else a fitting one. */
export function chooseUnit(asked: string | null, days: number): SlotUnit {
  const found = SLOT_UNITS.find((unit) => unit === asked);
  if (found === 'hour' && days * 24 <= HOURS_MAX) return found;
  if (found === 'day' && days <= DAYS_MAX) return found;
  if (found === 'month') return found;
  if (days <= HOURS_OF_DAYS) return 'hour';
  return days <= DAYS_OF_MONTHS ? 'day' : 'month';
}

export function listSlots(unit: SlotUnit, { first, last, zone }: { first: string; last: string; zone: string }) {
  if (unit === 'day') return listDaySlots(first, last, zone);
  if (unit === 'month') return listMonthSlots(first, last, zone);
  return listHourSlots(findDayStartHour(first, zone), findDayStartHour(addDays(last, 1), zone), zone);
}

interface SlotNames {
  readonly name: (slot: TimeSlot) => string;
  /** The label below the slot, if it has one: the first and the last day and Mondays, or every third hour. */
  readonly tick: (slot: TimeSlot, at: number, count: number) => string | undefined;
}

export function nameSlots(kind: SlotUnit, language: Language, zone: string): SlotNames {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const made = new Intl.DateTimeFormat(LOCALES[language], { timeZone: zone, ...options });
    return ({ from }: TimeSlot) => made.format(from);
  };
  if (kind === 'month') {
    const month = format({ month: 'short', year: 'numeric' });
    return { name: (slot) => keepTogether(month(slot)), tick: month };
  }
  const date = format({ day: 'numeric', month: 'short' });
  if (kind === 'hour') {
    const hour = format({ hour: '2-digit', minute: '2-digit' });
    return {
      name: (slot) => keepTogether(`${date(slot)}, ${hour(slot)}`),
      tick: (slot, at, count) => (at % Math.ceil(count / 8) === 0 ? hour(slot) : undefined),
    };
  }
  const named = format({ weekday: 'short', day: 'numeric', month: 'short' });
  const isMonday = ({ day }: TimeSlot) => new Date(`${day}T00:00:00Z`).getUTCDay() === 1;
  return {
    name: (slot) => keepTogether(named(slot)),
    tick: (slot, at, count) => {
      if (count <= 10 || at === 0 || at === count - 1) return date(slot);
      // A Monday beside an end would overlap its label.
      const isNearEnd = at < 3 || at > count - 4;
      return count <= 100 && isMonday(slot) && !isNearEnd ? date(slot) : undefined;
    },
  };
}

/** Whether the slot is the one that has begun and is not over. */
export function isCurrent({ from, to }: TimeSlot, now: number): boolean {
  return from <= now && now < to;
}
