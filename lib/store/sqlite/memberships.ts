// Memberships of users in accounts in the SQLite store; the keys of a member end with the membership, and an owner's keys of
// the management API with the role.
import type { DatabaseSync } from 'node:sqlite';
import type { Membership, MembershipChange, UserStore } from '../ports/users.ts';
import { markMembership } from '../row-mark.ts';
import type { Connection } from './connection.ts';
import { createUpdateKeyMark } from './keys.ts';
import { readCapCells } from './rows.ts';

export const MEMBERSHIP = 'user, account, role, cap, cap_reset, cap_zone';

type HandOver = Parameters<UserStore['handOver']>[0];
type Departure = Parameters<UserStore['leave']>[0];

export function membershipWrites({ db, write }: Connection) {
  const join = db.prepare(
    `INSERT INTO memberships (${MEMBERSHIP}, mark) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const change = db.prepare(
    'UPDATE memberships SET role = ?3, cap = ?4, cap_reset = ?5, cap_zone = ?6, mark = ?7 WHERE user = ?1 AND account = ?2',
  );
  const find = db.prepare('SELECT role FROM memberships WHERE user = ? AND account = ?');
  const remove = db.prepare('DELETE FROM memberships WHERE user = ? AND account = ?');
  const otherOwner = db.prepare(
    `SELECT 1 FROM memberships JOIN users ON users.id = user
    WHERE account = ? AND role = 'owner' AND user <> ? AND status = 'active' LIMIT 1`,
  );
  const revokeKeys = createRevokeMemberKeys(db);
  const revokeOwnerKeys = createRevokeOwnerKeys(db);
  const isLastOwner = (role: unknown, { user, account }: Pick<Membership, 'user' | 'account'>) =>
    role === 'owner' && otherOwner.get(account, user) === undefined;
  return {
    join: (membership: Membership): void => {
      write(() => join.run(...toMembershipCells(membership)));
    },
    setMembership: (wanted: Membership, at: number): MembershipChange =>
      write(() => {
        const { user, account, role } = wanted;
        const before = find.get(user, account)?.role;
        if (before === undefined) return 'none';
        if (role !== 'owner' && isLastOwner(before, wanted)) return 'last_owner';
        change.run(...toMembershipCells(wanted));
        if (before === 'member' && role === 'accountant') revokeKeys(wanted, at);
        if (before === 'owner' && role !== 'owner') revokeOwnerKeys(wanted, at);
        return 'done';
      }),
    handOver: ({ account, from, to, at }: HandOver): 'done' | 'none' =>
      write(() => {
        if (find.get(from, account)?.role !== 'owner' || !find.get(to, account)) return 'none';
        change.run(...toMembershipCells({ user: to, account, role: 'owner' }));
        change.run(...toMembershipCells({ user: from, account, role: 'member' }));
        revokeOwnerKeys({ user: from, account }, at);
        return 'done';
      }),
    leave: ({ user, account, at, isForced = false }: Departure): MembershipChange =>
      write(() => {
        const before = find.get(user, account)?.role;
        if (before === undefined) return 'none';
        if (!isForced && isLastOwner(before, { user, account })) return 'last_owner';
        remove.run(user, account);
        if (before === 'member') revokeKeys({ user, account }, at);
        if (before === 'owner') revokeOwnerKeys({ user, account }, at);
        return 'done';
      }),
  };
}

/** Revokes the keys that a user has issued in an account, within a transaction. */
export function createRevokeMemberKeys(
  db: DatabaseSync,
): (of: Pick<Membership, 'user' | 'account'>, at: number) => void {
  const revoke = db.prepare(
    'UPDATE keys SET revoked_at = ? WHERE account = ? AND created_by = ? AND revoked_at IS NULL RETURNING id',
  );
  const mark = createUpdateKeyMark(db);
  return ({ user, account }, at) => {
    for (const { id } of revoke.all(at, account, user)) mark(id as string);
  };
}

/** Revokes the keys of the management API that an owner has made for an account, within a transaction. */
function createRevokeOwnerKeys(db: DatabaseSync): (of: Pick<Membership, 'user' | 'account'>, at: number) => void {
  const revoke = db.prepare(
    'UPDATE management_keys SET revoked_at = ? WHERE account = ? AND created_by = ? AND revoked_at IS NULL',
  );
  return ({ user, account }, at) => void revoke.run(at, account, user);
}

function toMembershipCells(membership: Membership) {
  const { user, account, role, cap } = membership;
  const capCells = [cap?.limit ?? null, cap?.reset ?? null, cap?.zone ?? null] as const;
  return [user, account, role, ...capCells, markMembership(membership)] as const;
}

export function readMembershipRow(row: Record<string, unknown>): Membership {
  const { user, account, role } = row as unknown as Membership;
  const cap = readCapCells(row);
  return { user, account, role, ...(cap && { cap }) };
}
