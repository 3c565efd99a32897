// Prices in catalog files: decimal strings, in one shape per model type, with the bands of a text model.
import Joi from 'joi';
import { AMOUNT_MAX, type Micro, parseRub } from '../money/money.ts';
import {
  type EmbeddingPrice,
  type ImagePrice,
  type TextPrice,
  TOKEN_RATES,
  type TokenRates,
  type VideoPrice,
} from '../money/price.ts';
import { RESOLUTION_LABEL } from './resolution.ts';

/** Prices per 1M tokens, as decimal strings. An absent price of audio or of a cache is the input price. */
interface TokenRatesEntry {
  readonly input: string;
  readonly output: string;
  /** Prompt tokens of recordings. */
  readonly audio?: string;
  /** Prompt tokens that were read from the vendor's cache. */
  readonly cacheRead?: string;
  /** Prompt tokens that were written to it for some minutes. */
  readonly cacheWrite?: string;
  /** The same for an hour. */
  readonly cacheWrite1h?: string;
}

export interface TextPriceEntry extends TokenRatesEntry {
  /** In ascending order. */
  readonly bands?: readonly PriceBandEntry[];
}

/** The prices of all tokens of a call whose whole prompt, cached part included, is longer than `above`. */
export interface PriceBandEntry extends TokenRatesEntry {
  /** Prompt tokens. */
  readonly above: number;
}

export interface EmbeddingPriceEntry {
  readonly input: string;
}

export interface ImagePriceEntry {
  readonly request: string;
}

/** Per second (one price, or by resolution label), or per request. */
export type VideoPriceEntry =
  | { readonly second: string | Readonly<Record<string, string>> }
  | { readonly request: string };

export type PriceEntry = TextPriceEntry | EmbeddingPriceEntry | ImagePriceEntry | VideoPriceEntry;

/** A decimal string in RUB above zero. */
export const price = Joi.string().custom((value: string, helpers) => {
  const micro = parseRub(value);
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX ? value : helpers.error('price.bad');
}, 'price');

/** The keys of a price by model type, each of them an `amount`. */
export function createPriceKeys(amount: Joi.Schema) {
  const rates = {
    input: amount.required(),
    output: amount.required(),
    audio: amount,
    cacheRead: amount,
    cacheWrite: amount,
    cacheWrite1h: amount,
  };
  const band = Joi.object({ above: Joi.number().integer().min(1).required(), ...rates });
  const bands = Joi.array()
    .items(band)
    .min(1)
    .custom((listed: readonly PriceBandEntry[], helpers) => {
      const isAscending = listed.every(({ above }, at) => above > (listed[at - 1]?.above ?? 0));
      return isAscending ? listed : helpers.error('bands.order');
    }, 'ascending bands');
  const byResolution = Joi.object().pattern(Joi.string().pattern(RESOLUTION_LABEL), amount).min(1);
  return {
    text: Joi.object({ ...rates, bands }),
    embedding: Joi.object({ input: amount.required() }),
    image: Joi.object({ request: amount.required() }),
    video: Joi.object({ second: Joi.alternatives(amount, byResolution), request: amount }).xor('second', 'request'),
  };
}

export const PRICE_MESSAGES = {
  'price.bad': '{{#label}} must be a decimal string in RUB above zero with at most 6 decimals, such as "12.5"',
  'bands.order': '{{#label}} must be in ascending order of "above", without repeats',
};

/** Parses a price that the schema has accepted. */
export function readPrice(decimal: string): Micro {
  return parseRub(decimal) as Micro;
}

/** Parses prices that the schema has accepted. */
export function parseTextPrice({ bands, ...entry }: TextPriceEntry): TextPrice {
  const read = bands?.map(({ above, ...rest }) => ({ above, ...readRates(rest) }));
  return { ...readRates(entry), ...(read && { bands: read }) };
}

/** Absent prices stay absent. */
function readRates(entry: TokenRatesEntry): TokenRates {
  const found = TOKEN_RATES.flatMap((name) => {
    const decimal = entry[name];
    return decimal === undefined ? [] : [[name, readPrice(decimal)] as const];
  });
  return Object.fromEntries(found) as unknown as TokenRates;
}

export function parseEmbeddingPrice({ input }: EmbeddingPriceEntry): EmbeddingPrice {
  return { input: readPrice(input) };
}

export function parseImagePrice({ request }: ImagePriceEntry): ImagePrice {
  return { request: readPrice(request) };
}

export function parseVideoPrice(entry: VideoPriceEntry): VideoPrice {
  if ('request' in entry) return { unit: 'request', request: readPrice(entry.request) };
  if (typeof entry.second === 'string') return { unit: 'second', second: readPrice(entry.second) };
  const labels = Object.entries(entry.second).map(([label, text]) => [label, readPrice(text)] as const);
  return { unit: 'second', byResolution: new Map(labels) };
}
