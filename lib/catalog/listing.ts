// The entries of `GET /api/v1/models` and `/api/v1/models/{id}`: the models that a key can use, with current prices.
import { SMART_ALIASES, SMART_ID, SMART_NAMES } from '../base/smart-tiers.ts';
import { allowsModel, type KeyLimits, NO_LIMITS } from '../money/key-limits.ts';
import { toRub } from '../money/money.ts';
import { type PriceBand, TEXT_MINIMUM, type TokenRates, type VideoPrice } from '../money/price.ts';
import type { Catalog, SmartModel } from './catalog.ts';
import { findUsableModel, notAllowedFault, refuseModel } from './lookup.ts';
import type { EmbeddingModel, ImageModel, Model, ModelType, TextModel, VideoModel } from './model.ts';
import { findNearestResolution, parseShortSide, RESOLUTION_DEFAULT } from './resolution.ts';
import type { Dimensions } from './schema.ts';
import { listTextFacts, type TextFacts } from './text-facts.ts';

/** One element of `data`. */
export type ModelListing = TextListing | SmartListing | EmbeddingListing | MediaListing;

interface ListingBase {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly type: Model['type'];
  readonly endpoint: string;
  /** The unit of `price_rub`. */
  readonly unit: '1M_tokens' | 'request' | 'second';
  readonly provider: string;
}

/** Prices in RUB per 1M tokens. */
interface TextListing extends ListingBase, TokenPrices, TextFacts {
  readonly price_rub: number;
  readonly min_rub: number;
  /** Only for a model with other prices for long prompts; ascending. */
  readonly price_bands?: readonly PriceBandListing[];
}

/** Prices of audio and the cache only where the model has them. */
interface TokenPrices {
  readonly input_price_rub: number;
  readonly output_price_rub: number;
  readonly audio_price_rub?: number;
  readonly cache_read_price_rub?: number;
  readonly cache_write_price_rub?: number;
  readonly cache_write_1h_price_rub?: number;
}

/** The prices of all tokens of a call with a longer prompt. */
interface PriceBandListing extends TokenPrices {
  readonly above_tokens: number;
}

/** Without a price: a call is billed at the price of the model it is routed to. */
interface SmartListing extends ListingBase {
  readonly price_rub: null;
  readonly min_rub: number;
  readonly description: string;
}

/** The price in RUB per 1M tokens. */
interface EmbeddingListing extends ListingBase {
  readonly price_rub: number;
  readonly input_price_rub: number;
  readonly min_rub: number;
  readonly max_inputs: number;
  /** The length of a vector, and what else may be asked for; absent if unknown. */
  readonly dimensions?: Dimensions;
  /** Tokens of one input; absent if unknown. */
  readonly context_length?: number;
}

/** Images in RUB per image; videos in RUB per second or per request. */
interface MediaListing extends ListingBase {
  readonly price_rub: number;
  /** For a video model priced by resolution: RUB per second by label. */
  readonly price_rub_by_resolution?: Readonly<Record<string, number>>;
}

/** Model types with an endpoint; models of other types are not listed. */
const SERVED: ReadonlySet<ModelType> = new Set(['text', 'embedding', 'image', 'video']);

/** The models that the key may be used for. */
export function listModels(
  { models, smart }: Catalog,
  { limits = NO_LIMITS, served = SERVED }: { limits?: KeyLimits; served?: ReadonlySet<ModelType> } = {},
): readonly ModelListing[] {
  const isListed = (model: Model) => served.has(model.type) && model.routes.length > 0 && allowsModel(limits, model);
  const listed = models.filter(isListed).map(listModel);
  return smart && allowsSmart(limits, smart) ? [...listed, SMART_LISTING] : listed;
}

/**
 * The entry of one id or alias. Throws 404 for a name that is not listed, 400 for a retired one, and 403 for a model
 * that the key may not be used for.
 */
export function listOne(catalog: Catalog, name: string, limits: KeyLimits = NO_LIMITS): ModelListing {
  if (catalog.smart && SMART_NAMES.has(name)) {
    if (!allowsSmart(limits, catalog.smart)) throw notAllowedFault(limits, SMART_ID);
    return SMART_LISTING;
  }
  const model = findUsableModel(catalog, name);
  refuseModel(limits, model);
  return listModel(model);
}

function allowsSmart(limits: KeyLimits, { models }: SmartModel): boolean {
  return Object.values(models).some((model) => allowsModel(limits, model));
}

const SMART_LISTING: SmartListing = {
  id: SMART_ID,
  aliases: SMART_ALIASES,
  type: 'text',
  endpoint: '/v1/messages',
  unit: '1M_tokens',
  price_rub: null,
  min_rub: toRub(TEXT_MINIMUM),
  provider: 'Tollgate',
  description: "Automatic selection by complexity (lite/standard/heavy), billed at the routed model's price.",
};

function listModel(model: Model): ModelListing {
  switch (model.type) {
    case 'text':
      return listTextModel(model);
    case 'embedding':
      return listEmbeddingModel(model);
    case 'image':
      return listImageModel(model);
    case 'video':
      return listVideoModel(model);
  }
}

function listTextModel(model: TextModel): TextListing {
  const { id, aliases, provider, price } = model;
  return {
    id,
    aliases,
    type: 'text',
    endpoint: '/v1/messages',
    unit: '1M_tokens',
    price_rub: toRub(price.input),
    input_price_rub: toRub(price.input),
    output_price_rub: toRub(price.output),
    min_rub: toRub(TEXT_MINIMUM),
    provider,
    ...listOptionalPrices(price),
    ...(price.bands && { price_bands: price.bands.map(listPriceBand) }),
    ...listTextFacts(model),
  };
}

function listPriceBand(band: PriceBand): PriceBandListing {
  const own = { input_price_rub: toRub(band.input), output_price_rub: toRub(band.output) };
  return { above_tokens: band.above, ...own, ...listOptionalPrices(band) };
}

function listOptionalPrices({ audio, cacheRead, cacheWrite, cacheWrite1h }: TokenRates) {
  return {
    ...(audio !== undefined && { audio_price_rub: toRub(audio) }),
    ...(cacheRead !== undefined && { cache_read_price_rub: toRub(cacheRead) }),
    ...(cacheWrite !== undefined && { cache_write_price_rub: toRub(cacheWrite) }),
    ...(cacheWrite1h !== undefined && { cache_write_1h_price_rub: toRub(cacheWrite1h) }),
  };
}

function listEmbeddingModel({ id, aliases, provider, price, ...model }: EmbeddingModel): EmbeddingListing {
  const { maxInputs, dimensions, context } = model;
  return {
    id,
    aliases,
    type: 'embedding',
    endpoint: '/v1/embeddings',
    unit: '1M_tokens',
    price_rub: toRub(price.input),
    input_price_rub: toRub(price.input),
    min_rub: toRub(TEXT_MINIMUM),
    max_inputs: maxInputs,
    ...(dimensions && { dimensions }),
    ...(context !== undefined && { context_length: context }),
    provider,
  };
}

function listImageModel({ id, aliases, provider, price }: ImageModel): MediaListing {
  const endpoint = '/v1/images/generations';
  return { id, aliases, type: 'image', endpoint, unit: 'request', price_rub: toRub(price.request), provider };
}

function listVideoModel({ id, aliases, provider, price }: VideoModel): MediaListing {
  const { unit } = price;
  return { id, aliases, type: 'video', endpoint: '/v1/videos', unit, ...listVideoPrice(price), provider };
}

/** For a model priced by resolution, `price_rub` is the price of the default resolution. */
function listVideoPrice(price: VideoPrice): Pick<MediaListing, 'price_rub' | 'price_rub_by_resolution'> {
  if ('request' in price) return { price_rub: toRub(price.request) };
  if ('second' in price) return { price_rub: toRub(price.second) };
  const { byResolution } = price;
  const label = findNearestResolution(byResolution.keys(), parseShortSide(RESOLUTION_DEFAULT));
  return {
    price_rub: toRub(byResolution.get(label ?? '') ?? 0n),
    price_rub_by_resolution: Object.fromEntries([...byResolution].map(([name, micro]) => [name, toRub(micro)])),
  };
}
