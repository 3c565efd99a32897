// What a claim of jobs may take, the same in every store.
import type { JobClaim } from './ports/jobs.ts';

/**
 * Whether owners whose lease is over at `now`, by the store's clock, are gone. Each renews within a third of its lease: what
 * is left of it outlives half a lease.
 */
export function canTellTheDead({ at, leaseMs }: JobClaim, now: number): boolean {
  return at !== undefined && Math.abs(now - at) <= leaseMs / 2;
}
