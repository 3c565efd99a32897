// API keys in the MongoDB store.
import type { Document } from 'mongodb';
import { type KeyLimits, NO_LIMITS } from '../../money/key-limits.ts';
import type { KeyHolder, KeyRow, KeyStore, NewKey } from '../ports/keys.ts';
import { StoreError } from '../store.ts';
import { runOnce } from './batches.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { type Row, toLong } from './rows.ts';
import { firstBatch, type Step, type Transactions } from './transaction.ts';

export function keyStore({ db }: Connection, transactions: Transactions): KeyStore {
  const keys = db.collection<Row>('keys');
  return {
    add: (key, activeMax) => addKey(transactions, key, activeMax),
    async find(hash) {
      const wallet = { from: 'wallets', localField: 'account', foreignField: '_id', as: 'wallets' };
      const pipeline = [{ $match: { hash } }, { $lookup: wallet }];
      const [row] = await read((signal) => keys.aggregate(pipeline, { signal }).toArray());
      return row && ({ ...keyOf(row), accountStatus: row.wallets[0].status } satisfies KeyHolder);
    },
    async get(id) {
      const row = await read((signal) => keys.findOne({ _id: id }, { signal }));
      return row ? keyOf(row) : undefined;
    },
    async list(account) {
      const sort = { createdAt: 1, _id: 1 } as const;
      return (await read((signal) => keys.find({ account }, { signal }).sort(sort).toArray())).map(keyOf);
    },
    async revoke(id, at) {
      const updates = [{ q: { _id: id, revokedAt: null }, u: { $set: { revokedAt: at } } }];
      // A repeat after a lost answer would find its own work and call it somebody else's.
      const { n } = await call({ repeatable: false }, (signal) =>
        send(db, { update: 'keys', updates, ...MAJORITY }, { signal }),
      );
      if (n === 1) return 'revoked';
      return (await read((signal) => keys.findOne({ _id: id }, { signal }))) ? 'exists' : 'no_key';
    },
    async limit(id, limits, now) {
      const updates = [{ q: { _id: id, ...activeAt(now) }, u: { $set: { limits: limitsRow(limits) } } }];
      const { n } = await call({ repeatable: true }, (signal) =>
        send(db, { update: 'keys', updates, ...MAJORITY }, { signal }),
      );
      if (n === 1) return 'limited';
      return (await read((signal) => keys.findOne({ _id: id }, { signal }))) ? 'ended' : 'no_key';
    },
    async use(uses, batch) {
      if (uses.length === 0) return;
      const updates = uses.map(({ id, count, lastUsedAt }) => ({
        q: { _id: id },
        u: { $inc: { requestsCount: count }, $max: { lastUsedAt } },
      }));
      // All or nothing: a part that was counted would be counted again.
      await runOnce(transactions, batch, { update: 'keys', updates });
    },
  };
}

/** Neither revoked nor expired. */
function activeAt(now: number): Document {
  return { revokedAt: null, $or: [{ 'limits.expiresAt': null }, { 'limits.expiresAt': { $gt: now } }] };
}

async function addKey(transactions: Transactions, key: NewKey, activeMax: number): ReturnType<KeyStore['add']> {
  const { id, account, name, hash, last4, createdAt, limits = NO_LIMITS } = key;
  const unused = { revokedAt: null, requestsCount: 0, lastUsedAt: null };
  const row = { _id: id, account, name, hash, last4, createdAt, ...unused, limits: limitsRow(limits) };
  const filter = { account, ...activeAt(createdAt) };
  return transactions.run({
    steps: async (step) => {
      const count = { aggregate: 'keys', pipeline: [{ $match: filter }, { $count: 'active' }], cursor: {} };
      const [found] = await firstBatch(step(count));
      if (Number(found?.active ?? 0) >= activeMax) return 'too_many';
      // Written, so that one of two concurrent adders must count again.
      const account = { q: { _id: key.account }, u: { $inc: { keysAdded: 1 } } };
      const { n } = await step({ update: 'accounts', updates: [account] });
      if (n === 0) return 'no_account';
      await refuseTwins(step, key);
      await step({ insert: 'keys', documents: [row] });
      return 'added';
    },
  });
}

async function refuseTwins(step: Step, { id, hash }: NewKey): Promise<void> {
  const filter = { $or: [{ _id: id }, { hash }] };
  const [twin] = await firstBatch(step({ find: 'keys', filter, limit: 1 }));
  if (twin) throw new StoreError(`the key ${id} already exists`, 'no');
}

function keyOf(row: Document): KeyRow {
  const { _id: id, account, name, hash, last4, createdAt, revokedAt, requestsCount, lastUsedAt, limits } = row;
  return {
    ...{ id, account, name, hash, last4, createdAt: Number(createdAt) },
    revokedAt: revokedAt === null ? null : Number(revokedAt),
    requestsCount: Number(requestsCount),
    lastUsedAt: lastUsedAt === null ? null : Number(lastUsedAt),
    limits: { ...limits, expiresAt: limits.expiresAt === null ? null : Number(limits.expiresAt) },
  };
}

function limitsRow({ budget, reset, zone, expiresAt, models }: KeyLimits): Document {
  return { budget: budget && toLong(budget), reset, zone, expiresAt, models };
}
