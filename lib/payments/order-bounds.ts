// The smallest and largest amount of a single order.
import type { OpenPayment } from '../catalog/payments.ts';
import type { SumBounds } from '../catalog/topup-bounds.ts';
import { MICRO_PER_RUB, type Micro } from '../money/money.ts';
import type { MethodKind } from '../upstream/contract/payment.ts';

export const KOPECK = MICRO_PER_RUB / 100n;
/** For every order after the first. */
export const MINIMUM_ORDER = MICRO_PER_RUB;
const MAXIMUM_ORDER = 1_000_000n * MICRO_PER_RUB;

/** The bounds for a payment method of a provider; `least` is the wallet's own minimum. */
export function getOrderBounds(least: Micro, { provider }: OpenPayment, method: MethodKind | undefined): SumBounds {
  const limits = method && provider.limits?.[method];
  return intersectBounds({ min: least, max: MAXIMUM_ORDER }, limits ?? { min: least, max: MAXIMUM_ORDER });
}

/** What both bounds allow; nothing if `min` is above `max`. */
export function intersectBounds(one: SumBounds, other: SumBounds): SumBounds {
  // biome-ignore lint/complexity/useMathMinMax: it takes no bigint
  return { min: one.min > other.min ? one.min : other.min, max: minMicro(one.max, other.max) };
}

export function minMicro(one: Micro, other: Micro): Micro {
  return one < other ? one : other;
}
