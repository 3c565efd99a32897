// Asks the routes of a video to begin it, in order: the next one only after a certain refusal, for a video whose start may
// have been accepted is never begun again.
import type { CallContext } from '../call/context.ts';
import { type Ending, endingOfAbort, failed } from '../call/ending.ts';
import type { RouteHealth } from '../call/health.ts';
import { askRoutes, type OnAttempt } from '../call/routes.ts';
import type { Route } from '../catalog/model.ts';
import { fault } from '../faults.ts';
import { orAbort } from '../media/deadline.ts';
import { toClientFault } from '../plugin/client-fault.ts';
import type { UpstreamFaultKind, VideoCall, VideoRef } from '../plugin/contract.ts';
import { isUpstreamFault } from '../plugin/fault.ts';

export interface Submission {
  readonly routes: readonly Route[];
  readonly health: RouteHealth;
  /** What is asked; the route adds its model and options. */
  readonly call: Omit<VideoCall, 'model' | 'options'>;
  readonly context: Pick<CallContext, 'signal' | 'log'>;
  readonly timeouts: SubmitTimeouts;
  /** Notes which upstream is asked from now on; throws when that cannot be noted. */
  readonly reroute: (upstream: string) => Promise<void>;
  readonly onAttempt?: OnAttempt | undefined;
}

export interface SubmitTimeouts {
  /** Of one route, and of all together. */
  readonly firstTokenTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/** Never rejects. */
export function submit(submission: Submission): Promise<Ending<VideoRef>> {
  const { routes, health, context, timeouts, reroute, onAttempt } = submission;
  /** An upstream may have begun. */
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
        inDoubt = true;
        return failed(error);
      }
      try {
        return { type: 'finish', result: await start(submission, route) };
      } catch (error) {
        inDoubt = !isRefusal(error);
        return context.signal.aborted ? endingOfAbort(context.signal) : failed(toClientFault(error));
      }
    },
  });
}

async function start({ call, context, timeouts }: Submission, route: Route): Promise<VideoRef> {
  const { provider, model, options, upstream } = route;
  if (!provider.video) throw new Error(`upstream ${upstream} makes no videos`);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(fault('upstream_timeout')), timeouts.firstTokenTimeoutMs);
  const signal = AbortSignal.any([context.signal, late.signal]);
  try {
    // A plugin that does not heed the signal holds up nobody.
    const ref = await orAbort(provider.video.start({ ...call, model, options }, signal), signal);
    if (typeof ref?.id !== 'string') throw new Error(`upstream ${upstream} does not name the job that it has begun`);
    return ref;
  } finally {
    clearTimeout(timer);
  }
}

/** Kinds that say that nothing was begun. */
const REFUSALS: ReadonlySet<UpstreamFaultKind> = new Set(['request', 'missing', 'auth', 'quota', 'rate']);

/** Whether it is certain that the upstream has not begun: nothing reached it, or it said no in so many words. */
export function isRefusal(error: unknown): boolean {
  if (!isUpstreamFault(error)) return false;
  if (error.unsent) return true;
  // Whatever words come with such a status, something broke in the middle of it.
  return REFUSALS.has(error.kind) && (error.status ?? 400) < 500;
}
