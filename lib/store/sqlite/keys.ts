// API keys in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { Batch } from '../ports/batches.ts';
import type { KeyHolder, KeyRow, KeyStore, KeyUse } from '../ports/keys.ts';
import { createOnce } from './batches.ts';
import type { Connection } from './connection.ts';

const SELECT_KEY = `SELECT keys.id, account, name, hash, last4, created_at, revoked_at, requests_count, last_used_at`;

export function keyWrites({ db, write }: Connection) {
  const countActive = db.prepare('SELECT count(*) AS active FROM keys WHERE account = ? AND revoked_at IS NULL');
  const hasAccount = db.prepare('SELECT 1 FROM accounts WHERE id = ?');
  const insertKey = db.prepare(
    'INSERT INTO keys (id, account, name, hash, last4, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const hasKey = db.prepare('SELECT 1 FROM keys WHERE id = ?');
  const revoke = db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const use = db.prepare(
    `UPDATE keys SET requests_count = requests_count + ?, last_used_at = max(coalesce(last_used_at, 0), ?)
    WHERE id = ?`,
  );
  const once = createOnce(db);
  return {
    addKey: (key: Parameters<KeyStore['add']>[0], activeMax: number): Awaited<ReturnType<KeyStore['add']>> =>
      write(() => {
        if (!hasAccount.get(key.account)) return 'no_account';
        if (Number(countActive.get(key.account)?.active) >= activeMax) return 'too_many';
        insertKey.run(key.id, key.account, key.name, key.hash, key.last4, key.createdAt);
        return 'added';
      }),
    revokeKey: (id: string, at: number): Awaited<ReturnType<KeyStore['revoke']>> =>
      write(() => {
        if (revoke.run(at, id).changes === 1) return 'revoked';
        return hasKey.get(id) ? 'exists' : 'no_key';
      }),
    useKeys: (uses: readonly KeyUse[], batch?: Batch): void =>
      write(() => {
        once(batch, () => {
          for (const { id, count, lastUsedAt } of uses) use.run(count, lastUsedAt, id);
        });
      }),
  };
}

export function keyReads(db: DatabaseSync) {
  const holder = db.prepare(`${SELECT_KEY}, status FROM keys JOIN wallets ON wallets.id = account WHERE hash = ?`);
  const keys = db.prepare(`${SELECT_KEY} FROM keys WHERE account = ? ORDER BY created_at, id`);
  return {
    findKey: (hash: string): KeyHolder | undefined => {
      const row = holder.get(hash);
      return row && { ...keyOf(row), accountStatus: row.status as KeyHolder['accountStatus'] };
    },
    keys: (accountId: string): KeyRow[] => keys.all(accountId).map(keyOf),
  };
}

function keyOf(row: Record<string, unknown>): KeyRow {
  return {
    id: row.id as string,
    account: row.account as string,
    name: row.name as string,
    hash: row.hash as string,
    last4: row.last4 as string,
    createdAt: row.created_at as number,
    revokedAt: row.revoked_at as number | null,
    requestsCount: row.requests_count as number,
    lastUsedAt: row.last_used_at as number | null,
  };
}
