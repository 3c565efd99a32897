// Reads bank statements in the exchange format of 1C (1CClientBankExchange), which every Russian bank exports.

/** A document of a statement that brings money, as the bank states it. */
export interface StatedPayment {
  /** Of the payment order: `2026-11-27`. */
  readonly date: string;
  readonly number: string;
  readonly kopecks: bigint;
  readonly payerAccount: string;
  /** Empty if the bank states none. */
  readonly payerInn: string;
  readonly payerName: string;
  readonly payeeAccount: string;
  readonly purpose: string;
  /** Whether the bank says that the money has come; an order by itself does not. */
  readonly isReceived: boolean;
  /**
   * Nothing in the file speaks against it: no line of the document is there twice, and the file's total covers all of its
   * documents. A purpose with line breaks could claim another sum, or a document of its own.
   */
  readonly isPlain: boolean;
}

export type StatementProblem =
  | 'too_large'
  | 'not_statement'
  | 'encoding'
  | 'cut_off'
  | 'unfinished_document'
  | 'field'
  | 'too_many';

/** A file that is no statement, or a damaged one: nothing of it is imported. */
export class StatementError extends Error {
  readonly problem: StatementProblem;
  /** From 1 on; undefined if the whole file is concerned. */
  readonly line: number | undefined;
  /** The wrong field. */
  readonly field: string | undefined;

  constructor(problem: StatementProblem, at: { readonly line?: number; readonly field?: string } = {}) {
    super(describeStatementProblem(problem, at));
    this.problem = problem;
    this.line = at.line;
    this.field = at.field;
  }
}

export const STATEMENT_BYTES_MAX = 4 * 1024 * 1024;
export const STATED_MAX = 5000;

function describeStatementProblem(
  problem: StatementProblem,
  { line, field }: { readonly line?: number; readonly field?: string },
): string {
  const texts: Readonly<Record<StatementProblem, string>> = {
    too_large: `The file has more than ${STATEMENT_BYTES_MAX / 1024 / 1024} MiB.`,
    not_statement: 'The file is not a bank statement: its first line is not 1CClientBankExchange.',
    encoding: 'The encoding of the file is unknown: it has no line Кодировка=Windows, DOS or UTF-8.',
    cut_off: 'The file is cut off: it does not end with КонецФайла.',
    unfinished_document: `The document that begins on line ${line} does not end.`,
    field: `The document that begins on line ${line} has no valid ${field}.`,
    too_many: `The file has more than ${STATED_MAX} documents.`,
  };
  return texts[problem];
}

interface Section {
  readonly line: number;
  readonly fields: Map<string, string>;
  readonly repeated: Set<string>;
}

/** All documents of the statement. Throws a `StatementError`. */
export function parseBankStatement(bytes: Uint8Array): readonly StatedPayment[] {
  if (bytes.length > STATEMENT_BYTES_MAX) throw new StatementError('too_large');
  const lines = decodeStatement(bytes).split(/\r\n|\n|\r/);
  if (lines[0]?.trim() !== '1CClientBankExchange') throw new StatementError('not_statement');
  const payments: StatedPayment[] = [];
  const totals = new Map<string, bigint | undefined>();
  let account = '';
  let open: Section | undefined;
  let isComplete = false;
  for (const [at, text] of lines.entries()) {
    const [name, value] = splitLine(text);
    if (name === 'СекцияДокумент') {
      if (open) throw new StatementError('unfinished_document', { line: open.line });
      open = { line: at + 1, fields: new Map(), repeated: new Set() };
    } else if (name === 'КонецДокумента') {
      if (open) payments.push(readDocument(open));
      if (payments.length > STATED_MAX) throw new StatementError('too_many');
      open = undefined;
    } else if (name === 'КонецФайла') {
      isComplete = true;
      break;
    } else if (!open && payments.length === 0) {
      // The accounts come before the documents.
      if (name === 'СекцияРасчСчет') account = '';
      else if (name === 'РасчСчет') account = readAccount(value ?? '');
      else if (name === 'ВсегоПоступило') addTotal(totals, account, value ?? '');
    } else if (open && value !== undefined) {
      if (open.fields.has(name)) open.repeated.add(name);
      else open.fields.set(name, value);
    }
  }
  if (open) throw new StatementError('unfinished_document', { line: open.line });
  if (!isComplete) throw new StatementError('cut_off');
  return doubtExcess(payments, totals);
}

/** A file may have a section for each day. Undefined if one of them has no readable total. */
function addTotal(totals: Map<string, bigint | undefined>, account: string, text: string): void {
  const before = totals.has(account) ? totals.get(account) : 0n;
  const more = readSum(text);
  totals.set(account, before === undefined || more === undefined ? undefined : before + more);
}

/** If the documents bring an account more than came in by its total, nobody can tell which of them are true. */
function doubtExcess(
  payments: readonly StatedPayment[],
  totals: ReadonlyMap<string, bigint | undefined>,
): readonly StatedPayment[] {
  const stated = new Map<string, bigint>();
  for (const { payeeAccount, kopecks, isReceived } of payments)
    if (isReceived) stated.set(payeeAccount, (stated.get(payeeAccount) ?? 0n) + kopecks);
  return payments.map((payment) => {
    const total = totals.get(payment.payeeAccount);
    const isExcess = total !== undefined && (stated.get(payment.payeeAccount) ?? 0n) > total;
    return isExcess ? { ...payment, isPlain: false } : payment;
  });
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });
/** With the names that the line `Кодировка` has for them. */
const OLD_ENCODINGS = [
  ['windows-1251', /^Кодировка=Windows\s*$/im],
  ['ibm866', /^Кодировка=DOS\s*$/im],
] as const;

/** Whatever the line says, a text in which it can be read is in UTF-8: some banks say `Windows` all the same. */
function decodeStatement(bytes: Uint8Array): string {
  try {
    const text = UTF_8.decode(bytes);
    if (/^Кодировка=/m.test(text)) return text;
  } catch {
    // In an older encoding.
  }
  for (const [encoding, pattern] of OLD_ENCODINGS) {
    const text = new TextDecoder(encoding).decode(bytes);
    if (pattern.test(text)) return text;
  }
  if (!Buffer.from(bytes.subarray(0, 64)).toString('latin1').includes('1CClientBankExchange'))
    throw new StatementError('not_statement');
  throw new StatementError('encoding');
}

function splitLine(text: string): readonly [name: string, value: string | undefined] {
  const at = text.indexOf('=');
  return at < 0 ? [text.trim(), undefined] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

const TEXT_MAX = 500;
const NUMBER_MAX = 50;

function readDocument({ line, fields, repeated }: Section): StatedPayment {
  const get = (...names: readonly string[]) =>
    names
      .map((name) => fields.get(name) ?? '')
      .find((value) => value !== '')
      ?.slice(0, TEXT_MAX) ?? '';
  const number = get('Номер').slice(0, NUMBER_MAX);
  if (number === '') throw new StatementError('field', { line, field: 'Номер' });
  const date = readDate(get('Дата'));
  if (date === undefined) throw new StatementError('field', { line, field: 'Дата' });
  const kopecks = readKopecks(get('Сумма'));
  if (kopecks === undefined) throw new StatementError('field', { line, field: 'Сумма' });
  const purposeLines = [1, 2, 3, 4, 5, 6].map((at) => get(`НазначениеПлатежа${at}`)).filter((part) => part !== '');
  const purpose = get('НазначениеПлатежа');
  return {
    date,
    number,
    kopecks,
    payerAccount: readAccount(get('ПлательщикСчет', 'ПлательщикРасчСчет')),
    payerInn: get('ПлательщикИНН'),
    payerName: get('Плательщик1', 'Плательщик'),
    payeeAccount: readAccount(get('ПолучательСчет', 'ПолучательРасчСчет')),
    purpose: purpose === '' ? purposeLines.join(' ') : purpose,
    isReceived: readDate(get('ДатаПоступило')) !== undefined,
    isPlain: repeated.size === 0,
  };
}

/** Some banks part the digits. */
function readAccount(text: string): string {
  return text.replaceAll(/[\s.]/g, '');
}

/** `27.11.2026` as `2026-11-27`. */
function readDate(text: string): string | undefined {
  const [, day, month, year] = /^(\d{2})\.(\d{2})\.(\d{4})$/.exec(text) ?? [];
  const date = `${year}-${month}-${day}`;
  const at = Date.parse(date);
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== date ? undefined : date;
}

/** At most a billion roubles, like every operation of the ledger. */
const KOPECKS_MAX = 100_000_000_000n;

function readKopecks(text: string): bigint | undefined {
  const kopecks = readSum(text);
  return kopecks !== undefined && kopecks > 0n && kopecks <= KOPECKS_MAX ? kopecks : undefined;
}

function readSum(text: string): bigint | undefined {
  const [, roubles, rest = ''] = /^(\d{1,12})(?:[.,](\d{1,2}))?$/.exec(text) ?? [];
  return roubles === undefined ? undefined : BigInt(roubles) * 100n + BigInt(rest.padEnd(2, '0'));
}
