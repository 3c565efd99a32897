// Users and their memberships in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { OwnerEmail, User, UserStore } from '../ports/users.ts';
import type { WrongMarks } from '../ports/wrong-marks.ts';
import { listWrongMarks, toMarkedMembership } from '../row-mark.ts';
import type { Connection } from './connection.ts';
import { MEMBERSHIP, membershipWrites, readMembershipRow } from './memberships.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';
import { formerUserReads, userRemovalWrites } from './user-removal.ts';

const COLUMNS = `id, email, password, totp_secret, totp_step, recovery, operator, status, language, time_zone, created_at,
  version, telegram`;

export function userWrites(connection: Connection): PortWrites<'users'> {
  const { db, write } = connection;
  const insert = db.prepare(
    `INSERT INTO users (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const operator = db.prepare('SELECT 1 FROM users WHERE operator = 1 LIMIT 1');
  const update = db.prepare(
    `UPDATE users SET email = ?2, password = ?3, totp_secret = ?4, totp_step = ?5, recovery = ?6, operator = ?7,
      status = ?8, language = ?9, time_zone = ?10, created_at = ?11, version = ?12 + 1, telegram = ?13
      WHERE id = ?1 AND version = ?12`,
  );
  return {
    ...userRemovalWrites(connection),
    ...membershipWrites(connection),
    add: (user: User): 'added' | 'taken' =>
      write(() => (insert.run(...toUserCells(user)).changes === 1 ? 'added' : 'taken')),
    addFirstOperator: (user: User): 'added' | 'taken' | 'late' =>
      write(() => {
        if (operator.get()) return 'late';
        return insert.run(...toUserCells(user)).changes === 1 ? 'added' : 'taken';
      }),
    change: (user: User): boolean => write(() => update.run(...toUserCells(user)).changes === 1),
  };
}

export function userReads(db: DatabaseSync): PortReads<'users'> {
  const get = db.prepare(`SELECT ${COLUMNS} FROM users WHERE id = ?`);
  const find = db.prepare(`SELECT ${COLUMNS} FROM users WHERE email = ?`);
  const page = db.prepare(`SELECT ${COLUMNS} FROM users WHERE id > ? ORDER BY id LIMIT ?`);
  const operators = db.prepare('SELECT count(*) AS operators FROM users WHERE operator = 1');
  const ofUser = db.prepare(`SELECT ${MEMBERSHIP} FROM memberships WHERE user = ? ORDER BY account`);
  const ofAccount = db.prepare(`SELECT ${MEMBERSHIP} FROM memberships WHERE account = ? ORDER BY user`);
  const ownerEmails = db.prepare(
    `SELECT account, email FROM memberships JOIN users ON users.id = user
      WHERE role = 'owner' AND account IN (SELECT value FROM json_each(?)) ORDER BY account, user`,
  );
  const all = db.prepare(
    `SELECT ${MEMBERSHIP} FROM memberships WHERE (user, account) > (?, ?) ORDER BY user, account LIMIT ?`,
  );
  const marked = db.prepare(
    `SELECT ${MEMBERSHIP}, mark FROM memberships WHERE (user, account) > (?, ?) ORDER BY user, account LIMIT ?`,
  );
  return {
    findWrongMarks: ({ after = '', limit }: Parameters<UserStore['findWrongMarks']>[0]): WrongMarks => {
      const [user = '', account = ''] = after.split(' ');
      const rows = marked.all(user, account, limit);
      return listWrongMarks(
        rows.map((row) => toMarkedMembership(readMembershipRow(row), row.mark)),
        limit,
      );
    },
    ...formerUserReads(db),
    get: (id: string): User | undefined => readUserRow(get.get(id)),
    find: (email: string): User | undefined => readUserRow(find.get(email)),
    page: ({ after = '', limit }: Parameters<UserStore['page']>[0]): User[] =>
      page.all(after, limit).map((row) => readUserRow(row) as User),
    operators: (): number => operators.get()?.operators as number,
    listUserMemberships: (user: string) => ofUser.all(user).map(readMembershipRow),
    listAccountMembers: (account: string) => ofAccount.all(account).map(readMembershipRow),
    listOwnerEmails: (accounts: readonly string[]): OwnerEmail[] =>
      ownerEmails.all(JSON.stringify(accounts)).map((row) => ({ ...row }) as unknown as OwnerEmail),
    memberships: ({ after, limit }: Parameters<UserStore['memberships']>[0]) =>
      all.all(after?.user ?? '', after?.account ?? '', limit).map(readMembershipRow),
  };
}

function toUserCells(user: User) {
  const { id, email, password, totpSecret, totpStep, recovery, operator, status, language, timeZone, telegram } = user;
  const texts = [id, email, password, totpSecret, totpStep, JSON.stringify(recovery), Number(operator)] as const;
  const chat = telegram ? JSON.stringify(telegram) : null;
  return [...texts, status, language, timeZone, user.createdAt, user.version, chat] as const;
}

function readUserRow(row: Record<string, unknown> | undefined): User | undefined {
  if (!row) return undefined;
  const {
    totp_secret: totpSecret,
    totp_step: totpStep,
    time_zone: timeZone,
    created_at: createdAt,
    telegram,
    ...same
  } = row;
  const recovery = JSON.parse(row.recovery as string);
  return {
    ...same,
    totpSecret,
    totpStep,
    timeZone,
    createdAt,
    recovery,
    operator: row.operator === 1,
    ...(telegram !== null && { telegram: JSON.parse(telegram as string) }),
  } as unknown as User;
}
