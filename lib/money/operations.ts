// The ledger's operations on money, and their ids.

import type { IdempotencyTerms } from './idempotency.ts';
import type { CreateJob, FailJob } from './job-rules.ts';
import type { BudgetTerms } from './key-budget.ts';
import type { Micro } from './money.ts';
import type {
  AskRefund,
  BookRefund,
  CreditPayment,
  PaidPaymentChange,
  RefuseRefund,
  ReversePayment,
} from './payment-rules.ts';

export const CHARGE_KINDS = ['text', 'image', 'edit', 'video'] as const;
export type ChargeKind = (typeof CHARGE_KINDS)[number];

interface Base {
  readonly wallet: string;
  /** ms since the epoch. */
  readonly at: number;
  /** When the journal is replayed: the mark of its entry, null if that has none. Otherwise it is made from the rest. */
  readonly mark?: string | null;
}

/** What a new charge starts from. */
export interface ChargeStart extends Base {
  readonly chargeId: string;
  readonly key: string;
  readonly chargeKind: ChargeKind;
  readonly model: string;
  readonly prices: string;
  readonly amount: Micro;
  /** The key's; absent if it has no budget, in which case nothing is counted. */
  readonly budget?: BudgetTerms;
  /** Of the client's idempotency key; absent if it sent none. */
  readonly repeat?: IdempotencyTerms;
  /** A model that costs real money may answer it, which play money never pays. */
  readonly real?: true;
}

/** A payment arrived. `paymentId` is unique across all wallets. */
export interface TopupOp extends Base {
  readonly kind: 'topup';
  readonly amount: Micro;
  readonly paymentId: string;
  /** Of the sandbox: no money was paid. */
  readonly isPlay?: true;
}

/** An operator's correction of either sign; never takes `avail` below zero. */
export interface AdjustOp extends Base {
  readonly kind: 'adjust';
  /** Nothing only where play money is kept as if it were real. */
  readonly amount: Micro;
  readonly reason: string;
  readonly adjustId: string;
  /** The operator has decided on the play money of the wallet: what is left pays for everything. */
  readonly settlesPlay?: true;
}

/** Holds an amount for a call that is about to run. */
export interface ReserveOp extends ChargeStart {
  readonly kind: 'reserve';
  readonly owner: string;
  readonly lease: number;
  /** What running calls of the wallet have used above their holds: it is not paid yet, so it cannot be held. */
  readonly owed?: Micro;
  /** What the call may cost above its hold; absent if its output is capped. */
  readonly excess?: Micro;
}

/** Charges a price at once, without a hold: for a job that outlives its process. */
export interface ChargeOp extends ChargeStart {
  readonly kind: 'charge';
  /** The paid `Usage`, as JSON. */
  readonly usage?: string;
  /** The job it pays for, created in the same transaction. */
  readonly job?: CreateJob;
}

/**
 * Turns a hold into a charge for what was used; the difference is returned, or is overshoot. A hold that expired
 * because its process was only suspended has been returned, but the answer was delivered: its full price is overshoot,
 * unless the client has repeated the call meanwhile, under its idempotency key: then the repeat is charged, and this is
 * free.
 */
export interface SettleOp extends Base {
  readonly kind: 'settle';
  readonly chargeId: string;
  readonly amount: Micro;
  /** `Usage` as JSON. */
  readonly usage: string | null;
  /** The id of the client's idempotency key; absent if it sent none. */
  readonly repeatId?: string;
}

/** Returns a hold; `release`: the call failed; `expire`: its process is dead. */
export interface ReturnOp extends Base {
  readonly kind: 'release' | 'expire';
  readonly chargeId: string;
}

/** Returns a settled charge. */
export interface RefundOp extends Base {
  readonly kind: 'refund';
  readonly chargeId: string;
  /** The failure of its job, in the same transaction. */
  readonly job?: FailJob;
}

/**
 * A payment's money arrived, as its provider reports. `paymentId` is `<provider>:<the provider's id>`. The minimum
 * first payment is a rule for orders, not for money that has arrived.
 */
export interface PayOp extends Base {
  readonly kind: 'pay';
  readonly amount: Micro;
  readonly paymentId: string;
  /** The order's id. */
  readonly order: string;
  /** It was a test: no real money moved. */
  readonly isPlay?: true;
  /** Its change in the same transaction; absent when the journal is replayed. */
  readonly payment?: CreditPayment;
}

/**
 * A payment's money is on its way back or gone: by a refund, from the moment it is requested (`payback`), or by a lost
 * dispute. All of it leaves the balance, which goes below zero by what is not there; nothing is taken from running calls,
 * but what they return pays that first, as does whatever else comes in. `paybackId` is `<provider>:<the provider's id of
 * the refund, or the dispute's>`; `<provider>:<our id>:asked` and `…:refused` for the request of a refund and its refusal.
 */
export interface PaybackOp extends Base {
  readonly kind: 'payback' | 'dispute';
  readonly amount: Micro;
  /** What requested refunds had taken and leave to this one, or give back because they are refused; absent: nothing. */
  readonly returned?: Micro;
  readonly paybackId: string;
  readonly order: string;
  /** Suspends the wallet if it has less than the amount. */
  readonly suspend: boolean;
  /** When the journal is replayed: it did. */
  readonly suspended?: true;
  readonly payment?: AskRefund | RefuseRefund | BookRefund | ReversePayment;
}

/** The operator lets a wallet take no new calls, or takes that back. `changeId` is unique across all wallets. */
export interface StatusOp extends Base {
  readonly kind: 'suspend' | 'resume';
  readonly changeId: string;
}

export type Operation =
  | TopupOp
  | AdjustOp
  | ReserveOp
  | ChargeOp
  | SettleOp
  | ReturnOp
  | RefundOp
  | PayOp
  | PaybackOp
  | StatusOp;

/** The kinds of operations without a charge. */
export const CHARGELESS: readonly Operation['kind'][] = [
  ...(['topup', 'adjust', 'pay', 'payback', 'dispute', 'suspend', 'resume'] as const),
];

/** The kinds that belong to a payment. */
export const PAYMENT_KINDS: readonly Operation['kind'][] = ['pay', 'payback', 'dispute'];

/** All of them. */
export const ENTRY_KINDS: readonly Operation['kind'][] = [
  ...CHARGELESS,
  ...(['reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const),
];

/** An operation's id: applying it twice changes nothing. */
export function operationId(op: Operation): string {
  switch (op.kind) {
    case 'topup':
      return `topup:${op.paymentId}`;
    case 'adjust':
      return `adjust:${op.adjustId}`;
    case 'pay':
      return `pay:${op.paymentId}`;
    case 'payback':
      return `refund:${op.paybackId}`;
    case 'dispute':
      return `dispute:${op.paybackId}`;
    case 'suspend':
    case 'resume':
      return `${op.kind}:${op.changeId}`;
    default:
      return `${op.kind}:${op.chargeId}`;
  }
}

/** The change of a job that goes with an operation. */
export function jobChangeOf(op: Operation): CreateJob | FailJob | undefined {
  return 'job' in op ? op.job : undefined;
}

/** The change of a payment that goes with an operation. */
export function paymentChangeOf(op: Operation): PaidPaymentChange | undefined {
  return 'payment' in op ? op.payment : undefined;
}

/** The id of the charge an operation is about, if any. */
export function chargeIdOf(op: Operation): string | undefined {
  return 'chargeId' in op ? op.chargeId : undefined;
}
