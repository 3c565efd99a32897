// Marks of rows that change: short checksums, written with every change, so that the audit notices a value that was changed
// outside the store. See `money/mark.ts`.
import { checksum } from '../money/checksum.ts';
import { parseRequestLimits } from '../money/request-limits.ts';
import type { Account } from './ports/accounts.ts';
import type { KeyRow } from './ports/keys.ts';
import type { Membership } from './ports/users.ts';
import type { WrongMarks } from './ports/wrong-marks.ts';

/** A claim changes these fields without changing the content of the row. */
const UNMARKED_FIELDS: ReadonlySet<string> = new Set(['owner', 'lease', 'version', 'mark']);

/** Ignores null values, so that a column added by a later version does not change the marks of old rows. */
export function markRow(row: object): string {
  const kept = Object.entries(row).filter(
    ([name, value]) => !UNMARKED_FIELDS.has(name) && value !== null && value !== undefined,
  );
  const sorted = kept.sort(([one], [other]) => (one < other ? -1 : 1));
  return checksum([JSON.stringify(sorted, (_name, value) => (typeof value === 'bigint' ? `${value}` : value))]);
}

/** A row and its mark; null if an earlier version wrote it. */
interface MarkedRow<Row> {
  readonly row: Row;
  readonly mark: unknown;
  /** The right mark; absent: computed from the whole row. */
  readonly wanted?: string;
}

/** The mark of a key leaves out its counters, which change without the rest. */
export function markKey({ requestsCount: _, lastUsedAt: __, limits, ...key }: KeyRow): string {
  return markRow({ ...key, ...limits });
}

export function toMarkedKey(key: KeyRow, mark: unknown): MarkedRow<{ readonly id: string; readonly wallet: string }> {
  return { row: { id: key.id, wallet: key.account }, mark, wanted: markKey(key) };
}

/** The mark of an account covers what is said of it once; its automatic top-up is in a row of its own. */
export function markAccount(
  account: Pick<Account, 'id' | 'name' | 'createdAt' | 'priceList' | 'requests' | 'allowance'>,
) {
  const { id, name, createdAt, priceList, requests, allowance } = account;
  // Read as they will be read from the store, whose order of members may be another.
  const limits = parseRequestLimits(requests ?? null);
  return markRow({
    id,
    name,
    createdAt,
    priceList,
    ...limits,
    allowance: allowance?.amount,
    reason: allowance?.reason,
  });
}

export function markMembership({ user, account, role, cap }: Membership): string {
  return markRow({ user, account, role, cap: cap?.limit, reset: cap?.reset, zone: cap?.zone });
}

/** Its id is that of the user and that of the account, with a space between them. */
export function toMarkedMembership(membership: Membership, mark: unknown) {
  const { user, account } = membership;
  return { row: { id: `${user} ${account}`, wallet: account }, mark, wanted: markMembership(membership) };
}

/** Lists the rows whose mark is wrong; `limit` is the number of rows requested. */
export function listWrongMarks<Row extends { readonly id: string; readonly wallet?: string }>(
  rows: readonly MarkedRow<Row>[],
  limit: number,
): WrongMarks {
  const wrong = rows.filter(
    ({ row, mark, wanted = markRow(row) }) => mark !== null && mark !== undefined && mark !== wanted,
  );
  const found = wrong.map(({ row }) => ({ id: row.id, wallet: row.wallet ?? row.id }));
  const last = rows.length < limit ? undefined : rows.at(-1);
  return last ? { found, next: last.row.id } : { found };
}
