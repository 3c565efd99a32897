// Refused requests in the MongoDB store. The id of a row is its account, hour, key and code.
import type { Document } from 'mongodb';
import { REFUSALS_KEPT_MS, type Refusal, type RefusalStore } from '../ports/refusals.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import type { Row } from './rows.ts';

export function refusalStore({ db }: Connection): RefusalStore {
  const refusals = db.collection<Row>('refusals');
  return {
    async add(list) {
      if (list.length === 0) return;
      const updates = list.map((refusal) => ({
        q: { _id: nameRow(refusal) },
        u: [{ $set: addTo(refusal) }],
        upsert: true,
      }));
      const command = { update: 'refusals', updates, ordered: false, ...MAJORITY };
      await call({ repeatable: false }, (signal) => send(db, command, { signal }));
    },
    async list(account, { keys, limit }) {
      const filter = { account, ...(keys && { key: { $in: [...keys] } }) };
      const sort = { hour: -1, lastAt: -1 } as const;
      const rows = await read((signal) => refusals.find(filter, { signal }).sort(sort).limit(limit).toArray());
      return rows.map(readRefusalDocument);
    },
    async page({ after, limit }) {
      const filter = after ? { _id: { $gt: nameRow(after) } } : {};
      const rows = await read((signal) => refusals.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map(readRefusalDocument);
    },
    async put(list) {
      if (list.length === 0) return;
      const updates = list.map((refusal) => ({ q: { _id: nameRow(refusal) }, u: { ...refusal }, upsert: true }));
      const command = { update: 'refusals', updates, ordered: false, ...MAJORITY };
      await call({ repeatable: true }, (signal) => send(db, command, { signal }));
    },
    async clean(now, limit) {
      const filter = { hour: { $lt: now - REFUSALS_KEPT_MS } };
      const options = { projection: { _id: 1 }, limit } as const;
      const rows = await read((signal) => refusals.find(filter, { ...options, signal }).toArray());
      if (rows.length === 0) return 0;
      const deletes = [{ q: { _id: { $in: rows.map(({ _id }) => _id) } }, limit: 0 }];
      const { n } = await call({ repeatable: true }, (signal) =>
        send(db, { delete: 'refusals', deletes, ...MAJORITY }, { signal }),
      );
      return n;
    },
  };
}

function readRefusalDocument({ account, hour, key, code, count, lastAt, status, message }: Row): Refusal {
  const numbers = { hour: Number(hour), count: Number(count), lastAt: Number(lastAt), status: Number(status) };
  return { account, key, code, message, ...numbers };
}

function nameRow({ account, hour, key, code }: Refusal): string {
  return `${account} ${hour} ${key} ${code}`;
}

/** The clock of another gateway may be ahead: what it said last stays. */
function addTo({ account, hour, key, code, count, lastAt, status, message }: Refusal): Document {
  const isEarlier = { $lt: [lastAt, '$lastAt'] };
  return {
    ...{ account, hour, key, code },
    count: { $add: [{ $ifNull: ['$count', 0] }, count] },
    lastAt: { $max: ['$lastAt', lastAt] },
    status: { $cond: [isEarlier, '$status', status] },
    message: { $cond: [isEarlier, '$message', { $literal: message }] },
  };
}
