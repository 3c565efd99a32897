// Decides whether an account may take a use of a promo code, the same for each store.
import type { PromoClaim, PromoCode, PromoUse } from './ports/promos.ts';

/** `known` is an earlier use by the same account. */
export function decideClaim(promo: PromoCode | undefined, known: PromoUse | undefined, at: number): PromoClaim {
  if (!promo) return { status: 'none' };
  if (known) return { status: 'known', promo, at: known.at };
  if (promo.endedAt !== null || (promo.until !== null && at >= promo.until)) return { status: 'over' };
  if (promo.used >= promo.uses) return { status: 'used_up' };
  return { status: 'claimed', promo: { ...promo, used: promo.used + 1 }, at };
}
