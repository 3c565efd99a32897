// Reads a whole catalog without opening its upstreams: the operator's files, the part from pages, and the sandbox.
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import { listCatalogFiles, readCatalogFiles } from './files.ts';
import type { CatalogLayer } from './layer.ts';
import type { CatalogFile } from './schema.ts';
import { isSet, listVariables } from './variables.ts';

type Folder = Pick<Config, 'catalogDir' | 'catalogVariables'>;

const SHIPPED_SANDBOX = fileURLToPath(new URL('../../catalog/sandbox.json', import.meta.url));

interface ReadOptions {
  /** Adds the shipped sandbox, unless the catalog defines one. */
  readonly sandbox: boolean;
  readonly layer: CatalogLayer | undefined;
}

export function readCatalog({ catalogDir, catalogVariables }: Folder, { sandbox, layer }: ReadOptions): CatalogFile {
  const paths = listCatalogFiles(catalogDir);
  const file = readCatalogFiles(paths, catalogVariables, layer?.text);
  if (!sandbox || Object.values(file.upstreams).some((upstream) => upstream.sandbox)) return file;
  return readCatalogFiles([...paths, SHIPPED_SANDBOX], catalogVariables, layer?.text);
}

interface CatalogFacts {
  readonly models: number;
  /** Number of usable upstreams. */
  readonly upstreams: number;
  /** Upstreams that lack a variable, as `name (VARIABLE, …)`. */
  readonly switchedOff: readonly string[];
  /** True if an upstream other than the sandbox is switched on. */
  readonly real: boolean;
}

/** Reads the facts from the catalog and the environment, without creating providers. */
export function readCatalogFacts(config: Folder & Pick<Config, 'env'>, layer?: CatalogLayer): CatalogFacts {
  const file = readCatalog(config, { sandbox: false, layer });
  const env = { ...config.env, ...layer?.secrets };
  const switchedOff: string[] = [];
  let upstreams = 0;
  for (const [name, { settings, sandbox }] of Object.entries(file.upstreams)) {
    if (sandbox) continue;
    const missing = [...listVariables(settings)].filter((variable) => !isSet(env, variable));
    if (missing.length === 0) upstreams += 1;
    else switchedOff.push(`${name} (${missing.join(', ')})`);
  }
  return { models: file.models.length, upstreams, switchedOff, real: upstreams > 0 };
}

export function readPriceListNames(config: Folder, layer?: CatalogLayer): readonly string[] {
  return Object.keys(readCatalog(config, { sandbox: false, layer }).priceLists ?? {});
}

/** All ids and aliases, including the sandbox and models without a route. */
export function readModelNames(config: Folder, layer?: CatalogLayer): ReadonlySet<string> {
  const { models } = readCatalog(config, { sandbox: true, layer });
  return new Set(models.flatMap(({ id, aliases }) => [id, ...aliases]));
}
