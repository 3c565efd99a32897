// The period of a budget: the day, the week from Monday, or the month, in a time zone.
import { DAY_MS } from '../base/durations.ts';
import type { KeyLimits } from './key-limits.ts';

interface Period {
  /** ms since the epoch; 0 for one that never ends. */
  readonly start: number;
  /** When the next one starts; null for never. */
  readonly end: number | null;
}

type Rhythm = Pick<KeyLimits, 'reset' | 'zone'>;

const ALWAYS: Period = { start: 0, end: null };

/** Users choose zones and can spell each in thousands of ways (case), so the caches are cleared at this size. */
const ZONES_MAX = 1000;

function cacheByName<T>(known: Map<string, T>, name: string, value: T): T {
  if (known.size >= ZONES_MAX) known.clear();
  known.set(name, value);
  return value;
}

/** The last period of each kind and zone: calls arrive in order of time, so it nearly always fits. */
const lastPeriods = new Map<string, Period & { readonly end: number }>();

export function findPeriod(at: number, { reset, zone }: Rhythm): Period {
  if (reset === 'none') return ALWAYS;
  const name = `${reset} ${zone}`;
  const known = lastPeriods.get(name);
  if (known && at >= known.start && at < known.end) return known;
  const today = new Date(at + zoneOffsetMs(at, zone));
  const year = today.getUTCFullYear();
  const month = today.getUTCMonth();
  const day = today.getUTCDate();
  const monday = day - ((today.getUTCDay() + 6) % 7);
  const [first, next] = {
    day: [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)] as const,
    week: [Date.UTC(year, month, monday), Date.UTC(year, month, monday + 7)] as const,
    month: [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)] as const,
  }[reset];
  return cacheByName(lastPeriods, name, { start: findMoment(first, zone), end: findMoment(next, zone) });
}

/** `2026-11-23T00:00:00+03:00`. */
export function formatMoment(at: number, zone: string): string {
  const offset = zoneOffsetMs(at, zone);
  const minutes = Math.abs(offset) / 60_000;
  const [hours, rest] = [Math.floor(minutes / 60), Math.floor(minutes % 60)].map((n) => `${n}`.padStart(2, '0'));
  const sign = offset < 0 ? '-' : '+';
  return `${new Date(at + offset).toISOString().slice(0, 19)}${sign}${hours}:${rest}`;
}

/** The first moment at which the clocks of a zone show this time; if they skip it, the moment of the jump. */
export function findMoment(wall: number, zone: string): number {
  const before = wall - zoneOffsetMs(wall - DAY_MS, zone);
  const after = wall - zoneOffsetMs(wall + DAY_MS, zone);
  if (before === after) return before;
  const [first, last] = [Math.min(before, after), Math.max(before, after)];
  return first + zoneOffsetMs(first, zone) === wall ? first : last;
}

/** How far a zone's clocks are ahead of UTC, in ms. */
function zoneOffsetMs(at: number, zone: string): number {
  const second = Math.floor(at / 1000) * 1000;
  const parts = getFormatter(zone).formatToParts(second);
  const [year = 0, month = 1, day, hour, minute, seconds] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map(
    (type) => Number(parts.find((part) => part.type === type)?.value),
  );
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function getFormatter(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const options = { ...digits, second: 'numeric', hourCycle: 'h23', calendar: 'gregory', timeZone: zone } as const;
  return cacheByName(formats, zone, new Intl.DateTimeFormat('en-u-nu-latn', options));
}
