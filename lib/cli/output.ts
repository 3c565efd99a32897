// What a command prints: one JSON object, or short aligned text.
import { InvalidArgumentError } from 'commander';
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

export function print(answer: Answer, options: { readonly json: boolean }): void {
  const { csv, file, store, failed } = answer;
  if (options.json && csv !== undefined) throw new InvalidArgumentError('--csv and --json cannot be used together.');
  const line = store === undefined ? '' : `Store: ${store}\n`;
  if (options.json && file === undefined) process.stdout.write(`${toJson({ ...answer.json, store })}\n`);
  else if (csv === undefined && file === undefined) process.stdout.write(withoutControls(`${answer.text}\n${line}`));
  else {
    process.stdout.write(file ?? csv ?? '');
    process.stderr.write(withoutControls(line));
  }
  if (failed) process.exitCode = 1;
}

/** Texts of others, such as the name of a browser, must not control the terminal. */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, '\ufffd');
}

/** Also escapes control characters above ASCII, which JSON.stringify does not. */
export function toJson(value: object): string {
  const spell = (control: string) => `\\u00${control.charCodeAt(0).toString(16)}`;
  return JSON.stringify(value).replace(/[\x7f-\x9f]/g, spell);
}

/** A closed pipe (`| head -1`) is no failure: the work of the command is done. */
export function survivePipes(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`tollgate: the answer could not be written: ${error.message}\n`);
    process.exitCode = 1;
  });
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

/** Lines of comma-separated values (RFC 4180). Text that a spreadsheet would run as a formula is defused. */
export function formatCsv(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toCell = (cell: string) => {
    const plain = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
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
