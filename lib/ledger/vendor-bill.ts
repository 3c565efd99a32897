// Reads the usage export of a vendor: a file of comma-separated values whose columns each vendor names in its own way.
import { OperatorError } from '../base/operator-error.ts';

/** One line of a bill: a call, or the sum of a model over some time. */
export interface BillLine {
  /** UTC, such as `2026-11-26`. */
  readonly day: string;
  readonly model: string;
  /** The vendor's id of the call; null in a line of several. */
  readonly requestId: string | null;
  readonly requests: number;
  /** The whole prompt, cached part included; null if the file does not say. */
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  /** In millionths of a micro-unit, since a single call may cost less than one; null if the file does not say. */
  readonly cost: bigint | null;
  /** As a code such as `USD`; null if the file does not say. */
  readonly currency: string | null;
}

/** The names of each column, in order of preference. */
const COLUMNS = {
  day: ['usage_date_utc', 'start_time_iso', 'created_at', 'day', 'date', 'usage_date', 'timestamp'],
  model: ['model_version', 'model_permaslug', 'model', 'snapshot_id'],
  requestId: ['generation_id', 'request_id'],
  requests: ['num_model_requests', 'n_requests', 'requests', 'calls'],
  prompt: ['input_tokens', 'tokens_prompt', 'prompt_tokens', 'n_context_tokens_total', 'tokens_input'],
  fresh: ['usage_input_tokens_no_cache', 'input_uncached_tokens', 'uncached_input_tokens'],
  cacheRead: ['usage_input_tokens_cache_read', 'input_cached_tokens', 'cache_read_input_tokens'],
  cacheWrite: ['usage_input_tokens_cache_write_5m', 'usage_input_tokens_cache_write', 'cache_creation_input_tokens'],
  cacheWrite1h: ['usage_input_tokens_cache_write_1h'],
  output: [
    'usage_output_tokens',
    'output_tokens',
    'tokens_completion',
    'completion_tokens',
    'n_generated_tokens_total',
    'tokens_output',
  ],
  cost: ['cost_total', 'amount_value', 'cost_usd', 'amount_usd', 'cost', 'amount'],
  currency: ['amount_currency', 'currency'],
} as const;

type Column = keyof typeof COLUMNS;

/** Throws `OperatorError` if the file is not a bill. */
export function readBill(text: string): readonly BillLine[] {
  const [head, ...rows] = parseCsv(text);
  if (!head || rows.length === 0) throw new OperatorError('The bill has no lines.');
  const names = head.map((name) => name.trim().toLowerCase());
  const find = (column: Column) => names.indexOf(COLUMNS[column].find((name) => names.includes(name)) ?? '');
  const places = Object.fromEntries((Object.keys(COLUMNS) as Column[]).map((column) => [column, find(column)]));
  for (const column of ['day', 'model'] as const) {
    if ((places[column] ?? -1) < 0)
      throw new OperatorError(`The bill has no column for the ${column}: name it ${COLUMNS[column].join(' or ')}.`);
  }
  const lines = rows.flatMap((row, index) => {
    const cell = (column: Column): string => row[places[column] ?? -1]?.trim() ?? '';
    // Days without use have a line without a model.
    return cell('model') === '' ? [] : [readLine(cell, index + 2)];
  });
  const currencies = [...new Set(lines.flatMap(({ currency }) => currency ?? []))];
  if (currencies.length > 1) {
    throw new OperatorError(`The bill is in ${currencies.join(' and ')}: compare a file of each currency by itself.`);
  }
  return lines;
}

function readLine(cell: (column: Column) => string, line: number): BillLine {
  const count = (column: Column): number | null => {
    const text = dropThousands(cell(column));
    if (text === '') return null;
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < 0) throw billError(line, `${text} is not a count`);
    return value;
  };
  const parts = (['fresh', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const).map(count);
  const sum = parts.reduce<number>((total, part) => total + (part ?? 0), 0);
  const requestId = cell('requestId') || null;
  return {
    day: readDay(cell('day'), line),
    model: cell('model'),
    requestId,
    requests: count('requests') ?? (requestId === null ? 0 : 1),
    promptTokens: count('prompt') ?? (parts.every((part) => part === null) ? null : sum),
    outputTokens: count('output'),
    cost: readCost(cell('cost'), line),
    currency: cell('currency').toUpperCase() || null,
  };
}

/** A time without a zone is in UTC. */
function readDay(text: string, line: number): string {
  const [, day, rest = ''] = /^(\d{4}-\d\d-\d\d)(?:[T ](.*))?$/.exec(text) ?? [];
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(rest);
  const time = Date.parse(hasZone ? text.replace(' ', 'T') : `${day}T00:00:00Z`);
  if (day === undefined || Number.isNaN(time)) throw billError(line, `"${text}" is not a day`);
  return new Date(time).toISOString().slice(0, 10);
}

const THOUSANDS = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/;

/** Removes commas between thousands. Any other may be a decimal comma, and is no part of a number here. */
function dropThousands(text: string): string {
  return THOUSANDS.test(text) ? text.replaceAll(',', '') : text;
}

const DECIMALS = 12;

function readCost(text: string, line: number): bigint | null {
  const plain = dropThousands(text.replace(/^\$/, ''));
  if (plain === '') return null;
  const decimal = /e/i.test(plain) ? Number(plain).toFixed(DECIMALS) : plain;
  const [, whole, part = ''] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (whole === undefined) throw billError(line, `${text} is not an amount`);
  return BigInt(whole + part.slice(0, DECIMALS).padEnd(DECIMALS, '0'));
}

function billError(line: number, what: string): OperatorError {
  return new OperatorError(`Line ${line} of the bill: ${what}.`);
}

/** Comma-, semicolon- or tab-separated values (RFC 4180); empty lines are left out. */
function parseCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  const head = text.slice(0, text.search(/\r?\n|$/));
  const separator = ['\t', ';', ','].find((each) => head.includes(each)) ?? ',';
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.some((each) => each !== '')) rows.push(row);
    row = [];
    cell = '';
  };
  const source = text.replace(/^\ufeff/, '');
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at] as string;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (source[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === separator) {
      row.push(cell);
      cell = '';
    } else if (sign === '\n') endRow();
    else if (sign !== '\r') cell += sign;
  }
  endRow();
  return rows;
}
