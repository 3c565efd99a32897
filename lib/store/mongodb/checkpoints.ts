// Checkpoints of the audit in the MongoDB store.
import { type Document, ReadConcern } from 'mongodb';
import { paired } from '../checkpoints.ts';
import type { Checkpoint, CheckpointStore } from '../ports/checkpoints.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import { type Row, toLong, walletOf } from './rows.ts';

export function checkpointStore({ db, scanner }: Connection): CheckpointStore {
  const plain = scanner.db(db.databaseName, { readConcern: new ReadConcern('majority') });
  const wallets = plain.collection<Row>('wallets');
  const checkpoints = plain.collection<Row>('checkpoints');

  return {
    page: (after, limit) =>
      read(async (signal) => {
        const above = { _id: { $gt: after } };
        const found = (await wallets.find(above, { signal }).sort({ _id: 1 }).limit(limit).toArray()).map(walletOf);
        const end = found.length < limit ? {} : { $lte: found.at(-1)?.id as string };
        const rows = await checkpoints.find({ _id: { $gt: after, ...end } }, { signal }).toArray();
        return paired(found, rows.map(checkpointOf));
      }),
    async put(list) {
      if (list.length === 0) return;
      const command = { update: 'checkpoints', updates: list.map(updateOf), ordered: false, ...MAJORITY };
      // One of a later entry is there: its id is taken.
      await call({ repeatable: true }, (signal) => send(db, command, { signal, ignored: DUPLICATE_KEY }));
    },
  };
}

function updateOf({ wallet, seq, ...sums }: Checkpoint): Document {
  const $set = { seq, ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, toLong(sum)])) };
  return { q: { _id: wallet, seq: { $lt: seq } }, u: { $set }, upsert: true };
}

function checkpointOf(row: Document): Checkpoint {
  const { _id: wallet, seq, avail, held, charged, topped, adjusted, overshoot } = row;
  return { wallet, seq: Number(seq), avail, held, charged, topped, adjusted, overshoot };
}
