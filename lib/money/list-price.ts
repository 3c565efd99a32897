// What a call would have cost at the list price: kept with the prices of a call whose account has a price list.
import { computeCost, readCost } from './cost.ts';
import type { Charge } from './decide.ts';
import type { Micro } from './money.ts';
import { raiseToMinimum } from './price.ts';
import type { StoredList } from './stored-price.ts';

interface ListComparison {
  readonly name: string;
  readonly version: string;
  /** What the call would have cost without the list; undefined while it runs, and if it was not charged. */
  readonly amount: Micro | undefined;
}

/** Undefined for a call at list prices. */
export function compareWithList({ kind, state, prices, usage }: ComparedCharge): ListComparison | undefined {
  const { list } = JSON.parse(prices) as { readonly list?: StoredList };
  if (!list) return undefined;
  const { name, version } = list;
  const isCharged = state === 'settled' || state === 'refunded';
  const used = isCharged && usage !== null ? JSON.parse(usage) : undefined;
  const price = readCost(list.prices);
  if (!used || !price || used.repeated_as !== undefined) return { name, version, amount: undefined };
  const cost = computeCost({ prices: price }, { ...(isImage(kind) && { images: 1 }), ...used });
  const hasMinimum = kind === 'text' || kind === 'embedding';
  return { name, version, amount: hasMinimum && cost !== undefined ? raiseToMinimum(cost) : cost };
}

type ComparedCharge = Pick<Charge, 'kind' | 'state' | 'prices' | 'usage'>;

function isImage(kind: Charge['kind']): boolean {
  return kind === 'image' || kind === 'edit';
}

/** Percent of the list price, with one decimal: −10 is ten percent less. Undefined if the list price is zero. */
export function computeDifference(list: Micro, charged: Micro): number | undefined {
  return list === 0n ? undefined : Math.round((Number(charged - list) / Number(list)) * 1000) / 10;
}
