// What an action answers: an object for programs, and short aligned text for people.
import { escapeFormulas } from '../base/spreadsheet.ts';
import { formatRub, type Micro, toRub } from '../money/money.ts';
import type { Allowance } from '../store/ports/accounts.ts';

/** A command's answer, for programs and for people. */
export interface Answer {
  readonly json: object;
  readonly text: string;
  /** Printed instead of the text if requested. */
  readonly csv?: string;
  /** A file: printed as it is instead of both, and the store is named on stderr. */
  readonly file?: string;
  /** The store that was used. */
  readonly store?: string;
  /** A check found something wrong: printed anyway, with exit code 1. */
  readonly failed?: boolean;
}

/** Lines of a name and a value, with the values aligned. */
export function formatPairs(pairs: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

/** A table with a header line; columns whose title starts with a space are right-aligned. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const right = head.map((title) => title.startsWith(' '));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (right[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)));
  return all.map((row) => line(row).join('  ').trimEnd()).join('\n');
}

/** Lines of comma-separated values (RFC 4180). Text that a spreadsheet would run as a formula is escaped. */
export function formatCsv(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toCell = (cell: string) => {
    const plain = /^-\d+(\.\d+)?$/.test(cell) ? cell : escapeFormulas(cell);
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return [head, ...rows].map((row) => `${row.map(toCell).join(',')}\n`).join('');
}

/** `999.50 RUB`. */
export function formatMoney(amount: Micro): string {
  return `${formatRub(amount)} RUB`;
}

/** ISO 8601 in UTC; null stays null. */
export function toTime(at: number): string;

export function toTime(at: number | null): string | null;

export function toTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

export function allowanceJson(allowance: Allowance | undefined) {
  return allowance ? { amount_rub: toRub(allowance.amount), reason: allowance.reason } : null;
}
