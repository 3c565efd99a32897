// The port of jobs: who works on which, by lease. Their money moves in the ledger, in the same transactions.
import type { CreateJob, FailJob, Job, JobChange, JobOutcome } from '../../jobs/decide.ts';

/** A change that no money goes with: a job begins with its charge and fails with its refund, in `LedgerStore.apply`. */
export type FreeJobChange = Exclude<JobChange, CreateJob | FailJob>;

export interface JobClaim {
  /** The process that is going to work on them. */
  readonly owner: string;
  /** How long, from now, nobody else may. */
  readonly leaseMs: number;
  readonly limit: number;
  /**
   * What the owner works on now, by id: it does not take that again. Any other job of its own whose lease is over is free:
   * the answer to its claim was lost. Without it the owner's own jobs are left alone, as are those of every process that
   * is alive.
   */
  readonly working?: readonly string[];
  /**
   * The store's clock as the owner knows it, in ms since the epoch. Without it, or when the clock has jumped since, nobody
   * can tell who is alive: then only jobs without an owner are taken.
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
   * Takes jobs that are due by the store's clock and that nobody works on: without an owner, or with one that is not
   * alive and whose lease is over (one that ends later than two of `leaseMs` from now is over: the clock ran ahead).
   * Each gets the owner, a new lease and the next version. Those that have been due for longest come first; of several
   * claims at once none gets a job that another got.
   */
  claim(claim: JobClaim): Promise<readonly Job[]>;
  /**
   * Decides the change by `decideJob` and writes it, to the version it was decided on or not at all. A job that the caller
   * has in that version already need not be read again.
   */
  change(change: FreeJobChange, known?: Job): Promise<JobOutcome>;
  /** A whole lease from now for a job that is still the owner's in this version, which it keeps; false if it is not. */
  renew(renewal: JobRenewal): Promise<boolean>;
  /** How many have not ended. */
  open(): Promise<number>;
  /** All jobs with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly Job[]>;
  /** Writes jobs as they are in another store, whatever was there: for a copy. */
  put(jobs: readonly Job[]): Promise<void>;
}
