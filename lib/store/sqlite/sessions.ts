// Sessions, one-time links, devices and counted attempts in the SQLite store.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Reset } from '../../money/key-limits.ts';
import { getAttemptWaitMs } from '../attempt-wait.ts';
import type { AttemptRule, Attempts, Device, Link, LinkTarget, Session, SessionStore } from '../ports/sessions.ts';
import type { Role } from '../ports/users.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const SESSION = 'hash, user, created_at, seen_at, expires_at, idle_ms, proven_at, address, agent';
const LINK = 'hash, purpose, user, account, email, expires_at, role, cap, cap_reset';
const ATTEMPTS = 'SELECT count, last_at FROM attempts WHERE name = ?';

export function sessionWrites(connection: Connection): PortWrites<'sessions'> {
  const { db, write } = connection;
  const add = db.prepare(`INSERT INTO sessions (${SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const touch = db.prepare('UPDATE sessions SET seen_at = ?, proven_at = ? WHERE hash = ?');
  const remove = db.prepare('DELETE FROM sessions WHERE hash = ?');
  const removeAllOfUser = db.prepare('DELETE FROM sessions WHERE user = ? AND hash <> ?');
  const clean = db.prepare('DELETE FROM sessions WHERE expires_at <= :now OR seen_at + idle_ms <= :now');
  const { cleanLinks, ...links } = linkWrites(connection);
  const { cleanDevices, ...devices } = deviceWrites(connection);
  const { cleanAttempts, ...attempts } = attemptWrites(connection);
  return {
    ...links,
    ...devices,
    ...attempts,
    add: (session: Session): void => {
      const { hash, user, createdAt, seenAt, expiresAt, idleMs, provenAt, address, agent } = session;
      write(() => add.run(hash, user, createdAt, seenAt, expiresAt, idleMs, provenAt, address, agent));
    },
    touch: (hash: string, { seenAt, provenAt }: Parameters<SessionStore['touch']>[1]): boolean =>
      write(() => touch.run(seenAt, provenAt, hash).changes === 1),
    remove: (hash: string): boolean => write(() => remove.run(hash).changes === 1),
    removeUserSessions: (user: string, except = ''): void => {
      write(() => removeAllOfUser.run(user, except));
    },
    clean: ({ now, since }: Parameters<SessionStore['clean']>[0]): void =>
      write(() => {
        clean.run({ now });
        cleanLinks(now);
        cleanDevices(now);
        cleanAttempts(since);
      }),
  };
}

function linkWrites({ db, write }: Connection) {
  const add = db.prepare(`INSERT INTO links (${LINK}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const take = db.prepare(`DELETE FROM links WHERE hash = ? RETURNING ${LINK}`);
  const remove = db.prepare('DELETE FROM links WHERE purpose = ? AND user IS ? AND account IS ? AND email IS ?');
  const clean = db.prepare('DELETE FROM links WHERE expires_at <= ?');
  return {
    addLink: ({ hash, purpose, user, account, email, expiresAt, offer }: Link): void => {
      const cells = [offer?.role ?? null, offer?.cap?.limit ?? null, offer?.cap?.reset ?? null] as const;
      write(() => add.run(hash, purpose, user, account, email, expiresAt, ...cells));
    },
    takeLink: (hash: string): Link | undefined => write(() => readLinkRow(take.get(hash))),
    removeLinks: ({ purpose, user, account, email }: LinkTarget): void => {
      write(() => remove.run(purpose, user ?? null, account ?? null, email ?? null));
    },
    /** In the transaction that cleans. */
    cleanLinks: (now: number) => void clean.run(now),
  };
}

function deviceWrites({ db, write }: Connection) {
  const put = db.prepare(
    `INSERT INTO devices (hash, user, expires_at) VALUES (?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at`,
  );
  const clean = db.prepare('DELETE FROM devices WHERE expires_at <= ?');
  return {
    putDevice: ({ hash, user, expiresAt }: Device): void => {
      write(() => put.run(hash, user, expiresAt));
    },
    /** In the transaction that cleans. */
    cleanDevices: (now: number) => void clean.run(now),
  };
}

function attemptWrites({ db, write }: Connection) {
  const find = db.prepare(ATTEMPTS);
  const count = db.prepare(
    `INSERT INTO attempts (name, count, last_at) VALUES (:name, 1, :now) ON CONFLICT (name)
      DO UPDATE SET count = CASE WHEN last_at < :since THEN 1 ELSE count + 1 END, last_at = :now`,
  );
  const uncount = db.prepare('UPDATE attempts SET count = count - 1 WHERE name = ? AND count > 1');
  const forget = db.prepare('DELETE FROM attempts WHERE name = ?');
  const clean = db.prepare('DELETE FROM attempts WHERE last_at < ?');
  return {
    count: (name: string, rule: AttemptRule): number =>
      write(() => {
        const waitMs = getAttemptWaitMs(readAttemptsRow(find.get(name)), rule);
        if (waitMs === 0) count.run({ name, now: rule.now, since: rule.since });
        return waitMs;
      }),
    uncount: (name: string): void => {
      write(() => {
        if (uncount.run(name).changes === 0) forget.run(name);
      });
    },
    forget: (name: string): void => {
      write(() => forget.run(name));
    },
    /** In the transaction that cleans. */
    cleanAttempts: (since: number) => void clean.run(since),
  };
}

export function sessionReads(db: DatabaseSync): PortReads<'sessions'> {
  const get = db.prepare(`SELECT ${SESSION} FROM sessions WHERE hash = ?`);
  const list = db.prepare(`SELECT ${SESSION} FROM sessions WHERE user = ? ORDER BY created_at DESC, hash`);
  const link = db.prepare(`SELECT ${LINK} FROM links WHERE hash = ?`);
  const invitations = db.prepare(
    `SELECT ${LINK} FROM links WHERE account = ? AND purpose = 'invite' ORDER BY email, hash`,
  );
  const attempts = db.prepare(ATTEMPTS);
  // Prepared lazily: a file of an earlier version, opened read-only, does not have the table.
  let device: StatementSync | undefined;
  return {
    get: (hash: string): Session | undefined => readSessionRow(get.get(hash)),
    list: (user: string): Session[] => list.all(user).map((row) => readSessionRow(row) as Session),
    link: (hash: string): Link | undefined => readLinkRow(link.get(hash)),
    listInvitations: (account: string): Link[] => invitations.all(account).map((row) => readLinkRow(row) as Link),
    attempts: (name: string): Attempts | undefined => readAttemptsRow(attempts.get(name)),
    device: (hash: string): Device | undefined => {
      device ??= db.prepare('SELECT hash, user, expires_at AS expiresAt FROM devices WHERE hash = ?');
      const row = device.get(hash);
      return row && ({ ...row } as unknown as Device);
    },
  };
}

type Row = Record<string, unknown> | undefined;

function readSessionRow(row: Row): Session | undefined {
  if (!row) return undefined;
  const { created_at: createdAt, seen_at: seenAt, expires_at: expiresAt, idle_ms: idleMs, proven_at: provenAt } = row;
  const { hash, user, address, agent } = row;
  return { hash, user, createdAt, seenAt, expiresAt, idleMs, provenAt, address, agent } as Session;
}

function readLinkRow(row: Row): Link | undefined {
  if (!row) return undefined;
  const { expires_at: expiresAt, hash, purpose, user, account, email } = row;
  return { hash, purpose, user, account, email, expiresAt, ...readOffer(row) } as Link;
}

function readOffer({ role, cap: limit, cap_reset: reset }: Record<string, unknown>): Pick<Link, 'offer'> {
  if (role === null) return {};
  const cap = limit !== null && { cap: { limit: BigInt(limit as number), reset: reset as Reset } };
  return { offer: { role: role as Role, ...cap } };
}

function readAttemptsRow(row: Row): Attempts | undefined {
  return row && ({ count: row.count, lastAt: row.last_at } as Attempts);
}
