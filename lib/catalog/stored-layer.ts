// The part of the catalog from pages for commands, which open the store only to read it.
import type { Config } from '../config.ts';
import { openOwnStore } from '../store/open.ts';
import { type CatalogLayer, createLayerSource, type LayerSource } from './layer.ts';

/** Undefined if there is none, or no store that can be read: then only the files count. */
export async function readStoredLayer(config: Config): Promise<CatalogLayer | undefined> {
  const store = await openOwnStore(config, { inProcess: true, readOnly: true }).catch(() => undefined);
  if (!store) return undefined;
  try {
    return await createLayerSource(store).read();
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** A source that never changes. */
export function fixLayer(layer: CatalogLayer | undefined): LayerSource {
  return { last: async () => layer?.version ?? 0, read: async () => layer, reportFailure: async () => undefined };
}
