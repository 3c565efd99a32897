// What the ledger keeps: the wallet of an account, the charges of its calls, and the entries of its journal.
import type { CapPeriod, SharesBudget } from './budget.ts';
import type { Micro } from './money.ts';
import type { ChargeKind, Operation } from './operations.ts';

/**
 * One account's money. `avail + held + charged = topped + adjusted + granted` at all times, and of the money that was
 * given: what `grants` have left + what they pay of held and settled calls = `granted`.
 */
export interface Wallet {
  /** The account's id. */
  readonly id: string;
  /** What can be spent; below zero only by recorded overshoot of calls, of payments taken back, and of debts moved in. */
  readonly avail: Micro;
  /** The sum over held charges. */
  readonly held: Micro;
  /** Charges less refunds. */
  readonly charged: Micro;
  /** Payments, less refunds and lost disputes. */
  readonly topped: Micro;
  /** The sum of the operator's corrections, of either sign. */
  readonly adjusted: Micro;
  /** Grants, less what was taken back at their end; absent: nothing. */
  readonly granted?: Micro;
  /** What is left of each grant, as JSON of a `GrantBook`; absent if there is none. Part of `avail`. */
  readonly grants?: string;
  /** Number of the last entry; the first entry is 1. */
  readonly seq: number;
  /** A suspended wallet takes no new hold or charge; running calls settle. */
  readonly status: 'active' | 'suspended';
  /** The wallet holds money of test payments, and pays for no real model until an operator has settled it. */
  readonly playMoney?: true;
  /** The wallet takes calls, and payments of any amount, without a first top-up. */
  readonly opened?: true;
}

/** Whether calls of the wallet are refused, whatever corrections added, because nobody has paid yet. */
export function needsFirstPayment({ topped, opened }: Pick<Wallet, 'topped' | 'opened'>): boolean {
  return topped === 0n && !opened;
}

export function createEmptyWallet(id: string): Wallet {
  return { id, avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, seq: 0, status: 'active' };
}

/** `held → settled | released | expired`, `expired → settled`, `settled → refunded`; each once. */
export const CHARGE_STATES = ['held', 'settled', 'released', 'expired', 'refunded'] as const;
export type ChargeState = (typeof CHARGE_STATES)[number];

/**
 * What a call used: the counts of `token-usage.ts` for text; `tokens_input` for embeddings; `images`; `seconds` and
 * `resolution` of a video. Charges, log lines and the command line show it as JSON under these names, and texts add how
 * they were routed (`text/facts.ts`). `repeated_as` is the charge of the repeated call, if this call is free as a
 * repeat.
 */
export type Usage = Readonly<Record<string, number | string>>;

/** The money of one call; `budgetKey` as of the start of the call. */
export interface Charge extends SharesBudget {
  /** The request's id. */
  readonly id: string;
  readonly wallet: string;
  /** The id of the API key. */
  readonly key: string;
  readonly kind: ChargeKind;
  readonly state: ChargeState;
  readonly reserved: Micro;
  /** What the call cost; kept after a refund, to show what was refunded. */
  readonly charged: Micro;
  /** The model that is billed. */
  readonly model: string;
  /** The prices the call was made with, as JSON of decimal micro-roubles: they outlive catalog changes. */
  readonly prices: string;
  /** What was billed, once settled, as JSON: see `Usage`. */
  readonly usage: string | null;
  /** The process that holds it; null once it is not held. */
  readonly owner: string | null;
  /** Until then the sweeper leaves the hold alone even if its owner is unknown, ms since the epoch. */
  readonly lease: number | null;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** The period of the key's budget that the call counts in; null if it started without a budget. */
  readonly period: number | null;
  /** What the call may cost above its hold, as known at its start; absent if no more is expected. */
  readonly excess?: Micro;
  /** The further budgets that the call counts in; absent if there are none. */
  readonly caps?: readonly CapPeriod[];
  /**
   * What grants pay of the hold, or of what the call cost (kept after a refund), as JSON of `GrantPart[]`; absent:
   * nothing.
   */
  readonly grants?: string;
}

/** One row of the append-only journal: the change of each column. The changes balance. */
export interface Entry {
  /** Unique over the whole ledger: the operation's identity. */
  readonly opId: string;
  readonly wallet: string;
  readonly seq: number;
  readonly kind: Operation['kind'];
  readonly charge: string | null;
  readonly at: number;
  readonly avail: Micro;
  readonly held: Micro;
  readonly charged: Micro;
  readonly topped: Micro;
  readonly adjusted: Micro;
  /** The change of `granted`: a grant, its rest at its end, or what came back to a grant that was over; absent: none. */
  readonly granted?: Micro;
  /** The change of what is left of each grant, as JSON of `GrantPart[]`, or of a `GrantBook` with a new one; absent: none. */
  readonly grants?: string;
  /** The part of a settlement above its hold, or of a payback or a debt moved in above the balance. */
  readonly overshoot: Micro;
  /** The wallet's `charged` after this entry: the sum over a time span is the difference of two rows. */
  readonly chargedAfter: Micro;
  /** The payment id of a top-up, the reason of an adjustment or a grant, or the order that a payment or payback belongs to. */
  readonly note: string | null;
  /** The wallet's status from here on; null if it stays. */
  readonly status: Wallet['status'] | null;
  /** See `mark.ts`; null in journals of earlier versions. */
  readonly mark: string | null;
}
