// When an upstream wants to be asked again, from its headers.

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** No call waits longer for an answer; a date years ahead is a mistake. */
const RETRY_AFTER_MAX_MS = 24 * 3_600_000;

/** `retry-after-ms`, or `retry-after` in seconds or as a date; undefined if neither is given. */
export function readRetryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const ms = parseSeconds(headers['retry-after-ms']);
  if (ms !== undefined) return clampRetryMs(ms);
  const seconds = parseSeconds(headers['retry-after']);
  if (seconds !== undefined) return clampRetryMs(seconds * 1000);
  const date = Date.parse(`${headers['retry-after'] ?? ''}`);
  return Number.isNaN(date) ? undefined : clampRetryMs(date - now);
}

function parseSeconds(value: string | string[] | undefined): number | undefined {
  return typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

function clampRetryMs(ms: number): number {
  return Math.ceil(Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS));
}
