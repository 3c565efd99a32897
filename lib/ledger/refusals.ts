// The faults of calls that their wallet cannot pay.
import { type Fault, fault } from '../base/faults.ts';
import { type ChargeKind, FIRST_TOPUP_MINIMUM, type Wallet } from '../money/decide.ts';
import { formatRub, type Micro } from '../money/money.ts';

/** What a call of a kind costs, or what is held for it. */
export interface CallPrice {
  readonly kind: ChargeKind;
  readonly amount: Micro;
  /** No call of the kind costs less; this one may cost more. */
  readonly isLeast?: true;
}

/** Of calls whose price is known only when they end, with what makes it lower. */
const LOWERED_BY: Partial<Record<ChargeKind, string>> = { text: 'lower `max_tokens`', embedding: 'send fewer texts' };

/** How a fault tells a reserve from a price. */
export function describeReserve(kind: ChargeKind): { readonly isReserve?: true; readonly hint?: string } {
  const hint = LOWERED_BY[kind];
  return hint === undefined ? {} : { isReserve: true, hint };
}

export function neverToppedFault(): Fault {
  return fault('never_topped_up', { minimumRub: formatRub(FIRST_TOPUP_MINIMUM) });
}

/** Without a price if it is not known yet. */
export function insufficientFault(wallet: Wallet, price: CallPrice | undefined): Fault {
  return fault('insufficient_balance', {
    ...(price && {
      priceRub: formatRub(price.amount),
      ...describeReserve(price.kind),
      ...(price.isLeast && { isLeast: true }),
    }),
    balanceRub: formatRub(wallet.avail),
    ...(wallet.held > 0n && { heldRub: formatRub(wallet.held) }),
  });
}
