// Refused requests in the SQLite store.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { REFUSALS_KEPT_MS, type Refusal, type RefusalStore } from '../ports/refusals.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

export function refusalWrites({ db, write }: Connection): PortWrites<'refusals'> {
  const add = db.prepare(
    `INSERT INTO refusals (account, hour, key, code, count, last_at, status, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (account, hour, key, code) DO UPDATE SET count = count + excluded.count,
      last_at = max(last_at, excluded.last_at), status = iif(excluded.last_at < last_at, status, excluded.status),
      message = iif(excluded.last_at < last_at, message, excluded.message)`,
  );
  const put = db.prepare(
    `INSERT OR REPLACE INTO refusals (account, hour, key, code, count, last_at, status, message)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const writeAll = (statement: StatementSync, refusals: readonly Refusal[]): void =>
    write(() => {
      for (const { account, hour, key, code, count, lastAt, status, message } of refusals)
        statement.run(account, hour, key, code, count, lastAt, status, message);
    });
  const clean = db.prepare(
    `DELETE FROM refusals WHERE (account, hour, key, code) IN (
      SELECT account, hour, key, code FROM refusals INDEXED BY refusals_by_hour WHERE hour < ? LIMIT ?)`,
  );
  return {
    add: (refusals: readonly Refusal[]): void => writeAll(add, refusals),
    put: (refusals: readonly Refusal[]): void => writeAll(put, refusals),
    clean: (now: number, limit: number): number =>
      write(() => Number(clean.run(now - REFUSALS_KEPT_MS, limit).changes)),
  };
}

export function refusalReads(db: DatabaseSync): PortReads<'refusals'> {
  const list = db.prepare(
    `${SELECT}
    WHERE account = ?1 AND (?2 IS NULL OR key IN (SELECT value FROM json_each(?2)))
    ORDER BY hour DESC, last_at DESC LIMIT ?3`,
  );
  const page = db.prepare(
    `${SELECT} WHERE (account, hour, key, code) > (?, ?, ?, ?) ORDER BY account, hour, key, code LIMIT ?`,
  );
  const readAll = (rows: readonly object[]) => rows.map((row) => ({ ...row }) as Refusal);
  return {
    list: (account: string, { keys, limit }: Parameters<RefusalStore['list']>[1]): Refusal[] =>
      readAll(list.all(account, keys ? JSON.stringify(keys) : null, limit)),
    page: ({ after, limit }: Parameters<RefusalStore['page']>[0]): Refusal[] => {
      const { account = '', hour = 0, key = '', code = '' } = after ?? {};
      return readAll(page.all(account, hour, key, code, limit));
    },
  };
}

const SELECT = 'SELECT account, hour, key, code, count, last_at AS lastAt, status, message FROM refusals';
