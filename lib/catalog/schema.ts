// The schema of a catalog file: one shape per model type.
import Joi from 'joi';
import type { SmartThresholds, SmartTier } from '../base/smart-tiers.ts';
import { COST_MESSAGES, type CostEntry, type CostsEntry, cost, costsEntry } from './cost.ts';
import { PRICE_LIST_MESSAGES, type PriceListsEntry, priceListsEntry } from './customer-lists.ts';
import { createModelPrice, type MarkupEntry, type ModelPriceEntry, PRICING_MESSAGES, pricingEntry } from './markup.ts';
import { type OverridesEntry, overridesEntry } from './overrides.ts';
import {
  createPriceKeys,
  type EmbeddingPriceEntry,
  type ImagePriceEntry,
  PRICE_MESSAGES,
  price,
  type TextPriceEntry,
  type VideoPriceEntry,
} from './price.ts';
import { type RatesEntry, ratesEntry } from './rates.ts';
import { type TopupEntry, topupEntry } from './topup-bounds.ts';

export interface CatalogFile {
  readonly upstreams: Readonly<Record<string, UpstreamEntry>>;
  readonly payments: Readonly<Record<string, PaymentEntry>>;
  /** Absent for the default bounds. */
  readonly autoTopup?: TopupEntry;
  readonly models: readonly ModelEntry[];
  /** Of routes that state no cost themselves; the costs of `models` contain them already. */
  readonly costs?: CostsEntry;
  /** By currency. */
  readonly rates?: RatesEntry;
  /** The markup of models without a price; absent: each needs one. */
  readonly pricing?: MarkupEntry;
  /** What other files say of models; the entries of `models` contain it already. */
  readonly overrides?: OverridesEntry;
  /** What accounts on a price list pay. */
  readonly priceLists?: PriceListsEntry;
  readonly smart: SmartEntry;
  readonly vision: readonly string[];
  /** True if these models also answer keys that are limited to other models. */
  readonly visionBeyondLimits?: boolean;
  readonly defaults: { readonly image: readonly string[]; readonly edit: readonly string[] };
  /** Retired id → the id to use instead. */
  readonly retired: Readonly<Record<string, string>>;
  /** The file of each entry (`upstreams.one`, `models[0]`, `smart.lite.name`), for error messages. */
  readonly sources?: ReadonlyMap<string, string>;
}

/** Adds the file of an entry to the description of a mistake. */
export function describeMistake({ sources }: Pick<CatalogFile, 'sources'>, entry: string, mistake: string): string {
  const path = sources?.get(entry);
  return path === undefined ? mistake : `${path}: ${mistake}`;
}

/** Model ids or aliases of each tier, in order of preference. */
export interface SmartEntry extends Readonly<Record<SmartTier, readonly string[]>> {
  /** Absent for the router's defaults. */
  readonly thresholds?: SmartThresholds;
}

export interface UpstreamEntry {
  readonly plugin: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** True for an upstream that is switched on in sandbox mode only. */
  readonly sandbox: boolean;
}

/** An account with a payment provider. */
export interface PaymentEntry extends UpstreamEntry {
  /** What happens to an account that has already spent money which is then taken back. */
  readonly shortfall: (typeof SHORTFALL_RULES)[number];
}

const SHORTFALL_RULES = ['suspend', 'keep'] as const;

export interface RouteEntry {
  readonly upstream: string;
  /** The upstream's own name for the model. */
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** What the upstream charges; a string is only compared with those of the model's other routes. */
  readonly cost?: string | CostEntry;
}

/** Which route of a model is tried first: the first in the list, the cheapest, or the fastest. */
export const ORDERS = ['listed', 'price', 'latency'] as const;

interface ModelBase {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly provider: string;
  readonly order: (typeof ORDERS)[number];
  /** True: may be sold below cost; `vision`: only answers to images, by other models. Absent: never. */
  readonly loss?: boolean | 'vision';
  /** `raise`: if a cost or a rate moves the price below the cost, it becomes the cost; absent: it stays. */
  readonly onLoss?: 'raise';
  /** True: it is not sold, and has no usable route. Absent: it is. */
  readonly off?: boolean;
  readonly routes: readonly RouteEntry[];
}

export interface TextEntry extends ModelBase {
  readonly type: 'text';
  /** `stream`: token by token; `buffered`: a subscription proxy that answers in full and reports no usage. */
  readonly delivery: 'stream' | 'buffered';
  readonly price?: ModelPriceEntry<TextPriceEntry>;
  /** Tokens of a prompt and its answer together, for clients to read; absent: unknown. */
  readonly context?: number;
  /** Tokens of an answer, reasoning included, of which no more are held and asked for; absent: unknown. */
  readonly maxOutput?: number;
  /** Understands images, and answers calls with images itself. */
  readonly vision: boolean;
  /** Supports tools. */
  readonly tools: boolean;
  /** Whether `tool_choice` may require a call, or only one of a certain tool (`named`); defaults to `tools`. */
  readonly demands: boolean | 'named';
  /** Supports JSON answers. */
  readonly json: boolean;
  /** Supports JSON schemas; defaults to `json`. */
  readonly schema: boolean;
  readonly reasoning: boolean;
  /** Takes documents; absent: no. */
  readonly documents?: boolean;
  /** Takes audio; absent: no. */
  readonly audio?: boolean;
  /** Gets the client's sampling parameters, such as the temperature; absent: no. */
  readonly sampling?: boolean;
  /** Until the first content of its answers; absent: the gateway's own time-out, longer for a model that reasons. */
  readonly firstTokenMs?: number;
  /** `auto`: prompts are marked for the vendor's cache where the client marks nothing; absent: they go as they are. */
  readonly cache?: 'auto';
  /** The maximum number of tokens that the upstream adds to a prompt; a usual number by default. */
  readonly upstreamAdditions?: number;
}

export interface EmbeddingEntry extends ModelBase {
  readonly type: 'embedding';
  readonly price?: ModelPriceEntry<EmbeddingPriceEntry>;
  /** The lengths of its vectors; absent: unknown, so that every wish travels to the upstream. */
  readonly dimensions?: Dimensions;
  /** Inputs of one call. */
  readonly maxInputs: number;
  /** Tokens of one input, for information only; absent: unknown. */
  readonly context?: number;
  /** Takes inputs that the client has cut into tokens. */
  readonly tokens: boolean;
}

/** A client may choose from `min` to `max`, if the model has both; otherwise all vectors have the default length. */
export interface Dimensions {
  readonly default: number;
  readonly min?: number;
  readonly max?: number;
}

export interface ImageEntry extends ModelBase {
  readonly type: 'image';
  readonly price?: ModelPriceEntry<ImagePriceEntry>;
  /** Supports edits. */
  readonly edits: boolean;
}

export interface VideoEntry extends ModelBase {
  readonly type: 'video';
  readonly price?: ModelPriceEntry<VideoPriceEntry>;
  /** The supported durations; all that the endpoint accepts by default. */
  readonly seconds?: readonly number[];
  /** The supported aspects; all of the endpoint by default. */
  readonly aspects?: readonly string[];
}

export type ModelEntry = TextEntry | EmbeddingEntry | ImageEntry | VideoEntry;

/** Not empty: joi refuses empty strings by default. */
const name = Joi.string().max(200);
const names = Joi.array().items(name);
const flag = Joi.boolean().default(false);

const prices = createPriceKeys(price);
const prefs = {
  abortEarly: false,
  convert: false,
  errors: { wrap: { label: false } },
  messages: { ...PRICE_MESSAGES, ...COST_MESSAGES, ...PRICING_MESSAGES, ...PRICE_LIST_MESSAGES },
} as const;

/** The price of a model by its type. */
export const modelPrices: Readonly<Record<ModelEntry['type'], Joi.Schema>> = {
  text: createModelPrice(prices.text).prefs(prefs),
  embedding: createModelPrice(prices.embedding).prefs(prefs),
  image: createModelPrice(prices.image).prefs(prefs),
  video: createModelPrice(prices.video).prefs(prefs),
};

const base = {
  id: name.required(),
  aliases: names.default([]),
  provider: Joi.string().required(),
  order: Joi.valid(...ORDERS).default('listed'),
  loss: Joi.boolean(),
  onLoss: Joi.valid('raise'),
  off: Joi.boolean(),
};

function createRoutes(type: keyof typeof cost): Joi.Schema {
  const route = Joi.object({
    upstream: name.required(),
    model: name.required(),
    options: Joi.object().unknown(true).default({}),
    cost: cost[type],
  });
  return Joi.array().items(route).required();
}

/** Routes of a model by its type. */
export const modelRoutes: Readonly<Record<ModelEntry['type'], Joi.Schema>> = {
  text: createRoutes('text').prefs(prefs),
  embedding: createRoutes('embedding').prefs(prefs),
  image: createRoutes('image').prefs(prefs),
  video: createRoutes('video').prefs(prefs),
};

const text = Joi.object({
  ...base,
  type: Joi.valid('text').required(),
  loss: Joi.valid(true, false, 'vision'),
  routes: createRoutes('text'),
  price: createModelPrice(prices.text),
  delivery: Joi.valid('stream', 'buffered').default('stream'),
  context: Joi.number().integer().min(1),
  maxOutput: Joi.number().integer().min(1),
  vision: flag,
  tools: flag,
  demands: Joi.valid(true, false, 'named').default(Joi.ref('tools')),
  json: flag,
  schema: Joi.boolean().default(Joi.ref('json')),
  reasoning: flag,
  documents: Joi.boolean(),
  audio: Joi.boolean(),
  sampling: Joi.boolean(),
  firstTokenMs: Joi.number().integer().min(1),
  cache: Joi.valid('auto'),
  upstreamAdditions: Joi.number().integer().min(0),
});

/** Inputs of one call, by the format of the endpoint. */
export const INPUTS_MAX = 2048;
/** More than any model has. */
export const DIMENSIONS_MAX = 65_536;

const length = Joi.number().integer().min(1).max(DIMENSIONS_MAX);

const embedding = Joi.object({
  ...base,
  type: Joi.valid('embedding').required(),
  routes: createRoutes('embedding'),
  price: createModelPrice(prices.embedding),
  dimensions: Joi.object({
    default: length.required(),
    min: length.max(Joi.ref('default')),
    max: length.min(Joi.ref('default')),
  }).and('min', 'max'),
  maxInputs: Joi.number().integer().min(1).max(INPUTS_MAX).default(INPUTS_MAX),
  context: Joi.number().integer().min(1),
  tokens: flag,
});

const image = Joi.object({
  ...base,
  type: Joi.valid('image').required(),
  routes: createRoutes('image'),
  price: createModelPrice(prices.image),
  edits: flag,
});

const video = Joi.object({
  ...base,
  type: Joi.valid('video').required(),
  routes: createRoutes('video'),
  price: createModelPrice(prices.video),
  seconds: Joi.array().items(Joi.number().integer().min(1)).min(1),
  aspects: names.min(1),
});

const tier = Joi.alternatives(name, names.min(1));
const score = Joi.number().min(0).max(100).required();
const thresholds = Joi.object({
  standard: score,
  heavy: score
    .greater(Joi.ref('standard'))
    .messages({ 'number.greater': '{{#label}} must be above smart.thresholds.standard' }),
});

const pluginEntry = {
  plugin: name.required(),
  settings: Joi.object().unknown(true).default({}),
  sandbox: Joi.boolean().default(false),
};

/** The name is part of paths and of the ids of ledger entries. */
const paymentName = Joi.string().pattern(/^[a-z0-9-]{1,40}$/, 'lower-case letters, digits and dashes');

export const catalogFile: Joi.ObjectSchema<Partial<CatalogFile>> = Joi.object({
  upstreams: Joi.object().pattern(name, Joi.object(pluginEntry)),
  payments: Joi.object().pattern(
    paymentName,
    Joi.object({ ...pluginEntry, shortfall: Joi.valid(...SHORTFALL_RULES).default('suspend') }),
  ),
  autoTopup: topupEntry,
  models: Joi.array().items(
    Joi.alternatives().conditional('.type', {
      switch: [
        // biome-ignore-start lint/suspicious/noThenProperty: joi's own word
        { is: 'text', then: text },
        { is: 'embedding', then: embedding },
        { is: 'image', then: image },
        { is: 'video', then: video },
        // biome-ignore-end lint/suspicious/noThenProperty: joi's own word
      ],
      otherwise: Joi.object({ type: Joi.valid('text', 'embedding', 'image', 'video').required() }).unknown(),
    }),
  ),
  rates: ratesEntry,
  costs: costsEntry,
  pricing: pricingEntry,
  priceLists: priceListsEntry,
  smart: Joi.object({ lite: tier, standard: tier, heavy: tier, thresholds }),
  vision: names,
  visionBeyondLimits: Joi.boolean(),
  defaults: Joi.object({ image: names, edit: names }),
  retired: Joi.object().pattern(name, name),
  overrides: overridesEntry,
}).prefs(prefs);
