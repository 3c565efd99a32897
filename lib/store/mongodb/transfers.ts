// Money that came into all wallets and went back, otherwise than by calls: the list and the sums, in the MongoDB store.
import type { Collection, Document } from 'mongodb';
import { compareIds } from '../journal.ts';
import type { LedgerStore } from '../ports/ledger.ts';
import { read, SCAN_MS } from './call.ts';
import { type Row, readEntryDocument, sumToMicro } from './rows.ts';
import { PAYMENTS } from './usage-schema.ts';

/** Corrections are found by the ids of their operations, which saves an index of few rows. */
const CORRECTIONS = { _id: { $gte: 'adjust:', $lt: 'adjust;' } };
const NEWEST_FIRST = { at: -1, _id: -1 } as const;

export function createTransferReads(
  entries: Collection<Row>,
): Pick<LedgerStore, 'transfers' | 'paymentSums' | 'correctionSum'> {
  const within = ({ from, to }: { from: number; to: number }) => ({ at: { $gte: from, $lt: to } });
  const list = (filter: Document, limit: number) =>
    read((signal) => entries.find(filter, { signal }).sort(NEWEST_FIRST).limit(limit).toArray(), SCAN_MS);
  const group = (steps: Document[]) => read((signal) => entries.aggregate(steps, { signal }).toArray(), SCAN_MS);
  return {
    async transfers({ limit, before, ...span }) {
      const older = before && [
        { $or: [{ at: { $lt: before.at } }, { at: before.at, _id: { $lt: before.opId } }] },
        { at: { $lte: before.at } },
      ];
      const moved = { $or: [{ topped: { $ne: 0 } }, { adjusted: { $ne: 0 } }] };
      const $and = [within(span), moved, ...(older ?? [])];
      const found = await Promise.all([PAYMENTS, CORRECTIONS].map((of) => list({ ...of, $and }, limit)));
      const rows = found.flat().map(readEntryDocument);
      return rows.sort((one, other) => other.at - one.at || compareIds(other.opId, one.opId)).slice(0, limit);
    },
    async paymentSums(span) {
      const $group = { _id: '$kind', count: { $sum: 1 }, amount: { $sum: '$topped' } };
      const rows = await group([{ $match: { ...PAYMENTS, ...within(span) } }, { $group }]);
      return rows.map(({ _id: kind, count, amount }) => ({ kind, count: Number(count), amount: sumToMicro(amount) }));
    },
    async correctionSum(span) {
      const $group = { _id: null, amount: { $sum: '$adjusted' } };
      const [row] = await group([{ $match: { ...CORRECTIONS, ...within(span) } }, { $group }]);
      return row ? sumToMicro(row.amount) : 0n;
    },
  };
}
