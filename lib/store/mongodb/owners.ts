// The live gateways, in the MongoDB store.
import type { Db, Document } from 'mongodb';
import { HOUR_MS } from '../../base/durations.ts';
import type { OwnerStore } from '../ports/owners.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { NOW } from './clock.ts';
import type { Connection } from './connection.ts';
import type { Row } from './rows.ts';
import type { TransactionSessions } from './transaction-sessions.ts';

/** Rows of dead owners are kept this long, so that their calls can still be investigated. */
const OWNER_KEPT_MS = HOUR_MS;

/** Matches owners that are alive at a given server time. */
function buildAliveFilter(now: Document | number): Document {
  const latest = { $add: [now, { $multiply: [2, '$leaseMs'] }] };
  return { $and: [{ $gte: ['$until', now] }, { $lte: ['$until', latest] }] };
}

/** The ids of live owners, in order. */
export async function listAliveOwners(db: Db, now: Document | number): Promise<readonly string[]> {
  const rows = await read((signal) =>
    db
      .collection<Row>('owners')
      .find({ $expr: buildAliveFilter(now) }, { signal, projection: { _id: 1 } })
      .sort({ _id: 1 })
      .toArray(),
  );
  return rows.map((row) => row._id);
}

export function ownerStore({ db }: Connection, sessions: TransactionSessions): OwnerStore {
  const owners = db.collection<Row>('owners');
  const gone = { $expr: { $lt: ['$until', { $subtract: [NOW, OWNER_KEPT_MS] }] } };
  return {
    async renew({ id, leaseMs, alone }) {
      const $set = { until: { $add: [NOW, leaseMs] }, leaseMs, alone };
      const updates = [{ q: { _id: id }, u: [{ $set }], upsert: true }];
      await call({ repeatable: true }, (signal) => send(db, { update: 'owners', updates, ...MAJORITY }, { signal }));
      const deletes = [{ q: gone, limit: 0 }];
      await call({ repeatable: true }, (signal) =>
        send(db, { delete: 'owners', deletes, writeConcern: { w: 1 } }, { signal }),
      );
      sessions.reap().catch(() => undefined);
      // The row of this owner exists, so the group returns the server time even without other owners.
      const isWorker = { $eq: [{ $indexOfBytes: ['$_id', `${id}-`] }, 0] };
      const other = { $and: [{ $ne: ['$_id', id] }, { $not: [isWorker] }, buildAliveFilter(NOW)] };
      const group = {
        _id: null,
        now: { $max: NOW },
        others: { $sum: { $cond: [other, 1, 0] } },
        alone: { $sum: { $cond: [{ $and: ['$alone', other] }, 1, 0] } },
      };
      const [seen] = await read((signal) => owners.aggregate([{ $group: group }], { signal }).toArray());
      return { now: Number(seen?.now), others: Number(seen?.others), alone: Number(seen?.alone) };
    },
    async remove(id) {
      const deletes = [{ q: { _id: id }, limit: 1 }];
      await call({ repeatable: true }, (signal) => send(db, { delete: 'owners', deletes, ...MAJORITY }, { signal }));
    },
  };
}
