// The models of a catalog: one shape per type, with usable routes and numeric prices.
import type { PinnedCost, Rate } from '../money/cost.ts';
import type { EmbeddingPrice, ImagePrice, PriceVector, TextPrice, VideoPrice } from '../money/price.ts';
import { type StoredList, serializePrice } from '../money/stored-price.ts';
import type { Provider } from '../upstream/contract/provider.ts';
import type { OpenProvider } from '../upstream/host/settings.ts';
import { parseCost, pinCost, rankCost } from './cost.ts';
import { type MarkupEntry, resolvePrice, type StatedPrice } from './markup.ts';
import { readPrice } from './price.ts';
import type { EmbeddingEntry, ImageEntry, ModelEntry, RouteEntry, TextEntry, VideoEntry } from './schema.ts';

/** A usable route: its upstream is switched on and supports the model's type. */
export interface Route {
  readonly upstream: string;
  /** Identifies the route across reloads of the catalog. */
  readonly key: string;
  readonly provider: Provider;
  /** Scheme, host and port of its upstream's `baseUrl`, which results may be fetched from; undefined if it has none. */
  readonly origin: string | undefined;
  /** URL of its upstream's proxy, which results are fetched through. */
  readonly proxy?: string | undefined;
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** What its vendor charges; absent: unknown. */
  readonly cost?: PinnedCost;
  /** Its place in the model's order, which routes share that the order prefers equally. */
  readonly rank: number;
  /** How many keys its upstream takes turns with. */
  readonly keys: number;
}

/** An upstream that is switched on. */
export type OpenUpstream = Pick<OpenProvider, 'provider' | 'origin'> &
  Partial<Pick<OpenProvider, 'proxy' | 'keyHealth'>>;

interface Routed {
  /** In the model's `order`; empty if no upstream of the model is switched on. */
  readonly routes: readonly Route[];
}

type Priced<Entry, Price> = Omit<Entry, 'price' | 'routes'> &
  Routed & {
    readonly price: Price;
    /** The price list of the account that set the price; absent: the price is that of the catalog. */
    readonly list?: StoredList;
  };

export interface TextModel extends Priced<TextEntry, TextPrice> {
  /** Whether one of its routes speaks the messages format; absent: no. */
  readonly messageFormat?: boolean;
  /** The price as JSON, as stored with every charge. */
  readonly prices: string;
}

export interface EmbeddingModel extends Priced<EmbeddingEntry, EmbeddingPrice> {
  /** The price as JSON, as stored with every charge. */
  readonly prices: string;
}

export interface ImageModel extends Priced<ImageEntry, ImagePrice> {
  /** The price as JSON, as stored with every charge. */
  readonly prices: string;
}

export interface VideoModel extends Priced<VideoEntry, VideoPrice> {}

export type Model = TextModel | EmbeddingModel | ImageModel | VideoModel;

export type ModelType = Model['type'];

/** The model of one type. */
export type ModelOf<Type extends ModelType> = Extract<Model, { readonly type: Type }>;

/** What the models of a catalog are built with. */
interface ModelSurroundings {
  /** Those that are switched on. */
  readonly upstreams: ReadonlyMap<string, OpenUpstream>;
  /** Those in force. */
  readonly rates: ReadonlyMap<string, Rate>;
  /** The markup of models without a price. */
  readonly pricing: MarkupEntry | undefined;
}

/** A model as the catalog states it, and how its price is stated. */
export interface BuiltModel {
  readonly model: Model;
  readonly entry: ModelEntry;
  /** What a derived price is made of: those of the routes that can be used, or of all if none can. */
  readonly costs: readonly PinnedCost[];
  readonly stated: StatedPrice;
}

/** `report` takes why the model has no price. */
export function buildModel(
  entry: ModelEntry,
  surroundings: ModelSurroundings,
  report: (problem: string) => void,
): BuiltModel {
  const { rates, pricing } = surroundings;
  const routes = buildRoutes(entry, surroundings);
  const usable = routes.flatMap(({ cost = [] }) => cost);
  const all = entry.routes.flatMap((route) => readCosts(entry.type, route, rates).cost ?? []);
  const costs = usable.length > 0 ? usable : all;
  const stated = resolvePrice(entry.type, entry.price, { costs, pricing });
  if (typeof stated !== 'string') return { model: withPrice({ ...entry, routes }, stated.price), entry, costs, stated };
  report(stated);
  const none = { statement: '', price: NO_PRICES[entry.type] };
  return { model: withPrice({ ...entry, routes }, none.price), entry, costs, stated: none };
}

/** Stands for the price of a model that is refused. */
const NO_PRICES: Readonly<Record<ModelType, PriceVector>> = {
  text: { input: 0n, output: 0n },
  embedding: { input: 0n },
  image: { request: 0n },
  video: { unit: 'request', request: 0n },
};

type Unpriced = Omit<ModelEntry, 'price' | 'routes'> & Routed;

/** The model at a price, which must be of its type; `list` has set it. */
export function withPrice(model: Unpriced, price: PriceVector, list?: StoredList): Model {
  const { routes } = model;
  if (model.type === 'video')
    return { ...(model as VideoEntry), routes, price: price as VideoPrice, ...(list && { list }) };
  const messageFormat = model.type === 'text' && routes.some(({ provider }) => provider.messageFormat === true);
  const prices = serializePrice(price as Exclude<PriceVector, VideoPrice>, list);
  return { ...model, price, prices, ...(list && { list }), ...(messageFormat && { messageFormat }) } as Model;
}

/** The model with only some of its routes. */
export function keepRoutes<Kind extends Model>(model: Kind, isKept: (route: Route) => boolean): Kind {
  const routes = model.routes.filter(isKept);
  if (routes.length === model.routes.length) return model;
  const messageFormat = routes.some(({ provider }) => provider.messageFormat === true);
  return { ...model, routes, ...('messageFormat' in model && { messageFormat }) };
}

/** What a provider must have for a model of a type. */
const CAPABILITIES = { text: 'text', embedding: 'embed', image: 'image', video: 'video' } as const;

function buildRoutes(model: ModelEntry, { upstreams, rates }: ModelSurroundings): readonly Route[] {
  const { type, order, off } = model;
  if (off) return [];
  const priced = model.routes.map((entry) => ({ ...entry, ...readCosts(type, entry, rates) }));
  const inOrder = order === 'price' ? priced.sort((one, other) => one.costRank - other.costRank) : priced;
  return inOrder.flatMap((entry, at) => {
    const { upstream, model: name, options, cost, costRank } = entry;
    const open = upstreams.get(upstream);
    if (!open?.provider[CAPABILITIES[type]]) return [];
    const { provider, origin, proxy } = open;
    const isPreferredEqually = (other: Costs) =>
      order === 'latency' || (order === 'price' && costRank !== UNKNOWN_COST && costRank === other.costRank);
    const rank = inOrder.findIndex((other, place) => place === at || isPreferredEqually(other));
    const keys = open.keyHealth?.().keys ?? 0;
    const key = `${type} ${upstream} ${name}`;
    return [{ upstream, key, provider, origin, proxy, model: name, options, ...(cost && { cost }), rank, keys }];
  });
}

/** Warnings of routes that are left out, because the plugin of their upstream does something else. */
export function warnOfUnableRoutes(
  models: readonly ModelEntry[],
  upstreams: ModelSurroundings['upstreams'],
): readonly string[] {
  return models.flatMap(({ id, type, off, routes }) => {
    const unable = routes.filter(({ upstream }) => upstreams.get(upstream)?.provider[CAPABILITIES[type]] === undefined);
    const names = off ? [] : unable.map(({ upstream }) => upstream).filter((upstream) => upstreams.has(upstream));
    return names.map((upstream) => `model ${id}: the plugin of its upstream ${upstream} has no models of type ${type}`);
  });
}

interface Costs {
  readonly cost: PinnedCost | undefined;
  /** What `order: price` compares; routes of unknown cost come last, as listed. */
  readonly costRank: number;
}

const UNKNOWN_COST = Number.POSITIVE_INFINITY;

function readCosts(type: ModelType, { cost: entry }: RouteEntry, rates: ReadonlyMap<string, Rate>): Costs {
  if (entry === undefined) return { cost: undefined, costRank: UNKNOWN_COST };
  if (typeof entry === 'string') return { cost: undefined, costRank: Number(readPrice(entry)) };
  const cost = pinCost(parseCost(type, entry), rates);
  return { cost, costRank: cost ? rankCost(cost) : UNKNOWN_COST };
}
