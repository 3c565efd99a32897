// Reads and falsifies single rows directly in a database, without the checks of the store.
import { DatabaseSync } from 'node:sqlite';
import { type Document, MongoClient } from 'mongodb';

/** One value of one row; columns are named as in `lib/store/store.ts`, whatever the database calls them. */
export interface Place {
  readonly table: string;
  readonly column: string;
  readonly row: Row;
  readonly value: unknown;
}

export type Row = Readonly<Record<string, unknown>>;

export interface Raw {
  /** All rows of the tables that concern money. */
  tables(): Promise<ReadonlyMap<string, readonly Row[]>>;
  /** Writes a value without the checks of the database; resolves to a function that restores it. */
  change(place: Place, value: unknown): Promise<() => Promise<void>>;
  remove(table: string, row: Row): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Tables without money: users, alerts, files, stored replies, and the audit itself. */
const OTHERS = [
  ...['users', 'sessions', 'signins', 'links', 'attempts', 'devices', 'former_users', 'audit_log'],
  ...['counters', 'media', 'checkpoints', 'alerts', 'alarms', 'repeats', 'notices', 'refusals'],
];
const isOfMoney = (table: string) => !OTHERS.includes(table.split('.')[0] as string);

export async function openRaw(url: string): Promise<Raw> {
  return url.startsWith('sqlite:') ? openRawFile(url.slice('sqlite:'.length)) : openRawDatabase(url);
}

const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function openRawFile(path: string): Raw {
  const db = new DatabaseSync(path, { timeout: 5000 });
  db.exec(`DROP TRIGGER entries_stay; DROP TRIGGER entries_remain;
    PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON`);
  const rowsOf = (table: string): Row[] => {
    const statement = db.prepare(`SELECT ${placeOf(table)} AS place, * FROM ${table}`, { readBigInts: true });
    return statement.all().map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [toCamel(k), v])));
  };
  const write = (table: string, column: string, place: unknown, value: unknown) => {
    db.prepare(`UPDATE ${table} SET "${toSnake(column)}" = ? WHERE ${placeOf(table)} = ?`).run(
      value as string,
      place as bigint,
    );
  };
  return {
    async tables() {
      const names = db
        .prepare(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
        )
        .all();
      const ours = names.map(({ name }) => name as string).filter(isOfMoney);
      return new Map(ours.map((name) => [name, rowsOf(name)]));
    },
    async change({ table, column, row, value: before }, value) {
      write(table, column, row.place, value);
      const place = placeAfter(table, { ...row, [column]: value });
      return async () => write(table, column, place, before);
    },
    async remove(table, { place, ...row }) {
      db.prepare(`DELETE FROM ${table} WHERE ${placeOf(table)} = ?`).run(place as bigint);
      return async () => {
        const [names, values] = KEYS[table] ? [[], []] : [['rowid'], [place]];
        const columns = [...names, ...Object.keys(row).map((name) => `"${toSnake(name)}"`)];
        const insert = `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`;
        db.prepare(insert).run(...([...values, ...Object.values(row)] as string[]));
      };
    },
    close: async () => db.close(),
  };
}

/** Tables without row ids. */
const KEYS: Readonly<Record<string, string>> = {
  batches: 'writer',
  limits: 'bucket',
  owners: 'id',
  settings: 'name',
  memberships: 'user || account',
  rates: 'currency || seq',
  openings: 'wallet',
  usage_cursors: 'wallet',
  call_attempts: "charge || number || ''",
  usage_hours: "wallet || hour || key || model || kind || ''",
  usage_days: "wallet || day || key || model || kind || ''",
  usage_weeks: "wallet || week || key || model || kind || ''",
  route_hours: "wallet || hour || upstream || model || ending || reason || ''",
  service_sums: "subject || grain || at || name || ''",
};
const placeOf = (table: string) => KEYS[table] ?? 'rowid';
const placeAfter = (table: string, row: Row): unknown => {
  const names = KEYS[table]?.match(/\w+/g);
  return names ? names.map((name) => String(row[name])).join('') : row.place;
};

async function openRawDatabase(url: string): Promise<Raw> {
  const client = await MongoClient.connect(url, { useBigInt64: true });
  const db = client.db();
  const anyway = { bypassDocumentValidation: true };
  const documentOf = ({ place, ...row }: Row, table: string): Document => {
    const { [idOf(table)]: _, ...rest } = row;
    return { _id: place, ...rest };
  };
  const put = async (table: string, document: Document) => {
    await db.collection<Document>(table).insertOne(document, anyway);
  };
  const take = async (table: string, place: unknown) => {
    await db.collection<Document>(table).deleteOne({ _id: place as never });
  };
  return {
    async tables() {
      const names = (await db.listCollections({}, { nameOnly: true }).toArray())
        .map(({ name }) => name)
        .filter(isOfMoney);
      const found = names.sort().map(async (table) => {
        const documents = await db.collection<Document>(table).find().toArray();
        const rows = documents.map(({ _id, ...rest }) => ({ place: _id, [idOf(table)]: _id, ...rest }));
        return [table, rows as Row[]] as const;
      });
      return new Map(await Promise.all(found));
    },
    async change({ table, column, row }, value) {
      const isId = column === idOf(table);
      const changed = documentOf(isId ? { ...row, place: value } : { ...row, [column]: value }, table);
      await take(table, row.place);
      await put(table, changed);
      return async () => {
        await take(table, changed._id);
        await put(table, documentOf(row, table));
      };
    },
    async remove(table, row) {
      await take(table, row.place);
      return () => put(table, documentOf(row, table));
    },
    close: () => client.close(),
  };
}

function idOf(table: string): string {
  const names = { entries: 'opId', limits: 'bucket', settings: 'name', openings: 'wallet', usage_cursors: 'wallet' };
  return { ...names, batches: 'writer' }[table] ?? 'id';
}
