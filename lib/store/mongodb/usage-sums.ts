// Sums of a wallet's usage in the MongoDB store, from weeks, days and hours.
import type { Db, Document } from 'mongodb';
import { UNIT_COUNTS } from '../../money/usage-units.ts';
import type { UsageGrain, UsageQuery, UsageSlotSum, UsageStore, UsageTotals } from '../ports/usage.ts';
import { GRAIN_MS } from '../time-spans.ts';
import { isUsed, listUsageSpans, NO_END, type UsageSpan } from '../usage-grains.ts';
import { addUsageTotals, negateUsage } from '../usage-totals.ts';
import { read } from './call.ts';
import { BATCH, listIntervals, matchRanges, placeSums, readConsistently } from './intervals.ts';
import { type Row, sumToMicro } from './rows.ts';
import { sumFields } from './service-upsert.ts';
import { buildSlotStart } from './slots.ts';

const COUNTS = ['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced', ...UNIT_COUNTS] as const;

const GROUPS: Readonly<Record<UsageQuery['by'], (time: UsageGrain) => Document | string>> = {
  hour: (time) => ({ $toString: { $toLong: `$${time}` } }),
  day: (time) => ({ $dateToString: { format: '%Y-%m-%d', date: { $toDate: { $toLong: `$${time}` } } } }),
  model: () => '$model',
  key: () => '$key',
  kind: () => '$kind',
  names: () => ({ $concat: ['$key', ' ', '$kind', ' ', '$model'] }),
};

type Query = Omit<UsageQuery, 'from' | 'to'>;

export function usageSumStore(db: Db): Pick<UsageStore, 'sums' | 'slots'> {
  /** All grains are read in one command; the sums of all intervals are few, and are placed here. */
  async function readSums(wallet: string, spans: readonly UsageSpan[], { by, counts = COUNTS, ...filter }: Query) {
    const sums = sumFields(counts);
    const intervals = listIntervals(spans);
    const part = (time: UsageGrain): Document[] => {
      const ranges = intervals.get(time) ?? [];
      const at = buildSlotStart(`$${time}`, ranges);
      // A group by plain fields is much faster than one by expressions.
      return [
        { $match: { wallet, [time]: matchRanges(ranges, GRAIN_MS[time]), ...buildFilter(filter) } },
        { $set: { at, group: GROUPS[by](time) } },
        { $group: { _id: { at: '$at', group: '$group' }, ...sums } },
        { $set: { time } },
      ];
    };
    const coarser = [...intervals.keys()].filter((grain) => grain !== 'hour');
    const unions = coarser.map((grain) => ({ $unionWith: { coll: `usage_${grain}s`, pipeline: part(grain) } }));
    const pipeline = [...part('hour'), ...unions];
    const options = { ...readConsistently(spans), batchSize: BATCH };
    const hours = db.collection<Row>('usage_hours');
    const rows = await read((signal) => hours.aggregate(pipeline, { ...options, signal }).toArray());
    const found = rows.map(({ _id, time, ...row }) => ({
      grain: time as UsageGrain,
      at: Number(_id.at),
      name: `${_id.group}`,
      totals: readUsageTotals(row),
    }));
    const placed = placeSums(found, intervals, addSigned);
    return placed.map(({ name: group, ...sum }): UsageSlotSum => ({ group, ...sum })).filter(isUsedSum);
  }

  return {
    async sums(wallet, { from = 0, to = NO_END, ...query }) {
      const sums = await readSums(wallet, listUsageSpans({ starts: [from], to, by: query.by }), query);
      return sums.map(({ at: _, ...sum }) => sum);
    },
    slots: (wallet, { starts, to, ...query }) => readSums(wallet, listUsageSpans({ starts, to, by: query.by }), query),
  };
}

const isUsedSum = ({ at: _at, group: _group, ...totals }: UsageSlotSum) => isUsed(totals);

function addSigned(one: UsageTotals | undefined, other: UsageTotals, sign: 1 | -1): UsageTotals {
  const counted = sign === 1 ? other : negateUsage(other);
  return one ? addUsageTotals(one, counted) : counted;
}

function buildFilter({ key, keys, model, kind }: Omit<Query, 'by' | 'counts'>): Document {
  return {
    ...(key !== undefined && { key }),
    ...(keys !== undefined && { $and: [{ key: { $in: [...keys] } }] }),
    ...(model !== undefined && { model }),
    ...(kind !== undefined && { kind }),
  };
}

export function readUsageTotals(row: Document): UsageTotals {
  // Rows of earlier versions lack some, and sums those that were not asked for.
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row[name] ?? 0)]));
  const money = {
    charged: sumToMicro(row.charged ?? 0),
    refunded: sumToMicro(row.refunded ?? 0),
    cost: sumToMicro(row.cost ?? 0),
  };
  return { ...counts, ...money } as unknown as UsageTotals;
}
