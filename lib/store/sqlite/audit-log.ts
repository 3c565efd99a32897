// The audit log in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { AuditLogStore, AuditRow } from '../ports/audit-log.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'at, user, action, account, target, detail, address';

export function auditLogWrites({ db, write }: Connection): PortWrites<'auditLog'> {
  const insert = db.prepare(`INSERT INTO audit_log (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
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
    append: ({ at, user, action, account, target, detail, address }: Omit<AuditRow, 'seq'>): void => {
      write(() => insert.run(at, user, action, account, target, detail, address));
    },
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
