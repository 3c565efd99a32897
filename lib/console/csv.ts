// Streams tables as CSV; texts that a spreadsheet would run as formulas are escaped.
import { Readable } from 'node:stream';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { stringify } from 'csv-stringify';
import { escapeFormulas } from '../base/spreadsheet.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { formatMoment } from '../money/period.ts';
import type { Language } from './language.ts';
import type { Download } from './page.ts';

/** Numbers are written as such, negative ones too. */
export type Cell = string | number | { readonly rub: Micro } | Moment;

/** As Russian spreadsheets read it: `26.11.2026 03:02:10`, which they take for a time. */
interface Moment {
  readonly at: number;
  readonly zone: string;
}

/**
 * After so long, a tick lets everything else run. Nothing else would: while one file is written, the store's thread has the
 * next rows of another ready, and Node.js takes up to a thousand such answers in one tick.
 */
const TICK_MS = 10;

/** Russian spreadsheets expect a semicolon, a decimal comma and UTF-8 with a byte order mark. */
export function createCsv(
  language: Language,
  name: string,
  { head, rows }: { head: readonly string[]; rows: AsyncIterable<readonly Cell[]> },
): Download {
  const russian = language === 'ru';
  const lines = async function* () {
    yield head;
    let since = performance.now();
    for await (const row of rows) {
      yield row.map((cell) => formatCell(cell, russian));
      if (performance.now() - since < TICK_MS) continue;
      await waitOneTick();
      since = performance.now();
    }
  };
  const content = stringify({ delimiter: russian ? ';' : ',', bom: russian, record_delimiter: '\r\n' });
  const source = Readable.from(lines());
  // A canceled download stops reading rows, and a failed read aborts the download.
  content.once('close', () => source.destroy());
  source.once('error', (error) => content.destroy(error));
  return { type: 'text/csv; charset=utf-8', name, content: source.pipe(content) };
}

function formatCell(cell: Cell, russian: boolean): string {
  if (typeof cell === 'string') return escapeFormulas(cell);
  if (typeof cell === 'object' && 'at' in cell) return formatTyped(cell);
  const text = typeof cell === 'number' ? String(cell) : formatRub(cell.rub);
  return russian ? text.replace('.', ',') : text;
}

function formatTyped({ at, zone }: Moment): string {
  const [year, month, day] = formatMoment(at, zone).slice(0, 10).split('-');
  return `${day}.${month}.${year} ${formatMoment(at, zone).slice(11, 19)}`;
}
