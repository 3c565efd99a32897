// Which jobs or payments a claim may take, and in which order, the same in every store.
import type { JobClaim } from './ports/jobs.ts';

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
