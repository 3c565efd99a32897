// API keys in the MongoDB store.
import type { Collection, Document } from 'mongodb';
import { isExpired, type KeyLimits, NO_LIMITS } from '../../money/key-limits.ts';
import { parseRequestLimits } from '../../money/request-limits.ts';
import {
  type AccountUse,
  COPIED_KEY,
  type KeyHolder,
  type KeyRow,
  type KeyStore,
  mayIssueKeys,
  type NewKey,
  type NewKeysLimit,
  type ReplacementKey,
} from '../ports/keys.ts';
import { listWrongMarks, markKey, toMarkedKey } from '../row-mark.ts';
import { readPriceList } from './accounts.ts';
import { runBatchOnce } from './batches.ts';
import { call, MAJORITY, read, SCAN_MS, send } from './call.ts';
import type { Connection } from './connection.ts';
import { findRole, readCapDocument, touchMembers } from './member-role.ts';
import { type Row, toLong } from './rows.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';

/** A key with the rows of its account and of its creator; the latter are missing for a key without one. */
const JOINED = [
  { $set: { membership: { $concat: ['$createdBy', ' ', '$account'] } } },
  ...[
    ['wallets', 'account'],
    ['accounts', 'account'],
    ['memberships', 'membership'],
    ['users', 'createdBy'],
  ].map(([from, localField]) => ({ $lookup: { from, as: from, localField, foreignField: '_id' } })),
];

export function keyStore({ db }: Connection, transactions: Transactions): KeyStore {
  const keys = db.collection<Row>('keys');
  return {
    add: (key, activeMax, fresh) => addKey(transactions, key, { activeMax, fresh }),
    async find(hash) {
      const [row] = await read((signal) => keys.aggregate([{ $match: { hash } }, ...JOINED], { signal }).toArray());
      return row && readHolder(row);
    },
    async get(id) {
      const row = await read((signal) => keys.findOne({ _id: id }, { signal }));
      return row ? readKeyDocument(row) : undefined;
    },
    async list(account) {
      const sort = { createdAt: 1, _id: 1 } as const;
      return (await read((signal) => keys.find({ account }, { signal }).sort(sort).toArray())).map(readKeyDocument);
    },
    async findAccountsByEnd(last4, limit) {
      const found = await read((signal) => keys.find({ last4 }, { signal, projection: { account: 1 } }).toArray());
      return [...new Set(found.map(({ account }) => account as string))].sort().slice(0, limit);
    },
    lastUses: (accounts) => readLastUses(keys, accounts),
    async owners({ after = '', limit }) {
      const query = { sort: { account: 1 }, limit, projection: { _id: 0, account: 1 }, hint: 'of_account' } as const;
      const rows = await read((signal) => keys.find({ account: { $gt: after } }, { ...query, signal }).toArray());
      return [...new Set(rows.map(({ account }) => account as string))];
    },
    async revoke(id, at) {
      for (;;) {
        const row = await read((signal) => keys.findOne({ _id: id }, { signal }));
        if (!row) return 'no_key';
        const key = readKeyDocument(row);
        if (key.revokedAt !== null) return 'exists';
        const updates = [buildRevocation(row, at)];
        // Not repeatable: a retry after a lost answer would find its own change and take it for another one.
        const { n } = await call({ repeatable: false }, (signal) =>
          send(db, { update: 'keys', updates, ...MAJORITY }, { signal }),
        );
        // If nothing matched, the key has changed in the meantime.
        if (n === 1) return 'revoked';
      }
    },
    replace: (id, key, activeMax, fresh) => replaceKey(transactions, id, { key, activeMax, fresh }),
    limit: (id, change, now) => limitKey(transactions, id, { change, now }),
    async put(id, limits) {
      await transactions.run({
        steps: async (step) => {
          const [row] = await readFirstBatch(step({ find: 'keys', filter: { _id: id }, limit: 1 }));
          if (row) await step({ update: 'keys', updates: [buildLimitsUpdate(readKeyDocument(row), limits)] });
        },
      });
    },
    async findWrongMarks({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => keys.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return listWrongMarks(rows.map(toMarkedKeyDocument), limit);
    },
    async use(uses, batch) {
      if (uses.length === 0) return;
      const updates = uses.map(({ id, count, lastUsedAt }) => ({
        q: { _id: id },
        u: { $inc: { requestsCount: count }, $max: { lastUsedAt } },
      }));
      // In a transaction: if a part failed, the rest would be counted twice when it is resent.
      await runBatchOnce(transactions, batch, { update: 'keys', updates });
    },
  };
}

async function readLastUses(keys: Collection<Row>, accounts?: readonly string[]): Promise<readonly AccountUse[]> {
  const $match = { lastUsedAt: { $ne: null }, ...(accounts && { account: { $in: [...accounts] } }) };
  const pipeline = [{ $match }, { $group: { _id: '$account', at: { $max: '$lastUsedAt' } } }];
  const rows = await read((signal) => keys.aggregate(pipeline, { signal }).toArray(), SCAN_MS);
  return rows.map(({ _id, at }) => ({ account: `${_id}`, at: Number(at) }));
}

export function buildRevocation(row: Document, at: number): Document {
  const mark = markKey({ ...readKeyDocument(row), revokedAt: at });
  return { q: { _id: row._id, revokedAt: null, mark: row.mark ?? null }, u: { $set: { revokedAt: at, mark } } };
}

/** The keys of an owner are those of the account. */
function readKeyMember({ createdBy, memberships, users }: Document): Pick<KeyHolder, 'member'> {
  const [membership] = memberships;
  if (membership?.role !== 'member') return {};
  const { cap } = membership;
  return { member: { user: createdBy, status: users[0]?.status, ...(cap && { cap: readCapDocument(cap) }) } };
}

function toMarkedKeyDocument(row: Row): ReturnType<typeof toMarkedKey> {
  // A damaged document may have no limits.
  if (!row.limits) return { row: { id: row._id, wallet: row.account }, mark: row.mark ?? 'none', wanted: '' };
  return toMarkedKey(readKeyDocument(row), row.mark);
}

/** Matches keys that are neither revoked nor expired. */
function buildActiveFilter(now: number): Document {
  return { revokedAt: null, $or: [{ 'limits.expiresAt': null }, { 'limits.expiresAt': { $gt: now } }] };
}

interface KeyBounds {
  readonly activeMax: number;
  readonly fresh: NewKeysLimit | undefined;
}

async function addKey(transactions: Transactions, key: NewKey, bounds: KeyBounds): ReturnType<KeyStore['add']> {
  return transactions.run({ steps: (step) => insertKey(step, key, bounds) });
}

async function insertKey(step: Step, key: NewKey, bounds: KeyBounds): ReturnType<KeyStore['add']> {
  const { id, account, name, hash, last4, createdAt, limits = NO_LIMITS, budgetKey = null, createdBy = null } = key;
  const unused = { revokedAt: null, requestsCount: 0, lastUsedAt: null };
  const row = {
    _id: id,
    account,
    name,
    hash,
    last4,
    createdAt,
    ...unused,
    limits: toLimitsDocument(limits),
    budgetKey,
    ...(createdBy !== null && { createdBy }),
  };
  if (bounds.activeMax !== COPIED_KEY) {
    const blocker = await findBlocker(
      step,
      { account, createdBy, createdAt },
      { ...bounds, isNew: budgetKey === null },
    );
    if (blocker) return blocker;
  }
  // Writes the account, so that one of two concurrent transactions has to count again.
  const adding = { q: { _id: account }, u: { $inc: { keysAdded: 1 } } };
  const { n } = await step({ update: 'accounts', updates: [adding] });
  if (n === 0) return 'no_account';
  await step({ insert: 'keys', documents: [{ ...row, mark: markKey(readKeyDocument(row)) }] });
  return 'added';
}

/** Why there may be no further key; members have keys of their own, apart from those of the account. */
async function findBlocker(
  step: Step,
  { account, createdBy, createdAt }: Pick<KeyRow, 'account' | 'createdBy' | 'createdAt'>,
  { activeMax, fresh, isNew }: KeyBounds & { readonly isNew: boolean },
): Promise<'no_member' | 'too_many' | 'too_many_new' | undefined> {
  let role: string | undefined;
  if (createdBy !== null) {
    await touchMembers(step, account);
    role = await findRole(step, { user: createdBy, account });
    // An owner may have left since, and their key stays.
    if (isNew && !mayIssueKeys(role)) return 'no_member';
  }
  const creators = role === 'member' ? { createdBy } : { createdBy: { $nin: await listMembers(step, account) } };
  const filter = { account, ...creators, ...buildActiveFilter(createdAt) };
  if ((await countKeys(step, filter)) >= activeMax) return 'too_many';
  if (!fresh) return undefined;
  const issued = await countKeys(step, { account, createdAt: { $gt: createdAt - fresh.withinMs, $lte: createdAt } });
  return issued >= fresh.most ? 'too_many_new' : undefined;
}

async function countKeys(step: Step, filter: Document): Promise<number> {
  const count = { aggregate: 'keys', pipeline: [{ $match: filter }, { $count: 'found' }], cursor: {} };
  const [row] = await readFirstBatch(step(count));
  return Number(row?.found ?? 0);
}

async function listMembers(step: Step, account: string): Promise<string[]> {
  const filter = { account, role: 'member' };
  const rows = await readFirstBatch(step({ find: 'memberships', filter, batchSize: 10_000, singleBatch: true }));
  return rows.map(({ user }) => user);
}

interface KeyReplacement extends KeyBounds {
  readonly key: ReplacementKey;
}

async function replaceKey(
  transactions: Transactions,
  id: string,
  { key: { endsAt, ...key }, ...bounds }: KeyReplacement,
): ReturnType<KeyStore['replace']> {
  return transactions.run({
    steps: async (step) => {
      const before = await findActiveKey(step, id, key.createdAt);
      if (typeof before === 'string') return before;
      const { account, name, limits, budgetKey, createdBy } = before;
      const same = { account, name, createdBy, budgetKey: budgetKey ?? id };
      const successor = { ...key, ...same, limits: { ...limits, expiresAt: null } };
      const added = await insertKey(step, successor, bounds);
      if (added !== 'added') return added === 'too_many' || added === 'too_many_new' ? added : 'no_key';
      const end = buildLimitsUpdate(before, { ...limits, expiresAt: Math.min(endsAt, limits.expiresAt ?? endsAt) });
      await step({ update: 'keys', updates: [end] });
      return 'replaced';
    },
  });
}

async function limitKey(
  transactions: Transactions,
  id: string,
  { change, now }: { readonly change: Partial<KeyLimits>; readonly now: number },
): ReturnType<KeyStore['limit']> {
  return transactions.run({
    steps: async (step) => {
      const found = await findActiveKey(step, id, now);
      if (typeof found === 'string') return found;
      const { account, limits, budgetKey } = found;
      const wanted = { ...limits, ...change };
      const { budget, reset, zone } = wanted;
      const first = budgetKey ?? id;
      const sharing = { account, $and: [buildActiveFilter(now), { $or: [{ _id: first }, { budgetKey: first }] }] };
      const filter = { ...sharing, _id: { $ne: id } };
      const others = await readFirstBatch(step({ find: 'keys', filter, batchSize: 1000, singleBatch: true }));
      const updates = [
        buildLimitsUpdate(found, wanted),
        ...others.map(readKeyDocument).map((key) => buildLimitsUpdate(key, { ...key.limits, budget, reset, zone })),
      ];
      await step({ update: 'keys', updates });
      return 'limited';
    },
  });
}

function buildLimitsUpdate(key: KeyRow, limits: KeyLimits): Document {
  const mark = markKey({ ...key, limits });
  return { q: { _id: key.id }, u: { $set: { limits: toLimitsDocument(limits), mark } } };
}

/** Finds an active key, or why the key is not active. */
async function findActiveKey(step: Step, id: string, now: number): Promise<KeyRow | 'ended' | 'no_key'> {
  const [row] = await readFirstBatch(step({ find: 'keys', filter: { _id: id }, limit: 1 }));
  if (!row) return 'no_key';
  const key = readKeyDocument(row);
  return key.revokedAt !== null || isExpired(key.limits, now) ? 'ended' : key;
}

/** A key with the rows of its account. */
function readHolder(row: Document): KeyHolder {
  const [account] = row.accounts;
  const accountRequests = parseRequestLimits(account?.requests);
  return {
    ...readKeyDocument(row),
    accountStatus: row.wallets[0].status,
    ...(accountRequests && { accountRequests }),
    ...readPriceList(account),
    ...readKeyMember(row),
  };
}

function readKeyDocument(row: Document): KeyRow {
  const {
    _id: id,
    account,
    name,
    hash,
    last4,
    createdAt,
    revokedAt,
    requestsCount,
    lastUsedAt,
    limits,
    budgetKey,
    createdBy = null,
  } = row;
  return {
    id,
    account,
    name,
    hash,
    last4,
    createdAt: Number(createdAt),
    revokedAt: revokedAt === null ? null : Number(revokedAt),
    requestsCount: Number(requestsCount),
    lastUsedAt: lastUsedAt === null ? null : Number(lastUsedAt),
    limits: readLimitsDocument(limits),
    budgetKey,
    createdBy,
  };
}

function readLimitsDocument({ expiresAt, requests, ...limits }: Document): KeyLimits {
  const parsed = parseRequestLimits(requests);
  const own = { ...limits, expiresAt: expiresAt === null ? null : Number(expiresAt) } as KeyLimits;
  return parsed ? { ...own, requests: parsed } : own;
}

function toLimitsDocument({ budget, reset, zone, expiresAt, models, endUsers, requests }: KeyLimits): Document {
  const own = { budget: budget && toLong(budget), reset, zone, expiresAt, models, ...(requests && { requests }) };
  return endUsers ? { ...own, endUsers: { ...endUsers, cap: toLong(endUsers.cap) } } : own;
}
