// What one order may be.
import type { OpenPayment } from '../catalog/payments.ts';
import { MICRO_PER_RUB, type Micro } from '../money/money.ts';
import type { MethodKind } from './contract.ts';

export const KOPECK = MICRO_PER_RUB / 100n;
/** Once something was paid in. */
export const LEAST_ORDER = MICRO_PER_RUB;
const MOST = 1_000_000n * MICRO_PER_RUB;

/** Both ends included. */
export interface OrderBounds {
  readonly least: Micro;
  readonly most: Micro;
}

/** By a method of a provider; `least` is what the wallet has to order at least. */
export function boundsOf(least: Micro, { provider }: OpenPayment, method: MethodKind | undefined): OrderBounds {
  const limits = method && provider.limits?.[method];
  if (!limits) return { least, most: MOST };
  return { least: limits.min > least ? limits.min : least, most: limits.max < MOST ? limits.max : MOST };
}
