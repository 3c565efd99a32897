// Derived prices in catalog files: a markup on what the vendors charge, for one model or for all that have no price.
import Joi from 'joi';
import type { PinnedCost } from '../money/cost.ts';
import { derivePrice, findDearestMember, NO_MARKUP } from '../money/markup.ts';
import { AMOUNT_MAX, formatRub, type Micro, parseRub } from '../money/money.ts';
import type { PriceVector } from '../money/price.ts';
import { type cost, parsePrices } from './cost.ts';
import { type PriceEntry, price } from './price.ts';

/** What a derived price is made of. */
export interface MarkupEntry {
  /** Times the cost, a decimal string such as `1.3`. */
  readonly markup?: string;
  /** The step in RUB that a price is rounded up to. */
  readonly round?: string;
}

/** The price of a model: written, or derived; what it leaves out is that of the catalog. */
export type ModelPriceEntry<Written extends PriceEntry = PriceEntry> = Written | MarkupEntry | undefined;

/** The step of a derived price that names none. */
export const ROUND_BY_DEFAULT = '0.01';
const FACTOR_MAX = 1000n * NO_MARKUP;

/** A decimal string above zero that something is multiplied by. */
export const times = Joi.string().custom((value: string, helpers) => {
  const micro = parseRub(value);
  return micro !== undefined && micro > 0n && micro <= FACTOR_MAX ? value : helpers.error('markup.bad');
}, 'markup');

const markup = { markup: times, round: price };

/** The markup of all models without a price of their own. */
export const pricingEntry = Joi.object({ ...markup, markup: times.required() });

export const PRICING_MESSAGES = {
  'markup.bad': '{{#label}} must be a decimal string above zero, at most 1000, with at most 6 decimals, such as "1.3"',
};

/** A written price, or a derived one: an object with `markup` or `round`. */
export function createModelPrice(written: Joi.ObjectSchema): Joi.Schema {
  const isDerived = Joi.object({ markup: Joi.any(), round: Joi.any() }).or('markup', 'round').unknown().required();
  return Joi.alternatives().conditional(isDerived, {
    // biome-ignore lint/suspicious/noThenProperty: joi's own word
    then: Joi.object(markup),
    otherwise: written,
  });
}

/** A price as the catalog states it: what a later one is compared with. */
export interface StatedPrice {
  /** JSON of the entry; changes if its author changes the price, not if a cost or a rate moves it. */
  readonly statement: string;
  readonly price: PriceVector;
}

/** The prices in force before, by id of the model or by `nameListPrice`. */
export interface PricesBefore {
  /** If several are known, the one with this statement. */
  get(name: string, statement: string): StatedPrice | undefined;
}

/** What the price of a model is made of. */
interface PriceSources {
  readonly costs: readonly PinnedCost[];
  readonly pricing: MarkupEntry | undefined;
}

/** The price of a model; a text that says why there is none. */
export function resolvePrice(
  type: keyof typeof cost,
  entry: ModelPriceEntry,
  { costs, pricing }: PriceSources,
): StatedPrice | string {
  if (isWritten(entry)) return { statement: JSON.stringify([type, entry]), price: parsePrices(type, entry) };
  const { markup: factor, round = ROUND_BY_DEFAULT } = { ...pricing, ...entry };
  if (factor === undefined) return 'price is required: write one, or a "markup" in it or in "pricing"';
  const statement = JSON.stringify([type, { markup: factor, round }]);
  if (costs.length === 0) return 'price: none of its routes has a cost to derive it from: write a price, or a cost';
  const derived = derivePrice(costs, { factor: parseRub(factor) as bigint, step: parseRub(round) as Micro });
  if (!derived) return 'price: some of its routes cost per second and others per request: write a price';
  return isTooHigh(derived) ? `price: ${TOO_HIGH}` : { statement, price: derived };
}

/** Of a price that is computed. */
export const TOO_HIGH = `the result is above ${formatRub(AMOUNT_MAX)} RUB, the most that a price may be`;

export function isTooHigh(price: PriceVector): boolean {
  return findDearestMember(price) > AMOUNT_MAX;
}

function isWritten(entry: ModelPriceEntry): entry is PriceEntry {
  return entry !== undefined && !('markup' in entry) && !('round' in entry);
}
