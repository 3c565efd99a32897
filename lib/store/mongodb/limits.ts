// Rate limit windows in the MongoDB store.
import type { Document } from 'mongodb';
import type { LimitStore, LimitWindow } from '../ports/limits.ts';
import { runBatchOnce } from './batches.ts';
import { call, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import type { Row } from './rows.ts';
import type { Transactions } from './transaction.ts';

/** A window lost in a failover only allows some extra calls for a minute; a majority write would delay every call. */
const FAST = { writeConcern: { w: 1 } };

export function limitStore({ db, client, clock }: Connection, transactions: Transactions): LimitStore {
  const limits = client.db(db.databaseName).collection<Row>('limits');
  const sent = new Set<Promise<unknown>>();

  async function countHit(bucket: string, windowMs: number, now: number): Promise<LimitWindow> {
    const offset = clock.offsetMs();
    const at = now + offset;
    // A window that ends far in the future dates from before the clock was set back.
    const isOpen = { $and: [{ $gt: ['$endsAt', at] }, { $lte: ['$endsAt', at + 2 * windowMs] }] };
    const update = [{ $set: buildWindowUpdate({ isOpen, endsAt: '$endsAt', count: 1 }, at + windowMs) }];
    const command = { findAndModify: 'limits', query: { _id: bucket }, update, upsert: true, new: true, ...FAST };
    const { value } = await call({ repeatable: false }, (signal) =>
      // If two processes open a window at once, the second one finds it on its retry.
      send(db, command, { signal }).catch((error) =>
        error.code === DUPLICATE_KEY ? send(db, command, { signal }) : Promise.reject(error),
      ),
    );
    return readWindowDocument(value, offset);
  }

  return {
    hit(bucket, windowMs, now) {
      const counted = countHit(bucket, windowMs, now);
      sent.add(counted);
      const forget = () => void sent.delete(counted);
      counted.then(forget, forget);
      return counted;
    },
    async open(now) {
      // Hits use other connections than this read.
      await Promise.allSettled(sent);
      const offset = clock.offsetMs();
      const filter = { endsAt: { $gt: now + offset } };
      const rows = await read((signal) => limits.find(filter, { signal }).sort({ _id: 1 }).toArray());
      return rows.map((row) => readWindowDocument(row, offset));
    },
    async merge(windows, now, batch) {
      const offset = clock.offsetMs();
      const updates = windows
        .filter(({ endsAt }) => endsAt > now)
        .map(({ bucket, endsAt, count }) => {
          // If two windows are open, all hits belong to the one that opened first.
          const both = {
            isOpen: { $gt: ['$endsAt', now + offset] },
            endsAt: { $min: ['$endsAt', endsAt + offset] },
            count,
          };
          const $set = buildWindowUpdate(both, endsAt + offset);
          return { q: { _id: bucket }, u: [{ $set }], upsert: true };
        });
      if (updates.length > 0) await runBatchOnce(transactions, batch, { update: 'limits', updates });
      const deletes = [{ q: { endsAt: { $lte: now + offset } }, limit: 0 }];
      await call({ repeatable: true }, (signal) => send(db, { delete: 'limits', deletes, ...FAST }, { signal }));
    },
  };
}

interface WindowChange {
  /** Whether the existing window continues, and until when. */
  readonly isOpen: Document;
  readonly endsAt: Document | string;
  readonly count: number;
}

/** An open window continues, an expired one starts over. */
function buildWindowUpdate({ isOpen, endsAt, count }: WindowChange, newEnd: number): Document {
  return {
    endsAt: { $cond: [isOpen, endsAt, newEnd] },
    count: { $cond: [isOpen, { $add: ['$count', count] }, count] },
  };
}

function readWindowDocument(row: Document, offsetMs: number): LimitWindow {
  return { bucket: row._id, endsAt: Number(row.endsAt) - offsetMs, count: Number(row.count) };
}
