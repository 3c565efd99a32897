// When a job is polled next: soon while young, less often when many are open, never before the upstream allows it.
import { LONGEST_WAIT_MS } from '../../store/claim.ts';

export interface Pace {
  readonly ageMs: number;
  /** The first interval, and the shortest. */
  readonly pollMs: number;
  /** How many other jobs are open. */
  readonly open: number;
  /** The earliest time the upstream allows the next poll. */
  readonly retryAfterMs?: number | undefined;
  /** The last poll brought nothing. */
  readonly backsOff?: boolean;
}

/** A client that has waited long won't notice an eighth more. */
const SHARE_OF_AGE = 1 / 8;
const INTERVALS_MAX = 12;
const BACKOFF_FACTOR = 2;
/** Shared by all open jobs: two thousand are polled once a minute each. */
const MS_PER_OPEN_JOB = 30;
const RETRY_AFTER_MS_MAX = 600_000;
/** Spreads out the polls of jobs that started together. */
const JITTER = 0.2;

/** In ms from now; `random` is in [0, 1). */
export function computeNextPollMs(
  { ageMs, pollMs, open, retryAfterMs = 0, backsOff = false }: Pace,
  random: number,
): number {
  const least = pollMs * (backsOff ? BACKOFF_FACTOR : 1);
  const byAge = Math.min(Math.max(ageMs * SHARE_OF_AGE, least), pollMs * INTERVALS_MAX);
  const interval = Math.max(byAge, open * MS_PER_OPEN_JOB) * (1 - JITTER + 2 * JITTER * random);
  return Math.min(Math.ceil(Math.max(interval, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX))), LONGEST_WAIT_MS.jobs);
}
