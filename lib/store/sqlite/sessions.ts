// Sessions, one-time links and failed attempts in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { Attempts, Link, LinkPurpose, Session, SessionStore } from '../ports/sessions.ts';
import type { Connection } from './connection.ts';
import type { ReadsOf, WritesOf } from './thread-ports.ts';

const SESSION = 'hash, user, created_at, seen_at, expires_at, idle_ms, proven_at, address, agent';
const LINK = 'hash, purpose, user, account, email, expires_at';

export function sessionWrites(connection: Connection): WritesOf<'sessions'> {
  const { db, write } = connection;
  const add = db.prepare(`INSERT INTO sessions (${SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const touch = db.prepare('UPDATE sessions SET seen_at = ?, proven_at = ? WHERE hash = ?');
  const remove = db.prepare('DELETE FROM sessions WHERE hash = ?');
  const removeOf = db.prepare('DELETE FROM sessions WHERE user = ? AND hash <> ?');
  const clean = db.prepare('DELETE FROM sessions WHERE expires_at <= :now OR seen_at + idle_ms <= :now');
  const { cleanLinks, ...links } = linkWrites(connection);
  const { cleanAttempts, ...attempts } = attemptWrites(connection);
  return {
    ...links,
    ...attempts,
    add: (session: Session): void => {
      const { hash, user, createdAt, seenAt, expiresAt, idleMs, provenAt, address, agent } = session;
      write(() => add.run(hash, user, createdAt, seenAt, expiresAt, idleMs, provenAt, address, agent));
    },
    touch: (hash: string, { seenAt, provenAt }: Parameters<SessionStore['touch']>[1]): boolean =>
      write(() => touch.run(seenAt, provenAt, hash).changes === 1),
    remove: (hash: string): boolean => write(() => remove.run(hash).changes === 1),
    removeOf: (user: string, except = ''): void => {
      write(() => removeOf.run(user, except));
    },
    clean: ({ now, since }: Parameters<SessionStore['clean']>[0]): void =>
      write(() => {
        clean.run({ now });
        cleanLinks(now);
        cleanAttempts(since);
      }),
  };
}

function linkWrites({ db, write }: Connection) {
  const add = db.prepare(`INSERT INTO links (${LINK}) VALUES (?, ?, ?, ?, ?, ?)`);
  const take = db.prepare(`DELETE FROM links WHERE hash = ? RETURNING ${LINK}`);
  const remove = db.prepare('DELETE FROM links WHERE purpose = ? AND user IS ? AND email IS ?');
  const clean = db.prepare('DELETE FROM links WHERE expires_at <= ?');
  return {
    addLink: ({ hash, purpose, user, account, email, expiresAt }: Link): void => {
      write(() => add.run(hash, purpose, user, account, email, expiresAt));
    },
    takeLink: (hash: string): Link | undefined => write(() => linkOf(take.get(hash))),
    removeLinks: ({ purpose, user, email }: { purpose: LinkPurpose; user?: string; email?: string }): void => {
      write(() => remove.run(purpose, user ?? null, email ?? null));
    },
    /** In the transaction that cleans. */
    cleanLinks: (now: number) => void clean.run(now),
  };
}

function attemptWrites({ db, write }: Connection) {
  const fail = db.prepare(
    `INSERT INTO attempts (name, count, last_at) VALUES (:name, 1, :now) ON CONFLICT (name)
      DO UPDATE SET count = CASE WHEN last_at < :since THEN 1 ELSE count + 1 END, last_at = :now
      RETURNING count, last_at`,
  );
  const forget = db.prepare('DELETE FROM attempts WHERE name = ?');
  const clean = db.prepare('DELETE FROM attempts WHERE last_at < ?');
  return {
    fail: (name: string, { now, since }: { now: number; since: number }): Attempts =>
      write(() => attemptsOf(fail.get({ name, now, since })) as Attempts),
    forget: (name: string): void => {
      write(() => forget.run(name));
    },
    /** In the transaction that cleans. */
    cleanAttempts: (since: number) => void clean.run(since),
  };
}

export function sessionReads(db: DatabaseSync): ReadsOf<'sessions'> {
  const get = db.prepare(`SELECT ${SESSION} FROM sessions WHERE hash = ?`);
  const list = db.prepare(`SELECT ${SESSION} FROM sessions WHERE user = ? ORDER BY created_at DESC, hash`);
  const link = db.prepare(`SELECT ${LINK} FROM links WHERE hash = ?`);
  const attempts = db.prepare('SELECT count, last_at FROM attempts WHERE name = ?');
  return {
    get: (hash: string): Session | undefined => sessionOf(get.get(hash)),
    list: (user: string): Session[] => list.all(user).map((row) => sessionOf(row) as Session),
    link: (hash: string): Link | undefined => linkOf(link.get(hash)),
    attempts: (name: string): Attempts | undefined => attemptsOf(attempts.get(name)),
  };
}

type Row = Record<string, unknown> | undefined;

function sessionOf(row: Row): Session | undefined {
  if (!row) return undefined;
  const { created_at: createdAt, seen_at: seenAt, expires_at: expiresAt, idle_ms: idleMs, proven_at: provenAt } = row;
  const { hash, user, address, agent } = row;
  return { hash, user, createdAt, seenAt, expiresAt, idleMs, provenAt, address, agent } as Session;
}

function linkOf(row: Row): Link | undefined {
  if (!row) return undefined;
  const { expires_at: expiresAt, hash, purpose, user, account, email } = row;
  return { hash, purpose, user, account, email, expiresAt } as Link;
}

function attemptsOf(row: Row): Attempts | undefined {
  return row && ({ count: row.count, lastAt: row.last_at } as Attempts);
}
