// The port of jobs: which process works on a job, by lease. The ledger moves their money in the same transactions.

import type { Attempt } from '../../money/attempt.ts';
import type { CreateJob, FailJob, Job, JobChange, JobOutcome } from '../../money/job-rules.ts';
import type { WrongMarks } from './wrong-marks.ts';

/** A change without money: a job starts with its charge and fails with its refund, in `LedgerStore.apply`. */
export type FreeJobChange = Exclude<JobChange, CreateJob | FailJob>;

export interface JobClaim {
  /** The process that claims. */
  readonly owner: string;
  /** How long, from now, no other process may work on the jobs. */
  readonly leaseMs: number;
  readonly limit: number;
  /**
   * Ids that the owner is working on, which it does not claim again. Any other job of this owner with an expired lease is
   * free, because the answer to its claim was lost. If absent, the jobs of the owner are not claimed, like those of any
   * other live process.
   */
  readonly working?: readonly string[];
  /**
   * The clock of the store as the owner knows it, in ms since the epoch. If it is absent, or the clock has jumped since,
   * it is unknown which owners are alive, so only jobs without an owner are claimed.
   */
  readonly at?: number | undefined;
}

export interface JobRenewal {
  readonly id: string;
  readonly version: number;
  readonly owner: string;
  readonly leaseMs: number;
}

export interface JobStore {
  get(id: string): Promise<Job | undefined>;
  /**
   * Claims jobs that are due by the store's clock and free: without an owner, or with a dead owner and an expired lease
   * (one that ends more than two `leaseMs` from now has expired: the clock ran ahead). Each gets the owner, a new lease
   * and the next version. The longest overdue come first; concurrent claims never get the same job.
   */
  claim(claim: JobClaim): Promise<readonly Job[]>;
  /**
   * Decides the change by `decideJob` and writes it only to the version that it was decided on. `known`: the job in that
   * version, which saves a read. The attempts of its call are written with it, or not at all.
   */
  change(change: FreeJobChange, known?: Job, attempts?: readonly Attempt[]): Promise<JobOutcome>;
  /** Renews the lease if the job still has this owner and version, which stays the same; false otherwise. */
  renew(renewal: JobRenewal): Promise<boolean>;
  /** The number of jobs that have not ended. */
  open(): Promise<number>;
  /** All jobs with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly Job[]>;
  /** Checks `limit` jobs with ids above `after`, and finds those whose values were changed outside the store. */
  findWrongMarks(page: { readonly after?: string; readonly limit: number }): Promise<WrongMarks>;
  /** Writes jobs as they are in another store, overwriting: for a copy. */
  put(jobs: readonly Job[]): Promise<void>;
}
