// Assembles the video service: the engine that starts videos and the worker that finishes them.

import type { Catalog } from '../../catalog/catalog.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Owner } from '../../ledger/owner.ts';
import type { Results } from '../../media/results.ts';
import type { AttemptStore } from '../../store/ports/attempts.ts';
import type { JobStore } from '../../store/ports/jobs.ts';
import type { RouteHealth } from '../health.ts';
import type { PaidCalls } from '../paid.ts';
import type { OnAttempt } from '../routes.ts';
import { createCancelJob } from './cancel.ts';
import { createVideoEngine, type VideoEngine } from './engine.ts';
import { createPollJob, type Found } from './poll.ts';
import type { SubmitTimeouts } from './submit.ts';
import { createWorker, type Worker, type WorkerOptions } from './worker.ts';

interface VideosOptions {
  readonly settings: VideoSettings;
  readonly store: { readonly jobs: JobStore; readonly attempts: AttemptStore };
  readonly catalog: () => Catalog;
  readonly ledger: Ledger;
  readonly paidCalls: Pick<PaidCalls, 'owed'>;
  readonly owner: Pick<Owner, 'now' | 'canJudgeOthers'>;
  readonly health: RouteHealth;
  readonly results: Results;
  readonly log: VideosLog;
  readonly metrics: VideoMetrics | undefined;
}

export interface VideoSettings extends SubmitTimeouts {
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly videoPollMs: number;
  readonly videoDeadlineMs: number;
}

interface VideosLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface VideoMetrics {
  readonly onAttempt: OnAttempt;
  /** Called when an upstream is asked for a video. */
  readonly onPoll: (upstream: string, found: Found) => void;
  readonly onJobEnd: NonNullable<WorkerOptions['onEnd']>;
}

export interface Videos {
  readonly engine: VideoEngine;
  readonly worker: Worker;
}

export function openVideos(options: VideosOptions): Videos {
  const { settings, store, ledger, paidCalls, owner: clock, health, log, metrics, ...more } = options;
  const { ownerId, leaseMs, videoPollMs: pollMs, videoDeadlineMs: deadlineMs } = settings;
  const pollJob = createPollJob({ ...more, log, onPoll: metrics?.onPoll });
  const shared = { jobs: store.jobs, attempts: store.attempts, ledger, ownerId, leaseMs, clock, log };
  const cancelJob = createCancelJob({ ...more, log });
  const worker = createWorker({ ...shared, pollMs, pollJob, cancelJob, onEnd: metrics?.onJobEnd });
  const engine = createVideoEngine({
    ...shared,
    paidCalls,
    worker,
    deadlineMs,
    timeouts: settings,
    health,
    onAttempt: metrics?.onAttempt,
  });
  return { engine, worker };
}
