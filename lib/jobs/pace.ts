// When a job is looked at again: soon while it is young, seldom when there are many, and when the upstream wants it.

export interface Pace {
  readonly ageMs: number;
  /** The first interval, and the least. */
  readonly pollMs: number;
  /** Jobs that are open beside it. */
  readonly open: number;
  /** The earliest the upstream wants to be asked again. */
  readonly retryAfterMs?: number | undefined;
  /** The last look told nothing. */
  readonly failed?: boolean;
}

/** A client that has waited long does not mind an eighth more. */
const SHARE_OF_AGE = 1 / 8;
const INTERVALS_MAX = 12;
const FAILED_GROWTH = 2;
/** Shared by all open jobs: two thousand of them are looked at once a minute each. */
const MS_PER_OPEN_JOB = 30;
const RETRY_AFTER_MS_MAX = 600_000;
/** Jobs that began together are not looked at together. */
const JITTER = 0.2;

/** In ms from now; `random` is from 0 to below 1. */
export function nextLookMs({ ageMs, pollMs, open, retryAfterMs = 0, failed = false }: Pace, random: number): number {
  const least = pollMs * (failed ? FAILED_GROWTH : 1);
  const byAge = Math.min(Math.max(ageMs * SHARE_OF_AGE, least), pollMs * INTERVALS_MAX);
  const interval = Math.max(byAge, open * MS_PER_OPEN_JOB) * (1 - JITTER + 2 * JITTER * random);
  return Math.ceil(Math.max(interval, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX)));
}
