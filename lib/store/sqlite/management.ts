// The keys and replies of the management API in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { ManagementKey, ManagementReply, ManagementStore, ReplyClaim } from '../ports/management.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const KEY =
  'id, name, hash, last4, scopes, account, addresses, created_by, created_at, expires_at, revoked_at, last_used_at';
const REPLY = 'id, body, reply, lease, expires_at';

export function managementWrites({ db, write }: Connection): PortWrites<'management'> {
  const keyValues = KEY.replace(/\w+/g, '?');
  const add = db.prepare(`INSERT INTO management_keys (${KEY}) VALUES (${keyValues})`);
  const put = db.prepare(`INSERT OR REPLACE INTO management_keys (${KEY}) VALUES (${keyValues})`);
  const revoke = db.prepare('UPDATE management_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const known = db.prepare('SELECT 1 FROM management_keys WHERE id = ?');
  const use = db.prepare('UPDATE management_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?');
  const find = db.prepare(`SELECT ${REPLY} FROM management_replies WHERE id = ?`);
  const putReply = db.prepare(`INSERT OR REPLACE INTO management_replies (${REPLY}) VALUES (?, ?, ?, ?, ?)`);
  const keep = db.prepare('UPDATE management_replies SET reply = ? WHERE id = ? AND lease = ?');
  const drop = db.prepare('DELETE FROM management_replies WHERE id = ? AND lease = ? AND reply IS NULL');
  const clean = db.prepare(
    `DELETE FROM management_replies WHERE id IN (
      SELECT id FROM management_replies WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
    )`,
  );
  const saveReply = ({ id, body, reply, lease, expiresAt }: ManagementReply) =>
    void putReply.run(id, body, reply, lease, expiresAt);
  return {
    addKey: (key: ManagementKey): void => {
      write(() => add.run(...toKeyCells(key)));
    },
    putKeys: (keys: readonly ManagementKey[]): void =>
      write(() => {
        for (const key of keys) put.run(...toKeyCells(key));
      }),
    revokeKey: (id: string, at: number): 'revoked' | 'exists' | 'no_key' =>
      write(() => {
        if (revoke.run(at, id).changes === 1) return 'revoked';
        return known.get(id) ? 'exists' : 'no_key';
      }),
    useKey: (id: string, at: number): void => {
      write(() => use.run(at, id));
    },
    claimReply: (claim: Omit<ManagementReply, 'reply'>, now: number): ReplyClaim =>
      write(() => {
        const row = find.get(claim.id);
        const found = row && readReplyRow(row);
        const isOver = !found || found.expiresAt <= now;
        const isLeft = found?.reply === null && found.lease <= now && found.body === claim.body;
        if (!isOver && !isLeft) return { status: 'found', found };
        saveReply({ ...claim, reply: null });
        return { status: isOver ? 'claimed' : 'again' };
      }),
    storeReply: ({ id, lease }: Pick<ManagementReply, 'id' | 'lease'>, reply: string): boolean =>
      write(() => keep.run(reply, id, lease).changes === 1),
    dropReply: ({ id, lease }: Pick<ManagementReply, 'id' | 'lease'>): void => {
      write(() => drop.run(id, lease));
    },
    putReplies: (replies: readonly ManagementReply[]): void => write(() => replies.forEach(saveReply)),
    clean: (now: number, limit: number): number => write(() => Number(clean.run(now, limit).changes)),
  };
}

export function managementReads(db: DatabaseSync): PortReads<'management'> {
  const select = `SELECT ${KEY} FROM management_keys`;
  const byHash = db.prepare(`${select} WHERE hash = ?`);
  const byId = db.prepare(`${select} WHERE id = ?`);
  const list = db.prepare(`${select} WHERE ?1 IS NULL OR account = ?1 ORDER BY created_at, id`);
  const page = db.prepare(`SELECT ${REPLY} FROM management_replies WHERE id > ? ORDER BY id LIMIT ?`);
  return {
    findKey: (hash: string): ManagementKey | undefined => readKeyRow(byHash.get(hash)),
    getKey: (id: string): ManagementKey | undefined => readKeyRow(byId.get(id)),
    listKeys: (account?: string): ManagementKey[] => list.all(account ?? null).flatMap((row) => readKeyRow(row) ?? []),
    replyPage: ({ after = '', limit }: Parameters<ManagementStore['replyPage']>[0]): ManagementReply[] =>
      page.all(after, limit).map(readReplyRow),
  };
}

function toKeyCells(key: ManagementKey) {
  const { id, name, hash, last4, account, createdBy, createdAt, expiresAt, revokedAt, lastUsedAt } = key;
  const addresses = key.addresses && JSON.stringify(key.addresses);
  const scopes = JSON.stringify(key.scopes);
  return [
    ...[id, name, hash, last4, scopes, account, addresses],
    ...[createdBy, createdAt, expiresAt, revokedAt, lastUsedAt],
  ];
}

function readKeyRow(row: Readonly<Record<string, unknown>> | undefined): ManagementKey | undefined {
  if (!row) return undefined;
  const { scopes, addresses, created_by, created_at, expires_at, revoked_at, last_used_at, ...rest } = row;
  return {
    ...rest,
    scopes: JSON.parse(scopes as string),
    addresses: addresses === null ? null : JSON.parse(addresses as string),
    createdBy: created_by,
    createdAt: created_at,
    expiresAt: expires_at,
    revokedAt: revoked_at,
    lastUsedAt: last_used_at,
  } as ManagementKey;
}

function readReplyRow({ expires_at: expiresAt, ...row }: Readonly<Record<string, unknown>>): ManagementReply {
  return { ...row, expiresAt } as unknown as ManagementReply;
}
