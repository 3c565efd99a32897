// What a vendor charges for a call: the usage at the prices of the route, in the vendor's currency, and its amount in
// RUB.
import type { Usage } from './decide.ts';
import { MICRO_PER_RUB, type Micro } from './money.ts';
import { type EmbeddingPrice, type PriceVector, roundPerUnit, sumTokens, type VideoPrice } from './price.ts';
import { isAmount, readTextPrice, serializePrice } from './stored-price.ts';
import { readTokens } from './token-usage.ts';

/** What the vendor of a route charges. A price may be zero. */
export interface RouteCost {
  /** Such as `USD`. */
  readonly currency: string;
  /** In the shape of the model's price; micro-units of the currency. */
  readonly prices: PriceVector;
}

/** What a unit of a currency costs, from a day on. */
export interface Rate {
  /** Micro-roubles per unit. */
  readonly rub: Micro;
  /** The first day of the rate in Moscow, such as `2026-11-26`. */
  readonly from: string;
}

/** The cost of a route at the rate of its catalog: what an attempt at the route keeps. */
export interface PinnedCost extends RouteCost {
  readonly rate: Rate;
  /** The prices as JSON, see `serializeCost`. */
  readonly stored: string;
}

/** The currency of the books; its rate is 1. */
export const HOME_CURRENCY = 'RUB';

/**
 * The cost of a call in micro-units of the currency, rounded half up once; no minimum applies. Undefined if the usage
 * is not that of such a model, or if its resolution has no cost.
 */
export function computeCost({ prices }: Pick<RouteCost, 'prices'>, usage: Usage): Micro | undefined {
  if ('unit' in prices) return computeVideoCost(prices, usage);
  if ('request' in prices) return multiply(prices.request, usage.images);
  if ('output' in prices) {
    const tokens = readTokens(usage);
    return tokens && sumTokens(prices, tokens);
  }
  return computeEmbeddingCost(prices, usage);
}

function computeEmbeddingCost({ input }: EmbeddingPrice, usage: Usage): Micro | undefined {
  const exact = multiply(input, usage.tokens_input);
  return exact === undefined ? undefined : roundPerUnit(exact);
}

function computeVideoCost(price: VideoPrice, { seconds, resolution }: Usage): Micro | undefined {
  if (price.unit === 'request') return isCount(seconds) ? price.request : undefined;
  const each = 'second' in price ? price.second : price.byResolution.get(`${resolution}`);
  return each === undefined ? undefined : multiply(each, seconds);
}

function multiply(price: Micro, count: unknown): Micro | undefined {
  return isCount(count) ? price * BigInt(count) : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** An amount of a currency in micro-roubles, rounded half up once; `rate` in micro-roubles per unit. */
export function convertToRub(amount: Micro, rate: Micro): Micro {
  return (amount * rate + MICRO_PER_RUB / 2n) / MICRO_PER_RUB;
}

/** The prices as JSON of decimal micro-units: the cost of an attempt can be computed again from them. */
export function serializeCost(prices: PriceVector): string {
  if (!('unit' in prices)) return serializePrice(prices);
  if ('request' in prices) return JSON.stringify({ unit: prices.unit, request: `${prices.request}` });
  const second =
    'second' in prices
      ? `${prices.second}`
      : Object.fromEntries([...prices.byResolution].map(([label, each]) => [label, `${each}`]));
  return JSON.stringify({ unit: prices.unit, second });
}

/** Reads stored prices, parsed from JSON; undefined if they are not such prices. */
export function readCost(stored: Readonly<Record<string, unknown>>): PriceVector | undefined {
  const { unit, input, output, request, second } = stored;
  if (unit === 'request') return isAmount(request) ? { unit, request: BigInt(request) } : undefined;
  if (unit === 'second') return readSecondPrice(second);
  if (output !== undefined) return readTextPrice(stored);
  if (isAmount(input)) return { input: BigInt(input) };
  return isAmount(request) ? { request: BigInt(request) } : undefined;
}

function readSecondPrice(second: unknown): VideoPrice | undefined {
  const unit = 'second';
  if (isAmount(second)) return { unit, second: BigInt(second) };
  if (typeof second !== 'object' || second === null) return undefined;
  const labels = Object.entries(second);
  if (labels.length === 0 || !labels.every(([, each]) => isAmount(each))) return undefined;
  return { unit, byResolution: new Map(labels.map(([label, each]) => [label, BigInt(each)])) };
}
