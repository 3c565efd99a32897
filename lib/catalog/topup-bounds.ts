// The operator's bounds of automatic top-ups: orders per day, and the amounts that owners may choose.
import Joi from 'joi';
import { AMOUNT_MAX, KOPECK, MICRO_PER_RUB, type Micro, parseRub } from '../money/money.ts';

/** Inclusive; an amount without a maximum is bounded only by the payment provider. */
export interface SumBounds {
  readonly min: Micro;
  readonly max: Micro;
}

export interface TopupBounds {
  /** Orders started per day of the account's zone, whatever their outcome. */
  readonly perDay: number;
  readonly threshold: SumBounds;
  readonly amount: SumBounds;
  /** Per month. */
  readonly cap: SumBounds;
}

/** The bounds in a catalog file; amounts are decimal strings in RUB. */
export interface TopupEntry {
  readonly perDay?: number;
  readonly threshold?: SumEntry;
  readonly amount?: SumEntry;
  readonly cap?: SumEntry;
}

interface SumEntry {
  readonly min?: string;
  readonly max?: string;
}

/** The most that owners consent to, in words that are stored: a catalog that allows more changes nothing. */
const PER_DAY = 3;
const PER_DAY_MAX = 24;
const THRESHOLD_MAX = 1_000_000n * MICRO_PER_RUB;

const sum = Joi.string().custom((value: string, helpers) => {
  const micro = parseRub(value);
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX && micro % KOPECK === 0n
    ? value
    : helpers.error('sum.bad');
}, 'sum');

const sums = Joi.object({ min: sum, max: sum }).custom((entry: SumEntry, helpers) => {
  const { min, max } = readBounds(entry, AMOUNT_MAX);
  return min > max ? helpers.error('sum.empty') : entry;
}, 'bounds');

export const topupEntry = Joi.object({
  perDay: Joi.number().integer().min(1).max(PER_DAY_MAX),
  threshold: sums,
  amount: sums,
  cap: sums,
})
  .custom((entry: TopupEntry, helpers) => {
    const { amount, cap } = readTopupBounds(entry);
    return amount.min > cap.max ? helpers.error('cap.small') : entry;
  }, 'bounds')
  .messages({
    'sum.bad': '{{#label}} must be a decimal string of whole kopecks in RUB above zero, such as "1500"',
    'sum.empty': '{{#label}}.min must be at most {{#label}}.max',
    'cap.small': '{{#label}}.cap.max must be at least {{#label}}.amount.min',
  });

export function readTopupBounds({ perDay = PER_DAY, threshold, amount, cap }: TopupEntry = {}): TopupBounds {
  return {
    perDay: Math.min(perDay, PER_DAY),
    threshold: readBounds(threshold, THRESHOLD_MAX),
    amount: readBounds(amount, AMOUNT_MAX),
    cap: readBounds(cap, AMOUNT_MAX),
  };
}

/** Parses bounds that the schema has accepted. */
function readBounds({ min, max }: SumEntry = {}, most: Micro): SumBounds {
  return {
    min: min === undefined ? KOPECK : (parseRub(min) as Micro),
    max: max === undefined ? most : (parseRub(max) as Micro),
  };
}
