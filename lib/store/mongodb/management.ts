// The keys and replies of the management API in the MongoDB store.
import type { Document } from 'mongodb';
import type { ManagementKey, ManagementReply, ManagementStore, ReplyClaim } from '../ports/management.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import { type Row, readPlainDocument } from './rows.ts';

export function managementStore({ db }: Connection): ManagementStore {
  const keys = db.collection<Row>('management_keys');
  const replies = db.collection<Row>('management_replies');
  const write = (command: Document): Promise<Document> =>
    call({ repeatable: true }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));

  async function find(filter: Document): Promise<ManagementKey | undefined> {
    const row = await read((signal) => keys.findOne(filter, { signal }));
    return row ? readPlainDocument<ManagementKey>(row) : undefined;
  }

  async function findReply(id: string): Promise<ManagementReply | undefined> {
    const row = await read((signal) => replies.findOne({ _id: id }, { signal }));
    return row ? readPlainDocument<ManagementReply>(row) : undefined;
  }

  /** Of two processes that claim an id at once, one writes it; undefined if its row was not free. */
  async function tryClaim({ id, ...claim }: Omit<ManagementReply, 'reply'>, now: number) {
    const isFree = [{ expiresAt: { $lte: now } }, { reply: null, lease: { $lte: now }, body: claim.body }];
    const query = { _id: id, $or: isFree };
    const command = { findAndModify: 'management_replies', query, update: { ...claim, reply: null }, upsert: true };
    const reply = await call({ repeatable: false }, (signal) =>
      send(db, { ...command, ...MAJORITY }, { signal }).catch((error) =>
        error.code === DUPLICATE_KEY ? undefined : Promise.reject(error),
      ),
    );
    if (!reply) return undefined;
    const before = reply.value as Document | null;
    return before && Number(before.expiresAt) > now ? 'again' : 'claimed';
  }

  return {
    async addKey(key) {
      await write({ update: 'management_keys', updates: [buildKeyUpsert(key)] });
    },
    async putKeys(list) {
      if (list.length > 0) await write({ update: 'management_keys', updates: list.map(buildKeyUpsert) });
    },
    findKey: (hash) => find({ hash }),
    getKey: (id) => find({ _id: id }),
    async listKeys(account) {
      const filter = account === undefined ? {} : { account };
      const sort = { createdAt: 1, _id: 1 } as const;
      const rows = await read((signal) => keys.find(filter, { signal }).sort(sort).toArray());
      return rows.map((row) => readPlainDocument<ManagementKey>(row));
    },
    async revokeKey(id, at) {
      const updates = [{ q: { _id: id, revokedAt: null }, u: { $set: { revokedAt: at } } }];
      const { n } = await write({ update: 'management_keys', updates });
      if (Number(n) === 1) return 'revoked';
      return (await find({ _id: id })) ? 'exists' : 'no_key';
    },
    async useKey(id, at) {
      const updates = [{ q: { _id: id }, u: { $max: { lastUsedAt: at } } }];
      await write({ update: 'management_keys', updates });
    },
    async claimReply(claim, now): Promise<ReplyClaim> {
      for (;;) {
        const status = await tryClaim(claim, now);
        if (status) return { status };
        const found = await findReply(claim.id);
        if (found) return { status: 'found', found };
      }
    },
    async storeReply({ id, lease }, reply) {
      const updates = [{ q: { _id: id, lease }, u: { $set: { reply } } }];
      const { n } = await write({ update: 'management_replies', updates });
      return Number(n) === 1;
    },
    async dropReply({ id, lease }) {
      await write({ delete: 'management_replies', deletes: [{ q: { _id: id, lease, reply: null }, limit: 1 }] });
    },
    async replyPage({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => replies.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map((row) => readPlainDocument<ManagementReply>(row));
    },
    async putReplies(list) {
      const updates = list.map(({ id: _id, ...row }) => ({ q: { _id }, u: { _id, ...row }, upsert: true }));
      if (list.length > 0) await write({ update: 'management_replies', updates });
    },
    async clean(now, limit) {
      const search = (signal: AbortSignal) =>
        replies
          .find({ expiresAt: { $lte: now } }, { signal, projection: { _id: 1 } })
          .sort({ expiresAt: 1 })
          .limit(limit)
          .toArray();
      const ids = (await read(search)).map(({ _id }) => _id);
      if (ids.length === 0) return 0;
      // The id may have been claimed again since.
      const q = { _id: { $in: ids }, expiresAt: { $lte: now } };
      const { n } = await write({ delete: 'management_replies', deletes: [{ q, limit: 0 }] });
      return Number(n);
    },
  };
}

function buildKeyUpsert({ id: _id, ...key }: ManagementKey): Document {
  return { q: { _id }, u: { _id, ...key }, upsert: true };
}
