// Starts videos: charges the price and creates the job in one transaction, has an upstream start it before answering,
// and fails the job with a refund if none does.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, fault, refundedFault, toFault } from '../../base/faults.ts';
import type { VideoModel } from '../../catalog/model.ts';
import { refuseAboveMaxCost } from '../../ledger/caps.ts';
import type { Ledger, Paid } from '../../ledger/ledger.ts';
import type { NewAttempt } from '../../money/attempt.ts';
import type { Job, JobOutcome } from '../../money/job-rules.ts';
import type { JobStore } from '../../store/ports/jobs.ts';
import type { ImageInput, Size, VideoRef } from '../../upstream/contract/provider.ts';
import { AttemptLog } from '../booked-attempts.ts';
import { type CallContext, GONE } from '../context.ts';
import type { Ending } from '../ending.ts';
import type { RouteHealth } from '../health.ts';
import type { PaidCalls } from '../paid.ts';
import type { OnAttempt } from '../routes.ts';
import { markRunning, toJobAttemptRows } from './job-attempts.ts';
import { toVideoId } from './job-id.ts';
import { type SubmitTimeouts, type Submitted, submit } from './submit.ts';
import type { VideoTerms } from './terms.ts';
import type { Worker } from './worker.ts';

export interface VideoEngineOptions {
  readonly jobs: Pick<JobStore, 'change'>;
  readonly ledger: Pick<Ledger, 'charge' | 'refund'>;
  readonly paidCalls: Pick<PaidCalls, 'owed'>;
  readonly worker: Pick<Worker, 'hold' | 'computeFirstPollAt' | 'expect'>;
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly deadlineMs: number;
  /** The store's clock. */
  readonly clock: { now(): number };
  readonly timeouts: SubmitTimeouts;
  readonly health: RouteHealth;
  readonly log: { warn(fields: object, message: string): void };
  readonly onAttempt?: OnAttempt | undefined;
  /** How long an answer waits for the store to record that the upstream has started. */
  readonly notedMsMax?: number;
}

export interface VideoStart {
  readonly model: VideoModel;
  readonly terms: VideoTerms;
  readonly prompt: string;
  readonly image: ImageInput | undefined;
}

export interface VideoStarted {
  readonly id: string;
  readonly paid: Paid;
  /** What the upstream was asked for; the client may have wished for another. */
  readonly size: Size;
}

export interface VideoEngine {
  /**
   * Resolves once an upstream has started. Throws 402, 403 and 503 faults, after which nothing is charged, and faults
   * that say the charge was refunded. A client that leaves does not stop it once it is paid for; before that, the
   * signal's reason is thrown.
   */
  start(request: VideoStart, context: CallContext): Promise<VideoStarted>;
  /** Records nothing more; whatever is not recorded by then is left to other processes. */
  stop(): void;
}

const NOTED_MS_MAX = 4800;
const AGAIN_MS = { first: 50, most: 2000 };

export function createVideoEngine(options: VideoEngineOptions): VideoEngine {
  const { jobs, ledger, paidCalls, worker, ownerId, leaseMs, deadlineMs } = options;
  const { clock, timeouts, health, log, onAttempt } = options;
  const { notedMsMax = NOTED_MS_MAX } = options;
  const stopping = new AbortController();

  async function start(request: VideoStart, context: CallContext): Promise<VideoStarted> {
    context.signal.throwIfAborted();
    const id = toVideoId(context.requestId);
    const releaseJob = worker.hold(id);
    /** May go on after the client has its answer. */
    let recording: Promise<unknown> = Promise.resolve();
    try {
      const paid = await charge(id, request, context);
      const attempts = new AttemptLog(request.model.id);
      const { ending, job } = await ask(request, { job: paid.job as Job, attempts }, context);
      context.log.note(logFields(id, ending, paid));
      if (ending.type !== 'finish') throw await giveBack(job, attempts.list, readFailureReason(ending));
      const recorded = recordStart(job, attempts.list, ending.result.ref);
      recording = recorded;
      const outcome = await Promise.race([recorded, sleep(notedMsMax, undefined, { ref: false })]).catch((error) => {
        throw fault('store_unavailable', { unconfirmed: true }, error);
      });
      // Another process considered this one dead and has refunded the charge.
      if (outcome?.job?.phase === 'failed') throw refundedFault(fault('upstream_failed'));
      return { id, paid, size: ending.result.size };
    } finally {
      recording.finally(releaseJob).catch(() => undefined);
    }
  }

  function charge(id: string, { model, terms }: VideoStart, context: CallContext): Promise<Paid> {
    const { requestId, accountId: wallet, keyId: key, budget, caps, idempotency: repeat, waitedMs = 0 } = context;
    const { price, prices, asked } = terms;
    const createdAt = clock.now();
    const { seconds, resolution } = asked;
    const facts = { ...asked, size: `${asked.size.width}x${asked.size.height}` };
    const usage = { seconds, ...(resolution !== null && { resolution }) };
    refuseAboveMaxCost(context.maxCost, { kind: 'video', amount: price.amount });
    const of = { chargeId: requestId, wallet, key, kind: 'video', model: model.id } as const;
    return ledger.charge(
      {
        ...of,
        prices,
        amount: price.amount,
        usage,
        owed: paidCalls.owed(wallet),
        waitedMs,
        ...(budget && { budget }),
        ...(caps && { caps }),
        ...(repeat && { idempotency: repeat }),
      },
      {
        kind: 'create',
        job: {
          id,
          wallet,
          charge: requestId,
          model: model.id,
          upstream: model.routes[0]?.upstream ?? '',
          facts: JSON.stringify(facts),
          createdAt,
          deadline: createdAt + deadlineMs,
          owner: ownerId,
          lease: createdAt + leaseMs,
        },
      },
    );
  }

  /** Resolves with the job as it is then: the upstream that is asked is recorded with it. */
  async function ask(
    { model, terms, prompt, image }: VideoStart,
    { job: made, attempts }: { readonly job: Job; readonly attempts: AttemptLog },
    { signal, log: callLog }: CallContext,
  ): Promise<{ readonly ending: Ending<Submitted>; readonly job: Job }> {
    let job = made;
    const ending = await submit({
      routes: health.inOrder(model),
      health,
      call: { prompt, ...terms.asked, ...(image && { image }) },
      context: { signal: withoutClientAbort(signal), log: callLog },
      timeouts,
      onAttempt,
      attempts,
      async reroute(upstream) {
        if (upstream === job.upstream) return;
        const outcome = await jobs.change(createJobChange(job, { kind: 'reroute', upstream }));
        if (!outcome.job || !isChanged(outcome)) throw new Error(`the job is ${outcome.job?.phase ?? 'missing'}`);
        job = outcome.job;
      },
    });
    return { ending, job };
  }

  function createJobChange<Kind extends object>({ id, version }: Job, change: Kind) {
    return { ...change, id, version, at: clock.now() };
  }

  /** Nobody else knows the upstream's reference, so recording it is retried until the job has ended. */
  async function recordStart(
    made: Job,
    attempts: readonly NewAttempt[],
    ref: VideoRef,
  ): Promise<JobOutcome | undefined> {
    const running = markRunning(attempts, ref);
    let job = made;
    for (let pauseMs = AGAIN_MS.first; ; pauseMs = Math.min(2 * pauseMs, AGAIN_MS.most)) {
      const dueAt = worker.computeFirstPollAt();
      try {
        const outcome = await jobs.change(
          createJobChange(job, { kind: 'begin', ref: JSON.stringify(ref), dueAt } as const),
          undefined,
          toJobAttemptRows(job, running),
        );
        if (isChanged(outcome)) worker.expect(job.id, dueAt);
        if (isChanged(outcome) || outcome.job?.phase !== 'starting') return outcome;
        // Claimed by a process that considers this one dead, but not ended yet.
        job = outcome.job;
      } catch (err) {
        if (stopping.signal.aborted) throw err;
        log.warn({ err, job: job.id }, 'could not record that a video has started; retrying');
        await sleep(pauseMs, undefined, { signal: stopping.signal, ref: false });
      }
    }
  }

  /** The fault reported to the client. */
  async function giveBack(made: Job, attempts: readonly NewAttempt[], reason: Fault): Promise<Fault> {
    const { charge: chargeId, wallet } = made;
    for (let job = made; ; ) {
      const fail = createJobChange(job, { kind: 'fail', error: reason.message } as const);
      const { status, job: now } = await ledger.refund({ chargeId, wallet, job: fail, attempts });
      // Claimed by a process that considers this one dead: only the version is stale.
      if (status !== 'stale_job' || now?.phase !== 'starting') return refundedFault(reason);
      job = now;
    }
  }

  return { start, stop: () => stopping.abort() };
}

/** Now, or before by an earlier attempt. */
function isChanged({ status }: JobOutcome): boolean {
  return status === 'done' || status === 'exists';
}

/** Aborts when the service ends the call, but not when the client leaves: the video is paid for. */
function withoutClientAbort(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const onAbort = () => {
    if (signal.reason !== GONE) controller.abort(signal.reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return controller.signal;
}

function readFailureReason(ending: Exclude<Ending, { type: 'finish' }>): Fault {
  return ending.type === 'error' ? ending.fault : toFault(new Error('a video was ended by its client leaving'));
}

function logFields(job: string, ending: Ending, { charge }: Paid): object {
  const isBegun = ending.type === 'finish';
  const failure = ending.type === 'error' && { fault: ending.fault.data?.code };
  return { job, ending: ending.type, charged_micro: `${isBegun ? charge.charged : 0n}`, ...failure };
}
