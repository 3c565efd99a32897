// The faults of calls that their wallet cannot pay.
import { type Fault, fault } from '../base/faults.ts';
import { type ChargeKind, FIRST_TOPUP_MINIMUM, type Wallet } from '../money/decide.ts';
import { formatRub, type Micro } from '../money/money.ts';

/** What a call of a kind costs, or what is held for it. */
export interface CallPrice {
  readonly kind: ChargeKind;
  readonly amount: Micro;
}

/** Calls whose price is known only when they end. */
const RESERVED: ReadonlySet<ChargeKind> = new Set(['text', 'embedding']);

export function neverToppedFault(): Fault {
  return fault('never_topped_up', { minimumRub: formatRub(FIRST_TOPUP_MINIMUM) });
}

export function insufficientFault(wallet: Wallet, { kind, amount }: CallPrice): Fault {
  return fault('insufficient_balance', {
    priceRub: formatRub(amount),
    ...(RESERVED.has(kind) && { isReserve: true }),
    balanceRub: formatRub(wallet.avail),
    ...(wallet.held > 0n && { heldRub: formatRub(wallet.held) }),
  });
}
