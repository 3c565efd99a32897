// What was paid into a wallet, and what grants paid of its calls: the reads behind acts, in the MongoDB store.
import type { Collection } from 'mongodb';
import { parseGrantParts, sumParts } from '../../money/grants.ts';
import type { LedgerStore } from '../ports/ledger.ts';
import { read } from './call.ts';
import { type Row, sumToMicro } from './rows.ts';
import { CHARGING, MOVES_MONEY } from './schema.ts';

/** A day of an account with many calls. */
const DAY_READ_MS = 20_000;

export function createPaidReads(
  entries: Collection<Row>,
): Pick<LedgerStore, 'paidBefore' | 'hadGrants' | 'grantsCharged'> {
  return {
    async paidBefore(wallet, at) {
      const $match = { wallet, ...MOVES_MONEY, at: { $lt: at } };
      const amount = { $sum: { $add: ['$topped', '$adjusted'] } };
      const sums = (signal: AbortSignal) =>
        entries.aggregate([{ $match }, { $group: { _id: null, amount } }], { signal }).toArray();
      const [row] = await read(sums, DAY_READ_MS);
      return row ? sumToMicro(row.amount) : 0n;
    },
    async hadGrants(wallet) {
      // Left alone, the planner walks all entries of the wallet, with those of its calls.
      const options = { projection: { _id: 1 }, hint: 'of_money' } as const;
      const found = (signal: AbortSignal) => entries.findOne({ wallet, kind: 'grant' }, { ...options, signal });
      return (await read(found, DAY_READ_MS)) !== null;
    },
    async grantsCharged(wallet, { from, to }) {
      const pipeline = [{ $match: { grants: { $type: 'string' } } }, { $project: { grants: 1 } }];
      const steps = [
        { $match: { wallet, ...CHARGING, at: { $gte: from, $lt: to } } },
        { $lookup: { from: 'charges', localField: 'charge', foreignField: '_id', pipeline, as: 'paid' } },
        { $unwind: '$paid' },
        { $project: { _id: 0, kind: 1, grants: '$paid.grants' } },
      ];
      const rows = await read((signal) => entries.aggregate(steps, { signal }).toArray(), DAY_READ_MS);
      return rows.reduce((sum, { kind, grants }) => {
        const share = sumParts(parseGrantParts(grants));
        return kind === 'refund' ? sum - share : sum + share;
      }, 0n);
    },
  };
}
