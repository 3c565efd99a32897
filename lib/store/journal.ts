// The port of everything that goes over a whole store, the audit and the copy: bounded pages, each of one moment.
import type { Charge, Entry, Wallet } from '../ledger/decide.ts';

export interface JournalStore {
  /** How many wallets there are, and how many entries they count: what a walk has before it. */
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
  /** The accounts of these wallets. */
  readonly accounts: readonly AccountAudit[];
  /** The charges that the entries are about. */
  readonly charges: readonly Charge[];
  /** The entries of these charges that are not in the page. */
  readonly others: readonly Entry[];
  /** The keys of these charges. */
  readonly keys: readonly { readonly id: string; readonly account: string }[];
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

/** All pages of a store. */
export async function* journalPages(journal: JournalStore, limit: number): AsyncGenerator<JournalPage> {
  let from: JournalPosition | undefined;
  do {
    const page = await journal.page(from, limit);
    yield page;
    from = page.next;
  } while (from);
}

/** What a store has read behind a position; each list stopped at the limit, entries at whatever came first. */
export type PageRows = Pick<JournalPage, 'entries' | 'wallets' | 'accounts'>;

/** Leaves of the rows what belongs together, and says where the next page begins. */
export function cutPage(rows: PageRows, limit: number): PageRows & Pick<JournalPage, 'next'> {
  const full = (list: readonly unknown[]) => list.length >= limit;
  const last = full(rows.entries) ? rows.entries.at(-1) : undefined;
  const ends = [
    last?.wallet,
    ...[rows.wallets, rows.accounts].map((list) => (full(list) ? list.at(-1)?.id : undefined)),
  ];
  const end = ends.filter((id) => id !== undefined).sort(compareIds)[0];
  if (end === undefined) return { ...rows, next: undefined };
  // The wallet of the last entry may have more of them.
  const open = last && last.wallet === end ? last : undefined;
  const isWhole = ({ id }: { readonly id: string }) => compareIds(id, end) < (open ? 0 : 1);
  return {
    entries: rows.entries.filter((entry) => compareIds(entry.wallet, end) <= 0),
    wallets: rows.wallets.filter(isWhole),
    accounts: rows.accounts.filter(isWhole),
    next: { id: end, seq: open ? open.seq : null },
  };
}

/** The order of both databases: by bytes. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
