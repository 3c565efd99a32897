// The audit log in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { AuditLine, AuditLogStore, AuditRow } from '../ports/audit-log.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'at, user, action, account, target, detail, address';

/** Writes a line as a part of the caller's transaction. */
export function prepareAuditLine(db: DatabaseSync): (line: AuditLine) => void {
  const insert = db.prepare(`INSERT INTO audit_log (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return ({ at, user, action, account, target, detail, address }) =>
    void insert.run(at, user, action, account, target, detail, address);
}

export function auditLogWrites({ db, write }: Connection): PortWrites<'auditLog'> {
  const save = prepareAuditLine(db);
  const put = db.prepare(
    `INSERT INTO audit_log (seq, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  return {
    put: (rows: readonly AuditRow[]): void =>
      write(() => {
        for (const { seq, at, user, action, account, target, detail, address } of rows) {
          put.run(seq, at, user, action, account, target, detail, address);
        }
      }),
    append: (line: AuditLine): void => write(() => save(line)),
  };
}

export function auditLogReads(db: DatabaseSync): PortReads<'auditLog'> {
  const select = `SELECT seq, ${COLUMNS} FROM audit_log WHERE seq < ?`;
  const all = db.prepare(`${select} ORDER BY seq DESC LIMIT ?`);
  const ofAccount = db.prepare(`${select} AND account = ? ORDER BY seq DESC LIMIT ?`);
  return {
    page: ({ before, limit, account }: Parameters<AuditLogStore['page']>[0]): AuditRow[] => {
      const end = before ?? Number.MAX_SAFE_INTEGER;
      const rows = account === undefined ? all.all(end, limit) : ofAccount.all(end, account, limit);
      return rows.map((row) => ({ ...row }) as unknown as AuditRow);
    },
  };
}
