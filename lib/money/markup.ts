// Derives the prices of a model from what its vendors charge: cost times rate times markup, rounded up to a step.
import type { PinnedCost } from './cost.ts';
import { MICRO_PER_RUB, type Micro } from './money.ts';
import {
  findRates,
  getRate,
  type PriceVector,
  type TextPrice,
  TOKEN_RATES,
  type TokenRates,
  type VideoPrice,
} from './price.ts';

interface Markup {
  /** In millionths: 1 300 000 is 1.3 times the cost. */
  readonly factor: bigint;
  /** A price is a multiple of this, and at least this. */
  readonly step: Micro;
}

/** The markup that makes a price equal to the cost. */
export const NO_MARKUP: bigint = 1_000_000n;

/**
 * The price of a model whose routes charge these costs: each member at the dearest of them. Undefined if there is no
 * cost, or if some are per second and others per request.
 */
export function derivePrice(costs: readonly PinnedCost[], markup: Markup): PriceVector | undefined {
  const [first, ...others] = costs.map((cost) => markUp(cost, markup));
  if (!first) return undefined;
  let dearest: PriceVector | undefined = first;
  for (const other of others) dearest &&= findDearestPrices(dearest, other);
  return dearest;
}

/** What a cost becomes in roubles; one rounding of each member, up to the step. */
export function markUp({ prices, rate }: PinnedCost, { factor, step }: Markup): PriceVector {
  const under = MICRO_PER_RUB * NO_MARKUP;
  return mapPrices(prices, (each) => roundUp({ exact: each * rate.rub * factor, under }, step));
}

/** To a multiple of the step, and at least to it. */
function roundUp({ exact, under }: { readonly exact: bigint; readonly under: bigint }, step: Micro): Micro {
  const steps = (exact + under * step - 1n) / (under * step);
  return (steps > 0n ? steps : 1n) * step;
}

/** Prices times a factor; one rounding of each member, up to the step. */
export function scalePrices(prices: PriceVector, { factor, step }: Markup): PriceVector {
  return mapPrices(prices, (each) => roundUp({ exact: each * factor, under: NO_MARKUP }, step));
}

/** The highest of its members. */
export function findDearestMember(prices: PriceVector): Micro {
  let dearest = 0n;
  mapPrices(prices, (each) => {
    dearest = max(dearest, each);
    return each;
  });
  return dearest;
}

/** Each member of both at the higher price of the two; undefined if one is per second and the other per request. */
export function findDearestPrices(one: PriceVector, other: PriceVector): PriceVector | undefined {
  if ('unit' in one || 'unit' in other) return findDearestVideo(one as VideoPrice, other as VideoPrice);
  if ('request' in one) return { request: max(one.request, (other as typeof one).request) };
  if ('output' in one) return findDearestText(one, other as TextPrice);
  return { input: max(one.input, (other as typeof one).input) };
}

function findDearestVideo(one: VideoPrice, other: VideoPrice): VideoPrice | undefined {
  if (one.unit === 'request' || other.unit === 'request')
    return one.unit === other.unit
      ? { unit: 'request', request: max(readRequest(one), readRequest(other)) }
      : undefined;
  const labels = [one, other].flatMap((price) => ('byResolution' in price ? [...price.byResolution.keys()] : []));
  if (labels.length === 0) return { unit: 'second', second: max(readSecond(one, ''), readSecond(other, '')) };
  const dearest = labels.map((label) => [label, max(readSecond(one, label), readSecond(other, label))] as const);
  return { unit: 'second', byResolution: new Map(dearest) };
}

function readRequest(price: VideoPrice): Micro {
  return 'request' in price ? price.request : 0n;
}

/** Zero for a resolution without a price. */
function readSecond(price: VideoPrice, label: string): Micro {
  if ('second' in price) return price.second;
  return 'byResolution' in price ? (price.byResolution.get(label) ?? 0n) : 0n;
}

/** A band begins wherever one of the two has a band. */
function findDearestText(one: TextPrice, other: TextPrice): TextPrice {
  const { above: _, ...own } = findDearestRates(one, other, 0);
  const limits = listBandLimits(one, other);
  return limits.length === 0 ? own : { ...own, bands: limits.map((above) => findDearestRates(one, other, above)) };
}

/** Where a band of any of the prices begins, ascending. */
export function listBandLimits(...prices: readonly TextPrice[]): readonly number[] {
  const limits = prices.flatMap(({ bands = [] }) => bands.map(({ above }) => above));
  return [...new Set(limits)].sort((a, b) => a - b);
}

/** Of prompts that are longer than `above`. A cache price that both lack stays absent. */
function findDearestRates(one: TextPrice, other: TextPrice, above: number): TokenRates & { readonly above: number } {
  const [first, second] = [findRates(one, above + 1), findRates(other, above + 1)];
  const kinds = TOKEN_RATES.filter((kind) => first[kind] !== undefined || second[kind] !== undefined);
  const dearest = kinds.map((kind) => [kind, max(getRate(first, kind), getRate(second, kind))] as const);
  return { above, ...(Object.fromEntries(dearest) as unknown as TokenRates) };
}

function mapPrices(prices: PriceVector, map: (price: Micro) => Micro): PriceVector {
  if ('byResolution' in prices) {
    const labels = [...prices.byResolution].map(([label, each]) => [label, map(each)] as const);
    return { unit: 'second', byResolution: new Map(labels) };
  }
  if ('second' in prices) return { unit: 'second', second: map(prices.second) };
  if ('request' in prices) return { ...prices, request: map(prices.request) };
  if (!('output' in prices)) return { input: map(prices.input) };
  const { bands } = prices;
  const read = bands?.map((band) => ({ above: band.above, ...mapRates(band, map) }));
  return { ...mapRates(prices, map), ...(read && { bands: read }) };
}

function mapRates(rates: TokenRates, map: (price: Micro) => Micro): TokenRates {
  const kinds = TOKEN_RATES.flatMap((kind) => {
    const price = rates[kind];
    return price === undefined ? [] : [[kind, map(price)] as const];
  });
  return Object.fromEntries(kinds) as unknown as TokenRates;
}

function max(one: Micro, other: Micro): Micro {
  return one > other ? one : other;
}
