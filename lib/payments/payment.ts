// A payment as it is stored: one order of money in, its money, its refunds and its dispute.
import assert from 'node:assert/strict';
import type { Micro } from '../money/money.ts';

/**
 * `created` the provider is being asked to begin; `pending` it has, and waits for the payer; `succeeded` the money is there
 * and is about to be credited; `review` an operator decides about it; `credited` it is in the wallet; `partly_refunded`;
 * `disputed` the payer's bank has asked for it; `expired` nobody paid in time, which a late success still changes. For
 * ever: `canceled` declined, or called off by the payer; `failed` it never began; `rejected` an operator refused to credit
 * it; `refunded`; `reversed` the dispute was lost; `kept` it was won.
 */
export const PAYMENT_PHASES = [
  ...(['created', 'pending', 'succeeded', 'review', 'credited', 'partly_refunded', 'disputed', 'expired'] as const),
  ...(['canceled', 'failed', 'rejected', 'refunded', 'reversed', 'kept'] as const),
] as const;
export type PaymentPhase = (typeof PAYMENT_PHASES)[number];

/** One order of money in. */
export interface Payment {
  /** The order's id and, at the provider, its idempotence key: `pay_…`. */
  readonly id: string;
  readonly wallet: string;
  /** The provider's name in the catalog. */
  readonly provider: string;
  readonly phase: PaymentPhase;
  /** What was ordered. */
  readonly amount: Micro;
  /** What the provider has to say of it to be credited. */
  readonly shop: string;
  readonly test: boolean;
  /** Who began it: the owner on a page, or the automatic top-up. */
  readonly origin: 'manual' | 'auto';
  /** What else the provider is told, as JSON: see `OrderFacts`. */
  readonly facts: string;
  /** The provider's id of it; null until it has begun. */
  readonly ref: string | null;
  /** Where its payer pays, and until when. All times in ms since the epoch. */
  readonly payUrl: string | null;
  readonly expiresAt: number | null;
  /** What the provider said of it when it ended, as JSON. */
  readonly state: string | null;
  /** Why it is in its phase, in words or the provider's code. */
  readonly reason: string | null;
  /** What went into the wallet; 0 until it is credited. */
  readonly credited: Micro;
  /** What was asked back since, by refunds and a lost dispute. */
  readonly refunded: Micro;
  /** How much of that was not there any more. */
  readonly shortfall: Micro;
  /** JSON of `Refund`s, oldest first. */
  readonly refunds: string;
  /** JSON of a `Dispute`; null if there never was one. */
  readonly dispute: string | null;
  /** The process that works on it now, and until when nobody else may; null when it waits for its turn. */
  readonly owner: string | null;
  readonly lease: number | null;
  /** When it is to be looked at next; null when nothing is left to do. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  /** When its phase, money or refunds changed last. */
  readonly changedAt: number;
  /** Counts the changes: a change is made to the version it was decided on, or not at all. */
  readonly version: number;
}

/** Money on its way back; amounts are decimal micro-roubles. */
export interface Refund {
  /** Ours: `rfd_…`; the provider's for one begun elsewhere. */
  readonly id: string;
  /** The provider's; null until it is known. */
  readonly ref: string | null;
  readonly amount: string;
  /** `asked` of the provider; `booked` it has given it back, and the wallet is less by what was there; `refused`. */
  readonly state: 'asked' | 'booked' | 'refused';
  readonly reason: string;
  readonly at: number;
  /** What was taken from the wallet; null until it is booked. */
  readonly taken: string | null;
}

/** A payer's bank wants the money back. */
export interface Dispute {
  /** The operator's name for it: the bank's or the provider's number. */
  readonly id: string;
  readonly amount: string;
  /** As with a refund; null unless it was lost. */
  readonly taken: string | null;
}

/** Why an order has failed whose start came to nothing for so long that it is not tried again. */
export const NEVER_BEGAN = 'the provider never began it';

export const REFUNDS_MAX = 50;

export function refundsOf({ refunds }: Pick<Payment, 'refunds'>): readonly Refund[] {
  return JSON.parse(refunds);
}

export function disputeOf({ dispute }: Pick<Payment, 'dispute'>): Dispute | undefined {
  return dispute === null ? undefined : JSON.parse(dispute);
}

/** What may still be asked back, with nothing on its way. */
export function refundable(payment: Payment): Micro {
  const asked = refundsOf(payment).filter(({ state }) => state === 'asked');
  return asked.reduce((left, { amount }) => left - BigInt(amount), payment.credited - payment.refunded);
}

/** What a new payment starts from; its maker holds it until the provider has answered. */
export type NewPayment = Pick<
  Payment,
  'id' | 'wallet' | 'provider' | 'amount' | 'shop' | 'test' | 'origin' | 'facts' | 'createdAt'
> & { readonly owner: string; readonly lease: number };

export function newPayment(start: NewPayment): Payment {
  assert(start.amount > 0n);
  return {
    ...start,
    phase: 'created',
    ...{ ref: null, payUrl: null, expiresAt: null, state: null, reason: null },
    ...{ credited: 0n, refunded: 0n, shortfall: 0n, refunds: '[]', dispute: null },
    dueAt: start.lease,
    changedAt: start.createdAt,
    version: 1,
  };
}
