// What an upstream says in the headers of a reply about how much of its limits a key has left.
import type { LimitHeaders } from '../contract/request.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

interface Limit {
  readonly left: number;
  /** Until there is more. */
  readonly resetMs: number;
}

/** For how long a key has nothing left; undefined if it has, or if nothing says until when. */
export function readExhaustedMs(headers: Headers, limits: readonly LimitHeaders[], now: number): number | undefined {
  const rests = limits.flatMap((names) => {
    const limit = readLimit(headers, names, now);
    return limit?.left === 0 ? [limit.resetMs] : [];
  });
  return rests.length === 0 ? undefined : Math.max(...rests);
}

/** Undefined unless both headers can be read. */
export function readLimit(headers: Headers, { remaining, reset }: LimitHeaders, now: number): Limit | undefined {
  const left = parseNumber(headers[remaining]);
  const resetMs = parseReset(headers[reset], now);
  return left === undefined || resetMs === undefined ? undefined : { left: Math.max(left, 0), resetMs };
}

function parseNumber(value: Headers[string]): number | undefined {
  return typeof value === 'string' && /^\s*-?\d{1,15}(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

/** Greater numbers count from the epoch instead of from now; from a thousand times this on, they are milliseconds. */
const EPOCH_MIN = 1e9;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds from a number of seconds, a duration such as `1m30s`, or a time. */
export function parseReset(value: Headers[string], now: number): number | undefined {
  const number = parseNumber(value);
  if (number !== undefined) {
    if (number < EPOCH_MIN) return Math.max(number * 1000, 0);
    return Math.max((number < EPOCH_MIN * 1000 ? number * 1000 : number) - now, 0);
  }
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^(\d{1,9}(\.\d+)?(ms|[smhd]))+$/.test(text)) return parseDuration(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0);
}

function parseDuration(text: string): number {
  const pieces = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
  return pieces.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] as number), 0);
}

export function isHeaderName(name: unknown): boolean {
  return typeof name === 'string' && /^[a-z0-9-]+$/.test(name);
}

/** What is wrong with a plugin's `limitHeaders`; undefined if nothing is. */
export function findLimitsFlaw(limits: unknown): string | undefined {
  if (limits === undefined) return undefined;
  const isPair = (pair: unknown) => {
    const { remaining, reset } = (pair ?? {}) as { remaining?: unknown; reset?: unknown };
    return isHeaderName(remaining) && isHeaderName(reset);
  };
  if (Array.isArray(limits) && limits.every(isPair)) return undefined;
  return 'its limitHeaders are not a list of { remaining, reset }, names of headers in lower case';
}
