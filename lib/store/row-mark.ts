// Marks of rows that change: short checksums beside them, written with every change, so that the audit sees a value that
// was changed behind the store's back. See `money/mark.ts`.
import { checksum } from '../money/mark.ts';
import type { KeyRow } from './ports/keys.ts';
import type { WrongMarks } from './ports/wrong-marks.ts';

/** Who works on a row changes without the rest, and a claim counts as a version. */
const UNMARKED_FIELDS: ReadonlySet<string> = new Set(['owner', 'lease', 'version', 'mark']);

/** Without what is null, so that a column that a later version adds does not change the marks of old rows. */
export function markRow(row: object): string {
  const kept = Object.entries(row).filter(
    ([name, value]) => !UNMARKED_FIELDS.has(name) && value !== null && value !== undefined,
  );
  const sorted = kept.sort(([one], [other]) => (one < other ? -1 : 1));
  return checksum([JSON.stringify(sorted, (_name, value) => (typeof value === 'bigint' ? `${value}` : value))]);
}

/** A row and its mark; null if an earlier version wrote it. */
export interface MarkedRow<Row> {
  readonly row: Row;
  readonly mark: unknown;
  /** Absent: that of the whole row. */
  readonly wanted?: string;
}

/** Of a key: its calls are counted apart. */
export function markKey({ requestsCount: _, lastUsedAt: __, limits, ...key }: KeyRow): string {
  return markRow({ ...key, ...limits });
}

export function toMarkedKey(key: KeyRow, mark: unknown): MarkedRow<{ readonly id: string; readonly wallet: string }> {
  return { row: { id: key.id, wallet: key.account }, mark, wanted: markKey(key) };
}

/** `limit` rows were asked for. */
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
