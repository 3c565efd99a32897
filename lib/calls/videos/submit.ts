// Asks the routes of a video to start it, in order: the next one only after a certain refusal, because a start that may
// have been accepted is never repeated.

import { rejectOnAbort } from '../../base/abort.ts';
import { fault } from '../../base/faults.ts';
import type { Route } from '../../catalog/model.ts';
import type { Size, VideoCall, VideoRef } from '../../upstream/contract/provider.ts';
import { toClientFault } from '../../upstream/host/client-fault.ts';
import { callPlugin, nameUpstream, type PluginRun } from '../../upstream/host/plugin-run.ts';
import { findAskedSize } from '../../upstream/host/resolutions.ts';
import type { AttemptLog, UsedByAttempt } from '../booked-attempts.ts';
import type { CallContext } from '../context.ts';
import { type Ending, toAbortEnding, toErrorEnding } from '../ending.ts';
import type { RouteHealth } from '../health.ts';
import { isUpstreamRefusal } from '../refusal.ts';
import { askRoutes, type OnAttempt } from '../routes.ts';

export interface Submission {
  readonly routes: readonly Route[];
  readonly health: RouteHealth;
  /** The request; each route adds its model and options. */
  readonly call: Omit<VideoCall, 'model' | 'options'>;
  readonly context: Pick<CallContext, 'signal' | 'log'>;
  readonly timeouts: SubmitTimeouts;
  /** Records which upstream is asked from now on; throws if that fails. */
  readonly reroute: (upstream: string) => Promise<void>;
  readonly onAttempt?: OnAttempt | undefined;
  readonly attempts: AttemptLog;
}

export interface SubmitTimeouts {
  /** For one route, and for all together. */
  readonly firstTokenTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

export interface Submitted {
  readonly ref: VideoRef;
  /** What the upstream was asked for. */
  readonly size: Size;
}

/** Never rejects. */
export function submit(submission: Submission): Promise<Ending<Submitted>> {
  const { routes, health, context, timeouts, reroute, onAttempt, attempts } = submission;
  /** An upstream may have started. */
  let inDoubt = false;
  const used = estimateUse(submission);

  async function tryStart(route: Route, onRun: (run: PluginRun) => void): Promise<Ending<Submitted>> {
    try {
      return { type: 'finish', result: await start(submission, route, onRun) };
    } catch (error) {
      inDoubt = !isUpstreamRefusal(error);
      return context.signal.aborted ? toAbortEnding(context.signal) : toErrorEnding(toClientFault(error));
    }
  }

  return askRoutes<Route, Submitted>({
    routes,
    health,
    context,
    deadline: performance.now() + timeouts.totalTimeoutMs,
    onAttempt,
    isCommitted: () => inDoubt,
    async attempt(route): Promise<Ending<Submitted>> {
      try {
        await reroute(route.upstream);
      } catch (error) {
        return toErrorEnding(error);
      }
      return attempts.record(
        route,
        (onRun) => tryStart(route, onRun),
        () => used,
      );
    },
  });
}

function estimateUse({ call: { seconds, resolution } }: Submission): UsedByAttempt {
  return { usage: { seconds, ...(resolution !== null && { resolution }) }, isReported: false, hasOutput: false };
}

async function start(
  { call, context, timeouts }: Submission,
  route: Route,
  onRun: (run: PluginRun) => void,
): Promise<Submitted> {
  const { provider, model, options, upstream } = route;
  const { video } = provider;
  if (!video) throw new Error(`upstream ${upstream} makes no videos`);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(fault('upstream_timeout')), timeouts.firstTokenTimeoutMs);
  const signal = AbortSignal.any([context.signal, late.signal]);
  try {
    // A plugin that ignores the signal must not block the call.
    const asked = { ...call, model, options };
    const name = nameUpstream(upstream);
    const ref = await rejectOnAbort(
      callPlugin(name, signal, (inner) => video.start(asked, inner), onRun),
      signal,
    );
    if (typeof ref?.id !== 'string') throw new Error(`upstream ${upstream} returned no id for the job it started`);
    return { ref, size: findAskedSize(asked) };
  } finally {
    clearTimeout(timer);
  }
}
