// The operations that take a payment's money back, composed of the payment and its change. A refund takes it when it is
// requested and gives it back if the provider refuses; a booking takes only what no request has taken.
import type { Micro } from './money.ts';
import type { PaybackOp } from './operations.ts';
import {
  type AskRefund,
  type BookRefund,
  foldedBy,
  heldBy,
  type Payment,
  type RefuseRefund,
  type ReversePayment,
  refundsOf,
} from './payment-rules.ts';

/** Without what follows from the payment. */
type Wish<Change> = Omit<Change, 'kind' | 'id' | 'version'>;

/** An operator requests a refund: its amount is not spendable from now on. */
export function askOp(payment: Payment, wish: Wish<AskRefund>, amount: Micro): PaybackOp {
  const change = made('ask_refund', payment, wish);
  return { ...backOf(payment, wish.at), amount, ...idOf(payment, wish.refund, 'asked'), payment: change };
}

/** It was refused: what its request took is given back, and pays first what the wallet owes. */
export function refusalOp(payment: Payment, wish: Wish<RefuseRefund>): PaybackOp {
  const { refund, at } = wish;
  const returned = returnedBy(refundsOf(payment).filter(({ id }) => id === refund));
  const change = made('refuse_refund', payment, wish);
  return { ...backOf(payment, at), amount: 0n, ...returned, ...idOf(payment, refund, 'refused'), payment: change };
}

interface Booking {
  readonly amount: Micro;
  /** Whether a wallet that cannot cover it is suspended. */
  readonly suspend: boolean;
}

/** The provider has refunded it. */
export function bookingOp(payment: Payment, wish: Wish<BookRefund>, { amount, suspend }: Booking): PaybackOp {
  const change = made('refund', payment, wish);
  const folded = foldedBy(payment, change, amount);
  // What a request has taken in full is covered, whatever calls have made of the balance since.
  const isOpen = sumOf(folded) < amount || folded.some(({ missing = '0' }) => missing !== '0');
  const money = { amount, ...returnedBy(folded), suspend: suspend && isOpen };
  return { ...backOf(payment, wish.at), ...money, paybackId: `${payment.provider}:${wish.ref}`, payment: change };
}

/** A dispute is lost: the bank has the money, and what was requested of it meanwhile goes with it. */
export function reversalOp(
  payment: Payment,
  wish: Wish<ReversePayment>,
  { dispute, amount, suspend }: Booking & { readonly dispute: string },
): PaybackOp {
  const change = made('reverse', payment, wish);
  const money = { amount, ...returnedBy(foldedBy(payment, change, amount)), suspend };
  const paybackId = `${payment.provider}:${dispute}`;
  return { ...backOf(payment, wish.at), kind: 'dispute', ...money, paybackId, payment: change };
}

/** The part after the kind of an entry's id that the request of a refund, or its refusal, has. */
export function requestIdOf(
  { provider }: Pick<Payment, 'provider'>,
  refund: string,
  what: 'asked' | 'refused',
): string {
  return `${provider}:${refund}:${what}`;
}

function idOf(payment: Payment, refund: string, what: 'asked' | 'refused'): Pick<PaybackOp, 'paybackId'> {
  return { paybackId: requestIdOf(payment, refund, what) };
}

function backOf({ id: order, wallet }: Payment, at: number) {
  return { kind: 'payback', wallet, at, order, suspend: false } as const;
}

function made<Kind extends string, Change extends object>(kind: Kind, { id, version }: Payment, wish: Change) {
  return { kind, id, version, ...wish };
}

function returnedBy(refunds: ReturnType<typeof refundsOf>): Pick<PaybackOp, 'returned'> {
  const returned = sumOf(refunds);
  return returned > 0n ? { returned } : {};
}

function sumOf(refunds: ReturnType<typeof refundsOf>): Micro {
  return refunds.reduce((sum, refund) => sum + heldBy(refund), 0n);
}
