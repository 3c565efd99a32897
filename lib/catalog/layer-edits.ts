// Changes of the part of the catalog from pages, as a value: each returns the next part, the loader checks it.
import type { SmartTier } from '../base/smart-tiers.ts';
import type { AddedRoute, OverrideEntry } from './overrides.ts';
import { listValueChanges, type ValueChange } from './value-changes.ts';

/** A catalog file as it is written: what may be left out is left out. */
export interface LayerPart {
  readonly upstreams?: Readonly<Record<string, LayerUpstream>>;
  readonly models?: readonly LayerModel[];
  readonly overrides?: Readonly<Record<string, OverrideEntry>>;
  readonly priceLists?: Readonly<Record<string, { readonly factor: string }>>;
  /** By currency, in the order of their days. */
  readonly rates?: Readonly<Record<string, readonly LayerRate[]>>;
  readonly smart?: Partial<Readonly<Record<SmartTier, readonly string[]>>>;
  readonly vision?: readonly string[];
  readonly defaults?: { readonly image?: readonly string[]; readonly edit?: readonly string[] };
}

/** Ids of models in order of preference, by where the catalog has them. */
export type ModelList = `smart.${SmartTier}` | 'vision' | 'defaults.image' | 'defaults.edit';

export const MODEL_LISTS: readonly ModelList[] = [
  'smart.lite',
  'smart.standard',
  'smart.heavy',
  'vision',
  'defaults.image',
  'defaults.edit',
];

interface LayerRate {
  /** A decimal string. */
  readonly rub: string;
  /** Its first day, such as `2026-11-26`. */
  readonly from: string;
}

export interface LayerUpstream {
  readonly plugin: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface LayerModel {
  readonly id: string;
  readonly type: 'text' | 'embedding' | 'image';
  readonly provider: string;
  readonly aliases?: readonly string[];
  readonly off?: boolean;
  readonly price?: OverrideEntry['price'];
  readonly routes: readonly AddedRoute[];
  /** What a text model can do. */
  readonly [capability: string]: unknown;
}

export function setUpstream(part: LayerPart, name: string, upstream: LayerUpstream): LayerPart {
  return { ...part, upstreams: { ...part.upstreams, [name]: upstream } };
}

/** With its routes, and the models that only it serves. */
export function removeUpstream(part: LayerPart, name: string): LayerPart {
  const { [name]: _removed, ...upstreams } = part.upstreams ?? {};
  const models = (part.models ?? []).flatMap((model) => {
    const routes = model.routes.filter(({ upstream }) => upstream !== name);
    return routes.length === 0 ? [] : [{ ...model, routes }];
  });
  const overrides = Object.entries(part.overrides ?? {}).map(([id, override]) => {
    return [
      id,
      withRoutes(
        override,
        (override.routes ?? []).filter(({ upstream }) => upstream !== name),
      ),
    ] as const;
  });
  const left = dropEmpty({ ...part, upstreams, models, overrides: Object.fromEntries(overrides.filter(isFilled)) });
  return delistModels(left, part.models ?? []);
}

const isFilled = ([, override]: readonly [id: string, OverrideEntry]) => Object.keys(override).length > 0;

function withRoutes({ routes: _before, ...others }: OverrideEntry, routes: readonly AddedRoute[]): OverrideEntry {
  return { ...others, ...(routes.length > 0 && { routes }) };
}

/** The routes that the part has for a model of its own, or for one of a file. */
export function listRoutes(part: LayerPart, id: string): readonly AddedRoute[] {
  return part.models?.find((model) => model.id === id)?.routes ?? part.overrides?.[id]?.routes ?? [];
}

export function setRoutes(part: LayerPart, id: string, routes: readonly AddedRoute[]): LayerPart {
  if (part.models?.some((model) => model.id === id)) {
    return { ...part, models: part.models.map((model) => (model.id === id ? { ...model, routes } : model)) };
  }
  const overrides = { ...part.overrides, [id]: withRoutes(part.overrides?.[id] ?? {}, routes) };
  return dropEmpty({ ...part, overrides: Object.fromEntries(Object.entries(overrides).filter(isFilled)) });
}

export function addModels(part: LayerPart, models: readonly LayerModel[]): LayerPart {
  return { ...part, models: [...(part.models ?? []), ...models] };
}

/** Changes a model of the part itself, or overrides one of a file; what is undefined stays as its author wrote it, and so do routes. */
export function changeModel(part: LayerPart, id: string, change: OverrideEntry): LayerPart {
  const wanted = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  if (!part.models?.some((model) => model.id === id)) {
    const overrides = { ...part.overrides, [id]: withRoutes(wanted, part.overrides?.[id]?.routes ?? []) };
    return dropEmpty({ ...part, overrides: Object.fromEntries(Object.entries(overrides).filter(isFilled)) });
  }
  const models = part.models.map((model) => {
    if (model.id !== id) return model;
    const { off: _off, price: _price, aliases: _aliases, ...rest } = model;
    return { ...rest, ...wanted } as LayerModel;
  });
  return { ...part, models };
}

const NO_ABILITIES = ['id', 'type', 'provider', 'aliases', 'off', 'price', 'routes'];

/** What a text model of the part can do; what it could do before and is absent here, it no longer can. */
export function setAbilities(part: LayerPart, id: string, able: Readonly<Record<string, unknown>>): LayerPart {
  const models = (part.models ?? []).map((model) => {
    if (model.id !== id) return model;
    const kept = Object.entries(model).filter(([name]) => NO_ABILITIES.includes(name));
    return { ...(Object.fromEntries(kept) as LayerModel), ...able };
  });
  const changed = { ...part, models };
  return able.vision ? changed : delist(changed, (each, list) => each === id && list === 'vision');
}

/** As its file says. */
export function resetModel(part: LayerPart, id: string): LayerPart {
  const { [id]: _before, ...overrides } = part.overrides ?? {};
  return dropEmpty({ ...part, overrides });
}

export function removeModel(part: LayerPart, id: string): LayerPart {
  const left = dropEmpty({ ...part, models: (part.models ?? []).filter((model) => model.id !== id) });
  return delistModels(left, part.models ?? []);
}

type ListPart = Pick<LayerPart, 'smart' | 'vision' | 'defaults'>;

export function readModelList({ smart, vision, defaults }: ListPart, list: ModelList): readonly string[] {
  if (list === 'vision') return vision ?? [];
  if (list === 'defaults.image') return defaults?.image ?? [];
  if (list === 'defaults.edit') return defaults?.edit ?? [];
  return smart?.[list.slice('smart.'.length) as SmartTier] ?? [];
}

/** An empty list leaves those of the files in force. */
export function setModelLists(part: LayerPart, listModels: (list: ModelList) => readonly string[]): LayerPart {
  const fill = (prefix: string) => {
    const own = MODEL_LISTS.filter((list) => list.startsWith(prefix) && listModels(list).length > 0);
    return Object.fromEntries(own.map((list) => [list.slice(prefix.length), listModels(list)]));
  };
  return dropEmpty({ ...part, smart: fill('smart.'), vision: listModels('vision'), defaults: fill('defaults.') });
}

/** Takes models that the part no longer has from its lists. */
function delistModels(part: LayerPart, before: readonly LayerModel[]): LayerPart {
  const gone = new Set(before.filter(({ id }) => !part.models?.some((model) => model.id === id)).map(({ id }) => id));
  return delist(part, (id) => gone.has(id));
}

function delist(part: LayerPart, isGone: (id: string, list: ModelList) => boolean): LayerPart {
  return setModelLists(part, (list) => readModelList(part, list).filter((id) => !isGone(id, list)));
}

/** A price list that takes hundredths of a percent off all prices; 0 removes it. */
export function setDiscount(part: LayerPart, name: string, hundredths: number): LayerPart {
  const { [name]: _before, ...others } = part.priceLists ?? {};
  if (hundredths === 0) return dropEmpty({ ...part, priceLists: others });
  const left = `${10_000 - hundredths}`.padStart(4, '0');
  return { ...part, priceLists: { ...others, [name]: { factor: `0.${left}`.replace(/0+$/, '') } } };
}

const RATES_MAX = 50;

/** The rates of earlier days stay: costs of their time follow from them. */
export function setRate(part: LayerPart, currency: string, rate: LayerRate): LayerPart {
  const earlier = (part.rates?.[currency] ?? []).filter(({ from }) => from < rate.from);
  return { ...part, rates: { ...part.rates, [currency]: [...earlier, rate].slice(-RATES_MAX) } };
}

function dropEmpty(part: LayerPart): LayerPart {
  const filled = Object.entries(part).filter(([, value]) => Object.keys(value ?? {}).length > 0);
  return Object.fromEntries(filled);
}

export function listLayerChanges(before: LayerPart, after: LayerPart): readonly ValueChange[] {
  return listValueChanges(flatten(before), flatten(after));
}

/** Models by their ids, and lists of plain values as one. */
function flatten(value: unknown, path: readonly string[] = [], into = new Map<string, string>()): Map<string, string> {
  const isPlain = typeof value !== 'object' || value === null;
  if (isPlain || (Array.isArray(value) && value.every((item) => typeof item !== 'object'))) {
    into.set(path.join('.'), Array.isArray(value) ? value.join(', ') : String(value));
    return into;
  }
  for (const [key, item] of Object.entries(value)) {
    const id = Array.isArray(value) && typeof item.id === 'string' ? item.id : key;
    flatten(item, [...path, id], into);
  }
  return into;
}
