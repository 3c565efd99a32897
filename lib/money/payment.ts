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
  ...(['created', 'pending', 'succeeded', 'review', 'credited', 'partly_refunded', 'disputed', 'expired'] as const),
  ...(['canceled', 'failed', 'rejected', 'refunded', 'reversed', 'kept'] as const),
] as const;
export type PaymentPhase = (typeof PAYMENT_PHASES)[number];

/** Since a dispute was opened: refunds that the provider makes all the same are booked, and leave the phase as it is. */
export const DISPUTE_PHASES: readonly PaymentPhase[] = ['disputed', 'reversed', 'kept'];

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
  /** What the provider must report for it to be credited. */
  readonly shop: string;
  readonly test: boolean;
  /** Who started it: the owner on a page, or automatic top-up. */
  readonly origin: 'manual' | 'auto';
  /** What else the provider is told, as JSON: see `OrderFacts`. */
  readonly facts: string;
  /** The provider's id; null until it is started. */
  readonly ref: string | null;
  /** Where its payer pays, and until when. All times in ms since the epoch. */
  readonly payUrl: string | null;
  readonly expiresAt: number | null;
  /** The provider's last state, once it ended, as JSON. */
  readonly state: string | null;
  /** Why it is in its phase, in words or as the provider's code. */
  readonly reason: string | null;
  /** What was credited to the wallet; 0 until then. */
  readonly credited: Micro;
  /** What was to be taken back since, by refunds and a lost dispute. */
  readonly refunded: Micro;
  /** How much of that the wallet did not have when it was booked; it stays owed, and the balance is below zero. */
  readonly shortfall: Micro;
  /** JSON of `Refund`s, oldest first. */
  readonly refunds: string;
  /** JSON of a `Dispute`; null if there never was one. */
  readonly dispute: string | null;
  /** The process that holds its lease, and when the lease ends; null when it is free to be claimed. */
  readonly owner: string | null;
  readonly lease: number | null;
  /** When it is fetched next; null when nothing is left to do. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  /** When its phase, money or refunds last changed. */
  readonly changedAt: number;
  /** Counts changes: a change applies only to the version it was decided on. */
  readonly version: number;
}

/** Money on its way back; amounts are decimal micro-roubles. */
export interface Refund {
  /** Ours: `rfd_…`; the provider's for one started elsewhere. */
  readonly id: string;
  /** The provider's; null until known. */
  readonly ref: string | null;
  readonly amount: string;
  /**
   * `asked`: requested from the provider, and off the balance; `booked`: refunded there;
   * `refused`.
   */
  readonly state: 'asked' | 'booked' | 'refused';
  readonly reason: string;
  readonly at: number;
  /** What the wallet had of it; null until it is booked. */
  readonly taken: string | null;
  /**
   * What its request took off the balance, by an entry of its own, and how much of that was not there. Absent: nothing,
   * as for one started elsewhere, or requested before requests took anything.
   */
  readonly off?: string;
  readonly missing?: string;
  /** What its refusal gave back, by an entry of its own; absent: it was not refused, or withdrawn with a lost dispute. */
  readonly given?: string;
  /** A dispute or another refund of the same payment had what it took: it holds nothing any more. */
  readonly folded?: true;
  /** How its booking changed the balance; absent as in `off`: by what was taken. */
  readonly moved?: string;
}

/** A payer's bank wants the money back. */
export interface Dispute {
  /** The operator's reference: the bank's or the provider's number. */
  readonly id: string;
  readonly amount: string;
  /** As for a refund; null unless it was lost. */
  readonly taken: string | null;
  readonly moved?: string;
}

/** The money that moved with a change: what was asked for, and what the wallet gave, negative if it was given. */
export interface Moved {
  readonly amount: Micro;
  readonly taken: Micro;
  /** What earlier requests had taken for it; absent: nothing. */
  readonly returned?: Micro;
  /** How far the balance is below zero now; absent: as far as the amount was not there. */
  readonly debt?: Micro;
}

/** The reason of an order that failed because it could not be started for too long. */
export const NEVER_BEGAN = 'the provider never began it';

/** The reason of an order that its provider did not start because it accepts nothing of ours, such as our secret. */
export const NOT_ACCEPTED = 'the provider does not accept our requests';

export const REFUNDS_MAX = 50;

export function refundsOf({ refunds }: Pick<Payment, 'refunds'>): readonly Refund[] {
  return JSON.parse(refunds);
}

export function disputeOf({ dispute }: Pick<Payment, 'dispute'>): Dispute | undefined {
  return dispute === null ? undefined : JSON.parse(dispute);
}

/** What the request of a refund keeps off the balance until it is booked or refused. */
export function heldBy({ state, off = '0', folded }: Refund): Micro {
  return state === 'asked' && folded !== true ? BigInt(off) : 0n;
}

/** How much can still be refunded, not counting requested refunds. */
export function refundable(payment: Payment): Micro {
  const asked = refundsOf(payment).filter(({ state }) => state === 'asked');
  return asked.reduce((left, { amount }) => left - BigInt(amount), payment.credited - payment.refunded);
}

/** What a new payment starts from; its creator holds the lease until the provider has answered. */
export type NewPayment = Pick<
  Payment,
  'id' | 'wallet' | 'provider' | 'amount' | 'shop' | 'test' | 'origin' | 'facts' | 'createdAt'
> & { readonly owner: string; readonly lease: number };

export function newPayment(start: NewPayment): Payment {
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
