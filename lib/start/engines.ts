// Opens the engines that answer paid calls, and what they learn about the upstreams.

import { createEmbeddingEngine } from '../calls/embeddings/engine.ts';
import { createRouteHealth, type RouteChange, type RouteHealth } from '../calls/health.ts';
import { createImageEngine } from '../calls/images/engine.ts';
import { createPaidCalls } from '../calls/paid.ts';
import type { TextTimeouts } from '../calls/text/attempt.ts';
import type { CreateTransform } from '../calls/text/embedder-transform.ts';
import { createTextEngine } from '../calls/text/engine.ts';
import { countPluginErrors, listUpstreamHealth } from '../calls/upstreams.ts';
import { openVideos, type VideoSettings } from '../calls/videos/open.ts';
import type { LiveCatalog } from '../catalog/live.ts';
import type { Config } from '../config.ts';
import type { Log } from '../http/log.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Owner } from '../ledger/owner.ts';
import type { Results } from '../media/results.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../store/store.ts';

interface EngineParts {
  readonly store: Store;
  readonly log: Log;
  readonly catalog: LiveCatalog;
  readonly metrics: Metrics | undefined;
  readonly ledger: Ledger;
  readonly owner: Owner;
  readonly results: Results;
}

export interface EngineSettings extends TextTimeouts, VideoSettings {
  readonly transforms: readonly CreateTransform[];
}

export function readEngineSettings(
  config: Config,
  { heartbeatMs }: Pick<EngineSettings, 'heartbeatMs'>,
  transforms: readonly CreateTransform[],
): EngineSettings {
  return {
    ownerId: config.ownerId,
    leaseMs: config.leaseMs,
    firstTokenTimeoutMs: config.firstTokenTimeoutMs,
    idleTimeoutMs: config.idleTimeoutMs,
    totalTimeoutMs: config.totalTimeoutMs,
    heartbeatMs,
    videoPollMs: config.videoPollMs,
    videoDeadlineMs: config.videoDeadlineMs,
    transforms,
  };
}

export function openEngines(settings: EngineSettings, parts: EngineParts) {
  const { store, log, catalog, metrics, ledger, owner, results } = parts;
  const { totalTimeoutMs, transforms } = settings;
  const paidCalls = createPaidCalls(ledger);
  const health = openHealth(log, metrics);
  const onAttempt = metrics?.onAttempt;
  const text = createTextEngine({
    catalog: catalog.current,
    paidCalls,
    timeouts: settings,
    health,
    onAttempt,
    transforms,
  });
  const embeddings = createEmbeddingEngine({ paidCalls, totalTimeoutMs, health, onAttempt });
  const images = createImageEngine({ paidCalls, results, totalTimeoutMs, health, onAttempt });
  const videos = openVideos({
    settings,
    store: { jobs: metrics?.watchJobCosts(store.jobs) ?? store.jobs, attempts: store.attempts },
    catalog: catalog.current,
    ledger,
    paidCalls,
    owner,
    health,
    results,
    log,
    metrics,
  });
  metrics?.watchJobs(store.jobs);
  metrics?.watchReviews(store.payments);
  const upstreams = () => listUpstreamHealth({ catalog: catalog.current, keyHealth: catalog.keyHealth, health });
  const onPluginError = countPluginErrors({ catalog: catalog.current, health });
  return { text, embeddings, images, videos, upstreams, onPluginError };
}

/** Logs once when a route starts failing and once when it has recovered, however many calls notice. */
function openHealth(log: Log, metrics: Metrics | undefined): RouteHealth {
  const onChange = (change: RouteChange) => {
    const { route, to, kind, openMs } = change;
    metrics?.onRouteChange(change);
    const fields = { upstream: route.upstream, route: route.key };
    if (to === 'open') log.warn({ ...fields, kind }, 'a route keeps failing and is now tried last');
    else log.info({ ...fields, open_ms: openMs }, 'a route has recovered');
  };
  return createRouteHealth({ onChange });
}
