// The ledger's operations on money, and their ids.

import type { NewAttempt } from './attempt.ts';
import type { BudgetTerms, CapTerms } from './budget.ts';
import type { IdempotencyTerms } from './idempotency.ts';
import type { CreateJob, FailJob } from './job-rules.ts';
import type { Micro } from './money.ts';
import type {
  AskRefund,
  BookRefund,
  CreditPayment,
  PaidPaymentChange,
  RefuseRefund,
  ReversePayment,
} from './payment-rules.ts';

export const CHARGE_KINDS = ['text', 'embedding', 'image', 'edit', 'video', 'service'] as const;

/** The owner of holds of the operator's own services: no gateway has the id, so that each lasts as long as its lease. */
export const SERVICE_OWNER = 'service';
export type ChargeKind = (typeof CHARGE_KINDS)[number];

interface Base {
  readonly wallet: string;
  /** ms since the epoch. */
  readonly at: number;
  /** When the journal is replayed: the mark of the entry, or null. Otherwise absent, and the mark is computed. */
  readonly mark?: string | null;
}

/** What a new charge starts from. */
interface ChargeStart extends Base {
  readonly chargeId: string;
  readonly key: string;
  readonly chargeKind: ChargeKind;
  readonly model: string;
  readonly prices: string;
  readonly amount: Micro;
  /** What running calls of the wallet have used above their holds: not charged yet, but no longer available. */
  readonly owed?: Micro;
  /** The budget of the key; absent if it has none, in which case nothing is counted. */
  readonly budget?: BudgetTerms;
  /** Further budgets, no two with one id; absent if there are none. */
  readonly caps?: readonly CapTerms[];
  /** Absent if the client sent no idempotency key. */
  readonly idempotency?: IdempotencyTerms;
  /** A model that costs real money may answer the call; play money never pays for that. */
  readonly real?: true;
}

/** A payment arrived. `paymentId` is unique across all wallets. */
export interface TopupOp extends Base {
  readonly kind: 'topup';
  readonly amount: Micro;
  readonly paymentId: string;
  /** A payment of the sandbox: no money was paid. */
  readonly isPlay?: true;
}

/** An operator's correction of either sign; only a balance that moves in takes `avail` below zero. */
export interface AdjustOp extends Base {
  readonly kind: 'adjust';
  /** Zero only when an operator decides to treat play money as real, or an empty wallet moves in. */
  readonly amount: Micro;
  readonly reason: string;
  readonly adjustId: string;
  /** An operator has decided on the play money of the wallet: the rest of it pays for everything. */
  readonly settlesPlay?: true;
  /** The `seq` of the wallet that it was decided on: refused after any other entry. Absent: whatever came since. */
  readonly seenSeq?: number;
  /** It is the balance that the account had in another system: it may be a debt, and it opens the wallet. */
  readonly movesIn?: true;
}

/**
 * Money is given: by an operator, or for a promo code. Calls spend it before paid money, it never leaves as money, and
 * what is left of it at its end is taken back.
 */
export interface GrantOp extends Base {
  readonly kind: 'grant';
  readonly amount: Micro;
  /** Unique across all wallets. */
  readonly grantId: string;
  /** When it ends, ms since the epoch; null: never. */
  readonly until: number | null;
  readonly reason: string;
  /** It counts as the first top-up. */
  readonly opens?: true;
}

/**
 * Takes back what is left of a grant: its time is over, or an operator revokes it. What running calls hold of it stays
 * theirs; what they give back later leaves the wallet then.
 */
export interface GrantEndOp extends Base {
  readonly kind: 'grant_end';
  readonly grantId: string;
  /** Why it is revoked; null: its time is over. */
  readonly reason: string | null;
}

/** Holds an amount for a call that is about to run. */
export interface HoldOp extends ChargeStart {
  readonly kind: 'reserve';
  readonly owner: string;
  readonly lease: number;
  /** What the call may cost above its hold; absent if no more is expected. */
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
 * What an operation that ends a call records of its attempts at upstreams; they replace any earlier ones of the call.
 */
interface EndsAttempts {
  /** In order; absent or empty: no upstream was asked. */
  readonly attempts?: readonly NewAttempt[];
}

/**
 * Turns a hold into a charge for what was used; the difference is returned, or is overshoot. A hold may have expired
 * although its process was only suspended and delivered the answer. Then the full price is overshoot, unless the client
 * has repeated the call under its idempotency key: then the repeated call is charged, and this one is free.
 */
export interface SettleOp extends Base, EndsAttempts {
  readonly kind: 'settle';
  readonly chargeId: string;
  readonly amount: Micro;
  /** `Usage` as JSON. */
  readonly usage: string | null;
  /** The id of the client's idempotency key; absent if it sent none. */
  readonly idempotencyId?: string;
  /** Changes nothing if the hold has expired. */
  readonly onlyHeld?: true;
}

/** Returns a hold; `release`: the call failed; `expire`: its process is dead. */
export interface ReturnOp extends Base, EndsAttempts {
  readonly kind: 'release' | 'expire';
  readonly chargeId: string;
  /** The lease that is over: a hold that was renewed since then stays. Absent: whatever its lease is. */
  readonly lease?: number | null;
}

/** Returns a settled charge. */
export interface RefundOp extends Base, EndsAttempts {
  readonly kind: 'refund';
  readonly chargeId: string;
  /** Fails the job of the charge in the same transaction. */
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
  /** A test payment: no real money moved. */
  readonly isPlay?: true;
  /** The change of the payment in the same transaction; absent when the journal is replayed. */
  readonly payment?: CreditPayment;
}

/**
 * The money of a payment goes back: by a refund, from the moment it is requested (`payback`), or by a lost dispute. The
 * whole amount leaves the balance, which may go below zero. Running calls keep their holds; what they return, and any
 * other money that comes in, pays the debt first. `paybackId` is `<provider>:<the provider's id of the refund or
 * dispute>`, or `<provider>:<our id>:asked` and `…:refused` for the request of a refund and its refusal.
 */
export interface PaybackOp extends Base {
  readonly kind: 'payback' | 'dispute';
  readonly amount: Micro;
  /** The held money of requested refunds that this one absorbs, or that is returned by a refusal; absent: nothing. */
  readonly returned?: Micro;
  readonly paybackId: string;
  readonly order: string;
  /** Suspends the wallet if it has less than the amount. */
  readonly suspend: boolean;
  /** When the journal is replayed: the operation suspended the wallet. */
  readonly suspended?: true;
  readonly payment?: AskRefund | RefuseRefund | BookRefund | ReversePayment;
}

/** An operator suspends a wallet, so that it takes no new calls, or resumes it. `changeId` is unique across wallets. */
export interface StatusOp extends Base {
  readonly kind: 'suspend' | 'resume';
  readonly changeId: string;
}

export type Operation =
  | TopupOp
  | AdjustOp
  | GrantOp
  | GrantEndOp
  | HoldOp
  | ChargeOp
  | SettleOp
  | ReturnOp
  | RefundOp
  | PayOp
  | PaybackOp
  | StatusOp;

/** The kinds of operations without a charge. */
export const CHARGELESS: readonly Operation['kind'][] = [
  'topup',
  'adjust',
  'pay',
  'payback',
  'dispute',
  'suspend',
  'resume',
  'grant',
  'grant_end',
];

/** The kinds that create a charge. */
export const CHARGE_STARTING_KINDS: readonly Operation['kind'][] = ['reserve', 'charge'];

/** The kinds that belong to a payment. */
export const PAYMENT_KINDS: readonly Operation['kind'][] = ['pay', 'payback', 'dispute'];

/** All kinds of operations. */
export const ENTRY_KINDS: readonly Operation['kind'][] = [
  ...CHARGELESS,
  'reserve',
  'charge',
  'settle',
  'release',
  'expire',
  'refund',
];

/** The id of an operation; an operation with the same id is applied only once. */
export function getOperationId(op: Operation): string {
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
    case 'grant':
    case 'grant_end':
      return `${op.kind}:${op.grantId}`;
    default:
      return `${op.kind}:${op.chargeId}`;
  }
}

export function getJobChange(op: Operation): CreateJob | FailJob | undefined {
  return 'job' in op ? op.job : undefined;
}

export function getPaymentChange(op: Operation): PaidPaymentChange | undefined {
  return 'payment' in op ? op.payment : undefined;
}

export function getChargeId(op: Operation): string | undefined {
  return 'chargeId' in op ? op.chargeId : undefined;
}
