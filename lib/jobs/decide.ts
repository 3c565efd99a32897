// All rules of a job's life in one pure function: a job and a change in; the job as it is then out.
import assert from 'node:assert/strict';

/**
 * `starting` the upstream is being asked to begin, and nobody knows yet whether it has; `running` it has, and is polled;
 * `completed`, `failed` for ever.
 */
export type JobPhase = 'starting' | 'running' | 'completed' | 'failed';

/** One generation that outlives its request. */
export interface Job {
  /** What the client asks for it by. */
  readonly id: string;
  readonly wallet: string;
  /** The charge that pays for it: made with the job, refunded with its failure. */
  readonly charge: string;
  readonly model: string;
  /** The route that it runs on: its upstream, and that one's name of the model. */
  readonly upstream: string;
  readonly phase: JobPhase;
  /** What is shown while it runs; it never goes back to `queued`. */
  readonly shown: 'queued' | 'processing';
  /** 0 to 100; never falls. */
  readonly progress: number;
  /** What the upstream knows it by, as JSON; null until it has begun there. */
  readonly ref: string | null;
  /** Facts of the request that its poller needs, as JSON. */
  readonly facts: string;
  /** The stored result, as JSON: its id and media type; null until it is completed. */
  readonly result: string | null;
  /** Why it failed, in words for the client; null unless it failed. */
  readonly error: string | null;
  /** The process that works on it now, and until when nobody else may; null when it waits for its turn. */
  readonly owner: string | null;
  readonly lease: number | null;
  /** When it is to be looked at next; null when it has ended. All times in ms since the epoch. */
  readonly dueAt: number | null;
  /** When it fails if it has not ended. */
  readonly deadline: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** Counts the changes: a change is made to the version it was decided on, or not at all. */
  readonly version: number;
}

interface Change {
  readonly id: string;
  /** The version it was decided on. */
  readonly version: number;
  readonly at: number;
}

/** A job begins; its maker holds it until the upstream has answered. */
export interface CreateJob {
  readonly kind: 'create';
  readonly job: Pick<Job, 'id' | 'wallet' | 'charge' | 'model' | 'upstream' | 'facts' | 'deadline' | 'createdAt'> & {
    readonly owner: string;
    readonly lease: number;
  };
}

/** The next route is asked to begin, because the one before certainly did not. */
export interface RerouteJob extends Change {
  readonly kind: 'reroute';
  readonly upstream: string;
}

/** The upstream has begun. */
export interface BeginJob extends Change {
  readonly kind: 'begin';
  readonly ref: string;
  readonly dueAt: number;
}

/** The upstream was asked, and it is not over. */
export interface AdvanceJob extends Change {
  readonly kind: 'advance';
  readonly shown: Job['shown'];
  readonly progress: number;
  readonly dueAt: number;
}

export interface CompleteJob extends Change {
  readonly kind: 'complete';
  readonly result: string;
}

/** Goes with the refund of its charge. */
export interface FailJob extends Change {
  readonly kind: 'fail';
  readonly error: string;
}

export type JobChange = CreateJob | RerouteJob | BeginJob | AdvanceJob | CompleteJob | FailJob;

/**
 * `done` it happened now; `exists` this very change had been made before; `stale` the job has changed since it was
 * decided on, or has ended: nothing changed; `no_job`.
 */
export type JobStatus = 'done' | 'exists' | 'stale' | 'no_job';

export interface JobOutcome {
  readonly status: JobStatus;
  /** As it is afterwards; absent when there is none. */
  readonly job?: Job;
}

export function jobIdOf(change: JobChange): string {
  return change.kind === 'create' ? change.job.id : change.id;
}

export function decideJob(job: Job | undefined, change: JobChange): JobOutcome {
  if (change.kind === 'create') return job ? { status: 'exists', job } : { status: 'done', job: created(change) };
  if (!job) return { status: 'no_job' };
  assert.equal(job.id, change.id);
  if (job.version !== change.version) return { status: wasMade(job, change) ? 'exists' : 'stale', job };
  if (!ALLOWED[change.kind].includes(job.phase)) return { status: 'stale', job };
  return { status: 'done', job: { ...job, ...changed(job, change), version: job.version + 1 } };
}

const ALLOWED: Readonly<Record<Exclude<JobChange['kind'], 'create'>, readonly JobPhase[]>> = {
  reroute: ['starting'],
  begin: ['starting'],
  advance: ['running'],
  complete: ['running'],
  fail: ['starting', 'running'],
};

function created({ job }: CreateJob): Job {
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

/** Nobody works on a job that waits or has ended. */
const FREE = { owner: null, lease: null };

function changed(job: Job, change: Exclude<JobChange, CreateJob>): Partial<Job> {
  switch (change.kind) {
    case 'reroute':
      return { upstream: change.upstream };
    case 'begin':
      return { phase: 'running', ref: change.ref, dueAt: change.dueAt, ...FREE };
    case 'advance': {
      const shown = job.shown === 'processing' ? job.shown : change.shown;
      return { shown, progress: Math.max(job.progress, percent(change.progress)), dueAt: change.dueAt, ...FREE };
    }
    case 'complete':
      return { ...ended(change.at), phase: 'completed', progress: 100, result: change.result };
    case 'fail':
      return { ...ended(change.at), phase: 'failed', error: change.error };
  }
}

function ended(at: number) {
  return { ...FREE, dueAt: null, endedAt: at };
}

/** An upstream's progress as it is shown: whole, and 100 only for what is completed. */
function percent(progress: number): number {
  return Number.isFinite(progress) ? Math.min(99, Math.max(0, Math.floor(progress))) : 0;
}

/** Whether the very change was the last to be made: its answer was lost, and it came again. */
function wasMade(job: Job, change: Exclude<JobChange, CreateJob>): boolean {
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
