// Asks the routes of a call one after the other; the next one only while no part of an answer has been delivered and
// the client is still there.
import { type Fault, fault } from '../faults.ts';
import { alertOf } from '../plugin/client-fault.ts';
import { isUpstreamFault } from '../plugin/fault.ts';
import type { CallContext, CallLog } from './context.ts';
import { type Ending, endingOfAbort } from './ending.ts';
import type { RouteHealth, Way } from './health.ts';

/** Called with how each attempt at a route ended. */
export type OnAttempt = (upstream: string, ending: Ending) => void;

export interface RoutesOptions<Route, Result> {
  /** In order of preference; failing ones are asked last. */
  readonly routes: readonly Route[];
  readonly health: RouteHealth;
  readonly context: Pick<CallContext, 'signal' | 'log'>;
  /** On the clock of `performance.now()`: shared by all routes. */
  readonly deadline: number;
  /** Never rejects. Calls `onFirst` when the first part of a long answer has arrived. */
  attempt(route: Route, onFirst: () => void): Promise<Ending<Result>>;
  /** True once something was delivered that another route's answer could not continue. */
  isCommitted(): boolean;
  readonly onAttempt?: OnAttempt | undefined;
}

export async function askRoutes<Route extends Way, Result>(
  options: RoutesOptions<Route, Result>,
): Promise<Ending<Result>> {
  const { routes, health, context, deadline, attempt, isCommitted, onAttempt } = options;
  let last: Ending<Result> | undefined;
  for (let left = routes; left.length > 0; ) {
    if (context.signal.aborted) return endingOfAbort(context.signal);
    const { route, first, end } = health.begin(left);
    last = await attempt(route, first);
    const isOurs = isOwnFailure(last);
    end(context.signal.aborted || isOurs ? undefined : last);
    onAttempt?.(route.upstream, last);
    if (last.type !== 'error') return last;
    report(context.log, route.upstream, last.fault);
    // Another route would not help: the request itself is refused, or the gateway is at fault.
    if (isCommitted() || isOurs || last.fault.data?.retryable === false || performance.now() >= deadline) break;
    left = left.filter((other) => other !== route);
  }
  return last ?? { type: 'error', fault: fault('upstream_failed') };
}

/** For example a result that our own store did not accept. */
function isOwnFailure(ending: Ending): boolean {
  return ending.type === 'error' && ending.fault.data?.chatCode !== 'upstream_error';
}

/**
 * Logs an upstream failure for the operator; one that will not pass by itself is an alert. The upstream's words may
 * quote a prompt, so they are logged at `debug` only.
 */
function report(log: CallLog, upstream: string, reason: Fault): void {
  const { cause } = reason;
  const alert = isUpstreamFault(cause) ? alertOf(cause) : undefined;
  const facts = { upstream, ...factsOf(reason) };
  if (alert !== undefined) log.error({ alert: 'upstream', ...facts }, alert);
  else log.warn(facts, 'a route failed');
  if (cause !== undefined) log.debug({ upstream, err: cause }, 'what the upstream said');
}

/** What is known about a failure without quoting it; for an unexpected error, where it was thrown. */
function factsOf({ cause, data }: Fault): object {
  if (isUpstreamFault(cause)) return { kind: cause.kind, status: cause.status };
  if (!(cause instanceof Error)) return { fault: data?.code };
  const at = cause.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return { fault: data?.code, error: cause.name, at: at?.trim() };
}
