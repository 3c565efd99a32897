// Checkpoints of the audit in the MongoDB store.
import { type Document, ReadConcern } from 'mongodb';
import { COMPARED_SUMS, pairWithCheckpoints } from '../checkpoints.ts';
import type { ChangedWallets, Checkpoint, CheckpointStore } from '../ports/checkpoints.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import { type Row, readGrantFields, readWalletDocument, toLong } from './rows.ts';

export function checkpointStore({ db, scanner }: Connection): CheckpointStore {
  const plain = scanner.db(db.databaseName, { readConcern: new ReadConcern('majority') });
  const wallets = plain.collection<Row>('wallets');
  const checkpoints = plain.collection<Row>('checkpoints');

  return {
    changes: (after, limit) =>
      read(async (signal) => {
        const query = { projection: { _id: 1 }, limit, signal } as const;
        const ids = await wallets
          .find({ _id: { $gt: after } }, query)
          .sort({ _id: 1 })
          .toArray();
        const next = ids.length < limit ? undefined : ids.at(-1)?._id;
        const range = { _id: { $gt: after, ...(next !== undefined && { $lte: next }) } };
        const changed = (await wallets.aggregate<Row>(buildDifferencePipeline(range), { signal }).toArray()).map(
          ({ _id }) => _id,
        );
        const rows = await checkpoints.find({ _id: { $in: changed } }, { signal }).toArray();
        const known = new Map(rows.map((row) => [row._id, readCheckpointDocument(row)]));
        const found = changed.map((id) => ({ id, checkpoint: known.get(id) }));
        return { wallets: ids.length, found, ...(next !== undefined && { next }) } satisfies ChangedWallets;
      }),
    page: (after, limit) =>
      read(async (signal) => {
        const above = { _id: { $gt: after } };
        const found = (await wallets.find(above, { signal }).sort({ _id: 1 }).limit(limit).toArray()).map(
          readWalletDocument,
        );
        const end = found.length < limit ? {} : { $lte: found.at(-1)?.id as string };
        const rows = await checkpoints.find({ _id: { $gt: after, ...end } }, { signal }).toArray();
        return pairWithCheckpoints(found, rows.map(readCheckpointDocument));
      }),
    async put(list) {
      if (list.length === 0) return;
      const command = { update: 'checkpoints', updates: list.map(buildCheckpointUpsert), ordered: false, ...MAJORITY };
      // The upsert is a duplicate if there is a checkpoint of a later entry, which stays.
      await call({ repeatable: true }, (signal) => send(db, command, { signal, ignored: DUPLICATE_KEY }));
    },
  };
}

/** Rows of earlier versions have no grants. */
const SUM_FIELDS = Object.fromEntries(COMPARED_SUMS.map((name) => [name, { $ifNull: [`$${name}`, 0] }]));
const NO_ENTRIES = Object.fromEntries(COMPARED_SUMS.map((name) => [`_id.${name}`, 0]));

/** Finds the ids in a range whose wallet and checkpoint differ, or of which only one exists. */
function buildDifferencePipeline(range: Document): Document[] {
  const both = [{ $match: range }, { $project: { _id: { id: '$_id', ...SUM_FIELDS } } }];
  return [
    ...both,
    { $unionWith: { coll: 'checkpoints', pipeline: both } },
    { $group: { _id: '$_id', count: { $sum: { $literal: 1 } } } },
    { $match: { count: 1, $nor: [NO_ENTRIES] } },
    { $group: { _id: '$_id.id' } },
    { $sort: { _id: 1 } },
  ];
}

function buildCheckpointUpsert({ wallet, seq, granted = 0n, grants, ...sums }: Checkpoint): Document {
  const columns = Object.entries({ ...sums, granted }).map(([name, sum]) => [name, toLong(sum)]);
  const $set = { seq, grants: grants ?? null, ...Object.fromEntries(columns) };
  return { q: { _id: wallet, seq: { $lt: seq } }, u: { $set }, upsert: true };
}

function readCheckpointDocument(row: Document): Checkpoint {
  const { _id: wallet, seq, avail, held, charged, topped, adjusted, overshoot } = row;
  const sums = { avail, held, charged, topped, adjusted, overshoot };
  return { wallet, seq: Number(seq), ...sums, ...readGrantFields(row) };
}
