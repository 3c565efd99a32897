// Metrics of the state of the service, which is read at each scrape.
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { readVersion } from '../base/package-version.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { listModels } from '../catalog/listing.ts';
import { countModelsBelowCost } from '../catalog/loss.ts';
import type { LiveCalls } from '../http/live-calls.ts';

export interface ServiceFacts {
  readonly calls: Pick<LiveCalls, 'count' | 'countStreams'>;
  /** The current catalog. */
  readonly catalog: () => Catalog;
  /** The error of the last reload of the catalog, if it failed. */
  readonly catalogFailure: () => unknown;
  /** Resolves when the store answers reads and takes writes. */
  ping(): Promise<void>;
}

/** A store that takes longer counts as down. Scrapes time out after ten seconds. */
const PING_MS = 2000;

/** Rejects if the store does not answer in time for a scrape. */
export async function answerInTime(ping: ServiceFacts['ping']): Promise<void> {
  const answer = ping().then(() => true);
  const answered = await Promise.race([answer, sleep(PING_MS, false, { ref: false })]);
  if (!answered) throw new Error('the store does not answer in time');
}

export function createServiceMetrics(registry: Registry, { calls, catalog, catalogFailure, ping }: ServiceFacts): void {
  const registers = [registry];
  const gauge = (name: string, help: string, readValue: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await readValue());
      },
    });
  gauge('tollgate_open_calls', 'Running calls, including their money.', calls.count);
  gauge('tollgate_open_streams', 'Running calls that stream.', calls.countStreams);
  gauge('tollgate_models', 'Models that can be used.', () => listModels(catalog()).length);
  gauge('tollgate_catalog_reload_failed', 'Whether the last reload of the catalog failed (1 or 0).', () =>
    catalogFailure() === undefined ? 0 : 1,
  );
  gauge('tollgate_models_below_cost', 'Models that are sold below cost since a cost or a rate has moved.', () =>
    countModelsBelowCost(catalog()),
  );
  gauge('tollgate_store_up', 'Whether the store answers reads and takes writes (1 or 0).', () =>
    answerInTime(ping).then(
      () => 1,
      () => 0,
    ),
  );
  new Gauge({
    name: 'tollgate_build_info',
    help: 'Always 1; the version of the service and of Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: readVersion(), node: process.version }, 1);
}
