// Suspends or removes users in the SQLite store, together with everything that lets them sign in.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FormerUser, Membership, RemovalResult, User, UserStore } from '../ports/users.ts';
import type { Connection } from './connection.ts';
import { createRevokeMemberKeys } from './memberships.ts';

const FORMER = 'id, email, created_at, removed_at';

export function userRemovalWrites({ db, write }: Connection) {
  const find = db.prepare('SELECT operator, status FROM users WHERE id = ? AND version = ?');
  const otherOperators = db.prepare(
    `SELECT count(*) AS others FROM users WHERE operator = 1 AND status = 'active' AND id <> ?`,
  );
  const suspend = db.prepare(`UPDATE users SET status = 'suspended', version = version + 1 WHERE id = ?`);
  const remove = db.prepare('DELETE FROM users WHERE id = ?');
  const removeMemberships = db.prepare('DELETE FROM memberships WHERE user = ?');
  const removeSessions = db.prepare('DELETE FROM sessions WHERE user = ?');
  const removeLinks = db.prepare('DELETE FROM links WHERE user = ? OR email = ?');
  const keep = db.prepare(`INSERT INTO former_users (${FORMER}) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const listJoined = db.prepare('SELECT user, account, role FROM memberships WHERE user = ?');
  const revokeKeys = createRevokeMemberKeys(db);
  const revokeManagementKeys = db.prepare(
    'UPDATE management_keys SET revoked_at = ? WHERE created_by = ? AND revoked_at IS NULL',
  );

  function endAccess({ id, email, version }: User, at: number, how: () => void): RemovalResult {
    return write(() => {
      const found = find.get(id, version);
      if (!found) return 'changed';
      const isLast = found.operator === 1 && found.status === 'active' && otherOperators.get(id)?.others === 0;
      if (isLast) return 'last_operator';
      removeSessions.run(id);
      removeLinks.run(id, email);
      revokeManagementKeys.run(at, id);
      how();
      return 'done';
    });
  }

  return {
    suspend: (user: User, at: number): RemovalResult => endAccess(user, at, () => suspend.run(user.id)),
    remove: (user: User, at: number): RemovalResult =>
      endAccess(user, at, () => {
        for (const joined of listJoined.all(user.id) as unknown as readonly Membership[]) {
          if (joined.role === 'member') revokeKeys(joined, at);
        }
        removeMemberships.run(user.id);
        remove.run(user.id);
        keep.run(user.id, user.email, user.createdAt, at);
      }),
    putFormer: (users: readonly FormerUser[]): void =>
      write(() => {
        for (const { id, email, createdAt, removedAt } of users) keep.run(id, email, createdAt, removedAt);
      }),
  };
}

export function formerUserReads(db: DatabaseSync) {
  const isThere = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'former_users'`);
  // Prepared lazily: a file of an earlier version, opened read-only, does not have the table.
  let reads: { readonly get: StatementSync; readonly page: StatementSync } | undefined;
  function open(): typeof reads {
    if (isThere.get() === undefined) return undefined;
    reads ??= {
      get: db.prepare(`SELECT ${FORMER} FROM former_users WHERE id = ?`),
      page: db.prepare(`SELECT ${FORMER} FROM former_users WHERE id > ? ORDER BY id LIMIT ?`),
    };
    return reads;
  }
  return {
    former: (id: string): FormerUser | undefined => {
      const row = open()?.get.get(id);
      return row && readFormerUserRow(row);
    },
    formerPage: ({ after = '', limit }: Parameters<UserStore['formerPage']>[0]): FormerUser[] =>
      (open()?.page.all(after, limit) ?? []).map(readFormerUserRow),
  };
}

function readFormerUserRow({
  id,
  email,
  created_at: createdAt,
  removed_at: removedAt,
}: Record<string, unknown>): FormerUser {
  return { id, email, createdAt, removedAt } as FormerUser;
}
