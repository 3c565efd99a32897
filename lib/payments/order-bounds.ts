// The smallest and largest amount of a single order.
import type { OpenPayment } from '../catalog/payments.ts';
import type { SumBounds } from '../catalog/topup-bounds.ts';
import { MICRO_PER_RUB, type Micro, maxMicro, minMicro } from '../money/money.ts';
import type { MethodKind } from '../upstream/contract/payment.ts';

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
  return { min: maxMicro(one.min, other.min), max: minMicro(one.max, other.max) };
}
