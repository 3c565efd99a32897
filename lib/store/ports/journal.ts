// The port of walks over a whole store, for the audit and the copy: bounded pages, each of one moment.
import type { Charge, Entry, Wallet } from '../../money/decide.ts';
import type { KeyBudget, SharesBudget } from '../../money/key-budget.ts';

export interface JournalStore {
  /** How many wallets there are, and how many entries they count: the size of a walk. */
  size(): Promise<{ readonly wallets: number; readonly entries: number }>;
  /** The rows behind a position, from the beginning without one: `limit` entries, wallets and accounts at the most. */
  page(from: JournalPosition | undefined, limit: number): Promise<JournalPage>;
  /** Of the `limit` charges with ids above `after` those that no entry of the journal begins. */
  unknownCharges(
    after: string,
    limit: number,
  ): Promise<{ readonly found: readonly LostCharge[]; readonly next?: string }>;
  /** Keys of all accounts with ids above `after`, in order of id. */
  keys(after: string, limit: number): Promise<readonly KeyAudit[]>;
}

/** How far a walk has come: accounts and wallets in order of id, the entries of each in order of `seq`. */
export interface JournalPosition {
  readonly id: string;
  /** The last entry of `id` that was read; null when all of `id` was. */
  readonly seq: number | null;
}

/** What a store has of some accounts in a row, read at one moment. */
export interface JournalPage {
  /** By wallet and `seq`; also those whose wallet is not there. */
  readonly entries: readonly Entry[];
  /** The wallets whose last entries are in this page. */
  readonly wallets: readonly Wallet[];
  /** The sums of the keys of these wallets. */
  readonly budgets: readonly KeyBudget[];
  /** The accounts of these wallets. */
  readonly accounts: readonly AccountAudit[];
  /** The charges that the entries are about. */
  readonly charges: readonly Charge[];
  /** The entries of these charges that are not in the page. */
  readonly others: readonly Entry[];
  /** The keys of these charges. */
  readonly keys: readonly ({ readonly id: string; readonly account: string } & SharesBudget)[];
  /** Which of the accounts of this page have keys at all. */
  readonly keyed: readonly string[];
  /** Undefined after the last page. */
  readonly next: JournalPosition | undefined;
}

export interface AccountAudit {
  readonly id: string;
  /** What a store can see of columns that only it has. */
  readonly problem?: string;
}

export interface LostCharge {
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
