// API keys in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { type KeyLimits, NO_LIMITS, type Reset } from '../../money/key-limits.ts';
import { parseRequestLimits } from '../../money/request-limits.ts';
import type { Batch } from '../ports/batches.ts';
import {
  type AccountUse,
  COPIED_KEY,
  type KeyHolder,
  type KeyMember,
  type KeyRow,
  type KeyStore,
  type KeyUse,
  mayIssueKeys,
  type NewKey,
  type NewKeysLimit,
  type ReplacementKey,
} from '../ports/keys.ts';
import type { WrongMarks } from '../ports/wrong-marks.ts';
import { listWrongMarks, markKey, toMarkedKey } from '../row-mark.ts';
import { toJsonCell } from './accounts.ts';
import { createRunBatchOnce } from './batches.ts';
import type { Connection } from './connection.ts';
import { readCapCells } from './rows.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const SELECT_KEY = `SELECT keys.id, keys.account, keys.name, hash, last4, keys.created_at, revoked_at, requests_count, last_used_at,
  budget, reset, zone, expires_at, models, budget_key, end_user_cap, end_user_reset,
  keys.request_limits, created_by`;

/** A key that is neither revoked nor expired. */
const ACTIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';

export function keyWrites(connection: Connection): PortWrites<'keys'> {
  return { ...newKeyWrites(connection), ...changeWrites(connection) };
}

function newKeyWrites({ db, write }: Connection) {
  const findRole = db.prepare('SELECT role FROM memberships WHERE user = ? AND account = ?');
  const hasAccount = db.prepare('SELECT 1 FROM accounts WHERE id = ?');
  const insert = db.prepare(
    `INSERT INTO keys (id, account, name, hash, last4, created_at, budget, reset, zone, expires_at, models, end_user_cap,
      end_user_reset, request_limits, budget_key, created_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const succeed = db.prepare(
    `INSERT INTO keys (id, account, name, hash, last4, created_at, budget, reset, zone, models, end_user_cap, end_user_reset,
      request_limits, budget_key, created_by)
    SELECT :id, account, name, :hash, :last4, :now, budget, reset, zone, models, end_user_cap, end_user_reset,
      request_limits, coalesce(budget_key, id), created_by
    FROM keys WHERE id = :before`,
  );
  const expire = db.prepare(
    'UPDATE keys SET expires_at = min(coalesce(expires_at, :endsAt), :endsAt) WHERE id = :before',
  );
  const findActiveOwner = createFindActiveOwner(db);
  const mark = createUpdateKeyMark(db);
  const findBlocker = createFindBlocker(db);
  return {
    add: (key: NewKey, activeMax: number, fresh?: NewKeysLimit): Awaited<ReturnType<KeyStore['add']>> =>
      write(() => {
        const { id, account, name, hash, last4, createdAt, limits = NO_LIMITS, budgetKey = null } = key;
        const { createdBy = null } = key;
        if (!hasAccount.get(account)) return 'no_account';
        if (activeMax !== COPIED_KEY) {
          if (createdBy !== null && !mayIssueKeys(findRole.get(createdBy, account)?.role)) return 'no_member';
          const blocker = findBlocker({ account, createdBy }, createdAt, { activeMax, fresh });
          if (blocker) return blocker;
        }
        const { budget, reset, zone, expires, models, userCap, userReset, requests } = toKeyLimitCells(limits);
        const cells = [
          budget,
          reset,
          zone,
          expires,
          models,
          userCap,
          userReset,
          requests,
          budgetKey,
          createdBy,
        ] as const;
        insert.run(id, account, name, hash, last4, createdAt, ...cells);
        mark(id);
        return 'added';
      }),
    replace: (
      before: string,
      key: ReplacementKey,
      activeMax: number,
      fresh?: NewKeysLimit,
    ): Awaited<ReturnType<KeyStore['replace']>> =>
      write(() => {
        const { id, hash, last4, createdAt: now, endsAt } = key;
        const { account, createdBy, problem } = findActiveOwner(before, now);
        if (account === undefined) return problem;
        const blocker = findBlocker({ account, createdBy }, now, { activeMax, fresh });
        if (blocker) return blocker;
        succeed.run({ id, hash, last4, now, before });
        expire.run({ before, endsAt });
        for (const changed of [id, before]) mark(changed);
        return 'replaced';
      }),
  };
}

/** Finds why there may be no further key; members have keys of their own, apart from those of the account. */
function createFindBlocker(db: DatabaseSync) {
  const countActive = db.prepare(`SELECT count(*) AS active FROM keys WHERE account = :account AND ${ACTIVE}
    AND NOT EXISTS (SELECT 1 FROM memberships AS own WHERE own.user = created_by AND own.account = :account AND role = 'member')`);
  const countOfMember = db.prepare(
    `SELECT count(*) AS active FROM keys WHERE account = :account AND created_by = :createdBy AND ${ACTIVE}`,
  );
  const countNew = db.prepare(
    'SELECT count(*) AS issued FROM keys WHERE account = ? AND created_at > ? AND created_at <= ?',
  );
  const findRole = db.prepare('SELECT role FROM memberships WHERE user = ? AND account = ?');
  return ({ account, createdBy }: KeyIssuer, now: number, { activeMax, fresh }: KeyBounds) => {
    const role = createdBy === null ? undefined : findRole.get(createdBy, account)?.role;
    const count =
      role === 'member' ? countOfMember.get({ account, createdBy, now }) : countActive.get({ account, now });
    if (Number(count?.active) >= activeMax) return 'too_many';
    const isFull = fresh && Number(countNew.get(account, now - fresh.withinMs, now)?.issued) >= fresh.most;
    return isFull ? 'too_many_new' : undefined;
  };
}

interface KeyBounds {
  readonly activeMax: number;
  readonly fresh: NewKeysLimit | undefined;
}

function changeWrites({ db, write }: Connection) {
  const hasKey = db.prepare('SELECT 1 FROM keys WHERE id = ?');
  const revoke = db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const select = db.prepare(`${SELECT_KEY} FROM keys WHERE id = ?`);
  const put = db.prepare(
    `UPDATE keys SET budget = :budget, reset = :reset, zone = :zone, expires_at = :expires, models = :models,
      end_user_cap = :userCap, end_user_reset = :userReset, request_limits = :requests WHERE id = :id`,
  );
  const share = db.prepare(
    `UPDATE keys SET budget = :budget, reset = :reset, zone = :zone
    WHERE account = :account AND ${ACTIVE}
      AND coalesce(budget_key, id) = (SELECT coalesce(budget_key, id) FROM keys WHERE id = :id) RETURNING id`,
  );
  const use = db.prepare(
    `UPDATE keys SET requests_count = requests_count + ?, last_used_at = max(coalesce(last_used_at, 0), ?)
    WHERE id = ?`,
  );
  const findActiveOwner = createFindActiveOwner(db);
  const mark = createUpdateKeyMark(db);
  const runBatchOnce = createRunBatchOnce(db);
  return {
    revoke: (id: string, at: number): Awaited<ReturnType<KeyStore['revoke']>> =>
      write(() => {
        if (revoke.run(at, id).changes === 1) {
          mark(id);
          return 'revoked';
        }
        return hasKey.get(id) ? 'exists' : 'no_key';
      }),
    limit: (id: string, change: Partial<KeyLimits>, now: number): Awaited<ReturnType<KeyStore['limit']>> =>
      write(() => {
        const { account, problem } = findActiveOwner(id, now);
        if (account === undefined) return problem;
        const before = readKeyRow(select.get(id) as Record<string, unknown>);
        const { budget, reset, zone, ...own } = toKeyLimitCells({ ...before.limits, ...change });
        const sharing = share.all({ account, id, now, budget, reset, zone });
        put.run({ id, budget, reset, zone, ...own });
        // Of no other key: an account may have thousands, and a new mark would hide what was changed behind the store.
        for (const changed of sharing) mark(changed.id as string);
        return 'limited';
      }),
    put: (id: string, limits: KeyLimits): void =>
      write(() => {
        put.run({ id, ...toKeyLimitCells(limits) });
        mark(id);
      }),
    use: (uses: readonly KeyUse[], batch?: Batch): void =>
      write(() => {
        runBatchOnce(batch, () => {
          for (const { id, count, lastUsedAt } of uses) use.run(count, lastUsedAt, id);
        });
      }),
  };
}

/** Updates the mark of a key; called after every change except of its counters. */
export function createUpdateKeyMark(db: DatabaseSync): (id: string) => void {
  const select = db.prepare(`${SELECT_KEY} FROM keys WHERE id = ?`);
  const update = db.prepare('UPDATE keys SET mark = ? WHERE id = ?');
  return (id) => {
    const row = select.get(id);
    if (row) update.run(markKey(readKeyRow(row)), id);
  };
}

type KeyIssuer = Pick<KeyRow, 'account' | 'createdBy'>;

type ActiveOwner =
  | (KeyIssuer & { readonly problem?: never })
  | { readonly account?: never; readonly createdBy?: never; readonly problem: 'ended' | 'no_key' };

/** Finds the account and the creator of an active key, or why the key is not active. */
function createFindActiveOwner(db: DatabaseSync): (id: string, now: number) => ActiveOwner {
  const find = db.prepare(`SELECT account, created_by, ${ACTIVE} AS active FROM keys WHERE id = :id`);
  return (id, now) => {
    const row = find.get({ id, now });
    if (!row) return { problem: 'no_key' };
    if (row.active !== 1) return { problem: 'ended' };
    return { account: row.account as string, createdBy: row.created_by as string | null };
  };
}

export function keyReads(db: DatabaseSync): PortReads<'keys'> {
  const holder = db.prepare(
    `${SELECT_KEY}, wallets.status, accounts.request_limits AS account_requests, price_list,
      role, cap, cap_reset, cap_zone, users.status AS member_status FROM keys
    JOIN wallets ON wallets.id = keys.account JOIN accounts ON accounts.id = keys.account
    LEFT JOIN memberships ON memberships.user = created_by AND memberships.account = keys.account
    LEFT JOIN users ON users.id = created_by WHERE hash = ?`,
  );
  const key = db.prepare(`${SELECT_KEY} FROM keys WHERE id = ?`);
  const keys = db.prepare(`${SELECT_KEY} FROM keys WHERE account = ? ORDER BY created_at, id`);
  const byEnd = db.prepare('SELECT DISTINCT account FROM keys WHERE last4 = ? ORDER BY account LIMIT ?');
  const selectUses = 'SELECT account, max(last_used_at) AS at FROM keys WHERE last_used_at IS NOT NULL';
  const allUses = db.prepare(`${selectUses} GROUP BY account`);
  const someUses = db.prepare(`${selectUses} AND account IN (SELECT value FROM json_each(?)) GROUP BY account`);
  const owners = db.prepare('SELECT DISTINCT account FROM keys WHERE account > ? ORDER BY account LIMIT ?');
  const marked = db.prepare(`${SELECT_KEY}, mark FROM keys WHERE keys.id > ? ORDER BY keys.id LIMIT ?`);
  return {
    findWrongMarks: ({ after = '', limit }: Parameters<KeyStore['findWrongMarks']>[0]): WrongMarks =>
      listWrongMarks(
        marked.all(after, limit).map((row) => toMarkedKey(readKeyRow(row), row.mark)),
        limit,
      ),
    find: (hash: string): KeyHolder | undefined => {
      const row = holder.get(hash);
      if (!row) return undefined;
      const accountRequests = parseRequestLimits(row.account_requests);
      return {
        ...readKeyRow(row),
        accountStatus: row.status as KeyHolder['accountStatus'],
        ...(accountRequests && { accountRequests }),
        ...(row.price_list !== null && { priceList: row.price_list as string }),
        ...readKeyMember(row),
      };
    },
    get: (id: string): KeyRow | undefined => {
      const row = key.get(id);
      return row && readKeyRow(row);
    },
    list: (accountId: string): KeyRow[] => keys.all(accountId).map(readKeyRow),
    findAccountsByEnd: (last4: string, limit: number): string[] =>
      byEnd.all(last4, limit).map((row) => row.account as string),
    lastUses: (accounts?: readonly string[]): AccountUse[] => {
      const rows = accounts ? someUses.all(JSON.stringify(accounts)) : allUses.all();
      return rows.map(({ account, at }) => ({ account: account as string, at: Number(at) }));
    },
    owners: ({ after = '', limit }: Parameters<KeyStore['owners']>[0]): string[] =>
      owners.all(after, limit).map((row) => row.account as string),
  };
}

function readKeyRow(row: Record<string, unknown>): KeyRow {
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
      models: parseModels(row.models as string | null),
      ...readEndUserLimit(row),
      ...readRequestLimits(row.request_limits),
    },
    budgetKey: row.budget_key as string | null,
    createdBy: row.created_by as string | null,
  };
}

/** The keys of an owner are those of the account. */
function readKeyMember(row: Record<string, unknown>): Pick<KeyHolder, 'member'> {
  if (row.role !== 'member') return {};
  const cap = readCapCells(row);
  const status = row.member_status as KeyMember['status'];
  return { member: { user: row.created_by as string, status, ...(cap && { cap }) } };
}

/** A key with a damaged list, which its mark reports, may call no model. */
function parseModels(json: string | null): KeyLimits['models'] {
  try {
    return json === null ? null : JSON.parse(json);
  } catch {
    return [];
  }
}

function readEndUserLimit({ end_user_cap: cap, end_user_reset: reset }: Record<string, unknown>) {
  if (cap === null && reset === null) return {};
  // One without the other is a damaged row, which allows nothing, and which its mark reports.
  return { endUsers: { cap: BigInt((cap as number | null) ?? 0), reset: reset as Reset } };
}

function readRequestLimits(json: unknown): Pick<KeyLimits, 'requests'> {
  const requests = parseRequestLimits(json);
  return requests ? { requests } : {};
}

function toKeyLimitCells({ budget, reset, zone, expiresAt, models, endUsers, requests }: KeyLimits) {
  const users = { userCap: endUsers?.cap ?? null, userReset: endUsers?.reset ?? null };
  return {
    budget,
    reset,
    zone,
    expires: expiresAt,
    models: models && JSON.stringify(models),
    ...users,
    requests: toJsonCell(requests),
  };
}
