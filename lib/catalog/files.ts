// Reads the files of a catalog: JSON, optionally with `//` comments, merged in the order of their names.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import stripJsonComments from 'strip-json-comments';
import { OperatorError } from '../base/operator-error.ts';
import { SMART_TIERS, type SmartThresholds, type SmartTier } from '../base/smart-tiers.ts';
import { type CostEntry, type CostsEntry, isCostOfType } from './cost.ts';
import type { PriceListsEntry } from './customer-lists.ts';
import { LAYER_FILE, LAYER_VARIABLES } from './layer.ts';
import type { MarkupEntry } from './markup.ts';
import { applyOverrides, type OverrideEntry } from './overrides.ts';
import type { RatesEntry } from './rates.ts';
import {
  type CatalogFile,
  catalogFile,
  type ModelEntry,
  modelPrices,
  modelRoutes,
  type PaymentEntry,
  type UpstreamEntry,
} from './schema.ts';
import type { TopupEntry } from './topup-bounds.ts';
import { findForbiddenVariables } from './variables.ts';

/** The `*.json` files of a folder, sorted by name. */
export function listCatalogFiles(folder: string): readonly string[] {
  try {
    const found = readdirSync(folder).filter((entry) => entry.endsWith('.json'));
    if (found.length === 0) throw new OperatorError(`CATALOG_DIR ${folder}: there is no *.json file in it`);
    return found.sort().map((entry) => join(folder, entry));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`CATALOG_DIR ${folder}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/**
 * Reads and merges files; lists are concatenated in the order of the files. Throws an `OperatorError` that names the file,
 * also for a variable that no pattern of `variables` allows. `layerText` is the part from pages, and comes last.
 */
export function readCatalogFiles(
  paths: readonly string[],
  variables: readonly string[],
  layerText?: string,
): CatalogFile {
  const upstreams: Record<string, UpstreamEntry> = {};
  const payments: Record<string, PaymentEntry> = {};
  let autoTopup: TopupEntry | undefined;
  const models: ModelEntry[] = [];
  const smart: Record<SmartTier, string[]> & { thresholds?: SmartThresholds } = { lite: [], standard: [], heavy: [] };
  const vision: string[] = [];
  let visionBeyondLimits = false;
  const defaults = { image: [] as string[], edit: [] as string[] };
  const retired: Record<string, string> = {};
  const rates: Record<string, RatesEntry[string]> = {};
  const costs: Record<string, Record<string, CostEntry>> = {};
  let pricing: MarkupEntry | undefined;
  const priceLists: Record<string, PriceListsEntry[string]> = {};
  const overrides: Record<string, OverrideEntry> = {};
  const sources = new Map<string, string>();
  const parts = paths.map((path) => [path, readFile(path, variables)] as const);
  if (layerText !== undefined) parts.push([LAYER_FILE, readPart(LAYER_FILE, layerText, LAYER_VARIABLES)]);
  for (const [path, part] of parts) {
    for (const entry of listEntryNames(part, models.length)) sources.set(entry, path);
    addEach(upstreams, part.upstreams, (key) => `${path}: upstream ${key} is defined twice`);
    addEach(payments, part.payments, (key) => `${path}: payments.${key} is defined twice`);
    if (part.autoTopup && autoTopup) throw new OperatorError(`${path}: autoTopup is defined twice`);
    autoTopup ??= part.autoTopup;
    for (const key of SMART_TIERS) addNames(smart[key], [part.smart?.[key] ?? []].flat(), path);
    if (part.smart?.thresholds) {
      if (smart.thresholds) throw new OperatorError(`${path}: smart.thresholds is defined twice`);
      smart.thresholds = part.smart.thresholds;
    }
    if (part.pricing && pricing) throw new OperatorError(`${path}: pricing is defined twice`);
    pricing ??= part.pricing;
    addCosts(costs, part.costs, path);
    addRates(rates, part.rates, path);
    addEach(priceLists, part.priceLists, (key) => `${path}: priceLists.${key} is defined twice`);
    models.push(...(part.models ?? []));
    addNames(vision, part.vision, path);
    visionBeyondLimits ||= part.visionBeyondLimits === true;
    addNames(defaults.image, part.defaults?.image, path);
    addNames(defaults.edit, part.defaults?.edit, path);
    addEach(overrides, part.overrides, (key) => `${path}: overrides.${key} is defined twice`);
    addEach(retired, part.retired, (key) => `${path}: retired.${key} is defined twice`);
  }
  const describe = (id: string, mistake: string) => `${sources.get(`overrides.${id}`)}: overrides.${id}: ${mistake}`;
  const changed = applyOverrides(models, overrides, {
    prices: (type) => modelPrices[type],
    routes: (type) => modelRoutes[type],
    describe,
  });
  const priced = changed.map((model) => withCosts(model, costs, sources));
  const lists = {
    models: priced,
    costs,
    smart,
    vision,
    visionBeyondLimits,
    defaults,
    retired,
    rates,
    priceLists,
    overrides,
  };
  return { upstreams, payments, autoTopup, ...(pricing && { pricing }), ...lists, sources };
}

function addEach<T>(
  all: Record<string, T>,
  part: Readonly<Record<string, T>> = {},
  describeDuplicate: (key: string) => string,
): void {
  for (const [key, value] of Object.entries(part)) {
    if (Object.hasOwn(all, key)) throw new OperatorError(describeDuplicate(key));
    all[key] = value;
  }
}

/** The lists of several files join; a list of the pages replaces them. */
function addNames(all: string[], names: readonly string[] = [], path: string): void {
  if (path === LAYER_FILE && names.length > 0) all.length = 0;
  all.push(...names);
}

/** Rates of several files join, each from its day on; on the same day that of the pages is in force. */
function addRates(all: Record<string, RatesEntry[string]>, part: RatesEntry = {}, path: string): void {
  for (const [name, rates] of Object.entries(part)) {
    const own = [rates].flat();
    const before = [all[name] ?? []].flat();
    const others = before.filter(({ from }) => own.every((rate) => rate.from !== from));
    if (others.length < before.length && path !== LAYER_FILE)
      throw new OperatorError(`${path}: rates.${name} is defined twice`);
    all[name] = [...others, ...own];
  }
}

function addCosts(all: Record<string, Record<string, CostEntry>>, part: CostsEntry = {}, path: string): void {
  for (const [upstream, costs] of Object.entries(part)) {
    all[upstream] ??= {};
    addEach(all[upstream], costs, (model) => `${path}: costs.${upstream}.${model} is defined twice`);
  }
}

/** The model with the costs of its routes; a route's own cost counts. */
function withCosts(model: ModelEntry, costs: CostsEntry, sources: ReadonlyMap<string, string>): ModelEntry {
  const routes = model.routes.map((route) => {
    const upstream = Object.hasOwn(costs, route.upstream) ? costs[route.upstream] : {};
    const listed = upstream && Object.hasOwn(upstream, route.model) ? upstream[route.model] : undefined;
    if (route.cost !== undefined || listed === undefined) return route;
    if (isCostOfType(model.type, listed)) return { ...route, cost: listed };
    const entry = `costs.${route.upstream}.${route.model}`;
    throw new OperatorError(
      `${sources.get(entry)}: ${entry}: is not the cost of a model of type ${model.type}, as ${model.id} is`,
    );
  });
  return { ...model, routes };
}

/** The names of a file's entries; `before` is the number of models in the files before it. */
function listEntryNames(
  {
    upstreams = {},
    payments = {},
    models = [],
    smart,
    retired = {},
    rates = {},
    costs = {},
    ...part
  }: Partial<CatalogFile>,
  before: number,
): string[] {
  return [
    ...Object.keys(upstreams).map((name) => `upstreams.${name}`),
    ...Object.keys(payments).map((name) => `payments.${name}`),
    ...models.map((_model, at) => `models[${before + at}]`),
    ...SMART_TIERS.flatMap((tier) => [smart?.[tier] ?? []].flat().map((name) => `smart.${tier}.${name}`)),
    ...Object.keys(retired).map((name) => `retired.${name}`),
    ...Object.keys(rates).map((name) => `rates.${name}`),
    ...Object.keys(part.overrides ?? {}).map((name) => `overrides.${name}`),
    ...Object.keys(part.priceLists ?? {}).map((name) => `priceLists.${name}`),
    ...Object.entries(costs).flatMap(([name, listed]) => Object.keys(listed).map((model) => `costs.${name}.${model}`)),
  ];
}

function readFile(path: string, variables: readonly string[]): Partial<CatalogFile> {
  return readPart(path, readText(path), variables);
}

function readPart(path: string, text: string, variables: readonly string[]): Partial<CatalogFile> {
  const part = checkFile(path, text);
  const forbidden = [
    ...findForbiddenVariables(part.upstreams, 'upstreams', variables),
    ...findForbiddenVariables(part.payments, 'payments', variables),
  ];
  if (forbidden.length > 0) throw new OperatorError(`${path}: ${forbidden.join('; ')}`);
  return part;
}

interface Checked {
  readonly text: string;
  readonly part: Partial<CatalogFile>;
}

/** Files already checked, by their text: a start reads every file twice, and a reload mostly unchanged ones. */
const checked = new Map<string, Checked>();
const CHECKED_MAX = 32;

function checkFile(path: string, text: string): Partial<CatalogFile> {
  const known = checked.get(path);
  if (known?.text === text) return known.part;
  const { value, error } = catalogFile.validate(parseFile(path, text));
  if (error) throw new OperatorError(`${path}: ${error.details.map((detail) => detail.message).join('; ')}`);
  if (checked.size >= CHECKED_MAX) checked.clear();
  checked.set(path, { text, part: value });
  return value;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** V8 quotes the text around some mistakes, which may contain a key: the quote is replaced by its line number. */
function parseFile(path: string, text: string): unknown {
  try {
    return JSON.parse(stripJsonComments(text));
  } catch (error) {
    const [, what, quote] =
      /^(.*), (?:\.{3})?"(.*)"(?:\.{3})? is not valid JSON$/s.exec((error as Error).message) ?? [];
    if (quote === undefined) throw new OperatorError(`${path}: ${(error as Error).message}`);
    const line = text.slice(0, text.indexOf(quote) + quote.length / 2).split('\n').length;
    throw new OperatorError(`${path}: ${what} in JSON near line ${line}`);
  }
}
