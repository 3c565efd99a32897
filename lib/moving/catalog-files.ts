// Writes the catalog of what moved in: a file of the catalog, and beside it one of variables that only its owner reads.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { writeWholeFile } from '../base/write-file.ts';
import { findCatalogRefusal } from '../catalog/check.ts';
import { listCatalogFiles, readCatalogFiles } from '../catalog/files.ts';
import type { CatalogConfig } from '../catalog/load.ts';
import type { CatalogParts } from './catalog-parts.ts';

export const DEFAULT_FILE = 'imported.json';

/** Ids and aliases of the models of the catalog, retired ones too, without those of the file itself. */
export function listTakenNames({ catalogDir, catalogVariables }: CatalogConfig, out: string): ReadonlySet<string> {
  const isEmpty = !existsSync(catalogDir) || !readdirSync(catalogDir).some((name) => name.endsWith('.json'));
  if (isEmpty) return new Set();
  const paths = listCatalogFiles(catalogDir).filter((path) => resolve(path) !== resolve(out));
  const { models, retired } = readCatalogFiles(paths, catalogVariables);
  return new Set([...models.flatMap(({ id, aliases }) => [id, ...aliases]), ...Object.keys(retired)]);
}

export interface CatalogReport {
  readonly file: string;
  /** Where the keys of the upstreams are; undefined: there are none. */
  readonly variables: string | undefined;
  /** `there`: the file existed, and stays as it is. */
  readonly state: 'written' | 'there' | 'planned';
  readonly upstreams: number;
  readonly models: number;
  readonly priceLists: number;
  /** Why a start would refuse the catalog as it is now. */
  readonly refusal: string | undefined;
}

/**
 * The price lists that accounts may be put on: of an existing file, which stays as it is, only those that are the same there.
 * Lists of another installation may have the names of these.
 */
export function pickLists(
  { catalogVariables }: CatalogConfig,
  { catalog, lists }: CatalogParts,
  out: string,
): Pick<CatalogParts, 'lists' | 'leftOut'> {
  if (!existsSync(out)) return { lists, leftOut: [] };
  const there: Readonly<Record<string, object>> = readCatalogFiles([out], catalogVariables).priceLists ?? {};
  const readFactor = (list: object | undefined) => (list as { readonly factor?: string } | undefined)?.factor;
  const isSame = (name: string) => readFactor(there[name]) === readFactor(catalog.priceLists?.[name]);
  const others = [...lists].filter(([, name]) => !isSame(name));
  return {
    lists: new Map([...lists].filter(([, name]) => isSame(name))),
    leftOut: others.map(([group, name]) => ({
      what: `price list of the group ${group}`,
      count: 1,
      why: `${out} exists and has no such list named ${name}: accounts that move now pay list prices. --catalog-out names another file`,
    })),
  };
}

/** The file of variables is complete before the catalog names them. */
export async function writeCatalogFiles(
  config: CatalogConfig,
  { catalog, secrets }: CatalogParts,
  { out, isDry }: { readonly out: string; readonly isDry: boolean },
): Promise<CatalogReport> {
  const variables = secrets.size > 0 ? `${out.replace(/\.json$/, '')}.env` : undefined;
  const counts = {
    upstreams: Object.keys(catalog.upstreams).length,
    models: catalog.models.length,
    priceLists: Object.keys(catalog.priceLists ?? {}).length,
  };
  const report = { file: out, variables, ...counts };
  if (existsSync(out)) return { ...report, state: 'there', refusal: undefined };
  if (isDry) return { ...report, state: 'planned', refusal: undefined };
  if (variables !== undefined) {
    const lines = [...secrets].map(([name, value]) => `${name}=${value}\n`).join('');
    await writeNewFile(variables, lines, 0o600);
  }
  await writeNewFile(out, `${JSON.stringify(catalog, null, 2)}\n`, 0o644);
  const isRead = resolve(dirname(out)) === resolve(config.catalogDir);
  return { ...report, state: 'written', refusal: isRead ? await findCatalogRefusal(config) : undefined };
}

async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  if (existsSync(path)) throw new OperatorError(`${path} already exists: move it away`);
  await writeWholeFile(path, text, mode);
}
