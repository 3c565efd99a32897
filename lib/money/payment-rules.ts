// All rules of a payment's life cycle as one pure function: takes a payment and a change, returns the payment after it.
import assert from 'node:assert/strict';
import type { Micro } from './money.ts';
import {
  computeHeldForRefund,
  DISPUTE_PHASES,
  type Dispute,
  IN_WALLET_PHASES,
  type Moved,
  type Payment,
  type PaymentPhase,
  parseDispute,
  parseRefunds,
  REFUNDS_MAX,
  type Refund,
  refundableAmount,
} from './payment.ts';
import { applyBookedRefund, applyLostDispute, computeBooking, findAbsorbedRefunds } from './refund-booking.ts';

export type * from './payment.ts';
export {
  CREDITED_PHASES,
  computeHeldForRefund,
  createPayment,
  DISPUTE_PHASES,
  IN_WALLET_PHASES,
  OPEN_PHASES,
  PAYMENT_PHASES,
  parseDispute,
  parseRefunds,
  refundableAmount,
} from './payment.ts';
export { findAbsorbedRefunds } from './refund-booking.ts';

interface Change {
  readonly id: string;
  /** The version of the payment that the change was decided on. */
  readonly version: number;
  readonly at: number;
}

/** The provider has started the payment; the link is null if the payment was found there without one. */
interface BeginPayment extends Change {
  readonly kind: 'begin';
  readonly ref: string;
  readonly payUrl: string | null;
  readonly expiresAt: number;
  readonly dueAt: number;
}

/** The payment was polled, and nothing has changed. */
interface PollPayment extends Change {
  readonly kind: 'poll';
  readonly dueAt: number | null;
  /** `NOT_ACCEPTED` for an order that is only polled from now on, not started; absent: unchanged. */
  readonly reason?: string;
}

/** The provider has the money. */
interface SucceedPayment extends Change {
  readonly kind: 'succeed';
  readonly ref: string;
  /** The provider's state, as JSON. */
  readonly state: string;
}

/** An operator has to decide. */
interface ReviewPayment extends Change {
  readonly kind: 'review';
  readonly reason: string;
  /** As for `succeed`; for a payment that was paid after it had ended. */
  readonly paid?: Pick<SucceedPayment, 'ref' | 'state'>;
}

/** An operator refuses to credit the payment. */
interface RejectPayment extends Change {
  readonly kind: 'reject';
  readonly reason: string;
}

interface CancelPayment extends Change {
  readonly kind: 'cancel';
  readonly reason: string;
  readonly state: string;
}

/** Not paid in time; the payment is still polled now and then for a late success, unless `dueAt` is null. */
interface ExpirePayment extends Change {
  readonly kind: 'expire';
  readonly reason: string;
  readonly dueAt: number | null;
}

/** The provider never started the payment. */
interface FailPayment extends Change {
  readonly kind: 'fail';
  readonly reason: string;
}

/** Made together with `payback`: the requested amount leaves the balance at once. */
export interface AskRefund extends Change {
  readonly kind: 'ask_refund';
  readonly refund: string;
  readonly reason: string;
}

/** The provider has accepted the refund but not finished it. */
interface NoteRefund extends Change {
  readonly kind: 'note_refund';
  readonly refund: string;
  readonly ref: string;
  readonly dueAt: number;
}

/** Made together with `payback`, which returns the amount that the request held. */
export interface RefuseRefund extends Change {
  readonly kind: 'refuse_refund';
  readonly refund: string;
  readonly reason: string;
}

interface OpenDispute extends Change {
  readonly kind: 'dispute';
  readonly dispute: string;
  readonly amount: Micro;
}

/** The dispute was won. */
interface KeepPayment extends Change {
  readonly kind: 'keep';
}

/** Made together with the operation `pay`. */
export interface CreditPayment extends Change {
  readonly kind: 'credit';
  /** The operator's reason, if one decided. */
  readonly reason: string | null;
  /** When the payment is polled again, if the provider may have refunded it already; null: never. */
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
  | PollPayment
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
const UNPAID: readonly PaymentPhase[] = ['canceled', 'failed'];

const ALLOWED: Readonly<Record<PaymentChange['kind'], readonly PaymentPhase[]>> = {
  begin: ['created'],
  poll: ['created', 'pending', 'succeeded', 'expired', ...IN_WALLET_PHASES, ...DISPUTE_PHASES],
  succeed: WAITING,
  // A provider may have the money of a payment that it, or we, took for ended.
  review: ['succeeded', ...UNPAID],
  reject: ['review'],
  cancel: WAITING,
  expire: ['pending', 'expired'],
  fail: ['created', 'pending'],
  ask_refund: IN_WALLET_PHASES,
  note_refund: [...IN_WALLET_PHASES, ...DISPUTE_PHASES],
  refuse_refund: [...IN_WALLET_PHASES, ...DISPUTE_PHASES],
  dispute: IN_WALLET_PHASES,
  keep: ['disputed'],
  credit: ['succeeded', 'review'],
  // The provider may refund during and after a dispute.
  refund: [...IN_WALLET_PHASES, ...DISPUTE_PHASES],
  reverse: ['disputed'],
};

/** `moved` is present exactly for changes that move money. */
export function decidePayment(payment: Payment | undefined, change: PaymentChange, moved?: Moved): PaymentOutcome {
  if (!payment) return { status: 'no_payment' };
  assert.equal(payment.id, change.id);
  if (isPaymentChangeApplied(payment, change, moved)) return { status: 'exists', payment };
  if (payment.version !== change.version || !ALLOWED[change.kind].includes(payment.phase))
    return { status: 'stale', payment };
  const changed = applyPaymentChange(payment, change, moved);
  if (!changed) return { status: 'stale', payment };
  const changedAt = change.kind === 'poll' ? payment.changedAt : change.at;
  return { status: 'done', payment: { ...payment, ...NO_LEASE, changedAt, ...changed, version: payment.version + 1 } };
}

/** A payment that waits or has ended has no owner. */
const NO_LEASE = { owner: null, lease: null };

/** Undefined if the amounts or ids do not allow the change. */
function applyPaymentChange(
  payment: Payment,
  change: PaymentChange,
  moved: Moved | undefined,
): Partial<Payment> | undefined {
  switch (change.kind) {
    case 'begin': {
      const { ref, payUrl, expiresAt, dueAt } = change;
      return { phase: 'pending', ref, payUrl, expiresAt, dueAt, reason: null };
    }
    case 'poll':
      return { dueAt: change.dueAt, ...(change.reason !== undefined && { reason: change.reason }) };
    case 'succeed':
      if (payment.ref !== null && payment.ref !== change.ref) return undefined;
      return { phase: 'succeeded', ref: change.ref, state: change.state, dueAt: change.at };
    case 'review':
      if (UNPAID.includes(payment.phase) && (payment.ref ?? change.paid?.ref) !== change.paid?.ref) return undefined;
      return { phase: 'review', reason: change.reason, dueAt: null, ...change.paid };
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
      return { phase: 'kept', dueAt: dueAtForRefunds(parseRefunds(payment), change.at) };
    case 'ask_refund':
    case 'note_refund':
    case 'refuse_refund':
      return applyRefundChange(payment, change, moved);
    case 'credit':
    case 'refund':
    case 'reverse':
      return applyMoneyChange(payment, change, moved as Moved);
  }
}

function applyRefundChange(
  payment: Payment,
  change: AskRefund | NoteRefund | RefuseRefund,
  moved: Moved | undefined,
): Partial<Payment> | undefined {
  const refunds = parseRefunds(payment);
  if (change.kind === 'ask_refund') {
    const { refund: id, reason, at } = change;
    const { amount = 0n, taken = 0n } = moved ?? {};
    if (amount <= 0n || amount > refundableAmount(payment) || refunds.length >= REFUNDS_MAX) return undefined;
    const money = { taken: null, off: String(amount), missing: String(amount - taken) };
    const asked: Refund = { id, ref: null, amount: String(amount), state: 'asked', reason, at, ...money };
    return { refunds: JSON.stringify([...refunds, asked]), dueAt: at };
  }
  const found = refunds.find(({ id, state }) => id === change.refund && state === 'asked');
  if (!found || (change.kind === 'refuse_refund' && computeHeldForRefund(found) !== (moved?.returned ?? 0n)))
    return undefined;
  const next: Refund =
    change.kind === 'note_refund'
      ? { ...found, ref: change.ref }
      : { ...found, state: 'refused', reason: change.reason, given: String(moved?.returned ?? 0n) };
  const list = refunds.map((refund) => (refund === found ? next : refund));
  const dueAt = change.kind === 'note_refund' ? change.dueAt : dueAtForRefunds(list, change.at);
  return { refunds: JSON.stringify(list), dueAt };
}

function applyMoneyChange(
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
  const folded = findAbsorbedRefunds(payment, change, amount);
  if (folded.reduce((sum, refund) => sum + computeHeldForRefund(refund), 0n) !== (moved.returned ?? 0n))
    return undefined;
  const { shortfall, ...booked } = computeBooking(folded, moved);
  const money = { refunded, shortfall: payment.shortfall + shortfall };
  const fold = { folded, booked };
  const lists = change.kind === 'reverse' ? applyLostDispute(payment, fold) : applyBookedRefund(payment, change, fold);
  if (!lists) return undefined;
  const isWhole = refunded === payment.credited;
  return {
    phase: findPhaseAfterRefund(payment, change, isWhole),
    ...money,
    ...lists,
    dueAt: isWhole ? null : dueAtForRefunds(parseRefunds({ ...payment, ...lists }), change.at),
  };
}

/** A refund during or after a dispute leaves its phase. */
function findPhaseAfterRefund(
  { phase }: Payment,
  { kind }: BookRefund | ReversePayment,
  isWhole: boolean,
): PaymentPhase {
  if (kind === 'reverse') return 'reversed';
  if (DISPUTE_PHASES.includes(phase)) return phase;
  return isWhole ? 'refunded' : 'partly_refunded';
}

/** Requested refunds keep the payment due. */
function dueAtForRefunds(refunds: readonly Refund[], at: number): number | null {
  return refunds.some(({ state }) => state === 'asked') ? at : null;
}

/** Whether the same change was made before: the answer was lost, or another process learned the same fact. */
function isPaymentChangeApplied(payment: Payment, change: PaymentChange, moved: Moved | undefined): boolean {
  switch (change.kind) {
    case 'ask_refund':
      return parseRefunds(payment).some(({ id }) => id === change.refund);
    case 'note_refund':
      return parseRefunds(payment).some(({ id, ref }) => id === change.refund && ref === change.ref) && isNext();
    case 'refuse_refund':
      return parseRefunds(payment).some(({ id, state }) => id === change.refund && state === 'refused');
    case 'refund':
      return parseRefunds(payment).some(({ ref, state }) => ref === change.ref && state === 'booked');
    case 'dispute':
      return parseDispute(payment)?.id === change.dispute;
    case 'credit':
      return payment.credited > 0n && payment.credited === moved?.amount;
    case 'reverse':
      return payment.phase === 'reversed';
    default: {
      const changed = Object.entries(applyPaymentChange(payment, change, moved) ?? { version: -1 });
      return isNext() && changed.every(([name, value]) => payment[name as keyof Payment] === value);
    }
  }

  function isNext(): boolean {
    return payment.version === change.version + 1;
  }
}
