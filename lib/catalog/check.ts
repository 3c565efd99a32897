// Checks a catalog like a start of the service: files, plugins, settings and references.
import { OperatorError } from '../base/operator-error.ts';
import { serializeCost } from '../money/cost.ts';
import type { Catalog } from './catalog.ts';
import type { CatalogLayer } from './layer.ts';
import { listModels } from './listing.ts';
import { type LiveCatalog, openLiveCatalog } from './live.ts';
import type { CatalogConfig } from './load.ts';
import { describeNotice } from './loss.ts';
import { readCatalogFacts } from './read.ts';
import { fixLayer } from './stored-layer.ts';

/** A price list, and how many models cost another price with it. */
interface PriceListSize {
  readonly name: string;
  readonly prices: number;
}

interface CatalogCheck {
  /** Number of models in the files. */
  readonly models: number;
  /** Number of usable models, including `smart`. */
  readonly usable: number;
  readonly upstreams: number;
  readonly switched_off: readonly string[];
  readonly price_lists: readonly PriceListSize[];
  readonly warnings: readonly string[];
}

/** Opens the catalog as a start would, without a log; close it. Throws an `OperatorError` that lists all mistakes. */
export function openSilently(
  config: CatalogConfig,
  layer: CatalogLayer | undefined,
  onSecrets: (values: readonly string[]) => void = () => undefined,
): Promise<LiveCatalog> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  return openLiveCatalog({ config, sandbox: false, log, onSecrets, layer: fixLayer(layer) });
}

/** Throws like `openSilently`. */
export async function checkCatalog(config: CatalogConfig, layer?: CatalogLayer): Promise<CatalogCheck> {
  const live = await openSilently(config, layer);
  const { warnings, losses } = live.current();
  const raised = losses.filter(({ outcome }) => outcome === 'raised').map(describeNotice);
  const usable = listModels(live.current()).length;
  const priceLists = countListPrices(live.current());
  await live.close();
  const { models, upstreams, switchedOff } = readCatalogFacts(config, layer);
  return {
    models,
    usable,
    upstreams,
    switched_off: switchedOff,
    price_lists: priceLists,
    warnings: [...warnings, ...raised],
  };
}

/** A list may also state the price that a model has anyway. */
function countListPrices({ models, priceLists }: Pick<Catalog, 'models' | 'priceLists'>): readonly PriceListSize[] {
  const prices = new Map(models.map(({ id, price }) => [id, serializeCost(price)]));
  return [...priceLists].map(([name, list]) => {
    const others = list.models.filter(({ id, price }) => prices.get(id) !== serializeCost(price));
    return { name, prices: others.length };
  });
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
