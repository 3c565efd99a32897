// Which jobs or payments a claim may take, and in which order, the same in every store.
import { HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import type { JobClaim } from './ports/jobs.ts';

/** How long a row waits at most. */
export const LONGEST_WAIT_MS = { jobs: 15 * MINUTE_MS, payments: HOUR_MS } as const;
/**
 * A row that is due so much later or more comes from a clock that was set back since, and is due now. A minute more than
 * any waits, because the clocks of a gateway and its store may differ a little.
 */
export const IMPLAUSIBLE_WAIT_MS = {
  jobs: LONGEST_WAIT_MS.jobs + MINUTE_MS,
  payments: LONGEST_WAIT_MS.payments + MINUTE_MS,
};

/**
 * Whether owners whose lease has expired at `now`, by the clock of the store, can be considered dead. A live owner renews
 * within a third of its lease, so it always has more than half of the lease left.
 */
export function canJudgeOwners({ at, leaseMs }: JobClaim, now: number): boolean {
  return at !== undefined && Math.abs(now - at) <= leaseMs / 2;
}

interface DueRow {
  readonly id: string;
  readonly dueAt: number | null;
}

/** Sorts the longest overdue row first. */
export function compareDue(a: DueRow, b: DueRow): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.id < b.id ? -1 : 1);
}
