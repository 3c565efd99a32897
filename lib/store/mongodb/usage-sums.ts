// Sums of a wallet's usage in the MongoDB store, from days and the hours around them.
import type { Db, Document } from 'mongodb';
import { UNIT_COUNTS } from '../../money/usage-units.ts';
import type { UsageQuery, UsageSlotSum, UsageStore, UsageTotals } from '../ports/usage.ts';
import { isUsed, listUsageSpans, type UsageSpan, type UsageSpans } from '../usage-days.ts';
import { addUsageTotals, NO_USAGE, negateUsage } from '../usage-totals.ts';
import { read } from './call.ts';
import { type Row, sumToMicro } from './rows.ts';
import { buildSlotStart } from './slots.ts';

const COUNTS = ['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced', ...UNIT_COUNTS] as const;

const SUMS = Object.fromEntries(COUNTS.map((name) => [name, { $sum: `$${name}` }]));

type Time = 'hour' | 'day';

const GROUPS: Readonly<Record<UsageQuery['by'], (time: Time) => Document | string>> = {
  hour: (time) => ({ $toString: { $toLong: `$${time}` } }),
  day: (time) => ({ $dateToString: { format: '%Y-%m-%d', date: { $toDate: { $toLong: `$${time}` } } } }),
  model: () => '$model',
  key: () => '$key',
  kind: () => '$kind',
};

type Query = Omit<UsageQuery, 'from' | 'to'>;

/** An interval of hours or days, and the parts of the time that it is added to or taken away from. */
interface Interval {
  readonly from: number;
  readonly until: number;
  readonly places: readonly { readonly start: number; readonly sign: 1 | -1 }[];
}

export function usageSumStore(db: Db): Pick<UsageStore, 'sums' | 'slots'> {
  /** Hours and days are read in one command; the sums of all intervals are few, and are placed here. */
  async function readSums(wallet: string, spans: UsageSpans, { by, ...filter }: Query) {
    const intervals: Readonly<Record<Time, readonly Interval[]>> = {
      hour: listIntervals(spans.hours, spans.less),
      day: listIntervals(spans.days),
    };
    const part = (time: Time): Document[] => {
      const at = buildSlotStart(
        `$${time}`,
        intervals[time].map(({ from }) => from),
      );
      return [
        { $match: { ...buildMatch(wallet, time, intervals[time]), ...buildFilter(filter) } },
        { $group: { _id: { time: { $literal: time }, at, group: GROUPS[by](time) }, ...SUMS } },
      ];
    };
    const days = intervals.day.length > 0 ? [{ $unionWith: { coll: 'usage_days', pipeline: part('day') } }] : [];
    // What is taken away again has to be what was added.
    const options = spans.less.length > 0 ? { readConcern: { level: 'snapshot' } as const } : {};
    const hours = db.collection<Row>('usage_hours');
    const rows = await read((signal) => hours.aggregate([...part('hour'), ...days], { signal, ...options }).toArray());
    return placeSums(rows, intervals);
  }

  return {
    async sums(wallet, { from = 0, to = Number.MAX_SAFE_INTEGER, ...query }) {
      const spans =
        query.by === 'hour'
          ? { hours: [{ start: from, from, until: to }], days: [], less: [] }
          : listUsageSpans([from], to);
      return (await readSums(wallet, spans, query)).map(({ at: _, ...sum }) => sum);
    },
    slots: (wallet, { starts, to, ...query }) => readSums(wallet, listUsageSpans(starts, to), query),
  };
}

/** Cut where any span begins or ends, so that what one part gets from another is read once. */
function listIntervals(added: readonly UsageSpan[], taken: readonly UsageSpan[] = []): readonly Interval[] {
  const spans = [
    ...added.map((span) => ({ ...span, sign: 1 as const })),
    ...taken.map((span) => ({ ...span, sign: -1 as const })),
  ];
  const cuts = [...new Set(spans.flatMap(({ from, until }) => [from, until]))].sort((one, other) => one - other);
  return cuts.slice(1).flatMap((until, at) => {
    const from = cuts[at] as number;
    const places = spans.filter((span) => span.from <= from && until <= span.until);
    return places.length === 0 ? [] : [{ from, until, places }];
  });
}

function placeSums(rows: readonly Document[], intervals: Readonly<Record<Time, readonly Interval[]>>) {
  const sums = new Map<string, UsageSlotSum>();
  for (const { _id, ...row } of rows) {
    const at = Number(_id.at);
    const totals = readUsageTotals(row);
    // An hour of the interval, if its start is too long to compute for the database.
    const { places = [] } = intervals[_id.time as Time].findLast(({ from }) => from <= at) ?? {};
    for (const { start, sign } of places) {
      const key = `${start} ${_id.group}`;
      const before = sums.get(key) ?? NO_USAGE;
      const after = addUsageTotals(before, sign === 1 ? totals : negateUsage(totals));
      sums.set(key, { at: start, group: String(_id.group), ...after });
    }
  }
  return [...sums.values()].filter(({ at: _at, group: _group, ...totals }) => isUsed(totals));
}

/** Intervals that meet are one range. Without any, the match finds nothing. */
function buildMatch(wallet: string, time: Time, intervals: readonly Interval[]): Document {
  const ranges: { from: number; until: number }[] = [];
  for (const { from, until } of intervals) {
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
