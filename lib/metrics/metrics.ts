// The operator's metrics, and the hooks through which the gateway reports events.
import { collectDefaultMetrics, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { Ending } from '../calls/ending.ts';
import type { RouteChange } from '../calls/health.ts';
import { describeUpstreams, type FullReadiness, readReadiness } from '../calls/readiness.ts';
import type { UpstreamHealth } from '../calls/upstreams.ts';
import type { CountedRequest } from '../http/access-log.ts';
import type { BadHttp } from '../http/bad-input.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { JobStore } from '../store/ports/jobs.ts';
import type { Store } from '../store/store.ts';
import { createMediaMetrics, type MediaMetrics } from './media.ts';
import { createMoneyMetrics } from './money.ts';
import { createPaymentMetrics, type PaymentMetrics } from './payments.ts';
import { createRequestMetrics } from './requests.ts';
import type { SeriesFacts } from './series.ts';
import { answerInTime, createServiceMetrics, type ServiceFacts } from './service.ts';
import { createSignInMetrics, type SignInMetrics } from './sign-ins.ts';
import { createUpstreamMetrics } from './upstreams.ts';
import { createJobMetrics, type JobMetrics } from './videos.ts';
import { createWorkerMetrics, type WorkerFacts } from './workers.ts';

export interface Metrics extends JobMetrics, PaymentMetrics, SignInMetrics {
  /** Called when the reply to a request is over. */
  readonly onRequestEnd: (request: CountedRequest) => void;
  /** Called for input that was not an HTTP request. */
  readonly onBadHttp: (refusal: BadHttp) => void;
  /** Called when an attempt at an upstream is over. */
  readonly onAttempt: (upstream: string, ending: Ending) => void;
  /** Called when a route keeps failing, or has recovered. */
  readonly onRouteChange: (change: RouteChange) => void;
  /** Called when the ledger was verified. */
  readonly onAudit: (problems: number) => void;
  /** Metrics of stored images and videos. */
  readonly media: MediaMetrics;
  /** Wraps a store to count and time its commits. */
  watchStore(store: Store): Store;
  /** Wraps a ledger to count its money. */
  watchLedger(ledger: Ledger): Ledger;
  /** Wraps the jobs of a store to count what jobs have cost. */
  watchJobCosts(jobs: JobStore): JobStore;
  /** Reports the state of the service, which is read at each scrape. */
  watchService(facts: WatchedFacts): void;
  /** Reports the workers of this primary. */
  watchWorkers(workers: WorkerFacts): void;
  /** All metrics in the Prometheus text format. */
  scrape(): Promise<string>;
  /** All metrics as data, to merge them over processes. */
  snapshot(): Promise<MetricsSnapshot>;
  /** The readiness of the watched service; undefined if there is none. */
  readiness(): Promise<FullReadiness | undefined>;
  readonly contentType: string;
}

interface WatchedFacts extends ServiceFacts {
  readonly upstreams: () => readonly UpstreamHealth[];
}

/** Plain data that can be sent to another process. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Only names of the catalog and of routes become labels, so that clients cannot create series. */
export function createMetrics(facts: SeriesFacts): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { onAudit, watchStore, watchLedger, watchJobCosts } = createMoneyMetrics(registry, facts);
  const { onRouteChange, watchUpstreams } = createUpstreamMetrics(registry);
  let watched: WatchedFacts | undefined;
  return {
    ...createRequestMetrics(registry, facts),
    onRouteChange,
    ...createJobMetrics(registry, facts),
    ...createPaymentMetrics(registry, facts),
    ...createSignInMetrics(registry),
    onAudit,
    media: createMediaMetrics(registry),
    watchStore,
    watchLedger,
    watchJobCosts,
    watchService({ upstreams, ...service }) {
      watched = { upstreams, ...service };
      createServiceMetrics(registry, service);
      watchUpstreams(upstreams);
    },
    watchWorkers: (workers) => createWorkerMetrics(registry, workers),
    scrape: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON() as Promise<MetricsSnapshot>,
    async readiness() {
      if (!watched) return undefined;
      const { catalog, ping, upstreams } = watched;
      const readiness = await readReadiness({ catalog, ping: () => answerInTime(ping) });
      return { ...readiness, upstreams: describeUpstreams(upstreams()) };
    },
    contentType: registry.contentType,
  };
}
