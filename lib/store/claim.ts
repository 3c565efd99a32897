// What a claim of jobs or payments may take, and in which order, the same in every store.
import type { JobClaim } from './ports/jobs.ts';

/**
 * Whether owners whose lease is over at `now`, by the store's clock, are gone. Each renews within a third of its lease: what
 * is left of it outlives half a lease.
 */
export function canTellTheDead({ at, leaseMs }: JobClaim, now: number): boolean {
  return at !== undefined && Math.abs(now - at) <= leaseMs / 2;
}

interface Waiting {
  readonly id: string;
  readonly dueAt: number | null;
}

/** Those that have been due for longest come first. */
export function byTurn(a: Waiting, b: Waiting): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.id < b.id ? -1 : 1);
}
