// Prices in catalog files: decimal strings in RUB, and the prices of a text model with its bands.
import Joi from 'joi';
import { AMOUNT_MAX, type Micro, parseRub } from '../money/money.ts';
import { type TextPrice, TOKEN_RATES, type TokenRates } from '../money/price.ts';

/** Prices in RUB per 1M tokens, as decimal strings. An absent cache price is the input price. */
interface TokenRatesEntry {
  readonly input: string;
  readonly output: string;
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
interface PriceBandEntry extends TokenRatesEntry {
  /** Prompt tokens. */
  readonly above: number;
}

/** A decimal string in RUB above zero. */
export const price = Joi.string().custom((value: string, helpers) => {
  const micro = parseRub(value);
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX ? value : helpers.error('price.bad');
}, 'price');

const rates = {
  input: price.required(),
  output: price.required(),
  cacheRead: price,
  cacheWrite: price,
  cacheWrite1h: price,
};

const band = Joi.object({ above: Joi.number().integer().min(1).required(), ...rates });

export const textPrice = Joi.object({
  ...rates,
  bands: Joi.array()
    .items(band)
    .min(1)
    .custom((bands: readonly PriceBandEntry[], helpers) => {
      const isAscending = bands.every(({ above }, at) => above > (bands[at - 1]?.above ?? 0));
      return isAscending ? bands : helpers.error('bands.order');
    }, 'ascending bands'),
});

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
