// The limits of a single order.
import type { OpenPayment } from '../catalog/payments.ts';
import type { SumBounds } from '../catalog/topup-bounds.ts';
import { MICRO_PER_RUB, type Micro } from '../money/money.ts';
import type { MethodKind } from '../upstream/contract/payment.ts';

export const KOPECK = MICRO_PER_RUB / 100n;
/** Once something has been paid in. */
export const LEAST_ORDER = MICRO_PER_RUB;
const MOST = 1_000_000n * MICRO_PER_RUB;

/** For a method of a provider; `least` is the wallet's own minimum. */
export function boundsOf(least: Micro, { provider }: OpenPayment, method: MethodKind | undefined): SumBounds {
  const limits = method && provider.limits?.[method];
  return commonOf({ min: least, max: MOST }, limits ?? { min: least, max: MOST });
}

/** What both allow; nothing where `min` is above `max`. */
export function commonOf(one: SumBounds, other: SumBounds): SumBounds {
  // biome-ignore lint/complexity/useMathMinMax: it takes no bigint
  return { min: one.min > other.min ? one.min : other.min, max: lesser(one.max, other.max) };
}

export function lesser(one: Micro, other: Micro): Micro {
  return one < other ? one : other;
}
