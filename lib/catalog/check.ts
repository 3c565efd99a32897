// Checks a catalog as a start would, for the command line: files, plugins, settings and references.
import { listModels } from './listing.ts';
import { type CatalogConfig, openLiveCatalog, readCatalogFacts } from './live.ts';

export interface CatalogCheck {
  /** Everything the files define. */
  readonly models: number;
  /** What a start would count: models with a route, and `smart`. */
  readonly usable: number;
  readonly upstreams: number;
  readonly switched_off: readonly string[];
  readonly warnings: readonly string[];
}

/** Throws an `OperatorError` that says what is wrong. */
export async function checkCatalog(config: CatalogConfig): Promise<CatalogCheck> {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const live = await openLiveCatalog({ config, sandbox: false, log: silent, onSecrets: () => undefined });
  const { warnings } = live.current();
  const usable = listModels(live.current()).length;
  await live.close();
  const { models, upstreams, switchedOff } = readCatalogFacts(config);
  return { models, usable, upstreams, switched_off: switchedOff, warnings };
}
