// What only an operator does to a payment: decide one in review, request a refund, record a dispute. It uses the store
// alone, so that pages and the command line do the same; any live gateway then asks the provider for the refund.
import { bookOperation } from '../ledger/booking.ts';
import type { PaybackOp, PayOp } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { operationId } from '../money/operations.ts';
import { lostDisputeOp, refundRequestOp } from '../money/payback.ts';
import {
  type FreePaymentChange,
  type Payment,
  parseDispute,
  parseRefunds,
  refundableAmount,
} from '../money/payment-rules.ts';
import type { Store } from '../store/store.ts';
import { newId } from './ids.ts';
import { costOf, isPlayMoney, playOf } from './play-money.ts';

/**
 * `done`; `exists` it had been done before; `refused` the payment is in no phase for it, or the amount is not there: see
 * the payment; `stale` it changed at this very moment: look at it and try again; `play_money` it is not real, and wallets
 * here pay for upstreams that cost real money; `number_taken` another payment has a dispute of this number; `no_payment`.
 */
export type OperatorStatus = 'done' | 'exists' | 'refused' | 'stale' | 'play_money' | 'number_taken' | 'no_payment';

export interface OperatorOutcome {
  readonly status: OperatorStatus;
  /** The payment afterwards. */
  readonly payment?: Payment;
}

type Parts = Pick<Store, 'payments' | 'ledger'>;

/** Decides a payment in review, once: credits the amount that really arrived, or rejects it. */
export async function decideReview(
  store: Parts & Pick<Store, 'settings'>,
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
  if (credit === null) return freely(store, { kind: 'reject', id, version, at, reason });
  if (isPlayMoney(payment) && (await costOf(store.settings)) !== undefined) return { status: 'play_money', payment };
  // Whatever the provider has refunded while it was in review is booked next.
  const change = { kind: 'credit', id, version, at, reason, dueAt: at } as const;
  const paid = { amount: credit, paymentId: `${provider}:${ref}`, order: id, ...playOf(payment), payment: change };
  return paidFor(store, { kind: 'pay', wallet, at, ...paid });
}

/**
 * Requests a refund of the rest of a payment, or part of it, which leaves the balance at once. `refund` is its id, which
 * makes a repeat idempotent.
 */
export async function askRefund(
  store: Parts,
  id: string,
  wish: { readonly at: number; readonly amount: Micro; readonly reason: string; readonly refund?: string },
): Promise<OperatorOutcome> {
  const payment = await store.payments.get(id);
  if (!payment) return { status: 'no_payment' };
  const { at, amount, reason, refund = newId('rfd', at) } = wish;
  if (parseRefunds(payment).some((each) => each.id === refund)) return { status: 'exists', payment };
  if (amount <= 0n || amount > refundableAmount(payment)) return { status: 'refused', payment };
  return paidFor(store, refundRequestOp(payment, { at, refund, reason }, amount));
}

/**
 * A payer's bank wants the money back: nothing moves until the dispute is lost. Without an amount, all that is left.
 */
export async function openDispute(
  store: Parts,
  id: string,
  entered: { readonly at: number; readonly dispute: string; readonly amount?: Micro },
): Promise<OperatorOutcome> {
  const payment = await store.payments.get(id);
  if (!payment) return { status: 'no_payment' };
  const { at, dispute, amount = payment.credited - payment.refunded } = entered;
  if (await isNumberTaken(store, payment, dispute)) return { status: 'number_taken', payment };
  return freely(store, { kind: 'dispute', id, version: payment.version, at, dispute, amount });
}

/** The entry of a lost dispute has its number: a second one of the same number could never be lost. */
async function isNumberTaken({ payments, ledger }: Parts, payment: Payment, dispute: string): Promise<boolean> {
  const { id, provider } = payment;
  const lost = lostDisputeOp(payment, { at: 0 }, { dispute, amount: 1n, suspend: false });
  const entry = await ledger.entry(operationId(lost));
  if (entry) return entry.note !== id;
  for (let before: Payment | undefined; ; ) {
    const open = { provider, phases: ['disputed'], limit: ROWS_PER_PAGE } as const;
    const page = await payments.list({ ...open, ...(before && { before }) });
    if (page.some((other) => other.id !== id && parseDispute(other)?.id === dispute)) return true;
    before = page.at(-1);
    if (!before || page.length < ROWS_PER_PAGE) return false;
  }
}

const ROWS_PER_PAGE = 500;

/** The dispute was won, or lost: then the money leaves the balance, which falls below zero by what is not there. */
export async function endDispute(
  store: Parts,
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
  if (how === 'won') return freely(store, { kind: 'keep', id, version, at });
  // A refund may have been booked since.
  const left = payment.credited - payment.refunded;
  const asked = BigInt(dispute.amount);
  const amount = asked < left ? asked : left;
  if (amount <= 0n) return { status: 'refused', payment };
  return paidFor(store, lostDisputeOp(payment, { at }, { dispute: dispute.id, amount, suspend }));
}

async function freely({ payments }: Parts, change: FreePaymentChange): Promise<OperatorOutcome> {
  const { status, payment } = await payments.change(change);
  if (!payment) return { status: 'no_payment' };
  if (status !== 'stale') return { status: status === 'exists' ? 'exists' : 'done', payment };
  return { status: payment.version === change.version ? 'refused' : 'stale', payment };
}

async function paidFor(store: Parts, op: PayOp | PaybackOp): Promise<OperatorOutcome> {
  const { status, payment } = await bookOperation(store, op);
  const after = payment && { payment };
  if (status === 'done' || status === 'exists') return { status, ...after };
  const isStale = status === 'stale_payment' && payment?.version !== op.payment?.version;
  return { status: isStale ? 'stale' : 'refused', ...after };
}
