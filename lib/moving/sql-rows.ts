// Reads the rows of some tables from an SQL dump of SQLite, MySQL or PostgreSQL; all other statements are skipped.
import { createReadStream } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import { findDumpEncoding } from './dump-encoding.ts';
import type { Row, Tables } from './rows.ts';
import { type Dialect, SqlTokens, type TokenKind, type TokenReader } from './sql-tokens.ts';
import { evaluateValue, readCopyLine, type SqlToken } from './sql-values.ts';

const CHUNK_BYTES = 1_048_576;
/** Dumps say whose they are at their beginning. */
const HEAD_LENGTH = 65_536;

/** Throws an `OperatorError` for a damaged dump. */
export async function readDump(path: string, wanted: ReadonlySet<string>): Promise<Tables> {
  const reader = createDumpReader(wanted);
  let decoder: TextDecoder | undefined;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      decoder ??= new TextDecoder(findDumpEncoding(chunk.subarray(0, HEAD_LENGTH)), { ignoreBOM: true });
      reader.write(decoder.decode(chunk, { stream: true }));
    }
    if (decoder) reader.write(decoder.decode());
    return reader.finish();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof OperatorError) throw new OperatorError(`${path}: ${message}`);
    if (code !== undefined) throw new OperatorError(`${path}: cannot be read (${code})`);
    throw error;
  }
}

interface DumpReader {
  /** The pieces of a dump in order, cut anywhere. Throws an `OperatorError`, like `finish`. */
  write(piece: string): void;
  finish(): Tables;
}

/** What dumps begin with, and then end with: one that does not is not whole, even if its last statement is. */
const FRAMES: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^-- (?:MySQL|MariaDB) dump /m, /^-- Dump completed/m],
  [/^-- PostgreSQL database dump\s*$/m, /^-- PostgreSQL database dump complete/m],
  [/^BEGIN TRANSACTION;/m, /^COMMIT;/m],
];
const TAIL_LENGTH = 2000;
const BYTE_ORDER_MARK = /^\ufeff/;

export function createDumpReader(wanted: ReadonlySet<string>): DumpReader {
  const statements = new StatementReader(wanted);
  let tokens: SqlTokens | undefined;
  let head = '';
  let tail = '';
  const begin = () => {
    head = head.replace(BYTE_ORDER_MARK, '');
    if (head.trim() === '') throw new OperatorError('it is empty');
    tokens = new SqlTokens(findDialect(head), statements);
    tokens.write(head);
  };
  return {
    write(piece) {
      tail = (tail + piece).slice(-TAIL_LENGTH);
      if (tokens) {
        tokens.write(piece);
        return;
      }
      head += piece;
      if (head.length >= HEAD_LENGTH) begin();
    },
    finish() {
      if (!tokens) begin();
      tokens?.finish();
      const frame = FRAMES.find(([start]) => start.test(head));
      if (frame && !frame[1].test(tail)) throw new OperatorError('it is not whole: its end is missing');
      return statements.tables;
    },
  };
}

function findDialect(head: string): Dialect {
  if (/PostgreSQL|^COPY |\\connect|pg_catalog/m.test(head)) return 'postgresql';
  if (/MySQL|MariaDB|phpMyAdmin|ENGINE ?=/i.test(head)) return 'mysql';
  if (/^\s*(PRAGMA|BEGIN TRANSACTION|CREATE TABLE|INSERT INTO)\b/m.test(head)) return 'sqlite';
  throw new OperatorError('is neither an SQLite database nor a dump of SQLite, MySQL or PostgreSQL');
}

/** What in a `CREATE TABLE` is no column. */
const CONSTRAINTS = new Set(['PRIMARY', 'UNIQUE', 'CONSTRAINT', 'FULLTEXT', 'FOREIGN', 'CHECK', 'SPATIAL', 'EXCLUDE']);
/** These are columns if a type follows. */
const MAYBE_COLUMNS = new Set(['KEY', 'INDEX']);

type Part = 'start' | 'into' | 'name' | 'columns' | 'values' | 'create' | 'body' | 'copy' | 'skip';

class StatementReader implements TokenReader {
  readonly tables: Map<string, { columns: readonly string[]; rows: Row[]; count: number }> = new Map();
  readonly #wanted: ReadonlySet<string>;
  #part: Part = 'start';
  #table = '';
  #isWanted = false;
  #columns: string[] = [];
  #depth = 0;
  #value: SqlToken[] = [];
  #values: (string | null)[] = [];
  /** The tokens of a column's definition, as far as they tell its name. */
  #item: SqlToken[] = [];
  #isData = false;
  /** A `COPY` names its columns, and its data follow. */
  #isCopy = false;

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  get wantsText(): boolean {
    return this.#isWanted && (this.#part === 'values' || this.#isData);
  }

  get startsData(): boolean {
    return this.#isData;
  }

  get isWithin(): boolean {
    return this.#part !== 'start' || this.#isData;
  }

  token(kind: TokenKind, text: string): void {
    if (kind === 'line') {
      this.#readData(text);
      return;
    }
    if (kind === 'sign' && text === ';' && (this.#depth === 0 || this.#part === 'skip')) {
      this.#end();
      return;
    }
    this.#readToken(kind, text);
  }

  #readToken(kind: TokenKind, text: string): void {
    const word = kind === 'word' ? text.toUpperCase() : '';
    switch (this.#part) {
      case 'start':
        this.#part = word === 'INSERT' || word === 'REPLACE' ? 'into' : word === 'CREATE' ? 'create' : 'skip';
        if (word === 'COPY') this.#openName(true);
        return;
      case 'into':
        if (word === 'INTO') this.#openName(false);
        return;
      case 'name':
        this.#readName({ kind, text }, word);
        return;
      case 'columns':
        if (text === ')' && kind === 'sign') this.#part = this.#isCopy ? 'copy' : 'name';
        else if (kind !== 'sign') this.#columns.push(text);
        return;
      case 'values':
        this.#readValues({ kind, text });
        return;
      case 'create':
        this.#readCreate({ kind, text }, word);
        return;
      case 'body':
        this.#readBody({ kind, text });
        return;
    }
  }

  #openName(isCopy: boolean): void {
    this.#part = 'name';
    this.#table = '';
    this.#columns = [];
    this.#isCopy = isCopy;
  }

  /** `INSERT INTO public.users (id, …) VALUES`, `COPY public.users (id, …) FROM stdin`: the last part is the table. */
  #readName(token: SqlToken, word: string): void {
    if (token.kind === 'sign' && token.text === '(') {
      this.#part = 'columns';
      return;
    }
    if (word === 'VALUES' || word === 'VALUE') {
      this.#begin();
      this.#part = 'values';
      return;
    }
    if (word === 'SELECT' || word === 'DEFAULT') this.#part = 'skip';
    else if (token.kind !== 'sign' && word !== 'OVERRIDING' && word !== 'SYSTEM') this.#table = getLastPart(token.text);
  }

  #begin(): void {
    this.#isWanted = this.#wanted.has(this.#table);
    this.#depth = 0;
    const known = this.tables.get(this.#table);
    if (this.#columns.length === 0) this.#columns = [...(known?.columns ?? [])];
    if (!known) this.tables.set(this.#table, { columns: this.#columns, rows: [], count: 0 });
  }

  #readValues(token: SqlToken): void {
    const { kind, text } = token;
    if (kind === 'sign' && text === '(') {
      this.#depth += 1;
      if (this.#depth > 1) this.#value.push(token);
      return;
    }
    if (kind === 'sign' && text === ')') {
      this.#depth -= 1;
      if (this.#depth > 0) this.#value.push(token);
      else this.#endRow();
      return;
    }
    if (this.#depth === 0) return;
    if (kind === 'sign' && text === ',' && this.#depth === 1) this.#endValue();
    else if (this.#isWanted) this.#value.push(token);
  }

  #endValue(): void {
    if (this.#isWanted) this.#values.push(evaluateValue(this.#value, this.#table));
    this.#value = [];
  }

  #endRow(): void {
    this.#endValue();
    if (this.#isWanted) this.#addRow(this.#values);
    else this.#countRow();
    this.#values = [];
  }

  #countRow(): void {
    const table = this.tables.get(this.#table);
    if (table) table.count += 1;
  }

  #addRow(values: readonly (string | null)[]): void {
    const columns = this.#columns;
    if (columns.length === 0) throw new OperatorError(`it names no columns of the table ${this.#table}`);
    if (columns.length !== values.length) {
      throw new OperatorError(`a row of ${this.#table} has ${values.length} values instead of ${columns.length}`);
    }
    this.tables.get(this.#table)?.rows.push(new Map(columns.map((name, index) => [name, values[index] ?? null])));
    this.#countRow();
  }

  #readCreate({ kind, text }: SqlToken, word: string): void {
    if (kind === 'sign' && text === '(') {
      this.#part = 'body';
      this.#depth = 1;
      this.#columns = [];
      this.#item = [];
    } else if (this.#table === '' && word === 'TABLE') this.#table = ' ';
    else if (this.#table === '' && kind === 'word' && !['TEMPORARY', 'UNLOGGED', 'TEMP'].includes(word))
      this.#part = 'skip';
    else if (this.#table !== '' && !['IF', 'NOT', 'EXISTS'].includes(word) && kind !== 'sign')
      this.#table = getLastPart(text);
  }

  #readBody(token: SqlToken): void {
    const { kind, text } = token;
    if (kind === 'sign' && text === '(') this.#depth += 1;
    if (kind === 'sign' && text === ')') this.#depth -= 1;
    const isEnd = kind === 'sign' && (this.#depth === 0 || (text === ',' && this.#depth === 1));
    if (!isEnd) {
      if (this.#item.length < 2) this.#item.push(token);
      return;
    }
    const name = findColumn(this.#item);
    if (name !== undefined) this.#columns.push(name);
    this.#item = [];
    if (this.#depth > 0) return;
    if (this.tables.has(this.#table) && this.#wanted.has(this.#table)) {
      throw new OperatorError(`it holds two tables ${this.#table}: dump one database only`);
    }
    this.tables.set(this.#table, { columns: this.#columns, rows: [], count: 0 });
    this.#part = 'skip';
  }

  #readData(line: string): void {
    if (line === '\\.') this.#isData = false;
    else if (this.#isWanted) this.#addRow(readCopyLine(line));
    else this.#countRow();
  }

  #end(): void {
    this.#isData = this.#part === 'copy';
    if (this.#isData) this.#begin();
    this.#part = 'start';
    this.#depth = 0;
    if (!this.#isData) this.#table = '';
    this.#value = [];
    this.#values = [];
  }
}

/** Names may be qualified by a schema: `public.users`. */
function getLastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function findColumn([first, second]: readonly SqlToken[]): string | undefined {
  if (!first || first.kind === 'sign') return undefined;
  if (first.kind !== 'word') return first.text;
  const word = first.text.toUpperCase();
  if (CONSTRAINTS.has(word)) return undefined;
  return MAYBE_COLUMNS.has(word) && second?.kind !== 'word' ? undefined : first.text;
}
