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

  async function putOne({ wallet, seq, ...sums }: Checkpoint): Promise<void> {
    const $set = { seq, ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, toLong(sum)])) };
    const updates = [{ q: { _id: wallet, seq: { $lt: seq } }, u: { $set }, upsert: true }];
    await call({ repeatable: true }, (signal) =>
      // One of a later entry is there: its id is taken.
      send(db, { update: 'checkpoints', updates, ...MAJORITY }, { signal }).catch((error) =>
        error.code === DUPLICATE_KEY ? undefined : Promise.reject(error),
      ),
    );
  }

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
      await Promise.all(list.map(putOne));
    },
  };
}

function checkpointOf(row: Document): Checkpoint {
  const { _id: wallet, seq, avail, held, charged, topped, adjusted, overshoot } = row;
  return { wallet, seq: Number(seq), avail, held, charged, topped, adjusted, overshoot };
}
