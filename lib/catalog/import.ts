// `tollgate catalog import`: writes the costs of a public price list into a file of the catalog.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { writeWholeFile } from '../base/write-file.ts';
import { loadPlugins } from '../upstream/host/loader.ts';
import { findCatalogRefusal } from './check.ts';
import { listCatalogFiles, readCatalogFiles } from './files.ts';
import { type CostChange, type CostComparison, compareCosts, writeCosts } from './import-costs.ts';
import { findUpstreamHost } from './known-costs.ts';
import type { CatalogConfig } from './load.ts';
import type { UpstreamEntry } from './schema.ts';
import { SHIPPED_PROVIDERS } from './sections.ts';
import { readVendorPrices } from './vendor-prices.ts';

interface ImportOptions {
  /** The name of the list's format. */
  readonly format: string;
  readonly list: string;
  /** The catalog file that is written; by default `costs.json`. */
  readonly into: string | undefined;
  /** Whether new costs, and rises by more than a fifth, are written too. */
  readonly accept: boolean;
}

export interface ImportReport extends Omit<CostComparison, 'changes'> {
  readonly into: string;
  readonly written: readonly CostChange[];
  /** Left out until they are accepted. */
  readonly heldBack: readonly CostChange[];
  /** Why a start would refuse the catalog as it is now; undefined if it would not. */
  readonly refusal: string | undefined;
}

const DEFAULT_FILE = 'costs.json';

/** Throws an `OperatorError` before anything is written. */
export async function importCosts(config: CatalogConfig, options: ImportOptions): Promise<ImportReport> {
  const { catalogDir, catalogVariables } = config;
  const list = readVendorPrices(options.format, options.list);
  const paths = listCatalogFiles(catalogDir);
  const file = readCatalogFiles(paths, catalogVariables);
  const into = findTarget(catalogDir, paths, options.into ?? join(catalogDir, DEFAULT_FILE));
  const findHost = await createHostFinder(config, file.upstreams);
  const { changes, ...compared } = compareCosts({ file, list, findHost, into });
  const written = changes.filter(({ needs }) => options.accept || needs === undefined);
  const heldBack = changes.filter((change) => !written.includes(change));
  if (written.length > 0)
    await writeWholeFile(into, writeCosts(existsSync(into) ? readFileSync(into, 'utf8') : '{}\n', written));
  return { ...compared, into, written, heldBack, refusal: await findCatalogRefusal(config) };
}

/** The path as the catalog names it. A file elsewhere would not be read. */
function findTarget(folder: string, paths: readonly string[], into: string): string {
  const known = paths.find((path) => resolve(path) === resolve(into));
  if (known !== undefined) return known;
  const isInFolder = resolve(dirname(into)) === resolve(folder) && into.endsWith('.json');
  if (!isInFolder) throw new OperatorError(`${into}: is not a *.json file in CATALOG_DIR ${folder}`);
  return join(folder, basename(into));
}

async function createHostFinder(
  { providersPath, env }: CatalogConfig,
  upstreams: Readonly<Record<string, UpstreamEntry>>,
): Promise<(upstream: string) => string | undefined> {
  const plugins = await loadPlugins({ shipped: SHIPPED_PROVIDERS, path: providersPath });
  return (upstream) => {
    const entry = upstreams[upstream];
    return entry && findUpstreamHost(entry, plugins, env);
  };
}
