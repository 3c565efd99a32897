// The port for reading a whole store, for the audit and the copy: bounded pages, each a snapshot.
import type { Attempt, AttemptCost } from '../../money/attempt.ts';
import type { BudgetSum, SharesBudget } from '../../money/budget.ts';
import type { Charge, Entry, Wallet } from '../../money/decide.ts';
import type { Opening } from './archives.ts';

export interface JournalStore {
  /** The number of wallets and of their entries, for progress reports. */
  size(): Promise<{ readonly wallets: number; readonly entries: number }>;
  /** The rows after a position, or from the start: at most `limit` entries, wallets and accounts. */
  page(from: JournalPosition | undefined, limit: number): Promise<JournalPage>;
  /** The same page without the rows related to its entries, for comparisons. */
  rows(from: JournalPosition | undefined, limit: number): Promise<JournalRows>;
  /** A page of a single wallet, after the entry `seq`. */
  walletPage(wallet: string, seq: number, limit: number): Promise<JournalPage>;
  /** The same entries, only with the values for counting usage: the full page would cost several times as much. */
  usedEntries(wallet: string, seq: number, limit: number): Promise<readonly UsedEntry[]>;
  /** Checks `limit` charges with ids above `after`, and finds those that no journal entry creates. */
  unknownCharges(
    after: string,
    limit: number,
  ): Promise<{ readonly found: readonly UnknownCharge[]; readonly next?: string }>;
  /** Keys of all accounts with ids above `after`, in order of id. */
  keys(after: string, limit: number): Promise<readonly KeyAudit[]>;
}

export interface UsedEntry extends Pick<Entry, 'seq' | 'kind' | 'charged' | 'held'> {
  /** The charge that the entry belongs to; absent if there is none. */
  readonly charge?: Pick<Charge, 'id' | 'createdAt' | 'key' | 'model' | 'kind' | 'usage'>;
  /** The attempts of a call that a settlement or a release has ended, in order. */
  readonly attempts?: readonly UsedAttempt[];
}

/** What usage counts of an attempt. */
export interface UsedAttempt
  extends Pick<Attempt, 'charge' | 'model' | 'upstream' | 'ending' | 'reason' | 'firstMs' | 'certainty'> {
  readonly cost: Pick<AttemptCost, 'costRub'> | null;
}

/** A position in the order of accounts and wallets by id, and their entries by `seq`. */
export interface JournalPosition {
  readonly id: string;
  /** The last entry of `id` that was read; null if `id` was read completely. */
  readonly seq: number | null;
}

/** A snapshot of the rows of consecutive accounts. */
export interface JournalPage {
  /** In order of wallet and `seq`, including entries without a wallet. */
  readonly entries: readonly Entry[];
  /** The wallets whose last entries are on this page. */
  readonly wallets: readonly Wallet[];
  /** The budget sums of the keys of these wallets. */
  readonly budgets: readonly BudgetSum[];
  /** The openings of all wallets with entries or an end on this page. */
  readonly openings: readonly Opening[];
  /** The accounts of these wallets. */
  readonly accounts: readonly AccountAudit[];
  /** The charges that the entries belong to. */
  readonly charges: readonly Charge[];
  /** The attempts of these charges, in order of charge and number. */
  readonly attempts: readonly Attempt[];
  /** The entries of these charges that are not on this page. */
  readonly others: readonly Entry[];
  /** The keys of these charges. */
  readonly keys: readonly ({ readonly id: string; readonly account: string } & SharesBudget)[];
  /** The accounts of this page that have keys. */
  readonly keyed: readonly string[];
  /** Undefined after the last page. */
  readonly next: JournalPosition | undefined;
}

export type JournalRows = Pick<JournalPage, 'entries' | 'wallets' | 'budgets' | 'next'>;

export interface AccountAudit {
  readonly id: string;
  /** A problem that only the store itself can detect. */
  readonly problem?: string;
}

interface UnknownCharge {
  readonly id: string;
  readonly wallet: string;
}

export interface KeyAudit {
  readonly id: string;
  readonly account: string;
  readonly hasAccount: boolean;
  readonly requestsCount: number;
  readonly lastUsedAt: number | null;
}
