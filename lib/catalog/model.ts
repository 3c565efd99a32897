// The models of a catalog: one shape per type, with usable routes and numeric prices.
import type { EmbeddingPrice, ImagePrice, TextPrice, VideoPrice } from '../money/price.ts';
import { serializePrice } from '../money/stored-price.ts';
import type { Provider } from '../upstream/contract/provider.ts';
import type { OpenProvider } from '../upstream/host/settings.ts';
import { parseTextPrice, readPrice } from './price.ts';
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

export function buildModel(entry: ModelEntry, upstreams: ReadonlyMap<string, OpenUpstream>): Model {
  const routes = buildRoutes(entry, upstreams);
  switch (entry.type) {
    case 'text': {
      const price = parseTextPrice(entry.price);
      const messageFormat = routes.some(({ provider }) => provider.messageFormat === true);
      return { ...entry, routes, price, prices: serializePrice(price), ...(messageFormat && { messageFormat }) };
    }
    case 'embedding': {
      const price = { input: readPrice(entry.price.input) };
      return { ...entry, routes, price, prices: serializePrice(price) };
    }
    case 'image': {
      const price = { request: readPrice(entry.price.request) };
      return { ...entry, routes, price, prices: serializePrice(price) };
    }
    case 'video':
      return { ...entry, routes, price: readVideoPrice(entry.price) };
  }
}

/** What a provider must have for a model of a type. */
const CAPABILITIES = { text: 'text', embedding: 'embed', image: 'image', video: 'video' } as const;

function buildRoutes(
  { type, order, routes }: ModelEntry,
  upstreams: ReadonlyMap<string, OpenUpstream>,
): readonly Route[] {
  const inOrder = order === 'price' ? [...routes].sort((one, other) => costRank(one) - costRank(other)) : routes;
  return inOrder.flatMap((entry: RouteEntry, at) => {
    const { upstream, model, options } = entry;
    const open = upstreams.get(upstream);
    if (!open?.provider[CAPABILITIES[type]]) return [];
    const { provider, origin, proxy } = open;
    const rank = inOrder.findIndex((other, place) => place === at || isPreferredEqually(order, entry, other));
    const keys = open.keyHealth?.().keys ?? 0;
    return [{ upstream, key: `${type} ${upstream} ${model}`, provider, origin, proxy, model, options, rank, keys }];
  });
}

/** Routes of unknown cost stay as listed. */
function isPreferredEqually(order: ModelEntry['order'], one: RouteEntry, other: RouteEntry): boolean {
  if (order === 'price') return one.cost !== undefined && other.cost !== undefined && costRank(one) === costRank(other);
  return order === 'latency';
}

/** Routes of unknown cost come last. */
function costRank({ cost }: RouteEntry): number {
  return cost === undefined ? Number.POSITIVE_INFINITY : Number(readPrice(cost));
}

function readVideoPrice(price: VideoEntry['price']): VideoPrice {
  if ('request' in price) return { unit: 'request', request: readPrice(price.request) };
  if (typeof price.second === 'string') return { unit: 'second', second: readPrice(price.second) };
  const labels = Object.entries(price.second).map(([label, text]) => [label, readPrice(text)] as const);
  return { unit: 'second', byResolution: new Map(labels) };
}
