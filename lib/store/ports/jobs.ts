// The port of jobs: who works on which, by lease. Their money moves in the ledger, in the same transactions.

import type { CreateJob, FailJob, Job, JobChange, JobOutcome } from '../../money/job-rules.ts';
import type { WrongMarks } from './wrong-marks.ts';

/** A change without money: a job starts with its charge and fails with its refund, in `LedgerStore.apply`. */
export type FreeJobChange = Exclude<JobChange, CreateJob | FailJob>;

export interface JobClaim {
  /** The process that claims. */
  readonly owner: string;
  /** How long, from now, nobody else may work on them. */
  readonly leaseMs: number;
  readonly limit: number;
  /**
   * Ids the owner is working on, which it does not claim again. Any other job of its own with an expired lease is free,
   * because the answer to its claim was lost. If absent, the owner's own jobs are left alone, like those of every live
   * process.
   */
  readonly working?: readonly string[];
  /**
   * The store's clock as the owner knows it, in ms since the epoch. If it is absent, or the clock has jumped since,
   * nobody can tell who is alive, and only jobs without an owner are claimed.
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
   * Decides the change by `decideJob` and writes it, to the version it was decided on or not at all. A job passed in
   * that version need not be read again.
   */
  change(change: FreeJobChange, known?: Job): Promise<JobOutcome>;
  /** Renews the lease of a job that is still the owner's in this version, which it keeps; false if it is not. */
  renew(renewal: JobRenewal): Promise<boolean>;
  /** How many have not ended. */
  open(): Promise<number>;
  /** All jobs with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly Job[]>;
  /** Of the `limit` jobs with ids above `after`, those whose values were changed behind the store's back. */
  findWrongMarks(page: { readonly after?: string; readonly limit: number }): Promise<WrongMarks>;
  /** Writes jobs as they are in another store, overwriting: for a copy. */
  put(jobs: readonly Job[]): Promise<void>;
}
