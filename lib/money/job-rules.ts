// All rules of a job's life cycle as one pure function: takes a job and a change, returns the job after it.
import assert from 'node:assert/strict';

/**
 * `starting`: the upstream was asked to start and its answer is not known yet; `running`: it has started and is polled;
 * `completed` and `failed` are final.
 */
export type JobPhase = 'starting' | 'running' | 'completed' | 'failed';

/** A generation that outlives its request. */
export interface Job {
  /** The id that the client polls. */
  readonly id: string;
  readonly wallet: string;
  /** The charge that pays for it: made with the job, refunded if it fails. */
  readonly charge: string;
  readonly model: string;
  /** The route it runs on: the upstream, and the upstream's name for the model. */
  readonly upstream: string;
  readonly phase: JobPhase;
  /** The state shown while it runs; it never goes back to `queued`. */
  readonly shown: 'queued' | 'processing';
  /** 0 to 100; never falls. */
  readonly progress: number;
  /** The upstream's reference, as JSON; null until it has started there. */
  readonly ref: string | null;
  /** Facts of the request that polling needs, as JSON. */
  readonly facts: string;
  /** The stored result, as JSON: its id and media type; null until completed. */
  readonly result: string | null;
  /** Why it failed, in words for the client; null unless it failed. */
  readonly error: string | null;
  /** The process that holds its lease, and when the lease ends; null when it is free to be claimed. */
  readonly owner: string | null;
  readonly lease: number | null;
  /** When it is polled next; null when it has ended. All times in ms since the epoch. */
  readonly dueAt: number | null;
  /** When it fails unless it has ended. */
  readonly deadline: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** Counts changes: a change applies only to the version it was decided on. */
  readonly version: number;
}

interface Change {
  readonly id: string;
  /** The version it was decided on. */
  readonly version: number;
  readonly at: number;
}

/** A new job; its creator holds the lease until the upstream has answered. */
export interface CreateJob {
  readonly kind: 'create';
  readonly job: Pick<Job, 'id' | 'wallet' | 'charge' | 'model' | 'upstream' | 'facts' | 'deadline' | 'createdAt'> & {
    readonly owner: string;
    readonly lease: number;
  };
}

/** The next route is tried, because the previous one certainly did not start. */
interface RerouteJob extends Change {
  readonly kind: 'reroute';
  readonly upstream: string;
}

/** The upstream has started. */
interface BeginJob extends Change {
  readonly kind: 'begin';
  readonly ref: string;
  readonly dueAt: number;
}

/** The upstream was polled, and the job is not finished. */
interface AdvanceJob extends Change {
  readonly kind: 'advance';
  readonly shown: Job['shown'];
  readonly progress: number;
  readonly dueAt: number;
}

interface CompleteJob extends Change {
  readonly kind: 'complete';
  readonly result: string;
}

/** Made together with the refund of its charge. */
export interface FailJob extends Change {
  readonly kind: 'fail';
  readonly error: string;
}

export type JobChange = CreateJob | RerouteJob | BeginJob | AdvanceJob | CompleteJob | FailJob;

/**
 * `done`: applied now; `exists`: the same change had been applied before; `stale`: nothing changed, because the job has
 * changed since or has ended; `no_job`.
 */
export type JobStatus = 'done' | 'exists' | 'stale' | 'no_job';

export interface JobOutcome {
  readonly status: JobStatus;
  /** The job afterwards; absent when there is none. */
  readonly job?: Job;
}

export function getJobId(change: JobChange): string {
  return change.kind === 'create' ? change.job.id : change.id;
}

export function decideJob(job: Job | undefined, change: JobChange): JobOutcome {
  if (change.kind === 'create') return job ? { status: 'exists', job } : { status: 'done', job: newJob(change) };
  if (!job) return { status: 'no_job' };
  assert.equal(job.id, change.id);
  if (job.version !== change.version) return { status: isJobChangeApplied(job, change) ? 'exists' : 'stale', job };
  if (!ALLOWED[change.kind].includes(job.phase)) return { status: 'stale', job };
  return { status: 'done', job: { ...job, ...applyJobChange(job, change), version: job.version + 1 } };
}

const ALLOWED: Readonly<Record<Exclude<JobChange['kind'], 'create'>, readonly JobPhase[]>> = {
  reroute: ['starting'],
  begin: ['starting'],
  advance: ['running'],
  complete: ['running'],
  fail: ['starting', 'running'],
};

function newJob({ job }: CreateJob): Job {
  return {
    ...job,
    phase: 'starting',
    shown: 'queued',
    progress: 0,
    ref: null,
    result: null,
    error: null,
    dueAt: job.lease,
    endedAt: null,
    version: 1,
  };
}

/** A job that waits or has ended has no owner. */
const NO_LEASE = { owner: null, lease: null };

function applyJobChange(job: Job, change: Exclude<JobChange, CreateJob>): Partial<Job> {
  switch (change.kind) {
    case 'reroute':
      return { upstream: change.upstream };
    case 'begin':
      return { phase: 'running', ref: change.ref, dueAt: change.dueAt, ...NO_LEASE };
    case 'advance': {
      const shown = job.shown === 'processing' ? job.shown : change.shown;
      return {
        shown,
        progress: Math.max(job.progress, clampProgress(change.progress)),
        dueAt: change.dueAt,
        ...NO_LEASE,
      };
    }
    case 'complete':
      return { ...endJob(change.at), phase: 'completed', progress: 100, result: change.result };
    case 'fail':
      return { ...endJob(change.at), phase: 'failed', error: change.error };
  }
}

function endJob(at: number) {
  return { ...NO_LEASE, dueAt: null, endedAt: at };
}

/** An upstream's progress as shown: whole, and 100 only when completed. */
function clampProgress(progress: number): number {
  return Number.isFinite(progress) ? Math.min(99, Math.max(0, Math.floor(progress))) : 0;
}

/** Whether this change was the last one applied: the answer was lost, and the change is sent again. */
function isJobChangeApplied(job: Job, change: Exclude<JobChange, CreateJob>): boolean {
  if (job.version !== change.version + 1) return false;
  switch (change.kind) {
    case 'reroute':
      return job.phase === 'starting' && job.upstream === change.upstream;
    case 'begin':
      return job.phase === 'running' && job.ref === change.ref;
    case 'advance':
      return job.phase === 'running' && job.dueAt === change.dueAt;
    case 'complete':
      return job.phase === 'completed' && job.result === change.result;
    case 'fail':
      return job.phase === 'failed' && job.error === change.error;
  }
}
