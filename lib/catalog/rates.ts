// Exchange rates in catalog files: what a unit of a vendor's currency costs in RUB, and since which day.
import Joi from 'joi';
import { HOME_CURRENCY, type Rate } from '../money/cost.ts';
import { findDayStart, parseDay } from '../money/days.ts';
import { DEFAULT_ZONE } from '../money/key-limits.ts';
import { MICRO_PER_RUB, type Micro, parseRub } from '../money/money.ts';

interface RateEntry {
  /** A decimal string in RUB. */
  readonly rub: string;
  /** The first day of the rate in Moscow, such as `2026-11-26`. */
  readonly from: string;
}

/** The rates of each currency: one, or several from different days on. */
export type RatesEntry = Readonly<Record<string, RateEntry | readonly RateEntry[]>>;

/** More than any currency has cost. */
const RATE_MAX: Micro = 1_000_000n * MICRO_PER_RUB;

const HOME_RATE: Rate = { rub: MICRO_PER_RUB, from: '1992-01-01' };

/** Three capital letters, as in ISO 4217. */
export const currency = Joi.string().pattern(/^[A-Z]{3}$/, 'three capital letters, such as USD');

const rate = Joi.object({
  rub: Joi.string()
    .custom((value: string, helpers) => {
      const micro = parseRub(value);
      return micro !== undefined && micro > 0n && micro <= RATE_MAX ? value : helpers.error('rate.bad');
    }, 'rate')
    .required(),
  from: Joi.string()
    .custom((value: string, helpers) => parseDay(value) ?? helpers.error('day.bad'), 'day')
    .required(),
});

const listed = Joi.array()
  .items(rate)
  .min(1)
  .unique('from')
  .messages({ 'array.unique': '{{#label}}.from is the day of another rate too' });

export const ratesEntry = Joi.object()
  .pattern(
    Joi.string().invalid(HOME_CURRENCY).concat(currency),
    // biome-ignore lint/suspicious/noThenProperty: joi's own word
    Joi.alternatives().conditional(Joi.array(), { then: listed, otherwise: rate }),
  )
  .messages({
    'rate.bad': '{{#label}} must be a decimal string in RUB above zero with at most 6 decimals, such as "81.4"',
    'day.bad': '{{#label}} must be a day such as "2026-11-26"',
    'object.unknown': '{{#label}} is not a currency with a rate: three capital letters, such as USD, but not RUB',
  });

export function listRates(entry: RatesEntry): ReadonlyMap<string, readonly Rate[]> {
  return new Map(
    Object.entries(entry).map(([name, rates]) => {
      const each = [rates].flat().map(({ rub, from }) => ({ rub: parseRub(rub) as Micro, from }));
      return [name, each.sort((one, other) => (one.from < other.from ? -1 : 1))] as const;
    }),
  );
}

/** The rates in force; a currency whose first rate is still to come has none. RUB always has its own. */
export function findRatesInForce(entry: RatesEntry, now: number): ReadonlyMap<string, Rate> {
  const inForce = new Map<string, Rate>([[HOME_CURRENCY, HOME_RATE]]);
  for (const [name, rates] of listRates(entry)) {
    const current = rates.findLast(({ from }) => findRateStart(from) <= now);
    if (current) inForce.set(name, current);
  }
  return inForce;
}

/** Says why a currency has no rate in force. */
export function describeMissingRate(entry: RatesEntry = {}, name: string): string {
  const first = listRates(entry).get(name)?.[0];
  if (first) return `${name} has no rate yet: the first one is from ${first.from}`;
  return `${name} has no rate: add "rates": { "${name}": { "rub": "…", "from": "2026-11-26" } }`;
}

/** When the next rate takes effect, ms since the epoch; undefined if none is still to come. */
export function findNextRateStart(entry: RatesEntry, now: number): number | undefined {
  const starts = [...listRates(entry).values()].flat().map(({ from }) => findRateStart(from));
  return starts.filter((at) => at > now).sort((one, other) => one - other)[0];
}

function findRateStart(from: string): number {
  return findDayStart(from, DEFAULT_ZONE);
}
