// The cost of a route in catalog files: what the vendor charges, in the shape of the model's price.
import Joi from 'joi';
import { convertToRub, type PinnedCost, type Rate, type RouteCost, serializeCost } from '../money/cost.ts';
import { AMOUNT_MAX, type Micro, parseRub } from '../money/money.ts';
import { findDearest, type PriceVector } from '../money/price.ts';
import {
  createPriceKeys,
  type EmbeddingPriceEntry,
  type ImagePriceEntry,
  type PriceEntry,
  parseEmbeddingPrice,
  parseImagePrice,
  parseTextPrice,
  parseVideoPrice,
  price,
  type TextPriceEntry,
  type VideoPriceEntry,
} from './price.ts';
import { currency } from './rates.ts';

/** Decimal strings in the vendor's currency, of text and embeddings per 1M tokens. */
export type CostEntry = { readonly currency: string } & PriceEntry;

/** Zero is allowed: the vendor does not charge for it. */
const amount = Joi.string().custom((value: string, helpers) => {
  const micro = parseRub(value);
  return micro !== undefined && micro >= 0n && micro <= AMOUNT_MAX ? value : helpers.error('cost.bad');
}, 'cost');

const keys = createPriceKeys(amount);

const priced = (prices: Joi.ObjectSchema) => prices.keys({ currency: currency.required() });

export const COST_MESSAGES = {
  'cost.bad': '{{#label}} must be a decimal string of zero or more with at most 6 decimals, such as "0.15"',
};

/** The `cost` of a route by model type; a string is only compared with those of the model's other routes. */
export const cost = {
  text: createCostSchema(keys.text),
  embedding: createCostSchema(keys.embedding),
  image: createCostSchema(keys.image),
  video: createCostSchema(keys.video),
};

/** By upstream and its own name for a model: the costs of routes that state none themselves. */
export type CostsEntry = Readonly<Record<string, Readonly<Record<string, CostEntry>>>>;

const has = (name: string) => Joi.object({ [name]: Joi.exist() }).unknown();

/** The type of an entry follows from the prices that it has. */
// biome-ignore-start lint/suspicious/noThenProperty: joi's own word
const costOfAnyType = Joi.alternatives().conditional(has('output'), {
  then: priced(keys.text),
  otherwise: Joi.alternatives().conditional(has('second'), {
    then: priced(keys.video),
    otherwise: Joi.alternatives().conditional(has('request'), {
      then: priced(keys.image),
      otherwise: priced(keys.embedding),
    }),
  }),
});
// biome-ignore-end lint/suspicious/noThenProperty: joi's own word

const name = Joi.string().max(200);
export const costsEntry = Joi.object().pattern(name, Joi.object().pattern(name, costOfAnyType));

/** Whether a cost that the schema has accepted is one of this type. */
export function isCostOfType(type: keyof typeof cost, entry: CostEntry): boolean {
  return priced(keys[type]).validate(entry).error === undefined;
}

function createCostSchema(prices: Joi.ObjectSchema): Joi.Schema {
  return Joi.alternatives().conditional(Joi.object().unknown(), {
    // biome-ignore lint/suspicious/noThenProperty: joi's own word
    then: priced(prices),
    otherwise: price,
  });
}

/** Parses a cost that the schema has accepted. */
export function parseCost(type: keyof typeof cost, { currency: name, ...entry }: CostEntry): RouteCost {
  return { currency: name, prices: parsePrices(type, entry as PriceEntry) };
}

/** Parses prices that the schema has accepted. */
export function parsePrices(type: keyof typeof cost, entry: PriceEntry): PriceVector {
  switch (type) {
    case 'text':
      return parseTextPrice(entry as TextPriceEntry);
    case 'embedding':
      return parseEmbeddingPrice(entry as EmbeddingPriceEntry);
    case 'image':
      return parseImagePrice(entry as ImagePriceEntry);
    case 'video':
      return parseVideoPrice(entry as VideoPriceEntry);
  }
}

/** A cost with its rate; undefined if its currency has none. */
export function pinCost(known: RouteCost, rates: ReadonlyMap<string, Rate>): PinnedCost | undefined {
  const rate = rates.get(known.currency);
  return rate && { ...known, rate, stored: serializeCost(known.prices) };
}

/** What routes of a model are compared by: of text, an input and an output token; of videos, the dearest resolution. */
export function rankCost({ prices, rate }: PinnedCost): number {
  return Number(convertToRub(sumPrices(prices), rate.rub));
}

function sumPrices(prices: PriceVector): Micro {
  if ('byResolution' in prices) return findDearest([...prices.byResolution.values()]);
  if ('second' in prices) return prices.second;
  if ('request' in prices) return prices.request;
  return 'output' in prices ? prices.input + prices.output : prices.input;
}
