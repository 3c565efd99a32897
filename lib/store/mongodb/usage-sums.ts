// Sums of a wallet's usage in the MongoDB store, from days and the hours around them.
import type { Db, Document } from 'mongodb';
import { UNIT_COUNTS } from '../../money/usage-units.ts';
import type { UsageQuery, UsageStore, UsageTotals } from '../ports/usage.ts';
import { listUsageSpans, type UsageSpan, type UsageSpans } from '../usage-days.ts';
import { read } from './call.ts';
import { type Row, sumToMicro } from './rows.ts';
import { buildSlotStart } from './slots.ts';

const COUNTS = ['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced', ...UNIT_COUNTS] as const;

type Time = 'hour' | 'day';

const GROUPS: Readonly<Record<UsageQuery['by'], (time: Time) => Document | string>> = {
  hour: (time) => ({ $toString: { $toLong: `$${time}` } }),
  day: (time) => ({ $dateToString: { format: '%Y-%m-%d', date: { $toDate: { $toLong: `$${time}` } } } }),
  model: () => '$model',
  key: () => '$key',
  kind: () => '$kind',
};

type Query = Omit<UsageQuery, 'from' | 'to'>;

export function usageSumStore(db: Db): Pick<UsageStore, 'sums' | 'slots'> {
  /** Both are read in one command, each added up by itself: the sums of both together are few. */
  async function readSums(wallet: string, spans: UsageSpans, { by, ...filter }: Query) {
    const starts = [...new Set([...spans.hours, ...spans.days].map(({ start }) => start))].sort(
      (one, other) => one - other,
    );
    const part = (time: Time): Document[] => [
      { $match: { ...buildSpanMatch(wallet, time, spans[`${time}s`]), ...buildFilter(filter) } },
      { $group: { _id: { at: buildSlotStart(`$${time}`, starts), group: GROUPS[by](time) }, ...sumCounts() } },
    ];
    const days = { $unionWith: { coll: 'usage_days', pipeline: part('day') } };
    const pipeline = [...part('hour'), days, { $group: { _id: '$_id', ...sumCounts() } }];
    const rows = await read((signal) => db.collection<Row>('usage_hours').aggregate(pipeline, { signal }).toArray());
    return rows.map(({ _id: { at, group }, ...row }) => ({
      // There may be too many parts for the database to tell them apart.
      at: starts.findLast((start) => start <= Number(at)) ?? 0,
      group: String(group),
      ...readUsageTotals(row),
    }));
  }

  return {
    async sums(wallet, { from = 0, to = Number.MAX_SAFE_INTEGER, ...query }) {
      const spans =
        query.by === 'hour' ? { hours: [{ start: from, from, until: to }], days: [] } : listUsageSpans([from], to);
      return (await readSums(wallet, spans, query)).map(({ at: _, ...sum }) => sum);
    },
    slots: (wallet, { starts, to, ...query }) => readSums(wallet, listUsageSpans(starts, to), query),
  };
}

/** Ranges that meet are one: the parts of the time are told apart later. Without any, the match finds nothing. */
function buildSpanMatch(wallet: string, time: Time, spans: readonly UsageSpan[]): Document {
  const ranges: { from: number; until: number }[] = [];
  for (const { from, until } of spans) {
    const last = ranges.at(-1);
    if (last?.until === from) last.until = until;
    else ranges.push({ from, until });
  }
  if (ranges.length === 0) return { wallet, [time]: { $in: [] } };
  return { $or: ranges.map(({ from, until }) => ({ wallet, [time]: { $gte: from, $lt: until } })) };
}

function buildFilter({ key, keys, model, kind }: Omit<Query, 'by'>): Document {
  return {
    ...(key !== undefined && { key }),
    ...(keys !== undefined && { $and: [{ key: { $in: [...keys] } }] }),
    ...(model !== undefined && { model }),
    ...(kind !== undefined && { kind }),
  };
}

function sumCounts(): Document {
  return Object.fromEntries(COUNTS.map((name) => [name, { $sum: `$${name}` }]));
}

export function readUsageTotals(row: Document): UsageTotals {
  // Rows of earlier versions lack some.
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row[name] ?? 0)]));
  const money = {
    charged: sumToMicro(row.charged),
    refunded: sumToMicro(row.refunded),
    cost: sumToMicro(row.cost ?? 0),
  };
  return { ...counts, ...money } as unknown as UsageTotals;
}
