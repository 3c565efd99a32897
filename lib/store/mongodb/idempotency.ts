// Idempotency keys in the MongoDB store.
import type { Document } from 'mongodb';
import type { IdempotencyRecord } from '../../money/idempotency.ts';
import type { IdempotencyStore } from '../ports/idempotency.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { plainOf, type Row } from './rows.ts';
import type { Step } from './transaction.ts';

export function idempotencyStore({ db }: Connection): IdempotencyStore {
  const repeats = db.collection<Row>('repeats');
  const write = (command: Document): Promise<Document> =>
    call({ repeatable: true }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));

  return {
    async get(id) {
      const row = await read((signal) => repeats.findOne({ _id: id }, { signal }));
      return row ? repeatOf(row) : undefined;
    },
    async keep({ id, charge }, reply) {
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
      return rows.map(repeatOf);
    },
    async put(list) {
      if (list.length > 0) await write({ update: 'repeats', updates: list.map(replacement) });
    },
  };
}

/** Takes keys in the transaction of their money. */
export async function saveRepeats(step: Step, repeats: readonly IdempotencyRecord[]): Promise<void> {
  if (repeats.length > 0) await step({ update: 'repeats', updates: repeats.map(replacement) });
}

export function repeatOf(row: Document): IdempotencyRecord {
  return plainOf<IdempotencyRecord>(row);
}

function replacement({ id: _id, ...repeat }: IdempotencyRecord): Document {
  return { q: { _id }, u: { _id, ...repeat }, upsert: true };
}
