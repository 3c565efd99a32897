// Asks the routes of a video to start it, in order: the next one only after a certain refusal, because a start that may
// have been accepted is never repeated.

import { fault } from '../../base/faults.ts';
import type { Route } from '../../catalog/model.ts';
import { abortable } from '../../media/deadline.ts';
import type { UpstreamFaultKind, VideoCall, VideoRef } from '../../upstream/contract/provider.ts';
import { toClientFault } from '../../upstream/host/client-fault.ts';
import { isUpstreamFault } from '../../upstream/host/fault.ts';
import { callPlugin, nameUpstream } from '../../upstream/host/plugin-errors.ts';
import type { CallContext } from '../context.ts';
import { type Ending, toAbortEnding, toErrorEnding } from '../ending.ts';
import type { RouteHealth } from '../health.ts';
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
}

export interface SubmitTimeouts {
  /** For one route, and for all together. */
  readonly firstTokenTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/** Never rejects. */
export function submit(submission: Submission): Promise<Ending<VideoRef>> {
  const { routes, health, context, timeouts, reroute, onAttempt } = submission;
  /** An upstream may have started. */
  let inDoubt = false;
  return askRoutes<Route, VideoRef>({
    routes,
    health,
    context,
    deadline: performance.now() + timeouts.totalTimeoutMs,
    onAttempt,
    isCommitted: () => inDoubt,
    async attempt(route): Promise<Ending<VideoRef>> {
      try {
        await reroute(route.upstream);
      } catch (error) {
        return toErrorEnding(error);
      }
      try {
        return { type: 'finish', result: await start(submission, route) };
      } catch (error) {
        inDoubt = !isRefusal(error);
        return context.signal.aborted ? toAbortEnding(context.signal) : toErrorEnding(toClientFault(error));
      }
    },
  });
}

async function start({ call, context, timeouts }: Submission, route: Route): Promise<VideoRef> {
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
    const ref = await abortable(
      callPlugin(name, signal, (inner) => video.start(asked, inner)),
      signal,
    );
    if (typeof ref?.id !== 'string') throw new Error(`upstream ${upstream} returned no id for the job it started`);
    return ref;
  } finally {
    clearTimeout(timer);
  }
}

/** Kinds of fault that mean nothing was started. */
const REFUSALS: ReadonlySet<UpstreamFaultKind> = new Set(['request', 'missing', 'auth', 'quota', 'rate']);

/** Whether the upstream certainly did not start: nothing reached it, or it refused in so many words. */
export function isRefusal(error: unknown): boolean {
  if (!isUpstreamFault(error)) return false;
  if (error.unsent) return true;
  // Whatever the body says, a 5xx broke off somewhere in the middle.
  return REFUSALS.has(error.kind) && (error.status ?? 400) < 500;
}
