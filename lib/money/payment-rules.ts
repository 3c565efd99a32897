// All rules of a payment's life as one pure function: takes a payment and a change, returns the payment after it.
import assert from 'node:assert/strict';
import { bookedLists, bookedOf, foldedBy, lostLists } from './booked.ts';
import type { Micro } from './money.ts';
import {
  DISPUTE_PHASES,
  type Dispute,
  disputeOf,
  heldBy,
  type Moved,
  type Payment,
  type PaymentPhase,
  REFUNDS_MAX,
  type Refund,
  refundable,
  refundsOf,
} from './payment.ts';

export { foldedBy } from './booked.ts';
export type * from './payment.ts';
export { DISPUTE_PHASES, disputeOf, heldBy, newPayment, PAYMENT_PHASES, refundable, refundsOf } from './payment.ts';

interface Change {
  readonly id: string;
  /** The version it was decided on. */
  readonly version: number;
  readonly at: number;
}

/** The provider has started it; the link is null if the payment was found without one. */
export interface BeginPayment extends Change {
  readonly kind: 'begin';
  readonly ref: string;
  readonly payUrl: string | null;
  readonly expiresAt: number;
  readonly dueAt: number;
}

/** It was fetched, and nothing has changed. */
export interface LookPayment extends Change {
  readonly kind: 'look';
  readonly dueAt: number | null;
  /** `NOT_ACCEPTED` for an order that is only looked for from now on; absent: as it was. */
  readonly reason?: string;
}

/** The provider has the money. */
export interface SucceedPayment extends Change {
  readonly kind: 'succeed';
  readonly ref: string;
  /** The provider's state, as JSON. */
  readonly state: string;
}

/** An operator has to decide. */
export interface ReviewPayment extends Change {
  readonly kind: 'review';
  readonly reason: string;
}

/** An operator refuses to credit it. */
export interface RejectPayment extends Change {
  readonly kind: 'reject';
  readonly reason: string;
}

export interface CancelPayment extends Change {
  readonly kind: 'cancel';
  readonly reason: string;
  readonly state: string;
}

/** Not paid in time; it is still fetched now and then for a late success, or no longer. */
export interface ExpirePayment extends Change {
  readonly kind: 'expire';
  readonly reason: string;
  readonly dueAt: number | null;
}

/** It was never started. */
export interface FailPayment extends Change {
  readonly kind: 'fail';
  readonly reason: string;
}

/** Made together with `payback`: what is asked for leaves the balance at once. */
export interface AskRefund extends Change {
  readonly kind: 'ask_refund';
  readonly refund: string;
  readonly reason: string;
}

/** The provider has accepted it but not finished it. */
export interface NoteRefund extends Change {
  readonly kind: 'note_refund';
  readonly refund: string;
  readonly ref: string;
  readonly dueAt: number;
}

/** Made together with `payback`, which gives back what its request took. */
export interface RefuseRefund extends Change {
  readonly kind: 'refuse_refund';
  readonly refund: string;
  readonly reason: string;
}

export interface OpenDispute extends Change {
  readonly kind: 'dispute';
  readonly dispute: string;
  readonly amount: Micro;
}

/** The dispute was won. */
export interface KeepPayment extends Change {
  readonly kind: 'keep';
}

/** Made together with the operation `pay`. */
export interface CreditPayment extends Change {
  readonly kind: 'credit';
  /** The operator's reason, if one decided. */
  readonly reason: string | null;
  /** When it is fetched again, if the provider may have refunded it already; null: it is not. */
  readonly dueAt: number | null;
}

/** Made together with `payback`: money that the provider has refunded. */
export interface BookRefund extends Change {
  readonly kind: 'refund';
  /** The provider's id. */
  readonly ref: string;
  /** Ours; null for a refund started elsewhere. */
  readonly refund: string | null;
}

/** Made together with `dispute`: the dispute was lost. */
export interface ReversePayment extends Change {
  readonly kind: 'reverse';
}

/** Changes that move no money. */
export type FreePaymentChange =
  | BeginPayment
  | LookPayment
  | SucceedPayment
  | ReviewPayment
  | RejectPayment
  | CancelPayment
  | ExpirePayment
  | FailPayment
  | NoteRefund
  | OpenDispute
  | KeepPayment;

/** Changes made in the transaction that moves their money. */
export type PaidPaymentChange = CreditPayment | AskRefund | RefuseRefund | BookRefund | ReversePayment;

export type PaymentChange = FreePaymentChange | PaidPaymentChange;

/**
 * `done`: applied now; `exists`: the same change had been applied before; `stale`: nothing changed, because the payment
 * has changed since or its phase does not allow it; `no_payment`.
 */
export type PaymentStatus = 'done' | 'exists' | 'stale' | 'no_payment';

export interface PaymentOutcome {
  readonly status: PaymentStatus;
  /** The payment afterwards; absent if there is none. */
  readonly payment?: Payment;
}

const WAITING: readonly PaymentPhase[] = ['created', 'pending', 'expired'];
const IN_WALLET: readonly PaymentPhase[] = ['credited', 'partly_refunded'];

const ALLOWED: Readonly<Record<PaymentChange['kind'], readonly PaymentPhase[]>> = {
  begin: ['created'],
  look: ['created', 'pending', 'succeeded', 'expired', ...IN_WALLET, ...DISPUTE_PHASES],
  succeed: WAITING,
  review: ['succeeded'],
  reject: ['review'],
  cancel: WAITING,
  expire: ['pending', 'expired'],
  fail: ['created', 'pending'],
  ask_refund: IN_WALLET,
  note_refund: [...IN_WALLET, ...DISPUTE_PHASES],
  refuse_refund: [...IN_WALLET, ...DISPUTE_PHASES],
  dispute: IN_WALLET,
  keep: ['disputed'],
  credit: ['succeeded', 'review'],
  // The provider has refunded it, whatever the bank wants, or wanted.
  refund: [...IN_WALLET, ...DISPUTE_PHASES],
  reverse: ['disputed'],
};

/** `moved` is present exactly for changes that move money. */
export function decidePayment(payment: Payment | undefined, change: PaymentChange, moved?: Moved): PaymentOutcome {
  if (!payment) return { status: 'no_payment' };
  assert.equal(payment.id, change.id);
  if (wasMade(payment, change, moved)) return { status: 'exists', payment };
  if (payment.version !== change.version || !ALLOWED[change.kind].includes(payment.phase))
    return { status: 'stale', payment };
  const changed = changedBy(payment, change, moved);
  if (!changed) return { status: 'stale', payment };
  const changedAt = change.kind === 'look' ? payment.changedAt : change.at;
  return { status: 'done', payment: { ...payment, ...FREE, changedAt, ...changed, version: payment.version + 1 } };
}

/** A payment that waits or has ended has no owner. */
const FREE = { owner: null, lease: null };

/** Undefined if its amounts or ids do not allow it. */
function changedBy(payment: Payment, change: PaymentChange, moved: Moved | undefined): Partial<Payment> | undefined {
  switch (change.kind) {
    case 'begin': {
      const { ref, payUrl, expiresAt, dueAt } = change;
      return { phase: 'pending', ref, payUrl, expiresAt, dueAt, reason: null };
    }
    case 'look':
      return { dueAt: change.dueAt, ...(change.reason !== undefined && { reason: change.reason }) };
    case 'succeed':
      if (payment.ref !== null && payment.ref !== change.ref) return undefined;
      return { phase: 'succeeded', ref: change.ref, state: change.state, dueAt: change.at };
    case 'review':
      return { phase: 'review', reason: change.reason, dueAt: null };
    case 'reject':
      return { phase: 'rejected', reason: change.reason, dueAt: null };
    case 'cancel':
      return { phase: 'canceled', reason: change.reason, state: change.state, dueAt: null };
    case 'expire':
      return { phase: 'expired', reason: change.reason, dueAt: change.dueAt };
    case 'fail':
      return { phase: 'failed', reason: change.reason, dueAt: null };
    case 'dispute': {
      const isCovered = change.amount > 0n && change.amount <= payment.credited - payment.refunded;
      const dispute: Dispute = { id: change.dispute, amount: String(change.amount), taken: null };
      return isCovered ? { phase: 'disputed', dispute: JSON.stringify(dispute) } : undefined;
    }
    case 'keep':
      return { phase: 'kept', dueAt: dueFor(refundsOf(payment), change.at) };
    case 'ask_refund':
    case 'note_refund':
    case 'refuse_refund':
      return refundChanged(payment, change, moved);
    case 'credit':
    case 'refund':
    case 'reverse':
      return moneyChanged(payment, change, moved as Moved);
  }
}

function refundChanged(
  payment: Payment,
  change: AskRefund | NoteRefund | RefuseRefund,
  moved: Moved | undefined,
): Partial<Payment> | undefined {
  const refunds = refundsOf(payment);
  if (change.kind === 'ask_refund') {
    const { refund: id, reason, at } = change;
    const { amount = 0n, taken = 0n } = moved ?? {};
    if (amount <= 0n || amount > refundable(payment) || refunds.length >= REFUNDS_MAX) return undefined;
    const money = { taken: null, off: String(amount), missing: String(amount - taken) };
    const asked: Refund = { id, ref: null, amount: String(amount), state: 'asked', reason, at, ...money };
    return { refunds: JSON.stringify([...refunds, asked]), dueAt: at };
  }
  const found = refunds.find(({ id, state }) => id === change.refund && state === 'asked');
  if (!found || (change.kind === 'refuse_refund' && heldBy(found) !== (moved?.returned ?? 0n))) return undefined;
  const next: Refund =
    change.kind === 'note_refund'
      ? { ...found, ref: change.ref }
      : { ...found, state: 'refused', reason: change.reason, given: String(moved?.returned ?? 0n) };
  const list = refunds.map((refund) => (refund === found ? next : refund));
  const dueAt = change.kind === 'note_refund' ? change.dueAt : dueFor(list, change.at);
  return { refunds: JSON.stringify(list), dueAt };
}

function moneyChanged(
  payment: Payment,
  change: CreditPayment | BookRefund | ReversePayment,
  moved: Moved,
): Partial<Payment> | undefined {
  const { amount } = moved;
  if (change.kind === 'credit') {
    const { reason, dueAt } = change;
    return { phase: 'credited', credited: amount, reason, dueAt };
  }
  const refunded = payment.refunded + amount;
  if (amount <= 0n || refunded > payment.credited) return undefined;
  const folded = foldedBy(payment, change, amount);
  if (folded.reduce((sum, refund) => sum + heldBy(refund), 0n) !== (moved.returned ?? 0n)) return undefined;
  const { shortfall, ...booked } = bookedOf(folded, moved);
  const money = { refunded, shortfall: payment.shortfall + shortfall };
  const lists =
    change.kind === 'reverse' ? lostLists(payment, booked) : bookedLists(payment, change, { folded, booked });
  if (!lists) return undefined;
  const isWhole = refunded === payment.credited;
  const phase =
    change.kind === 'reverse'
      ? 'reversed'
      : DISPUTE_PHASES.includes(payment.phase)
        ? payment.phase
        : isWhole
          ? 'refunded'
          : 'partly_refunded';
  return { phase, ...money, ...lists, dueAt: isWhole ? null : dueFor(refundsOf({ ...payment, ...lists }), change.at) };
}

/** Requested refunds keep the payment due. */
function dueFor(refunds: readonly Refund[], at: number): number | null {
  return refunds.some(({ state }) => state === 'asked') ? at : null;
}

/** Whether the same change was made before: its answer was lost, or another process learnt the same fact. */
function wasMade(payment: Payment, change: PaymentChange, moved: Moved | undefined): boolean {
  switch (change.kind) {
    case 'ask_refund':
      return refundsOf(payment).some(({ id }) => id === change.refund);
    case 'note_refund':
      return refundsOf(payment).some(({ id, ref }) => id === change.refund && ref === change.ref) && isNext();
    case 'refuse_refund':
      return refundsOf(payment).some(({ id, state }) => id === change.refund && state === 'refused');
    case 'refund':
      return refundsOf(payment).some(({ ref, state }) => ref === change.ref && state === 'booked');
    case 'dispute':
      return disputeOf(payment)?.id === change.dispute;
    case 'credit':
      return payment.credited > 0n && payment.credited === moved?.amount;
    case 'reverse':
      return payment.phase === 'reversed';
    default: {
      const changed = Object.entries(changedBy(payment, change, moved) ?? { version: -1 });
      return isNext() && changed.every(([name, value]) => payment[name as keyof Payment] === value);
    }
  }

  function isNext(): boolean {
    return payment.version === change.version + 1;
  }
}
