// Compares the price of a model with what a route charges for it: which members of the price are below the cost.
import type { PinnedCost } from './cost.ts';
import { listBandLimits } from './markup.ts';
import { MICRO_PER_RUB, type Micro } from './money.ts';
import {
  findDearest,
  findRates,
  getRate,
  type PriceVector,
  type TextPrice,
  TOKEN_RATES,
  type VideoPrice,
} from './price.ts';

/** A member of a price that is below the cost of a route. */
export interface Loss {
  /** Such as `input`, `cacheRead above 200000 tokens`, `second at 720p`. */
  readonly member: string;
  readonly price: Micro;
  /** In RUB, rounded up. */
  readonly cost: Micro;
}

/** The lengths that a video model sells, in seconds. */
interface VideoLengths {
  readonly least: number;
  readonly most: number;
}

/** What a model sells at a price. */
export interface Sold {
  /** Of a video model. */
  readonly lengths?: VideoLengths | undefined;
  /** False for a text model that takes no recordings: nobody pays its price of audio. */
  readonly audio?: boolean | undefined;
}

/** Nothing is rounded in the comparison. The minimum price of a call only adds to the price, so it does not count. */
export function findLosses(price: PriceVector, cost: PinnedCost, sold: Sold = {}): readonly Loss[] {
  return pairMembers(price, cost.prices, sold).flatMap(({ member, price: sold, cost: bought }) => {
    const exact = bought * cost.rate.rub;
    if (sold * MICRO_PER_RUB >= exact) return [];
    return [{ member, price: sold, cost: (exact + MICRO_PER_RUB - 1n) / MICRO_PER_RUB }];
  });
}

interface Pair {
  /** As that of a loss. */
  readonly member: string;
  readonly price: Micro;
  /** In micro-units of the currency of the cost. */
  readonly cost: Micro;
}

export function pairMembers(price: PriceVector, cost: PriceVector, { lengths, audio }: Sold): readonly Pair[] {
  if ('unit' in price) return pairVideo(price, cost as VideoPrice, lengths ?? { least: 1, most: 1 });
  if ('request' in price) return [{ member: 'request', price: price.request, cost: (cost as typeof price).request }];
  if ('output' in price) return pairText(price, cost as TextPrice, audio);
  return [{ member: 'input', price: price.input, cost: (cost as typeof price).input }];
}

/** An absent price of audio or of a cache is the input price, of the model and of the vendor. */
function pairText(price: TextPrice, cost: TextPrice, audio = true): readonly Pair[] {
  const paid = TOKEN_RATES.filter((kind) => kind !== 'audio' || audio);
  return [0, ...listBandLimits(price, cost)].flatMap((above) => {
    const [sold, bought] = [findRates(price, above + 1), findRates(cost, above + 1)];
    const kinds = paid.filter((kind) => sold[kind] !== undefined || bought[kind] !== undefined);
    return kinds.map((kind) => ({
      member: above === 0 ? kind : `${kind} above ${above} tokens`,
      price: getRate(sold, kind),
      cost: getRate(bought, kind),
    }));
  });
}

/** A price per second of a video that is bought per request is compared over the shortest video, and so on. */
function pairVideo(price: VideoPrice, cost: VideoPrice, { least, most }: VideoLengths): readonly Pair[] {
  if (price.unit === 'request') {
    const bought = cost.unit === 'request' ? cost.request : findDearestSecond(cost) * BigInt(most);
    return [{ member: 'request', price: price.request, cost: bought }];
  }
  const labels = 'byResolution' in price ? [...price.byResolution] : [[undefined, price.second] as const];
  return labels.map(([label, sold]) => {
    const member = label === undefined ? 'second' : `second at ${label}`;
    if (cost.unit === 'request') {
      const shortest = `${member}, ${least} seconds`;
      return { member: shortest, price: sold * BigInt(least), cost: cost.request };
    }
    return { member, price: sold, cost: findDearestSecond(cost, label) };
  });
}

/** Of one resolution, if it is given and the cost knows it. */
function findDearestSecond(cost: VideoPrice & { readonly unit: 'second' }, label?: string): Micro {
  if ('second' in cost) return cost.second;
  const known = label === undefined ? undefined : cost.byResolution.get(label);
  return known ?? findDearest([...cost.byResolution.values()]);
}
