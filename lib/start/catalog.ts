// Opens the live catalog of the gateway on its store.
import { createCatalogHistory } from '../catalog/history.ts';
import { createLayerSource } from '../catalog/layer.ts';
import { type LiveCatalog, openLiveCatalog } from '../catalog/live.ts';
import type { LossNotice } from '../catalog/loss.ts';
import { createPauseStore } from '../catalog/pauses.ts';
import type { Config } from '../config.ts';
import type { Log } from '../http/log.ts';
import { createProviderMemory } from '../payments/provider-memory.ts';
import type { Store } from '../store/store.ts';

interface CatalogParts {
  readonly store: Store;
  readonly log: Log;
  readonly timings: { readonly catalogPollMs?: number };
  readonly sandbox: boolean;
  readonly recordCostlyUpstream: (upstream: string) => Promise<void>;
  readonly onLosses: OnLosses;
}

export type OnLosses = (losses: readonly LossNotice[]) => void;

export function openCatalog(
  config: Config,
  { sandbox, store, log, timings, recordCostlyUpstream, onLosses }: CatalogParts,
): Promise<LiveCatalog> {
  return openLiveCatalog({
    config,
    sandbox,
    pollEveryMs: timings.catalogPollMs,
    // pino takes the fields first; plugins and the catalog pass the message first.
    log: {
      info: (message, fields) => log.info(fields, message),
      warn: (message, fields) => log.warn(fields, message),
      error: (message, fields) => log.error(fields, message),
      debug: (message, fields) => log.debug(fields, message),
    },
    onSecrets: log.addSecrets,
    openMemory: (provider) => createProviderMemory(store.settings, provider),
    recordRealMoney: recordCostlyUpstream,
    history: createCatalogHistory(store),
    layer: createLayerSource(store),
    pauses: createPauseStore(store.settings),
    onLosses,
  });
}
