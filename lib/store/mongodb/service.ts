// What the processes of the service keep about themselves: rate limit windows, live owners and settings.
import type { Db, Document } from 'mongodb';
import type { LimitStore, LimitWindow, OwnerStore, SettingStore } from '../store.ts';
import { runOnce } from './batches.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { NOW } from './clock.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import type { Row } from './rows.ts';
import type { Sessions } from './sessions.ts';
import type { Transactions } from './transaction.ts';

/** A window lost in a failover costs a minute of leniency; waiting for a majority would cost every call. */
const FAST = { writeConcern: { w: 1 } };

export function limitStore({ db, client, clock }: Connection, transactions: Transactions): LimitStore {
  const limits = client.db(db.databaseName).collection<Row>('limits');
  const sent = new Set<Promise<unknown>>();

  async function count(bucket: string, windowMs: number, now: number): Promise<LimitWindow> {
    const offset = clock.offsetMs();
    const at = now + offset;
    // A window that ends far in the future is from before the clock was set back.
    const isOpen = { $and: [{ $gt: ['$endsAt', at] }, { $lte: ['$endsAt', at + 2 * windowMs] }] };
    const update = [{ $set: windowAfter({ isOpen, endsAt: '$endsAt', count: 1 }, at + windowMs) }];
    const command = { findAndModify: 'limits', query: { _id: bucket }, update, upsert: true, new: true, ...FAST };
    const { value } = await call({ repeatable: false }, (signal) =>
      // Of two that open a window at once, the later finds it the second time.
      send(db, command, { signal }).catch((error) =>
        error.code === DUPLICATE_KEY ? send(db, command, { signal }) : Promise.reject(error),
      ),
    );
    return windowOf(value, offset);
  }

  return {
    hit(bucket, windowMs, now) {
      const counted = count(bucket, windowMs, now);
      sent.add(counted);
      const forget = () => void sent.delete(counted);
      counted.then(forget, forget);
      return counted;
    },
    async open(now) {
      // Hits travel on other connections than this read.
      await Promise.allSettled(sent);
      const offset = clock.offsetMs();
      const filter = { endsAt: { $gt: now + offset } };
      const rows = await read((signal) => limits.find(filter, { signal }).sort({ _id: 1 }).toArray());
      return rows.map((row) => windowOf(row, offset));
    },
    async merge(windows, now, batch) {
      const offset = clock.offsetMs();
      const updates = windows
        .filter(({ endsAt }) => endsAt > now)
        .map(({ bucket, endsAt, count }) => {
          // Hits of two windows that are both open all belong to the one that opened first.
          const both = {
            isOpen: { $gt: ['$endsAt', now + offset] },
            endsAt: { $min: ['$endsAt', endsAt + offset] },
            count,
          };
          const $set = windowAfter(both, endsAt + offset);
          return { q: { _id: bucket }, u: [{ $set }], upsert: true };
        });
      if (updates.length > 0) await runOnce(transactions, batch, { update: 'limits', updates });
      const deletes = [{ q: { endsAt: { $lte: now + offset } }, limit: 0 }];
      await call({ repeatable: true }, (signal) => send(db, { delete: 'limits', deletes, ...FAST }, { signal }));
    },
  };
}

interface Counted {
  /** Whether the window that is there goes on, and until when. */
  readonly isOpen: Document;
  readonly endsAt: Document | string;
  readonly count: number;
}

/** What hits make of a window: an open one goes on, one that is over begins anew. */
function windowAfter({ isOpen, endsAt, count }: Counted, newEnd: number): Document {
  return {
    endsAt: { $cond: [isOpen, endsAt, newEnd] },
    count: { $cond: [isOpen, { $add: ['$count', count] }, count] },
  };
}

function windowOf(row: Document, offsetMs: number): LimitWindow {
  return { bucket: row._id, endsAt: Number(row.endsAt) - offsetMs, count: Number(row.count) };
}

/** Rows of owners that are gone stay for a while: so long a call of theirs may still be looked into. */
const OWNER_KEPT_MS = 3_600_000;

/** A condition on owners: alive at a time of the server. */
export function aliveAt(now: Document | number): Document {
  const latest = { $add: [now, { $multiply: [2, '$leaseMs'] }] };
  return { $and: [{ $gte: ['$until', now] }, { $lte: ['$until', latest] }] };
}

/** The ids of those, in order. */
export async function aliveOwners(db: Db, now: Document | number): Promise<readonly string[]> {
  const rows = await read((signal) =>
    db
      .collection<Row>('owners')
      .find({ $expr: aliveAt(now) }, { signal, projection: { _id: 1 } })
      .sort({ _id: 1 })
      .toArray(),
  );
  return rows.map((row) => row._id);
}

export function ownerStore({ db }: Connection, sessions: Sessions): OwnerStore {
  const owners = db.collection<Row>('owners');
  const gone = { $expr: { $lt: ['$until', { $subtract: [NOW, OWNER_KEPT_MS] }] } };
  return {
    async renew({ id, leaseMs, alone }) {
      const $set = { until: { $add: [NOW, leaseMs] }, leaseMs, alone };
      const updates = [{ q: { _id: id }, u: [{ $set }], upsert: true }];
      await call({ repeatable: true }, (signal) => send(db, { update: 'owners', updates, ...MAJORITY }, { signal }));
      const deletes = [{ q: gone, limit: 0 }];
      await call({ repeatable: true }, (signal) => send(db, { delete: 'owners', deletes, ...FAST }, { signal }));
      sessions.reap().catch(() => undefined);
      // Its own row is there: the group has the server's time even when nobody else is.
      const other = { $and: [{ $ne: ['$_id', id] }, aliveAt(NOW)] };
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

export function settingStore({ db }: Connection): SettingStore {
  const settings = db.collection<Row>('settings');
  return {
    async get(name) {
      return (await read((signal) => settings.findOne({ _id: name }, { signal })))?.value;
    },
    async list() {
      const rows = await read((signal) => settings.find({}, { signal }).sort({ _id: 1 }).toArray());
      return rows.map((row) => ({ name: row._id, value: row.value }));
    },
    async set(name, value) {
      const updates = [{ q: { _id: name }, u: { $set: { value } }, upsert: true }];
      await call({ repeatable: true }, (signal) => send(db, { update: 'settings', updates, ...MAJORITY }, { signal }));
    },
  };
}
