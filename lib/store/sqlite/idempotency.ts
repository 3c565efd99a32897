// Idempotency keys in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { IdempotencyRecord } from '../../money/idempotency.ts';
import type { IdempotencyCall, IdempotencyStore } from '../ports/idempotency.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'id, wallet, charge, body, awaited, reply, expires_at';
const SELECT = `SELECT ${COLUMNS} FROM repeats`;

export function idempotencyWrites({ db, write }: Connection): PortWrites<'idempotency'> {
  const keep = db.prepare('UPDATE repeats SET reply = ?, awaited = ? WHERE id = ? AND charge = ?');
  const clean = db.prepare(
    'DELETE FROM repeats WHERE id IN (SELECT id FROM repeats WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
  );
  const save = createSaveIdempotencyRecord(db);
  return {
    storeReply: ({ id, charge }: IdempotencyCall, reply: string | null): boolean =>
      write(() => keep.run(reply, Number(reply !== null), id, charge).changes === 1),
    clean: (now: number, limit: number): number => write(() => Number(clean.run(now, limit).changes)),
    put: (repeats: readonly IdempotencyRecord[]): void =>
      write(() => {
        for (const repeat of repeats) save(repeat);
      }),
  };
}

export function idempotencyReads(db: DatabaseSync): PortReads<'idempotency'> {
  const page = db.prepare(`${SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
  return {
    get: createLoadIdempotencyRecord(db),
    page: ({ after = '', limit }: Parameters<IdempotencyStore['page']>[0]): IdempotencyRecord[] =>
      page.all(after, limit).map(readIdempotencyRow),
  };
}

/** Reads a record, inside the current transaction if there is one. */
export function createLoadIdempotencyRecord(db: DatabaseSync): (id: string) => IdempotencyRecord | undefined {
  const select = db.prepare(`${SELECT} WHERE id = ?`);
  return (id) => {
    const row = select.get(id);
    return row && readIdempotencyRow(row);
  };
}

/** Writes a record, replacing any existing one. */
export function createSaveIdempotencyRecord(db: DatabaseSync): (repeat: IdempotencyRecord) => void {
  const replace = db.prepare(`INSERT OR REPLACE INTO repeats (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return ({ id, wallet, charge, body, awaited, reply, expiresAt }) =>
    void replace.run(id, wallet, charge, body, Number(awaited), reply, expiresAt);
}

function readIdempotencyRow({ expires_at: expiresAt, awaited, ...row }: Record<string, unknown>): IdempotencyRecord {
  return { ...row, awaited: awaited === 1, expiresAt } as unknown as IdempotencyRecord;
}
