// The port of the ledger: operations in batches, and the reads of wallets, charges and entries.

import type { BudgetSum } from '../../money/budget.ts';
import type { Charge, ChargeKind, ChargeState, Entry, Operation, Outcome, Wallet } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';

/** How many charges of a wallet may have been written after one that has a later time, and still count in their place. */
export const OUT_OF_ORDER_MAX = 500;

export interface LedgerStore {
  /**
   * How the operations of a service share transactions: one lane for the whole store, or one per wallet. The submitter
   * keeps one batch per lane in flight.
   */
  readonly lane: 'store' | 'wallet';
  /** The maximum number of operations in one batch. */
  readonly batchMax: number;
  /**
   * Applies a batch in one durable transaction by `fold`: outcomes in order, after the commit. Operations are idempotent
   * by `getOperationId`, so a batch with an unknown outcome is resent, whole or in parts. A batch may contain several
   * wallets even if each has its own lane, if no other process writes them.
   */
  apply(operations: readonly Operation[]): Promise<readonly Outcome[]>;
  wallet(id: string): Promise<Wallet | undefined>;
  charge(id: string): Promise<Charge | undefined>;
  /**
   * Charges of a wallet, newest first, by creation time or by the order of their entries (these differ if clocks do);
   * ties have a stable order.
   */
  charges(wallet: string, page: ChargePage): Promise<readonly Charge[]>;
  /** The entry with the id of an operation. */
  entry(opId: string): Promise<Entry | undefined>;
  /** Entries of a wallet, newest first, `seq` below `before` if given. */
  entries(wallet: string, page: { readonly before?: number; readonly limit: number }): Promise<readonly Entry[]>;
  /** Entries of one charge, oldest first. */
  listChargeEntries(chargeId: string): Promise<readonly Entry[]>;
  /**
   * `charged` of the wallet as of `at` (ms since the epoch): as it was after the last that was written of the entries up
   * to then, which need not be the one with the latest time. 0 before the first entry.
   */
  chargedAt(wallet: string, at: number): Promise<Micro>;
  /** The first entries of a wallet that moved money in or out otherwise than by calls, from a time on until before another. */
  movements(
    wallet: string,
    span: { readonly from: number; readonly to: number; readonly limit: number },
  ): Promise<readonly Entry[]>;
  /** What all such entries of a wallet from a time on have moved in, less what they moved out. */
  movedSince(wallet: string, at: number): Promise<Micro>;
  /** Payments and corrections of a wallet before a time, less what went back; grants do not count. */
  paidBefore(wallet: string, at: number): Promise<Micro>;
  /** Whether a grant was ever given to a wallet, also if nothing is left of it. */
  hadGrants(wallet: string): Promise<boolean>;
  /**
   * What grants paid of the calls of a wallet that were charged in a span, less what its refunds gave back; the calls must
   * not be archived. Reads each of them: at most a day at once.
   */
  grantsCharged(wallet: string, span: { readonly from: number; readonly to: number }): Promise<Micro>;
  /** What was paid into all wallets, and what went back, from a time on until before another, by kind of entry. */
  paymentSums(span: { readonly from: number; readonly to: number }): Promise<readonly PaymentSum[]>;
  /** The same of corrections by operators. */
  correctionSum(span: { readonly from: number; readonly to: number }): Promise<Micro>;
  /** The entries behind both sums that moved money, of all wallets, newest first; ties by the ids of their operations. */
  transfers(page: TransferPage): Promise<readonly Entry[]>;
  /** The existing sums of these keys and caps. */
  budgets(keys: readonly string[]): Promise<readonly BudgetSum[]>;
  /** At most `limit` sums with ids above `after` and below `before`, in order of id. */
  budgetPage(page: BudgetPage): Promise<readonly BudgetSum[]>;
  /** Removes up to `limit` sums of runs that began before a time (ms since the epoch); resolves to how many. */
  removeRuns(before: number, limit: number): Promise<number>;
  /** Changes the lease of a held charge; false unless it is held by this owner, with a lease that is not over by `now`. */
  renewLease(renewal: LeaseRenewal): Promise<boolean>;
  /** Wallets with a grant whose time was over at `now`, with ids above `after`, in order of id. */
  grantsDue(page: { readonly now: number; readonly after: string; readonly limit: number }): Promise<readonly Wallet[]>;
  /** Held charges with an expired lease and a dead owner, in order of `lease` and `id`. */
  orphans(page: OrphanPage): Promise<readonly Charge[]>;
}

export interface LeaseRenewal {
  readonly charge: string;
  readonly owner: string;
  readonly lease: number;
  readonly now: number;
}

export interface BudgetPage {
  readonly after: string;
  readonly before: string;
  readonly limit: number;
}

export interface PaymentSum {
  readonly kind: 'topup' | 'pay' | 'payback' | 'dispute';
  readonly count: number;
  /** Negative for what went back. */
  readonly amount: Micro;
}

export interface TransferPage {
  /** ms since the epoch. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly before?: Pick<Entry, 'at' | 'opId'>;
}

export interface ChargePage {
  /** Only charges after this one in the order; none if it is not a charge of the wallet. */
  readonly before?: string;
  readonly limit: number;
  readonly filter?: ChargeFilter;
  readonly part?: JournalPart;
}

/**
 * Only charges that began in this part of the journal, by the numbers of entries or by times, whichever the store finds
 * faster: of parts that adjoin in both, each charge is in one.
 */
export interface JournalPart {
  /** Exclusive. */
  readonly above: number;
  /** Inclusive. */
  readonly upTo: number;
  /** Inclusive, ms since the epoch. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Absent fields do not filter. */
export interface ChargeFilter {
  /** Created at this time (ms since the epoch) or later. */
  readonly from?: number;
  /** Created before this time. */
  readonly to?: number;
  readonly key?: string;
  /** Of these keys. */
  readonly keys?: readonly string[];
  readonly model?: string;
  readonly kind?: ChargeKind;
  readonly state?: ChargeState;
}

export interface OrphanPage {
  /** The clock of the store, as `renew` reported it. */
  readonly now: number;
  /** A gateway's lease that ends more than twice this time from now has expired, too: its clock ran ahead. */
  readonly leaseMs: number;
  /** The last charge of the previous page. */
  readonly after?: { readonly lease: number; readonly id: string };
  readonly limit: number;
}
