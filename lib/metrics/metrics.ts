// What the service counts for its operator: the metrics, and where the gateway tells them what happens.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Ending } from '../call/ending.ts';
import type { PastRequest } from '../http/access-log.ts';
import type { BadHttp } from '../http/server.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store } from '../store/store.ts';
import { createMoneyMetrics } from './money.ts';
import { createRequestMetrics } from './requests.ts';
import { createServiceMetrics, type ServiceFacts } from './service.ts';

export interface Metrics {
  /** A request whose reply is over. */
  readonly onPast: (past: PastRequest) => void;
  /** What was no HTTP. */
  readonly onBadHttp: (refusal: BadHttp) => void;
  /** An upstream's part of a call is over. */
  readonly onAttempt: (upstream: string, ending: Ending) => void;
  /** The ledger was verified. */
  readonly onAudit: (problems: number) => void;
  /** The same store, its commits counted and timed. */
  watchStore(store: Store): Store;
  /** The same ledger, its money counted. */
  watchLedger(ledger: Ledger): Ledger;
  /** Tells of the state of the service, looked up at each scrape. */
  watchService(facts: ServiceFacts): void;
  /** Everything in the text format of Prometheus. */
  scrape(): Promise<string>;
  readonly contentType: string;
}

export interface MetricsOptions {
  /** Whether a name is that of a model of the catalog: no other becomes a label. */
  readonly isModel: (name: string) => boolean;
}

export function createMetrics({ isModel }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { onAudit, watchStore, watchLedger } = createMoneyMetrics(registry);
  return {
    ...createRequestMetrics(registry, isModel),
    onAudit,
    watchStore,
    watchLedger,
    watchService: (facts) => createServiceMetrics(registry, facts),
    scrape: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
