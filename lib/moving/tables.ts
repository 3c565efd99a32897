// The tables of another gateway's store: from an SQLite file or a dump, with clear errors for what they lack.
import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../base/operator-error.ts';
import type { Row, Table, Tables } from './rows.ts';

export type { Row, Tables } from './rows.ts';

const SQLITE_MAGIC = 'SQLite format 3\0';

/** Reads the wanted tables, and counts the rows of the others. Throws an `OperatorError` for a file that is damaged. */
export async function readTables(path: string, wanted: ReadonlySet<string>): Promise<Tables> {
  const start = await readStart(path);
  if (start.toString('latin1') === SQLITE_MAGIC) return readDatabase(path, wanted);
  if (start.includes(0)) {
    throw new OperatorError(`${path}: is neither an SQLite database nor an SQL dump in UTF-8; unpack it first`);
  }
  const { readDump } = await import('./sql-rows.ts');
  return readDump(path, wanted);
}

async function readStart(path: string): Promise<Buffer> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE_MAGIC.length), 0, SQLITE_MAGIC.length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new OperatorError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function readDatabase(path: string, wanted: ReadonlySet<string>): Tables {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
    const opened = db;
    return new Map(names.map(({ name }) => [String(name), readTable(opened, String(name), wanted.has(String(name)))]));
  } catch (error) {
    throw new OperatorError(`${path}: the SQLite database cannot be read (${(error as Error).message})`);
  } finally {
    db?.close();
  }
}

function readTable(db: DatabaseSync, name: string, isWanted: boolean): Table {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  if (!isWanted) {
    const count = Number(db.prepare(`SELECT count(*) AS count FROM ${quoted}`).get()?.count);
    return { columns: [], rows: [], count };
  }
  const statement = db.prepare(`SELECT * FROM ${quoted}`);
  statement.setReadBigInts(true);
  const columns = statement.columns().map((column) => column.name);
  const rows = statement.all().map((row) => new Map(columns.map((column) => [column, toText(row[column])])));
  return { columns, rows, count: rows.length };
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value);
}

/** The text of a column; empty if it is null or the store has no such column. */
export function getText(row: Row, column: string): string {
  return row.get(column) ?? '';
}

/** An exact whole number; zero if it is null or the store has no such column. */
export function getWhole(row: Row, column: string, where: string): bigint {
  const text = getText(row, column).trim();
  if (text === '') return 0n;
  if (!/^[-+]?\d+$/.test(text))
    throw new OperatorError(`${where}: ${column} is not a whole number: ${JSON.stringify(text)}`);
  return BigInt(text);
}

/** The id of a row: a whole number above zero. */
export function getId(row: Row, column: string, where: string): string {
  const text = getText(row, column).trim();
  if (!/^[1-9]\d{0,18}$/.test(text))
    throw new OperatorError(`${where}: ${column} is not an id: ${JSON.stringify(text)}`);
  return text;
}

export function getFlag(row: Row, column: string): boolean {
  return /^(1|t|true)$/i.test(getText(row, column).trim());
}

/** An object in JSON; empty for an empty column. */
export function getObject(row: Row, column: string, where: string): Readonly<Record<string, unknown>> {
  const text = getText(row, column).trim();
  return text === '' ? {} : parseObject(text, `${where}: ${column}`);
}

export function parseObject(text: string, where: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return {};
    if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new OperatorError(`${where} is not a JSON object`);
}
