// A payment as it is stored: one order of money in, its money, its refunds and its dispute.
import assert from 'node:assert/strict';
import type { Micro } from './money.ts';

/**
 * `created`: the provider is asked to start it; `pending`: it waits for the payer; `succeeded`: the money arrived and
 * is about to be credited; `review`: an operator has to decide; `credited`: it is in the wallet; `partly_refunded`;
 * `disputed`: the payer's bank wants it back; `expired`: not paid in time, which a late success can still change.
 * Final: `canceled`: declined, or called off by the payer; `failed`: never started; `rejected`: an operator refused to
 * credit it; `refunded`; `reversed`: the dispute was lost; `kept`: it was won.
 */
export const PAYMENT_PHASES = [
  'created',
  'pending',
  'succeeded',
  'review',
  'credited',
  'partly_refunded',
  'disputed',
  'expired',
  'canceled',
  'failed',
  'rejected',
  'refunded',
  'reversed',
  'kept',
] as const;
export type PaymentPhase = (typeof PAYMENT_PHASES)[number];

/** Nobody knows yet whether its money comes. */
export const OPEN_PHASES: readonly PaymentPhase[] = ['created', 'pending', 'succeeded'];

/** Its money is in the wallet, as far as it was not refunded. */
export const IN_WALLET_PHASES: readonly PaymentPhase[] = ['credited', 'partly_refunded'];

/** Phases after a dispute was opened: refunds that the provider still makes are booked without changing the phase. */
export const DISPUTE_PHASES: readonly PaymentPhase[] = ['disputed', 'reversed', 'kept'];

/** It was credited, whatever has happened since. */
export const CREDITED_PHASES: readonly PaymentPhase[] = [...IN_WALLET_PHASES, 'refunded', ...DISPUTE_PHASES];

/** One order of money in. */
export interface Payment {
  /** The order's id, which is also its idempotency key at the provider: `pay_…`. */
  readonly id: string;
  readonly wallet: string;
  /** The provider's name in the catalog. */
  readonly provider: string;
  readonly phase: PaymentPhase;
  /** The amount ordered. */
  readonly amount: Micro;
  /** The shop and mode that the provider must report for the payment to be credited. */
  readonly shop: string;
  readonly test: boolean;
  /** Who started it: the owner on a page, or automatic top-up. */
  readonly origin: 'manual' | 'auto';
  /** Further values sent to the provider, as JSON: see `OrderFacts`. */
  readonly facts: string;
  /** The provider's id; null until it is started. */
  readonly ref: string | null;
  /** The link where the payer pays, and until when it works. All times in ms since the epoch. */
  readonly payUrl: string | null;
  readonly expiresAt: number | null;
  /** The last state at the provider, once the payment ended there, as JSON. */
  readonly state: string | null;
  /** Why the payment is in its phase, in words or as a code of the provider. */
  readonly reason: string | null;
  /** The amount credited to the wallet; 0 until then. */
  readonly credited: Micro;
  /** The amount taken back since, by refunds and a lost dispute. */
  readonly refunded: Micro;
  /** The part of `refunded` that the wallet did not cover when it was booked; the balance went below zero by it. */
  readonly shortfall: Micro;
  /** JSON of `Refund`s, oldest first. */
  readonly refunds: string;
  /** JSON of a `Dispute`; null if there never was one. */
  readonly dispute: string | null;
  /** The process that holds its lease, and when the lease ends; null when it is free to be claimed. */
  readonly owner: string | null;
  readonly lease: number | null;
  /** When the payment is polled next; null when nothing is left to do. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  /** When its phase, money or refunds last changed. */
  readonly changedAt: number;
  /** Counts changes: a change applies only to the version it was decided on. */
  readonly version: number;
}

/** A refund of a payment; amounts are decimal micro-roubles. */
export interface Refund {
  /** Ours: `rfd_…`; the provider's for one started elsewhere. */
  readonly id: string;
  /** The provider's; null until known. */
  readonly ref: string | null;
  readonly amount: string;
  /** `asked`: requested, and held off the balance; `booked`: the provider has refunded it; `refused`. */
  readonly state: 'asked' | 'booked' | 'refused';
  readonly reason: string;
  readonly at: number;
  /** The part that the wallet covered; null until it is booked. */
  readonly taken: string | null;
  /**
   * The amount that the request took off the balance, by its own entry, and the part of it that was missing. Absent for
   * a refund started elsewhere, or requested by a version whose requests took nothing.
   */
  readonly off?: string;
  readonly missing?: string;
  /** The amount that the refusal returned, by its own entry; absent if not refused, or withdrawn by a lost dispute. */
  readonly given?: string;
  /** Absorbed: a dispute or another refund of the payment has used the held amount, so nothing is held any more. */
  readonly folded?: true;
  /** How the booking changed the balance; absent (see `off`): by `taken`. */
  readonly moved?: string;
}

/** A dispute: the payer's bank wants the money back. */
export interface Dispute {
  /** The reference that the operator entered: a number of the bank or the provider. */
  readonly id: string;
  readonly amount: string;
  /** As for a refund; null unless it was lost. */
  readonly taken: string | null;
  readonly moved?: string;
}

/** The money that moved with a change: the amount requested, and what the wallet gave (negative: what it received). */
export interface Moved {
  readonly amount: Micro;
  readonly taken: Micro;
  /** The amount that earlier requests had held for it; absent: nothing. */
  readonly returned?: Micro;
  /** How far the balance is below zero now; absent: by the part that the wallet did not cover. */
  readonly debt?: Micro;
}

/** The reason of an order that failed because the provider did not start it in time. */
export const NEVER_STARTED = 'the provider never began it';

/** The reason of an order that was not started because the provider rejects our requests, such as a wrong secret. */
export const NOT_ACCEPTED = 'the provider does not accept our requests';

/** The reason of a payment in review that was paid after it was canceled or had failed. */
export const PAID_LATE = 'paid after it had ended';

export const REFUNDS_MAX = 50;

export function parseRefunds({ refunds }: Pick<Payment, 'refunds'>): readonly Refund[] {
  return JSON.parse(refunds);
}

export function parseDispute({ dispute }: Pick<Payment, 'dispute'>): Dispute | undefined {
  return dispute === null ? undefined : JSON.parse(dispute);
}

/** The amount that a requested refund holds off the balance until it is booked or refused. */
export function computeHeldForRefund({ state, off = '0', folded }: Refund): Micro {
  return state === 'asked' && folded !== true ? BigInt(off) : 0n;
}

/** The amount that can still be refunded; requested refunds are subtracted. */
export function refundableAmount(payment: Payment): Micro {
  const asked = parseRefunds(payment).filter(({ state }) => state === 'asked');
  return asked.reduce((left, { amount }) => left - BigInt(amount), payment.credited - payment.refunded);
}

/** The fields of a new payment; its creator holds the lease until the provider has answered. */
export type NewPayment = Pick<
  Payment,
  'id' | 'wallet' | 'provider' | 'amount' | 'shop' | 'test' | 'origin' | 'facts' | 'createdAt'
> & { readonly owner: string; readonly lease: number };

export function createPayment(start: NewPayment): Payment {
  assert(start.amount > 0n);
  return {
    ...start,
    phase: 'created',
    ref: null,
    payUrl: null,
    expiresAt: null,
    state: null,
    reason: null,
    credited: 0n,
    refunded: 0n,
    shortfall: 0n,
    refunds: '[]',
    dispute: null,
    dueAt: start.lease,
    changedAt: start.createdAt,
    version: 1,
  };
}
