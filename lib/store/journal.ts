// Reads a journal in pages, the same for each store: iterates over all pages, and decides where a page ends.

import type { Entry, Wallet } from '../money/decide.ts';
import { findNextEnd } from '../money/grants.ts';
import type { JournalPage, JournalStore, UsedAttempt, UsedEntry } from './ports/journal.ts';

/** Yields all pages of a store. The next page is read while the caller works on the current one. */
export async function* journalPages(journal: JournalStore, limit: number): AsyncGenerator<JournalPage> {
  let reading: Promise<JournalPage> | undefined = journal.page(undefined, limit);
  while (reading) {
    const page: JournalPage = await reading;
    reading = page.next && journal.page(page.next, limit);
    // If the caller stops, nothing handles this promise.
    reading?.catch(() => undefined);
    yield page;
  }
}

/** The rows after a position; each list ends at the limit. */
type PageRows = Pick<JournalPage, 'entries' | 'wallets' | 'accounts'>;

/** Keeps the rows of the same wallets, and returns where the next page starts. */
export function cutPage(rows: PageRows, limit: number): PageRows & Pick<JournalPage, 'next'> {
  const full = (list: readonly unknown[]) => list.length >= limit;
  const last = full(rows.entries) ? rows.entries.at(-1) : undefined;
  const ends = [
    last?.wallet,
    ...[rows.wallets, rows.accounts].map((list) => (full(list) ? list.at(-1)?.id : undefined)),
  ];
  const end = ends.filter((id) => id !== undefined).sort(compareIds)[0];
  if (end === undefined) return { ...rows, next: undefined };
  // The wallet of the last entry may have more entries.
  const open = last && last.wallet === end ? last : undefined;
  const isWhole = ({ id }: { readonly id: string }) => compareIds(id, end) < (open ? 0 : 1);
  return {
    entries: rows.entries.filter((entry) => compareIds(entry.wallet, end) <= 0),
    wallets: rows.wallets.filter(isWhole),
    accounts: rows.accounts.filter(isWhole),
    next: { id: end, seq: open ? open.seq : null },
  };
}

/** Like `cutPage` for a single wallet, whose row is on the page of its last entries. */
export function cutWallet(rows: PageRows, limit: number): PageRows & Pick<JournalPage, 'next'> {
  const last = rows.entries.length >= limit ? rows.entries.at(-1) : undefined;
  if (!last) return { ...rows, next: undefined };
  return { entries: rows.entries, wallets: [], accounts: [], next: { id: last.wallet, seq: last.seq } };
}

/** Both databases order ids by bytes. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The calls whose attempts are final with one of these entries. */
export function listEndedCharges(entries: readonly UsedEntry[]): readonly string[] {
  return entries.flatMap(({ kind, charge }) => (charge && hasEndedCall(kind) ? charge.id : []));
}

function hasEndedCall(kind: Entry['kind']): boolean {
  return kind === 'settle' || kind === 'release';
}

/** Adds their attempts to the entries that end calls. */
export function withUsedAttempts(entries: readonly UsedEntry[], attempts: readonly UsedAttempt[]): UsedEntry[] {
  const byCharge = Map.groupBy(attempts, ({ charge }) => charge);
  return entries.map((entry) => {
    const { kind, charge } = entry;
    return charge && hasEndedCall(kind) ? { ...entry, attempts: byCharge.get(charge.id) ?? [] } : entry;
  });
}

/** What is wrong with the time at which the sweep looks at the grants of a wallet; undefined: nothing. */
export function checkGrantsDue(wallet: Wallet, due: unknown): string | undefined {
  const found = due === null || due === undefined ? null : Number(due);
  const wanted = readNextEnd(wallet);
  return found === wanted ? undefined : `its grants are due at ${found ?? 'no time'} instead of ${wanted ?? 'no time'}`;
}

/** Grants that cannot be read end at no time; the audit says why. */
function readNextEnd(wallet: Wallet): number | null {
  try {
    return findNextEnd(wallet);
  } catch {
    return null;
  }
}
