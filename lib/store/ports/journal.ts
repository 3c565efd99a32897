// The port of walks over a whole store, for the audit and the copy: bounded pages, each as of one moment.
import type { Charge, Entry, Wallet } from '../../money/decide.ts';
import type { KeyBudget, SharesBudget } from '../../money/key-budget.ts';
import type { Opening } from './archives.ts';

export interface JournalStore {
  /** How many wallets there are, and how many entries they count: the size of a walk. */
  size(): Promise<{ readonly wallets: number; readonly entries: number }>;
  /** The rows after a position, or from the start: at most `limit` entries, wallets and accounts. */
  page(from: JournalPosition | undefined, limit: number): Promise<JournalPage>;
  /** The same page without what belongs to its entries, for comparing. */
  rows(from: JournalPosition | undefined, limit: number): Promise<JournalRows>;
  /** The same of one wallet alone, behind this entry. */
  walletPage(wallet: string, seq: number, limit: number): Promise<JournalPage>;
  /** The same entries, with nothing but what usage is counted from: the whole page would cost several times as much. */
  usedEntries(wallet: string, seq: number, limit: number): Promise<readonly UsedEntry[]>;
  /** Those of the `limit` charges with ids above `after` that no journal entry creates. */
  unknownCharges(
    after: string,
    limit: number,
  ): Promise<{ readonly found: readonly UnknownCharge[]; readonly next?: string }>;
  /** Keys of all accounts with ids above `after`, in order of id. */
  keys(after: string, limit: number): Promise<readonly KeyAudit[]>;
}

export interface UsedEntry extends Pick<Entry, 'seq' | 'kind' | 'charged'> {
  /** What it belongs to; absent if there is no charge. */
  readonly charge?: Pick<Charge, 'createdAt' | 'key' | 'model' | 'kind' | 'usage'>;
}

/** The position of a walk: accounts and wallets in order of id, the entries of each in order of `seq`. */
export interface JournalPosition {
  readonly id: string;
  /** The last entry of `id` that was read; null if all of `id` was. */
  readonly seq: number | null;
}

/** The rows of some consecutive accounts, as of one moment. */
export interface JournalPage {
  /** By wallet and `seq`, including entries without a wallet. */
  readonly entries: readonly Entry[];
  /** The wallets whose last entries are on this page. */
  readonly wallets: readonly Wallet[];
  /** The budget sums of these wallets' keys. */
  readonly budgets: readonly KeyBudget[];
  /** The openings of all wallets with entries or an end on this page. */
  readonly openings: readonly Opening[];
  /** The accounts of these wallets. */
  readonly accounts: readonly AccountAudit[];
  /** The charges that the entries belong to. */
  readonly charges: readonly Charge[];
  /** The entries of these charges that are not on this page. */
  readonly others: readonly Entry[];
  /** The keys of these charges. */
  readonly keys: readonly ({ readonly id: string; readonly account: string } & SharesBudget)[];
  /** Which accounts of this page have any keys. */
  readonly keyed: readonly string[];
  /** Undefined after the last page. */
  readonly next: JournalPosition | undefined;
}

export type JournalRows = Pick<JournalPage, 'entries' | 'wallets' | 'budgets' | 'next'>;

export interface AccountAudit {
  readonly id: string;
  /** What only the store itself can see of its columns. */
  readonly problem?: string;
}

export interface UnknownCharge {
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
