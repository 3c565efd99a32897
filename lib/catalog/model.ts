// The models of a catalog: one shape per type, with usable routes and numeric prices.
import type { PinnedCost, Rate } from '../money/cost.ts';
import type { EmbeddingPrice, ImagePrice, TextPrice, VideoPrice } from '../money/price.ts';
import { serializePrice } from '../money/stored-price.ts';
import type { Provider } from '../upstream/contract/provider.ts';
import type { OpenProvider } from '../upstream/host/settings.ts';
import { parseCost, pinCost, rankCost } from './cost.ts';
import { parseEmbeddingPrice, parseImagePrice, parseTextPrice, parseVideoPrice, readPrice } from './price.ts';
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

type Priced<Entry, Price> = Omit<Entry, 'price' | 'routes'> & Routed & { readonly price: Price };

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
export interface ModelSurroundings {
  /** Those that are switched on. */
  readonly upstreams: ReadonlyMap<string, OpenUpstream>;
  /** Those in force. */
  readonly rates: ReadonlyMap<string, Rate>;
}

export function buildModel(entry: ModelEntry, surroundings: ModelSurroundings): Model {
  const routes = buildRoutes(entry, surroundings);
  switch (entry.type) {
    case 'text': {
      const price = parseTextPrice(entry.price);
      const messageFormat = routes.some(({ provider }) => provider.messageFormat === true);
      return { ...entry, routes, price, prices: serializePrice(price), ...(messageFormat && { messageFormat }) };
    }
    case 'embedding': {
      const price = parseEmbeddingPrice(entry.price);
      return { ...entry, routes, price, prices: serializePrice(price) };
    }
    case 'image': {
      const price = parseImagePrice(entry.price);
      return { ...entry, routes, price, prices: serializePrice(price) };
    }
    case 'video':
      return { ...entry, routes, price: parseVideoPrice(entry.price) };
  }
}

/** What a provider must have for a model of a type. */
const CAPABILITIES = { text: 'text', embedding: 'embed', image: 'image', video: 'video' } as const;

function buildRoutes(model: ModelEntry, { upstreams, rates }: ModelSurroundings): readonly Route[] {
  const { type, order } = model;
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
