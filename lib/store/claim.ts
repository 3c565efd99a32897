// Which jobs or payments a claim may take, and in which order, the same in every store.
import type { JobClaim } from './ports/jobs.ts';

/**
 * Whether owners whose lease has expired at `now`, by the store's clock, are dead. Each renews within a third of its
 * lease, so a live owner always has more than half of it left.
 */
export function canJudgeOwners({ at, leaseMs }: JobClaim, now: number): boolean {
  return at !== undefined && Math.abs(now - at) <= leaseMs / 2;
}

interface DueRow {
  readonly id: string;
  readonly dueAt: number | null;
}

/** The longest overdue come first. */
export function compareDue(a: DueRow, b: DueRow): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.id < b.id ? -1 : 1);
}
