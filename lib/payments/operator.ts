// Actions of operators on payments: decide a payment in review, request a refund, record a dispute. They use only the
// store, so that pages and the command line do the same; any live gateway then asks the provider for the refund.
import { bookOperation } from '../ledger/booking.ts';
import type { PaybackOp, PayOp } from '../money/decide.ts';
import { KOPECK, type Micro, minMicro } from '../money/money.ts';
import { getOperationId } from '../money/operations.ts';
import { createLostDisputeOp, refundRequestOp } from '../money/payback.ts';
import {
  type FreePaymentChange,
  type Payment,
  parseDispute,
  parseRefunds,
  refundableAmount,
} from '../money/payment-rules.ts';
import type { Store } from '../store/store.ts';
import { walkFrom } from '../store/walks.ts';
import { newId } from './ids.ts';
import { findPlayMoneyConflict, isPlayMoney, playMoneyFlag } from './play-money.ts';

/**
 * `exists`: the action was already done. `refused`: the payment is in the wrong phase, or the amount is too large.
 * `stale`: the payment changed at the same time; read it and try again. `play_money`: the payment is not real, and
 * wallets here pay for upstreams that cost real money. `number_taken`: another payment has a dispute of this number.
 * `refund_taken`: the id is that of a refund of another amount, or of another payment.
 */
type OperatorStatus =
  | 'done'
  | 'exists'
  | 'refused'
  | 'stale'
  | 'play_money'
  | 'number_taken'
  | 'refund_taken'
  | 'no_payment';

export interface OperatorOutcome {
  readonly status: OperatorStatus;
  /** The payment afterwards. */
  readonly payment?: Payment;
}

type OperatorStore = Pick<Store, 'payments' | 'ledger'>;

/** Decides a payment in review, once: credits the amount that really arrived, or rejects it. */
export async function decideReview(
  store: OperatorStore & Pick<Store, 'settings'>,
  id: string,
  verdict: { readonly at: number; readonly reason: string; readonly credit: Micro | null },
): Promise<OperatorOutcome> {
  const payment = await store.payments.get(id);
  if (!payment) return { status: 'no_payment' };
  const { at, reason, credit } = verdict;
  const { version, wallet, provider, ref } = payment;
  if (payment.phase !== 'review') {
    const isSame = credit === null ? payment.phase === 'rejected' : payment.credited === credit;
    return { status: isSame ? 'exists' : 'refused', payment };
  }
  if (credit === null) return applyFreeChange(store, { kind: 'reject', id, version, at, reason });
  if (isPlayMoney(payment) && (await findPlayMoneyConflict(store.settings)) !== undefined)
    return { status: 'play_money', payment };
  // Due now, so that refunds made during the review are booked next.
  const change = { kind: 'credit', id, version, at, reason, dueAt: at } as const;
  const paid = {
    amount: credit,
    paymentId: `${provider}:${ref}`,
    order: id,
    ...playMoneyFlag(payment),
    payment: change,
  };
  return applyMoneyChange(store, { kind: 'pay', wallet, at, ...paid });
}

/**
 * Requests a refund of all or part of a payment. The amount leaves the balance at once. `refund` is the refund's id, which
 * makes a repeated request idempotent.
 */
export async function requestRefund(
  store: OperatorStore,
  id: string,
  request: { readonly at: number; readonly amount: Micro; readonly reason: string; readonly refund?: string },
): Promise<OperatorOutcome> {
  const payment = await store.payments.get(id);
  if (!payment) return { status: 'no_payment' };
  const { at, amount, reason, refund = newId('rfd', at) } = request;
  const known = findRepeatedRefund(payment, refund, amount);
  if (known) return known;
  // Providers are promised whole kopecks.
  const isOrderable = amount > 0n && amount % KOPECK === 0n && amount <= refundableAmount(payment);
  if (!isOrderable) return { status: 'refused', payment };
  const outcome = await applyMoneyChange(store, refundRequestOp(payment, { at, refund, reason }, amount), payment);
  // At the same moment, another request may have taken the id.
  const taken = outcome.status === 'exists' && outcome.payment;
  return (taken && findRepeatedRefund(taken, refund, amount)) || outcome;
}

/** The answer to a refund whose id the payment has already. */
function findRepeatedRefund(payment: Payment, refund: string, amount: Micro): OperatorOutcome | undefined {
  const known = parseRefunds(payment).find((each) => each.id === refund);
  return known && { status: BigInt(known.amount) === amount ? 'exists' : 'refund_taken', payment };
}

/**
 * Records that a payer's bank demands the money back. No money moves until the dispute is lost. Without an amount, the
 * dispute is about all that is left of the payment.
 */
export async function openDispute(
  store: OperatorStore,
  id: string,
  opened: { readonly at: number; readonly dispute: string; readonly amount?: Micro },
): Promise<OperatorOutcome> {
  const payment = await store.payments.get(id);
  if (!payment) return { status: 'no_payment' };
  const { at, dispute, amount = payment.credited - payment.refunded } = opened;
  if (await isDisputeNumberTaken(store, payment, dispute)) return { status: 'number_taken', payment };
  return applyFreeChange(store, { kind: 'dispute', id, version: payment.version, at, dispute, amount });
}

/** The number is part of a lost dispute's entry id, so a second dispute with the same number could not be booked. */
async function isDisputeNumberTaken(
  { payments, ledger }: OperatorStore,
  payment: Payment,
  dispute: string,
): Promise<boolean> {
  const { id, provider } = payment;
  const lost = createLostDisputeOp(payment, { at: 0 }, { dispute, amount: 1n, suspend: false });
  const entry = await ledger.entry(getOperationId(lost));
  if (entry) return entry.note !== id;
  const open = { provider, phases: ['disputed'], limit: ROWS_PER_PAGE } as const;
  for await (const page of walkFrom<Payment>(ROWS_PER_PAGE, (before) => payments.list({ ...open, before }))) {
    if (page.some((other) => other.id !== id && parseDispute(other)?.id === dispute)) return true;
  }
  return false;
}

const ROWS_PER_PAGE = 500;

/** Ends a dispute. If it is lost, the money leaves the balance, which may fall below zero. */
export async function endDispute(
  store: OperatorStore,
  id: string,
  end: { readonly at: number; readonly how: 'won' | 'lost'; readonly suspend: boolean },
): Promise<OperatorOutcome> {
  const payment = await store.payments.get(id);
  const dispute = payment && parseDispute(payment);
  if (!payment) return { status: 'no_payment' };
  const { at, how, suspend } = end;
  const { version } = payment;
  const phase = how === 'won' ? 'kept' : 'reversed';
  if (payment.phase !== 'disputed' || !dispute)
    return { status: payment.phase === phase ? 'exists' : 'refused', payment };
  if (how === 'won') return applyFreeChange(store, { kind: 'keep', id, version, at });
  // A refund may have been booked since the dispute was opened.
  const amount = minMicro(BigInt(dispute.amount), payment.credited - payment.refunded);
  if (amount <= 0n) return { status: 'refused', payment };
  return applyMoneyChange(store, createLostDisputeOp(payment, { at }, { dispute: dispute.id, amount, suspend }));
}

async function applyFreeChange({ payments }: OperatorStore, change: FreePaymentChange): Promise<OperatorOutcome> {
  const { status, payment } = await payments.change(change);
  if (!payment) return { status: 'no_payment' };
  if (status !== 'stale') return { status: status === 'exists' ? 'exists' : 'done', payment };
  return { status: payment.version === change.version ? 'refused' : 'stale', payment };
}

async function applyMoneyChange(
  store: OperatorStore,
  op: PayOp | PaybackOp,
  refunding?: Payment,
): Promise<OperatorOutcome> {
  const { status, payment } = await bookOperation(store, op);
  if (status === 'id_taken' && refunding) return { status: 'refund_taken', payment: refunding };
  const after = payment && { payment };
  if (status === 'done' || status === 'exists') return { status, ...after };
  const isStale = status === 'stale_payment' && payment?.version !== op.payment?.version;
  return { status: isStale ? 'stale' : 'refused', ...after };
}
