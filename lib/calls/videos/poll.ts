// One poll of a job's upstream, and what follows from it. Only the upstream's verdict ends a job: any other failure
// says nothing about the job itself.

import { rejectOnAbort } from '../../base/abort.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { OpenUpstream } from '../../catalog/model.ts';
import type { Results } from '../../media/results.ts';
import type { Job } from '../../money/job-rules.ts';
import type { MediaSource, UpstreamFault, VideoRef, VideoState } from '../../upstream/contract/provider.ts';
import { findAlert, toClientFault } from '../../upstream/host/client-fault.ts';
import { isUpstreamFault, upstreamFault } from '../../upstream/host/fault.ts';
import { callPlugin, nameUpstream } from '../../upstream/host/plugin-run.ts';
import type { CallLog } from '../context.ts';
import { createTurns } from './turns.ts';

interface PollOptions {
  /** The current catalog. */
  readonly catalog: () => Catalog;
  readonly results: Pick<Results, 'keep'>;
  readonly log: Pick<CallLog, 'warn' | 'error' | 'debug'>;
  /** How long one poll may take. */
  readonly pollMsMax?: number | undefined;
  /** How long one waits until others at its upstream are done. */
  readonly turnMsMax?: number | undefined;
  /** In ms, from any origin. */
  readonly now?: (() => number) | undefined;
  /** Called with the result of each poll. */
  readonly onPoll?: ((upstream: string, found: Found) => void) | undefined;
}

/** The result of a poll; `unknown`: it said nothing. */
export type Found = 'processing' | 'completed' | 'failed' | 'unknown';

export type PollOutcome =
  | {
      readonly kind: 'unfinished';
      readonly shown: Job['shown'];
      readonly progress: number;
      readonly retryAfterMs: number | undefined;
      /** The next poll comes later: this one brought nothing, or a result that is not there yet or could not be stored. */
      readonly backsOff: boolean;
      /** It is finished upstream, and only waits to be stored here: its deadline does not end it. */
      readonly waitsForStore?: true;
    }
  /** The result is stored. */
  | { readonly kind: 'completed'; readonly result: string }
  /** `error` is in words for the client. */
  | { readonly kind: 'failed'; readonly error: string };

/** Rejects only with the signal's reason. */
export type PollJob = (job: Job, signal: AbortSignal) => Promise<PollOutcome>;

const POLL_MS_MAX = 30_000;
const TURN_MS_MAX = 30_000;
/** Of each upstream. */
const POLLS_AT_ONCE = 32;
const KEEPS_AT_ONCE = 8;

export function createPollJob(options: PollOptions): PollJob {
  const { catalog, results, log, pollMsMax = POLL_MS_MAX, turnMsMax = TURN_MS_MAX } = options;
  const { now = () => performance.now(), onPoll } = options;
  const polls = createTurns({ atOnce: POLLS_AT_ONCE, waitMsMax: turnMsMax });
  const keeps = createTurns({ atOnce: KEEPS_AT_ONCE, waitMsMax: turnMsMax });
  const isNews = createNews(now);

  function note(job: Job, error: unknown, what: string): void {
    const { id: job_id, upstream } = job;
    const kind = isUpstreamFault(error) ? error.kind : 'internal';
    log.debug({ job: job_id, upstream, err: error }, what);
    if (!isNews(`${upstream} ${kind} ${what}`)) return;
    const alert = isUpstreamFault(error) ? findAlert(error) : undefined;
    if (alert !== undefined) log.error({ alert: 'upstream', job: job_id, upstream, kind }, alert);
    else log.warn({ job: job_id, upstream, kind }, what);
  }

  async function poll(job: Job, { provider }: OpenUpstream, signal: AbortSignal): Promise<VideoState> {
    const ref: VideoRef = JSON.parse(job.ref ?? '{}');
    const { video } = provider;
    if (!video) throw new Error(`upstream ${job.upstream} makes no videos`);
    const ending = AbortSignal.any([signal, AbortSignal.timeout(pollMsMax)]);
    // A plugin that ignores the signal must not block the worker.
    const name = nameUpstream(job.upstream);
    return rejectOnAbort(
      callPlugin(name, ending, (inner) => video.poll(ref, inner)),
      ending,
    );
  }

  async function keep(job: Job, source: MediaSource, opened: OpenUpstream, signal: AbortSignal): Promise<PollOutcome> {
    try {
      const request = {
        kind: 'video',
        account: job.wallet,
        upstreamOrigin: opened.origin,
        proxy: opened.proxy,
        signal,
      } as const;
      const stored = await keeps(job.upstream, () => results.keep(source, request));
      if (!stored) return createUnfinished({ ...WITHOUT_RESULT, waitsForStore: true });
      const { id, mediaType } = stored;
      return { kind: 'completed', result: JSON.stringify({ id, mediaType }) };
    } catch (error) {
      signal.throwIfAborted();
      note(job, error, 'a finished video could not be stored');
      return createUnfinished({ ...WITHOUT_RESULT, ...readRetryAfter(error) });
    }
  }

  return async (job, signal) => {
    const { upstream } = job;
    const opened = catalog().upstreams.get(upstream);
    if (!opened) {
      note(
        job,
        undefined,
        'the upstream of this video is no longer in the catalog; the video will fail at its deadline',
      );
      return createUnfinished({ shown: job.shown, progress: job.progress, backsOff: true });
    }
    try {
      const state = await polls(upstream, () => poll(job, opened, signal));
      if (!state) throw upstreamFault('overloaded', 'too many polls of this upstream take too long');
      onPoll?.(upstream, state.status === 'queued' ? 'processing' : state.status);
      if (state.status === 'failed') return createFailed(state.fault);
      if (state.status === 'completed') return keep(job, state.result, opened, signal);
      const { progress = 0, retryAfterMs } = state;
      if (state.lacksResult) {
        note(job, undefined, 'a finished video has no result yet');
        return createUnfinished({ ...WITHOUT_RESULT, retryAfterMs });
      }
      return createUnfinished({ shown: state.status, progress, retryAfterMs });
    } catch (error) {
      signal.throwIfAborted();
      onPoll?.(upstream, 'unknown');
      note(job, error, 'could not poll a video');
      return createUnfinished({ shown: job.shown, progress: job.progress, backsOff: true, ...readRetryAfter(error) });
    }
  };
}

/** Finished upstream but not stored yet: whatever came instead of the file, it may be there on the next attempt. */
const WITHOUT_RESULT = { shown: 'processing', progress: 99, backsOff: true } as const;

type Unfinished = Extract<PollOutcome, { readonly kind: 'unfinished' }>;

function createUnfinished(outcome: Partial<Unfinished> & Pick<Unfinished, 'shown' | 'progress'>): Unfinished {
  return { kind: 'unfinished', retryAfterMs: undefined, backsOff: false, ...outcome };
}

function createFailed(reason: UpstreamFault): PollOutcome {
  return { kind: 'failed', error: toClientFault(reason).message };
}

function readRetryAfter(error: unknown): { retryAfterMs?: number } {
  const { retryAfterMs } = isUpstreamFault(error) ? error : {};
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

const NEWS_MS = 60_000;
const NEWS_MAX = 1000;

/** True once a minute for each message: thousands of jobs may fail for the same reason. */
function createNews(now: () => number): (what: string) => boolean {
  const saidAt = new Map<string, number>();
  return (what) => {
    const at = now();
    const last = saidAt.get(what);
    if (last !== undefined && at - last < NEWS_MS) return false;
    if (saidAt.size >= NEWS_MAX) saidAt.clear();
    saidAt.set(what, at);
    return true;
  };
}
