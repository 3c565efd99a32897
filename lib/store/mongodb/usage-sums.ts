// Sums of a wallet's usage in the MongoDB store, from days and the hours around them.
import type { Db, Document } from 'mongodb';
import { UNIT_COUNTS } from '../../money/usage-units.ts';
import type { UsageQuery, UsageSlotSum, UsageStore, UsageTotals } from '../ports/usage.ts';
import { isUsed, listUsageSpans, type UsageSpan, type UsageSpans } from '../usage-days.ts';
import { addUsageTotals } from '../usage-totals.ts';
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

type SpanName = keyof UsageSpans;

const PARTS: readonly (readonly [name: SpanName, time: Time])[] = [
  ['hours', 'hour'],
  ['days', 'day'],
  ['less', 'hour'],
];

export function usageSumStore(db: Db): Pick<UsageStore, 'sums' | 'slots'> {
  /** All are read in one command, each added up by itself: the sums of all together are few. */
  async function readSums(wallet: string, spans: UsageSpans, { by, ...filter }: Query) {
    const used = PARTS.filter(([name]) => name === 'hours' || spans[name].length > 0);
    const shifts = new Map(used.map(([name]) => [name, findShift(spans[name])]));
    // Otherwise the sums are told apart by where their span begins, and added up below.
    const isPlaced = used.every(([name]) => shifts.get(name) !== undefined);
    const part = ([name, time]: (typeof PARTS)[number]): Document[] => {
      const at = buildSpanStart(`$${time}`, spans[name], isPlaced ? shifts.get(name) : 0);
      const _id = { at, group: GROUPS[by](time), ...(!isPlaced && { part: name }) };
      return [
        { $match: { ...buildSpanMatch(wallet, time, spans[name]), ...buildFilter(filter) } },
        { $group: { _id, ...sumCounts(name === 'less' ? -1 : 1) } },
      ];
    };
    const [first, ...others] = used as [(typeof PARTS)[number], ...typeof PARTS];
    const unions = others.map((each) => ({ $unionWith: { coll: `usage_${each[1]}s`, pipeline: part(each) } }));
    const together = isPlaced ? [{ $group: { _id: '$_id', ...sumCounts(1) } }] : [];
    // What is taken away again has to be what was added.
    const options = spans.less.length > 0 ? { readConcern: { level: 'snapshot' } as const } : {};
    const pipeline = [...part(first), ...unions, ...together];
    const hours = db.collection<Row>('usage_hours');
    const rows = await read((signal) => hours.aggregate(pipeline, { signal, ...options }).toArray());
    const readPlace = createReadPlace(spans);
    return mergeRows(rows.map((row) => ({ ...readPlace(row._id), ...readUsageTotals(row) })));
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

/** How far behind the start of its part each span begins; undefined if the database cannot tell one from the other. */
function findShift(spans: readonly UsageSpan[]): number | undefined {
  const { start, from } = spans[0] ?? { start: 0, from: 0 };
  const isSame = spans.every((span) => span.from - span.start === from - start);
  return isSame && typeof buildSpanStart('', spans) !== 'string' ? from - start : undefined;
}

function buildSpanStart(field: string, spans: readonly UsageSpan[], shift = 0): Document | string {
  const starts = spans.map(({ from }) => from);
  const start = buildSlotStart(field, starts);
  return shift === 0 ? start : { $subtract: [start, shift] };
}

function createReadPlace(spans: UsageSpans) {
  const starts = new Set([...spans.hours, ...spans.days].map(({ start }) => start));
  const ordered = [...starts].sort((one, other) => one - other);
  return ({ at: place, group, part }: Document) => {
    const at = Number(place);
    // The last part may be longer than those that the database has told apart.
    const findStart = () => (starts.has(at) ? at : ordered.findLast((start) => start <= at));
    const start = part ? spans[part as SpanName].findLast(({ from }) => from <= at)?.start : findStart();
    return { at: start ?? 0, group: String(group) };
  };
}

function mergeRows(rows: readonly UsageSlotSum[]): readonly UsageSlotSum[] {
  const merged = new Map<string, UsageSlotSum>();
  for (const row of rows) {
    const name = `${row.at} ${row.group}`;
    const found = merged.get(name);
    merged.set(name, found ? { ...row, ...addUsageTotals(found, row) } : row);
  }
  return [...merged.values()].filter(({ at: _at, group: _group, ...totals }) => isUsed(totals));
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

function sumCounts(sign: 1 | -1): Document {
  const add = (name: string) => ({ $sum: sign === 1 ? `$${name}` : { $multiply: [`$${name}`, -1] } });
  return Object.fromEntries(COUNTS.map((name) => [name, add(name)]));
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
