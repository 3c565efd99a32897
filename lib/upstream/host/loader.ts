// Loads plugins of one kind: every folder beside `lib` and on its kind's path whose `index` exports one by default.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OperatorError } from '../../base/operator-error.ts';
import type { ProviderPlugin } from '../contract/provider.ts';
import { adaptPlugin } from './contract-1.ts';
import { findWordsFlaw } from './fault-words.ts';
import { renameCauses } from './former-names.ts';
import { findLimitsFlaw, isHeaderName } from './limit-headers.ts';
import { notePluginFolder } from './plugin-run.ts';
import type { Plugin } from './settings.ts';

interface PluginFolders {
  /** The folder of the shipped plugins. */
  readonly shipped: string;
  /** Additional folders of plugin folders. */
  readonly path: readonly string[];
  /** The variable that names them; default `PROVIDERS_PATH`. */
  readonly variable?: string;
  /** The versions of the kind's contract; default: the provider's. */
  readonly contracts?: readonly number[];
}

/** Plugins by name. A broken one throws an OperatorError of one line that names its folder. */
export async function loadPlugins<Kind extends Plugin = ProviderPlugin>({
  shipped,
  path,
  variable = 'PROVIDERS_PATH',
  contracts = PROVIDER_CONTRACTS,
}: PluginFolders): Promise<Map<string, Kind>> {
  const plugins = new Map<string, Kind>();
  const folders = new Map<string, string>();
  for (const parent of [shipped, ...path]) {
    for (const name of await listFolders(parent, parent === shipped ? 'the shipped plugins' : variable)) {
      const folder = resolve(parent, name);
      const plugin = await loadPlugin<Kind>(folder, contracts);
      const other = folders.get(name);
      if (other !== undefined) throw new OperatorError(`Two plugins are named ${name}: ${other} and ${folder}`);
      folders.set(name, folder);
      plugins.set(name, plugin);
    }
  }
  return plugins;
}

/** Loads the plugin of one folder. */
export async function loadPlugin<Kind extends Plugin = ProviderPlugin>(
  folder: string,
  contracts: readonly number[] = PROVIDER_CONTRACTS,
  loadMs = LOAD_MS,
): Promise<Kind> {
  const file = findIndex(folder);
  if (file === undefined) {
    if (!existsSync(folder)) throw new OperatorError(`There is no folder ${folder}`);
    throw createBrokenError(folder, `it has neither ${INDEX_FILES.join(' nor ')}`);
  }
  const module: { default?: unknown } = await importFile(file, loadMs).catch((error: unknown) => {
    throw createBrokenError(folder, `${file} does not load: ${firstLine(error)}`);
  });
  const reason = findFlaw(module.default, folder, contracts);
  if (reason !== undefined) throw createBrokenError(folder, reason);
  notePluginFolder(resolve(folder), basename(resolve(folder)));
  const plugin = module.default as Kind;
  const isOld = contracts.includes(CONTRACT) && plugin.contract !== CONTRACT;
  return isOld ? (adaptPlugin(plugin as unknown as ProviderPlugin) as unknown as Kind) : plugin;
}

/** A module that waits for itself would end the process without a word, as nothing else keeps it alive. */
const LOAD_MS = 15_000;

async function importFile(file: string, ms: number): Promise<{ default?: unknown }> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`a top-level await has no end after ${ms / 1000} s`)), ms);
  try {
    return await Promise.race([import(pathToFileURL(file).href), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Compiled first: under `node_modules` Node does not run TypeScript. */
const INDEX_FILES = ['index.js', 'index.ts'];

/** The provider's, as the gateway speaks it; plugins of the one before are adapted. */
const CONTRACT = 2;
const PROVIDER_CONTRACTS: readonly number[] = [1, CONTRACT];
export const PAYMENT_CONTRACTS: readonly number[] = [1];

function findIndex(folder: string): string | undefined {
  return INDEX_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
}

async function listFolders(parent: string, where: string): Promise<readonly string[]> {
  if (findIndex(parent) !== undefined) {
    throw new OperatorError(`The folder ${parent} (${where}) is a plugin itself: name the folder above it`);
  }
  try {
    const entries = await readdir(parent, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && existsSync(join(parent, entry.name, '.'))))
      .map((entry) => entry.name)
      .filter((name) => !name.startsWith('.') && name !== 'node_modules')
      .sort();
  } catch (error) {
    throw new OperatorError(`The folder ${parent} (${where}) cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function findFlaw(plugin: unknown, folder: string, contracts: readonly number[]): string | undefined {
  if (plugin === undefined) return 'its index has no default export';
  if (typeof plugin !== 'object' || plugin === null) {
    return `its default export is ${plugin === null ? 'null' : `a ${typeof plugin}`}, not a plugin object`;
  }
  const given: Partial<Record<keyof Plugin, unknown>> = plugin;
  const { contract, name, settings, faultWords, faultTexts, faultStatuses, faultHeader, limitHeaders, create } = given;
  if (!contracts.includes(contract as number))
    return `it has contract version ${JSON.stringify(contract)}, but this gateway needs ${contracts.join(' or ')}`;
  if (name !== basename(resolve(folder))) {
    return `its name is ${JSON.stringify(name)}, which is not that of the folder`;
  }
  if (typeof settings !== 'function') return 'it has no settings function';
  if (typeof create !== 'function') return 'it has no create function';
  if (faultHeader !== undefined && !isHeaderName(faultHeader)) return 'its faultHeader is no header in lower case';
  return (
    findWordsFlaw(renameCauses(faultWords), renameCauses(faultTexts), faultStatuses) ?? findLimitsFlaw(limitHeaders)
  );
}

function createBrokenError(folder: string, reason: string): OperatorError {
  return new OperatorError(`The plugin in ${folder} is broken: ${reason}`);
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n')[0] as string;
}
