// Takes the costs of routes over from a public price list: what changes, what an operator has to accept, and the new
// text.
import { serializeCost } from '../money/cost.ts';
import { findLosses } from '../money/loss.ts';
import { MICRO_PER_RUB } from '../money/money.ts';
import { TOKEN_RATES } from '../money/price.ts';
import { type CostEntry, parseCost } from './cost.ts';
import { setJsonValue } from './edit-json.ts';
import { readPrice, type TextPriceEntry } from './price.ts';
import type { CatalogFile, ModelEntry, RouteEntry } from './schema.ts';
import { listValueChanges, type ValueChange } from './value-changes.ts';
import type { ListedPrices, VendorPrices } from './vendor-prices.ts';

/** The lists are in dollars. */
const LIST_CURRENCY = 'USD';

/** A route whose cost differs from the list. */
export interface CostChange {
  readonly upstream: string;
  readonly model: string;
  readonly before: CostEntry | undefined;
  readonly after: CostEntry;
  /** Why it is written only if the operator accepts it; undefined if it needs no decision. */
  readonly needs: 'new' | 'rise' | 'zero' | 'currency' | undefined;
}

export interface CostComparison {
  readonly changes: readonly CostChange[];
  /** Routes whose cost is that of the list. */
  readonly unchanged: number;
  /** Routes that the list does not have, as `upstream: model`. */
  readonly unlisted: readonly string[];
  /** Routes that the list has but whose cost is written elsewhere, with where. */
  readonly elsewhere: readonly string[];
}

interface CompareOptions {
  readonly file: CatalogFile;
  readonly list: VendorPrices;
  /** The host of an upstream; undefined if it is unknown. */
  readonly findHost: (upstream: string) => string | undefined;
  /** The catalog file that is written. */
  readonly into: string;
}

/** Compares each route of a text or embedding model with the list. */
export function compareCosts({ file, list, findHost, into }: CompareOptions): CostComparison {
  const changes: CostChange[] = [];
  const unlisted: string[] = [];
  const elsewhere: string[] = [];
  let unchanged = 0;
  for (const { type, upstream, model, cost } of listRoutes(file)) {
    const name = `${upstream}: ${model}`;
    const host = findHost(upstream);
    const listed = host === undefined ? undefined : list.find(host, model);
    const place = findOtherPlace(file, { upstream, model, cost, into });
    if (!listed) unlisted.push(name);
    else if (place !== undefined) elsewhere.push(`${name} (${place})`);
    else {
      const before = typeof cost === 'object' ? cost : undefined;
      const after = mergeCost(type, listed, before);
      const change = { upstream, model, before, after };
      if (before && isSameCost(type, before, after)) unchanged += 1;
      else changes.push({ ...change, needs: findNeed(type, change) });
    }
  }
  return { changes, unchanged, unlisted, elsewhere };
}

type Listable = 'text' | 'embedding';

interface ListableRoute extends Pick<RouteEntry, 'upstream' | 'model' | 'cost'> {
  readonly type: Listable;
}

/** Each upstream's own model once. */
function listRoutes({ models, upstreams }: CatalogFile): readonly ListableRoute[] {
  const isListable = (type: ModelEntry['type']): type is Listable => type === 'text' || type === 'embedding';
  const routes = models.flatMap(({ type, routes: all }) =>
    isListable(type) ? all.map((route) => ({ ...route, type })) : [],
  );
  const real = routes.filter(({ upstream }) => !upstreams[upstream]?.sandbox);
  return [...new Map(real.map((route) => [`${route.upstream} ${route.model}`, route])).values()];
}

/** Where the cost of a route is written, if not in the list of costs of the file that is written. */
function findOtherPlace(
  { costs, sources }: CatalogFile,
  { upstream, model, cost, into }: Omit<ListableRoute, 'type'> & { readonly into: string },
): string | undefined {
  if (cost === undefined) return undefined;
  if (cost !== costs?.[upstream]?.[model]) return 'its route has a cost of its own';
  const source = sources?.get(`costs.${upstream}.${model}`);
  return source === undefined || source === into ? undefined : source;
}

function isSameCost(type: Listable, one: CostEntry, other: CostEntry): boolean {
  const print = (entry: CostEntry) => serializeCost(parseCost(type, entry).prices);
  return one.currency === other.currency && print(one) === print(other);
}

/**
 * What the list does not state stays: prices of audio and the cache, and bands if the list has none. A price of reading
 * that is above the new input price does not: then it is the input price.
 */
function mergeCost(type: Listable, listed: ListedPrices, before: CostEntry | undefined): CostEntry {
  if (type === 'embedding') return { currency: LIST_CURRENCY, input: listed.input };
  const known = before?.currency === LIST_CURRENCY ? (before as TextPriceEntry) : undefined;
  const { bands, ...rates } = listed;
  const keepOthers = (from: Partial<TextPriceEntry> = {}, input: string) => {
    const { audio, cacheRead, cacheWrite, cacheWrite1h } = from;
    return {
      ...(audio && { audio }),
      ...(cacheRead && readPrice(cacheRead) <= readPrice(input) && { cacheRead }),
      ...(cacheWrite && { cacheWrite }),
      ...(cacheWrite1h && { cacheWrite1h }),
    };
  };
  const merged = bands?.map((band) => ({
    ...keepOthers(
      known?.bands?.find(({ above }) => above === band.above),
      band.input,
    ),
    ...band,
  }));
  const all = merged ?? known?.bands;
  const own = { ...keepOthers(known, rates.input), ...rates };
  return {
    currency: LIST_CURRENCY,
    ...orderPrices(own),
    ...(all && { bands: all.map((band) => ({ above: band.above, ...orderPrices(band) })) }),
  };
}

/** The prices in the order that the shipped files have them. */
function orderPrices<T extends Partial<TextPriceEntry>>(rates: T): Pick<TextPriceEntry, 'input' | 'output'> {
  const names = ['input', 'output', 'audio', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const;
  const found = names.flatMap((name) => (rates[name] === undefined ? [] : [[name, rates[name]] as const]));
  return Object.fromEntries(found) as unknown as Pick<TextPriceEntry, 'input' | 'output'>;
}

/** A rise by more than a fifth needs a decision. */
const RISE = { over: 6n, under: 5n };

function findNeed(type: Listable, { before, after }: Pick<CostChange, 'before' | 'after'>): CostChange['needs'] {
  if (!before) return 'new';
  if (before.currency !== after.currency) return 'currency';
  // Lists write zero for what they do not know, and a derived price would follow.
  const isFreed = (['input', 'output'] as const).some((kind) => isAboveZero(before, kind) && !isAboveZero(after, kind));
  if (isFreed) return 'zero';
  const rate = { rub: MICRO_PER_RUB, from: '' };
  const risen = findLosses(parseCost(type, before).prices, { ...parseCost(type, after), rate, stored: '' });
  return risen.some(({ price, cost }) => cost * RISE.under > price * RISE.over) ? 'rise' : undefined;
}

function isAboveZero(entry: CostEntry, kind: 'input' | 'output'): boolean {
  const price = (entry as Partial<TextPriceEntry>)[kind];
  return price !== undefined && readPrice(price) > 0n;
}

/** The prices that differ. */
export function listPriceChanges({ before, after }: Pick<CostChange, 'before' | 'after'>): readonly ValueChange[] {
  return listValueChanges(flatten(before), flatten(after));
}

function flatten(entry: CostEntry | undefined): ReadonlyMap<string, string> {
  if (!entry) return new Map();
  const { currency, bands = [], ...own } = entry as { currency: string } & TextPriceEntry;
  const list = (rates: Partial<TextPriceEntry>, where: string) =>
    TOKEN_RATES.flatMap((kind) => (rates[kind] === undefined ? [] : [[`${kind}${where}`, rates[kind]] as const]));
  const banded = bands.flatMap((band) => list(band, ` above ${band.above}`));
  return new Map([['currency', currency] as const, ...list(own, ''), ...banded]);
}

/** The text of the catalog file with these costs. */
export function writeCosts(text: string, changes: readonly CostChange[]): string {
  return changes.reduce(
    (written, { upstream, model, after }) =>
      setJsonValue(written, ['costs', upstream, model], (indent) => printCost(after, { indent, name: model })),
    text,
  );
}

const LINE_MAX = 120;

/** On one line if it fits beside its name. */
function printCost(cost: CostEntry, { indent, name }: { readonly indent: number; readonly name: string }): string {
  const print = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(print).join(', ')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `{ ${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${print(each)}`)
      .join(', ')} }`;
  };
  const line = print(cost);
  if (indent + `${JSON.stringify(name)}: ${line},`.length <= LINE_MAX) return line;
  const inner = ' '.repeat(indent + 2);
  const members = Object.entries(cost).map(([key, each]) => `${inner}${JSON.stringify(key)}: ${print(each)}`);
  return `{\n${members.join(',\n')}\n${' '.repeat(indent)}}`;
}
