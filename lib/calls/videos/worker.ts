// The background worker of jobs, in every process: polls the upstreams of those that are due, and ends them.

import { createLeaseLoop, type LoopClock } from '../../ledger/lease-loop.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Job } from '../../money/job-rules.ts';
import type { AttemptStore } from '../../store/ports/attempts.ts';
import type { JobStore } from '../../store/ports/jobs.ts';
import type { CancelJob } from './cancel.ts';
import { endJobAttempts, toJobAttemptRows } from './job-attempts.ts';
import type { PollJob, PollOutcome } from './poll.ts';
import { computeNextPollMs } from './poll-interval.ts';

export interface WorkerOptions {
  readonly jobs: JobStore;
  readonly attempts: Pick<AttemptStore, 'list'>;
  readonly ledger: Pick<Ledger, 'refund'>;
  readonly pollJob: PollJob;
  /** Tells the upstream that a job was given up; never rejects. */
  readonly cancelJob: CancelJob;
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly pollMs: number;
  /** The store's clock, and whether other processes may be considered dead. */
  readonly clock: LoopClock;
  readonly log: WorkerLog;
  /** Called when a job has ended, with how long it took. */
  readonly onEnd?: ((job: Job, how: 'completed' | 'failed', ms: number) => void) | undefined;
  readonly random?: () => number;
}

interface WorkerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Worker {
  start(): void;
  /**
   * A job of this process is being created: until the returned function is called, this worker does not treat it as
   * abandoned.
   */
  hold(id: string): () => void;
  /** When a new job is polled for the first time. */
  computeFirstPollAt(): number;
  /** Makes the worker wake up when the job is due. */
  expect(id: string, dueAt: number): void;
  /** Claims nothing more and aborts what is running; the leases of those jobs expire. */
  stop(): Promise<void>;
}

const GAP_MS_MAX = 1000;
const GAP_MS_MIN = 10;
/** A job whose charge cannot be refunded is corruption; the audit reports it. */
const HOPELESS_MS = 600_000;

export function createWorker(options: WorkerOptions): Worker {
  const {
    jobs,
    ledger,
    pollJob,
    cancelJob,
    ownerId,
    leaseMs,
    pollMs,
    clock,
    log,
    onEnd,
    random = Math.random,
  } = options;
  const gapMs = Math.min(GAP_MS_MAX, Math.max(GAP_MS_MIN, Math.floor(pollMs / 5)));
  const loop = createLeaseLoop({
    store: jobs,
    work,
    ownerId,
    leaseMs,
    gapMs,
    clock,
    onClaimError: (err) => log.warn({ err }, 'could not claim the jobs that are due'),
    onWorkError: (err, job) => log.warn({ err, job: job.id }, 'could not process a job'),
  });

  async function work(job: Job, signal: AbortSignal): Promise<void> {
    // The process that asked the upstream to start is gone, and the answer with it: never ask again.
    if (job.phase === 'starting') {
      await fail(job, 'The service was interrupted while it started this video.');
      return;
    }
    const outcome = await pollJob(job, signal);
    switch (outcome.kind) {
      case 'completed':
        return complete(job, outcome.result);
      case 'failed':
        await fail(job, outcome.error);
        return;
      case 'unfinished':
        if (clock.now() >= job.deadline && !outcome.waitsForStore) return giveUp(job, signal);
        return advance(job, outcome);
    }
  }

  async function advance(job: Job, outcome: Extract<PollOutcome, { kind: 'unfinished' }>): Promise<void> {
    const { shown, progress, retryAfterMs, backsOff, waitsForStore } = outcome;
    const at = clock.now();
    const pace = { ageMs: at - job.createdAt, pollMs, open: loop.countOpen(), retryAfterMs, backsOff };
    const dueAt = at + computeNextPollMs(pace, random());
    await postpone(job, { shown, progress, dueAt: waitsForStore ? dueAt : Math.min(dueAt, job.deadline) });
  }

  async function postpone(job: Job, to: { shown: Job['shown']; progress: number; dueAt: number }): Promise<void> {
    const { id, version } = job;
    const { status } = await jobs.change({ kind: 'advance', id, version, at: clock.now(), ...to }, job);
    if (status === 'done' || status === 'exists') loop.expectDue(id, to.dueAt);
  }

  async function complete(job: Job, result: string): Promise<void> {
    const { id, version } = job;
    const attempts = toJobAttemptRows(job, await endAttempts(job, 'completed'));
    const { status } = await jobs.change({ kind: 'complete', id, version, at: clock.now(), result }, job, attempts);
    if (status === 'done' || status === 'exists') reportJobEnd(job, 'completed');
  }

  /** The money first: it must not wait for an upstream that may be out of order. */
  async function giveUp(job: Job, signal: AbortSignal): Promise<void> {
    const isRefunded = await fail(job, 'The video was not finished in time.');
    if (isRefunded) await cancelJob(job, signal);
  }

  /** True if it has ended by this. */
  async function fail(job: Job, error: string): Promise<boolean> {
    const { id, version, charge: chargeId, wallet } = job;
    const at = clock.now();
    const attempts = await endAttempts(job, 'failed');
    const fail = { kind: 'fail', id, version, at, error } as const;
    const { status } = await ledger.refund({ chargeId, wallet, job: fail, attempts });
    if (status === 'refunded') reportJobEnd(job, 'failed');
    if (status === 'refused' && job.phase === 'running') {
      const { shown, progress } = job;
      await postpone(job, { shown, progress, dueAt: at + HOPELESS_MS });
    }
    return status === 'refunded';
  }

  async function endAttempts(job: Job, how: 'completed' | 'failed') {
    return endJobAttempts(job, await options.attempts.list([job.charge]), { how, now: clock.now() });
  }

  function reportJobEnd(job: Job, how: 'completed' | 'failed'): void {
    const ms = clock.now() - job.createdAt;
    onEnd?.(job, how, ms);
    const { id, charge, wallet: account, model, upstream } = job;
    log.info({ job: id, charge, account, model, upstream, ms }, `a job has ${how}`);
  }

  return {
    start: loop.start,
    hold: loop.markCreating,
    computeFirstPollAt: () => clock.now() + computeNextPollMs({ ageMs: 0, pollMs, open: loop.countOpen() }, random()),
    expect: loop.expectDue,
    stop: loop.stop,
  };
}
