// Builds the operations that take the money of a payment back. A refund holds the amount when it is requested and
// returns it if the provider refuses; a booking takes only what no request has held before.
import type { Micro } from './money.ts';
import type { PaybackOp } from './operations.ts';
import {
  type AskRefund,
  type BookRefund,
  computeHeldForRefund,
  findAbsorbedRefunds,
  type Payment,
  parseRefunds,
  type RefuseRefund,
  type ReversePayment,
} from './payment-rules.ts';

/** A change without the fields that follow from the payment. */
type ChangeDetails<Change> = Omit<Change, 'kind' | 'id' | 'version'>;

/** An operator requests a refund: its amount cannot be spent from now on. */
export function refundRequestOp(payment: Payment, details: ChangeDetails<AskRefund>, amount: Micro): PaybackOp {
  const change = buildPaymentChange('ask_refund', payment, details);
  return {
    ...paybackBase(payment, details.at),
    amount,
    ...pickPaybackId(payment, details.refund, 'asked'),
    payment: change,
  };
}

/** The provider refuses a refund: the held amount returns to the balance. */
export function refundRefusalOp(payment: Payment, details: ChangeDetails<RefuseRefund>): PaybackOp {
  const { refund, at } = details;
  const returned = pickReturned(parseRefunds(payment).filter(({ id }) => id === refund));
  const change = buildPaymentChange('refuse_refund', payment, details);
  return {
    ...paybackBase(payment, at),
    amount: 0n,
    ...returned,
    ...pickPaybackId(payment, refund, 'refused'),
    payment: change,
  };
}

interface BookingTerms {
  readonly amount: Micro;
  /** Whether to suspend a wallet that cannot cover the amount. */
  readonly suspend: boolean;
}

/** The provider has made a refund. */
export function refundBookingOp(
  payment: Payment,
  details: ChangeDetails<BookRefund>,
  { amount, suspend }: BookingTerms,
): PaybackOp {
  const change = buildPaymentChange('refund', payment, details);
  const folded = findAbsorbedRefunds(payment, change, amount);
  // An amount that a request has held in full is covered, whatever calls have spent since.
  const isOpen = sumHeldRefunds(folded) < amount || folded.some(({ missing = '0' }) => missing !== '0');
  const money = { amount, ...pickReturned(folded), suspend: suspend && isOpen };
  return {
    ...paybackBase(payment, details.at),
    ...money,
    paybackId: `${payment.provider}:${details.ref}`,
    payment: change,
  };
}

/** A dispute is lost: the bank has the money, and unsent refund requests are absorbed. */
export function createLostDisputeOp(
  payment: Payment,
  details: ChangeDetails<ReversePayment>,
  { dispute, amount, suspend }: BookingTerms & { readonly dispute: string },
): PaybackOp {
  const change = buildPaymentChange('reverse', payment, details);
  const money = { amount, ...pickReturned(findAbsorbedRefunds(payment, change, amount)), suspend };
  const paybackId = `${payment.provider}:${dispute}`;
  return { ...paybackBase(payment, details.at), kind: 'dispute', ...money, paybackId, payment: change };
}

/** The `paybackId` of the request of a refund, or of its refusal. */
export function refundRequestId(
  { provider }: Pick<Payment, 'provider'>,
  refund: string,
  what: 'asked' | 'refused',
): string {
  return `${provider}:${refund}:${what}`;
}

function pickPaybackId(payment: Payment, refund: string, what: 'asked' | 'refused'): Pick<PaybackOp, 'paybackId'> {
  return { paybackId: refundRequestId(payment, refund, what) };
}

function paybackBase({ id: order, wallet }: Payment, at: number) {
  return { kind: 'payback', wallet, at, order, suspend: false } as const;
}

function buildPaymentChange<Kind extends string, Change extends object>(
  kind: Kind,
  { id, version }: Payment,
  details: Change,
) {
  return { kind, id, version, ...details };
}

function pickReturned(refunds: ReturnType<typeof parseRefunds>): Pick<PaybackOp, 'returned'> {
  const returned = sumHeldRefunds(refunds);
  return returned > 0n ? { returned } : {};
}

function sumHeldRefunds(refunds: ReturnType<typeof parseRefunds>): Micro {
  return refunds.reduce((sum, refund) => sum + computeHeldForRefund(refund), 0n);
}
