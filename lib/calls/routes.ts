// Tries the routes of a call in order; the next one only if no part of an answer was delivered and the client is still
// connected.
import { type Fault, fault } from '../base/faults.ts';
import { findAlert } from '../upstream/host/client-fault.ts';
import { isUpstreamFault } from '../upstream/host/fault.ts';
import type { CallContext, CallLog } from './context.ts';
import { type Ending, toAbortEnding } from './ending.ts';
import type { RouteHealth, RouteRef, Trial } from './health.ts';

/** Called with how each attempt at a route ended: for the metrics. */
export type OnAttempt = (upstream: string, ending: Ending) => void;

export interface RoutesOptions<Route, Result> {
  /** In order of preference; failing routes are tried last. */
  readonly routes: readonly Route[];
  readonly health: RouteHealth;
  readonly context: Pick<CallContext, 'signal' | 'log'>;
  /** By `performance.now()`; shared by all routes. */
  readonly deadline: number;
  /** Never rejects. Calls `onFirst` when the first part of a long answer has arrived. */
  attempt(route: Route, onFirst: () => void): Promise<Ending<Result>>;
  /** True once something was delivered that another route's answer could not continue. */
  isCommitted(): boolean;
  readonly onAttempt?: OnAttempt | undefined;
  /** The same for the call itself, before another attempt begins. */
  onEnded?(ending: Ending<Result>): void;
  /** Whether the same route is asked once more, because the next request lacks what it was refused for. */
  mendsRequest?(ending: Ending<Result>): boolean;
}

export async function askRoutes<Route extends RouteRef, Result>(
  options: RoutesOptions<Route, Result>,
): Promise<Ending<Result>> {
  const { health, context } = options;
  let left = options.routes;
  let last: Ending<Result> | undefined;
  while (left.length > 0) {
    if (context.signal.aborted) return toAbortEnding(context.signal);
    const trial = health.begin(left);
    last = await options.attempt(trial.route, trial.first);
    const isOver = conclude(options, trial, last);
    if (options.mendsRequest?.(last) && performance.now() < options.deadline) continue;
    if (isOver) break;
    left = left.filter((other) => other !== trial.route);
  }
  return last ?? { type: 'error', fault: fault('upstream_failed') };
}

/** Reports how an attempt ended; returns true if no other route is tried. */
function conclude<Route extends RouteRef, Result>(
  options: RoutesOptions<Route, Result>,
  { route, end }: Trial<Route>,
  ending: Ending<Result>,
): boolean {
  const { context, deadline, onAttempt } = options;
  const isGatewayFault = isOwnFailure(ending);
  end(context.signal.aborted || isGatewayFault ? undefined : ending);
  onAttempt?.(route.upstream, ending);
  options.onEnded?.(ending);
  if (ending.type !== 'error') return true;
  logFailure(context.log, route.upstream, ending.fault);
  // Another route would not help: the request itself is refused, or the gateway is at fault.
  return (
    options.isCommitted() || isGatewayFault || ending.fault.data?.retryable === false || performance.now() >= deadline
  );
}

/** For example a result that our store did not accept. */
function isOwnFailure(ending: Ending): boolean {
  return ending.type === 'error' && ending.fault.data?.chatCode !== 'upstream_error';
}

/**
 * Logs an upstream failure for the operator; one that will not pass by itself is an alert. The upstream's words may
 * quote a prompt, so they are logged at `debug` only.
 */
function logFailure(log: CallLog, upstream: string, reason: Fault): void {
  const { cause } = reason;
  const alert = isUpstreamFault(cause) ? findAlert(cause) : undefined;
  const facts = { upstream, ...describeFailure(reason) };
  if (alert !== undefined) log.error({ alert: 'upstream', ...facts }, alert);
  else log.warn(facts, 'a route failed');
  if (cause !== undefined) log.debug({ upstream, err: cause }, 'what the upstream said');
}

/** Describes a failure without quoting its message; for an unexpected error, with the place where it was thrown. */
function describeFailure({ cause, data }: Fault): object {
  if (isUpstreamFault(cause)) return { kind: cause.kind, status: cause.status };
  if (!(cause instanceof Error)) return { fault: data?.code };
  const at = cause.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return { fault: data?.code, error: cause.name, at: at?.trim() };
}
