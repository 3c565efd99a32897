// API keys in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { type KeyLimits, NO_LIMITS } from '../../money/key-limits.ts';
import type { Batch } from '../ports/batches.ts';
import type { KeyHolder, KeyRow, KeyStore, KeyUse, NewKey } from '../ports/keys.ts';
import { createOnce } from './batches.ts';
import type { Connection } from './connection.ts';

const SELECT_KEY = `SELECT keys.id, account, name, hash, last4, created_at, revoked_at, requests_count, last_used_at,
  budget, reset, zone, expires_at, models`;

export function keyWrites({ db, write }: Connection) {
  const countActive = db.prepare(
    `SELECT count(*) AS active FROM keys
    WHERE account = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const hasAccount = db.prepare('SELECT 1 FROM accounts WHERE id = ?');
  const insertKey = db.prepare(
    `INSERT INTO keys (id, account, name, hash, last4, created_at, budget, reset, zone, expires_at, models)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const hasKey = db.prepare('SELECT 1 FROM keys WHERE id = ?');
  const revoke = db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const limit = db.prepare(
    `UPDATE keys SET budget = ?, reset = ?, zone = ?, expires_at = ?, models = ?
    WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const use = db.prepare(
    `UPDATE keys SET requests_count = requests_count + ?, last_used_at = max(coalesce(last_used_at, 0), ?)
    WHERE id = ?`,
  );
  const once = createOnce(db);
  return {
    addKey: (key: NewKey, activeMax: number): Awaited<ReturnType<KeyStore['add']>> =>
      write(() => {
        if (!hasAccount.get(key.account)) return 'no_account';
        if (Number(countActive.get(key.account, key.createdAt)?.active) >= activeMax) return 'too_many';
        const { id, account, name, hash, last4, createdAt, limits = NO_LIMITS } = key;
        insertKey.run(id, account, name, hash, last4, createdAt, ...cellsOf(limits));
        return 'added';
      }),
    revokeKey: (id: string, at: number): Awaited<ReturnType<KeyStore['revoke']>> =>
      write(() => {
        if (revoke.run(at, id).changes === 1) return 'revoked';
        return hasKey.get(id) ? 'exists' : 'no_key';
      }),
    limitKey: (id: string, limits: KeyLimits, now: number): Awaited<ReturnType<KeyStore['limit']>> =>
      write(() => {
        if (limit.run(...cellsOf(limits), id, now).changes === 1) return 'limited';
        return hasKey.get(id) ? 'ended' : 'no_key';
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
  const key = db.prepare(`${SELECT_KEY} FROM keys WHERE id = ?`);
  const keys = db.prepare(`${SELECT_KEY} FROM keys WHERE account = ? ORDER BY created_at, id`);
  return {
    findKey: (hash: string): KeyHolder | undefined => {
      const row = holder.get(hash);
      return row && { ...keyOf(row), accountStatus: row.status as KeyHolder['accountStatus'] };
    },
    key: (id: string): KeyRow | undefined => {
      const row = key.get(id);
      return row && keyOf(row);
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
    limits: {
      budget: row.budget === null ? null : BigInt(row.budget as number),
      reset: row.reset as KeyLimits['reset'],
      zone: row.zone as string,
      expiresAt: row.expires_at as number | null,
      models: row.models === null ? null : JSON.parse(row.models as string),
    },
  };
}

function cellsOf({ budget, reset, zone, expiresAt, models }: KeyLimits) {
  return [budget, reset, zone, expiresAt, models && JSON.stringify(models)] as const;
}
