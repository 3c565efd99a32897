// When an upstream wants to be asked again, from its headers.
import { DAY_MS } from '../../base/durations.ts';
import { parseReset } from './limit-headers.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** No call waits longer for an answer; a date years ahead is a mistake. */
const RETRY_AFTER_MAX_MS = DAY_MS;

/** `retry-after-ms`, or `retry-after`, which some spell like the times of their limits; undefined if neither is given. */
export function readRetryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const ms = headers['retry-after-ms'];
  if (typeof ms === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(ms)) return clampRetryMs(Number(ms));
  const resetMs = parseReset(headers['retry-after'], now);
  return resetMs === undefined ? undefined : clampRetryMs(resetMs);
}

function clampRetryMs(ms: number): number {
  return Math.ceil(Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS));
}
