// Checks a catalog like a start of the service: files, plugins, settings and references.
import { OperatorError } from '../base/operator-error.ts';
import type { CatalogLayer } from './layer.ts';
import { listModels } from './listing.ts';
import { type CatalogConfig, openLiveCatalog } from './live.ts';
import { describeNotice } from './loss.ts';
import { readCatalogFacts } from './read.ts';
import { fixLayer } from './stored-layer.ts';

interface CatalogCheck {
  /** Number of models in the files. */
  readonly models: number;
  /** Number of usable models, including `smart`. */
  readonly usable: number;
  readonly upstreams: number;
  readonly switched_off: readonly string[];
  readonly warnings: readonly string[];
}

/** Throws an `OperatorError` that lists all mistakes. */
export async function checkCatalog(config: CatalogConfig, layer?: CatalogLayer): Promise<CatalogCheck> {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const live = await openLiveCatalog({
    ...{ config, sandbox: false, log: silent, onSecrets: () => undefined, layer: fixLayer(layer) },
  });
  const { warnings, losses } = live.current();
  const raised = losses.filter(({ outcome }) => outcome === 'raised').map(describeNotice);
  const usable = listModels(live.current()).length;
  await live.close();
  const { models, upstreams, switchedOff } = readCatalogFacts(config, layer);
  return { models, usable, upstreams, switched_off: switchedOff, warnings: [...warnings, ...raised] };
}

/** Why a start would refuse the catalog as it is now; undefined if it would not. */
export async function findCatalogRefusal(config: CatalogConfig): Promise<string | undefined> {
  try {
    await checkCatalog(config);
    return undefined;
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
}
