// Idempotency keys in the MongoDB store.
import type { Document } from 'mongodb';
import type { IdempotencyRecord } from '../../money/idempotency.ts';
import type { IdempotencyStore } from '../ports/idempotency.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { type Row, readPlainDocument } from './rows.ts';
import type { Step } from './transaction.ts';

export function idempotencyStore({ db }: Connection): IdempotencyStore {
  const repeats = db.collection<Row>('repeats');
  const write = (command: Document): Promise<Document> =>
    call({ repeatable: true }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));

  return {
    async get(id) {
      const row = await read((signal) => repeats.findOne({ _id: id }, { signal }));
      return row ? readIdempotencyDocument(row) : undefined;
    },
    async storeReply({ id, charge }, reply) {
      const u = { $set: { reply, awaited: reply !== null } };
      const { n } = await write({ update: 'repeats', updates: [{ q: { _id: id, charge }, u }] });
      return Number(n) === 1;
    },
    async clean(now, limit) {
      const find = (signal: AbortSignal) =>
        repeats
          .find({ expiresAt: { $lte: now } }, { signal, projection: { _id: 1 } })
          .sort({ expiresAt: 1 })
          .limit(limit)
          .toArray();
      const ids = (await read(find)).map(({ _id }) => _id);
      if (ids.length === 0) return 0;
      // The key may have been taken again since.
      const q = { _id: { $in: ids }, expiresAt: { $lte: now } };
      const { n } = await write({ delete: 'repeats', deletes: [{ q, limit: 0 }] });
      return Number(n);
    },
    async page({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => repeats.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map(readIdempotencyDocument);
    },
    async put(list) {
      if (list.length > 0) await write({ update: 'repeats', updates: list.map(buildIdempotencyUpsert) });
    },
  };
}

/** Writes records in the transaction that moves their money. */
export async function saveIdempotencyRecords(step: Step, repeats: readonly IdempotencyRecord[]): Promise<void> {
  if (repeats.length > 0) await step({ update: 'repeats', updates: repeats.map(buildIdempotencyUpsert) });
}

export function readIdempotencyDocument(row: Document): IdempotencyRecord {
  return readPlainDocument<IdempotencyRecord>(row);
}

function buildIdempotencyUpsert({ id: _id, ...repeat }: IdempotencyRecord): Document {
  return { q: { _id }, u: { _id, ...repeat }, upsert: true };
}
