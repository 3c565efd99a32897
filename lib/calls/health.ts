// The health of routes, judged by their latest attempts: a failing route is tried last until it recovers, and a model may
// prefer its fastest route. Kept per process, across catalog reloads.

import type { UpstreamFaultKind } from '../upstream/contract/fault.ts';
import { isUpstreamFault } from '../upstream/host/fault.ts';
import type { Ending } from './ending.ts';

/** What identifies a route to a model. */
export interface RouteRef {
  readonly upstream: string;
  /** Stays the same across reloads of the catalog. */
  readonly key: string;
}

/** Like a circuit breaker, a route opens after repeated failures and closes when it answers again. */
export interface RouteChange {
  readonly route: RouteRef;
  readonly to: 'open' | 'closed';
  /** The failure that opened the route. */
  readonly kind: UpstreamFaultKind | undefined;
  /** How long the route was open; 0 when it opens. */
  readonly openMs: number;
}

/** How long a route has been open. */
export interface RouteOutage {
  /** What failed last; undefined for an error that its plugin left unhandled. */
  readonly kind: UpstreamFaultKind | undefined;
  readonly openMs: number;
  /** From its opening to its latest failure: a route that nobody asks is not known to fail still. */
  readonly failedMs: number;
}

export interface RouteHealth {
  /** The routes of a model in its preferred order. */
  inOrder<R extends RouteRef>(model: { readonly order: string; readonly routes: readonly R[] }): readonly R[];
  /**
   * Starts an attempt at one of the remaining routes (at least one): the first that is not open, otherwise the open one
   * that is due first.
   */
  begin<R extends RouteRef>(left: readonly R[]): Trial<R>;
  /** Undefined if the route is not open. */
  findOutage(route: RouteRef): RouteOutage | undefined;
  /** Counts an unhandled error of an upstream's plugin: five within a minute open its routes, whatever attempts say. */
  notePluginError(upstream: string, routes: readonly RouteRef[]): void;
}

/** One attempt at a route. */
export interface Trial<R> {
  readonly route: R;
  /** The first fragment, or the whole result, has arrived. */
  first(): void;
  /** `undefined` if the attempt says nothing about its route: the client left, or the service is stopping. */
  end(ending: Ending | undefined): void;
}

interface RouteHealthOptions {
  /** A monotonic clock in ms. */
  readonly now?: () => number;
  readonly onChange?: ((change: RouteChange) => void) | undefined;
}

/** This many consecutive failures open a route. */
const FAILURES_MAX = 3;

/** This many unhandled errors of its plugin within this time open all routes of an upstream. */
const PLUGIN_ERRORS_MAX = 5;
const PLUGIN_ERRORS_MS = 60_000;

/** How long a route stays open before a call tries it again; doubles with every failed try. */
const OPEN_MS = 1_000;
const OPEN_MS_MAX = 15_000;

/** A trial without a result for this long no longer keeps others from trying. */
const PROBE_MS = 15_000;

/** The weight of a new time in the average. */
const LATENCY_WEIGHT = 0.3;

/** A route not used for this long is tried again to measure its speed. */
const LATENCY_STALE_MS = 60_000;

interface State {
  readonly route: RouteRef;
  /** Consecutive. */
  failures: number;
  openedAt: number | undefined;
  failedAt: number;
  failedBy: UpstreamFaultKind | undefined;
  /** When an open route may be tried again. */
  dueAt: number;
  openMs: number;
  askedAt: number;
  latencyMs: number | undefined;
}

export function createRouteHealth({ now = monotonic, onChange }: RouteHealthOptions = {}): RouteHealth {
  const states = new Map<string, State>();
  /** Times of recent unhandled plugin errors, by upstream. */
  const pluginErrors = new Map<string, readonly number[]>();

  function findState(route: RouteRef): State {
    const known = states.get(route.key);
    if (known) return known;
    const never = Number.NEGATIVE_INFINITY;
    const made = {
      route,
      failures: 0,
      openedAt: undefined,
      failedAt: never,
      failedBy: undefined,
      dueAt: 0,
      openMs: OPEN_MS,
      askedAt: never,
      latencyMs: undefined,
    };
    states.set(route.key, made);
    return made;
  }

  function choose<R extends RouteRef>(left: readonly R[], at: number): R {
    const ready = left.find((route) => isReady(findState(route), at));
    return ready ?? left.reduce((best, route) => (findState(route).dueAt < findState(best).dueAt ? route : best));
  }

  function inOrder<R extends RouteRef>({ order, routes }: { order: string; routes: readonly R[] }): readonly R[] {
    if (order !== 'latency' || routes.length < 2) return routes;
    const staleAt = now() - LATENCY_STALE_MS;
    return [...routes].sort((one, other) => rankRoute(findState(one), staleAt) - rankRoute(findState(other), staleAt));
  }

  function begin<R extends RouteRef>(left: readonly R[]): Trial<R> {
    const startedAt = now();
    const route = left.length === 1 ? (left[0] as R) : choose(left, startedAt);
    const state = findState(route);
    state.askedAt = startedAt;
    const isProbe = state.openedAt !== undefined && startedAt >= state.dueAt;
    if (isProbe) state.dueAt = startedAt + PROBE_MS;
    let isFirst = true;

    function first(): void {
      if (!isFirst) return;
      isFirst = false;
      const at = now();
      state.latencyMs = updateAverage(state.latencyMs, at - startedAt);
      // Answers may take minutes, so the next call may try, too; but only a complete answer closes the route.
      if (isProbe) state.dueAt = at;
    }

    function end(ending: Ending | undefined): void {
      const verdict = judgeEnding(ending);
      if (ending?.type === 'finish') first();
      if (verdict === 'well') succeed(state, startedAt);
      else if (verdict === 'failed') fail(state, ending, isProbe);
      else if (isProbe) state.dueAt = Math.min(state.dueAt, now());
    }

    return { route, first, end };
  }

  function succeed(state: State, startedAt: number): void {
    const { route, openedAt } = state;
    // An attempt that started before the route opened says nothing about its current state.
    if (openedAt !== undefined && startedAt < openedAt) return;
    state.failures = 0;
    if (openedAt === undefined) return;
    state.openedAt = undefined;
    state.openMs = OPEN_MS;
    onChange?.({ route, to: 'closed', kind: undefined, openMs: Math.round(now() - openedAt) });
  }

  function fail(state: State, ending: Ending | undefined, isProbe: boolean): void {
    const at = now();
    state.failures += 1;
    state.failedAt = at;
    state.failedBy = findFaultKind(ending);
    if (state.openedAt !== undefined) {
      if (!isProbe) return;
      state.openMs = Math.min(state.openMs * 2, OPEN_MS_MAX);
      state.dueAt = at + state.openMs;
    } else if (state.failures >= FAILURES_MAX) open(state, at);
  }

  function open(state: State, at: number): void {
    state.openedAt = at;
    state.dueAt = at + state.openMs;
    onChange?.({ route: state.route, to: 'open', kind: state.failedBy, openMs: 0 });
  }

  function notePluginError(upstream: string, routes: readonly RouteRef[]): void {
    const at = now();
    const recent = [...(pluginErrors.get(upstream) ?? []), at]
      .filter((time) => time > at - PLUGIN_ERRORS_MS)
      .slice(-PLUGIN_ERRORS_MAX);
    pluginErrors.set(upstream, recent);
    if (recent.length < PLUGIN_ERRORS_MAX) return;
    pluginErrors.delete(upstream);
    const all = routes.filter((route) => route.upstream === upstream).map(findState);
    for (const state of new Set(all)) {
      state.failedAt = at;
      state.failedBy = undefined;
      if (state.openedAt === undefined) open(state, at);
    }
  }

  function findOutage(route: RouteRef): RouteOutage | undefined {
    const state = states.get(route.key);
    if (state?.openedAt === undefined) return undefined;
    const { openedAt, failedAt, failedBy: kind } = state;
    return { kind, openMs: now() - openedAt, failedMs: failedAt - openedAt };
  }

  return {
    inOrder,
    begin,
    findOutage,
    notePluginError,
  };
}

const monotonic = () => performance.now();

function isReady({ openedAt, dueAt }: State, at: number): boolean {
  return openedAt === undefined || at >= dueAt;
}

/** Untried routes go first, to measure their speed. */
function rankRoute({ askedAt, latencyMs }: State, staleAt: number): number {
  if (askedAt < staleAt) return -1;
  return latencyMs ?? Number.MAX_VALUE;
}

function updateAverage(average: number | undefined, ms: number): number {
  return average === undefined ? ms : average + LATENCY_WEIGHT * (ms - average);
}

/** An upstream that refuses a request for its content is healthy. */
function judgeEnding(ending: Ending | undefined): 'well' | 'failed' | undefined {
  if (ending === undefined || ending.type === 'gone') return undefined;
  return ending.type === 'finish' || ending.fault.data?.retryable === false ? 'well' : 'failed';
}

function findFaultKind(ending: Ending | undefined): UpstreamFaultKind | undefined {
  const cause = ending?.type === 'error' ? ending.fault.cause : undefined;
  return isUpstreamFault(cause) ? cause.kind : undefined;
}
