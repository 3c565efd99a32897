// The sums of all wallets together in the MongoDB store.
import type { Document } from 'mongodb';
import { DAY_MS, WEEK_MS } from '../../base/durations.ts';
import { NO_TIMES } from '../../base/time-buckets.ts';
import {
  type RouteHour,
  SERVICE_SUBJECTS,
  type ServiceDay,
  type ServiceQuery,
  type ServiceRow,
  type ServiceSum,
  type ServiceTotals,
  type ServiceWeek,
  type UsageStore,
} from '../ports/usage.ts';
import {
  addServiceTotals,
  findDay,
  findWeek,
  listServiceCounts,
  listServiceKeys,
  listServiceSpans,
  NO_SERVICE,
  SERVICE_COUNTS,
  type ServiceSpan,
} from '../service-sums.ts';
import { GRAIN_MS } from '../time-spans.ts';
import { read, SCAN_MS } from './call.ts';
import type { Connection } from './connection.ts';
import { BATCH, listIntervals, matchRanges, placeSums, readConsistently } from './intervals.ts';
import { type Row, sumToMicro } from './rows.ts';
import { sumFields, sumServiceFields, TIME_FIELDS } from './service-upsert.ts';
import { buildSlotStart } from './slots.ts';
import { readSnapshot, type SnapshotReading } from './snapshot.ts';

type ServiceStore = Pick<UsageStore, 'serviceSums' | 'serviceDay' | 'serviceWeek'>;

export function serviceStore({ db, scanner }: Connection): ServiceStore {
  const sums = db.collection<Row>('service_sums');
  return {
    async serviceSums(query) {
      const spans = listServiceSpans(query);
      const options = { ...readConsistently(spans), batchSize: BATCH };
      const readAll = (pipeline: Document[]) =>
        read((signal) => sums.aggregate(pipeline, { ...options, signal }).toArray(), SCAN_MS);
      if (query.by === 'name') return (await readAll(buildNamePipeline(spans, query))).map(readNamedSum);
      const intervals = listIntervals(spans);
      const rows = (await readAll(buildTimePipeline(intervals, query))).map(readIntervalSum);
      const placed = query.starts ? placeSums(rows, intervals, addSigned).filter(isUsed) : rows.map(readHour);
      return placed.toSorted((one, other) => one.at - other.at);
    },
    serviceDay: (from) =>
      readSnapshot({ db, scanner }, SCAN_MS, async (reading) => {
        const hours = [
          ...(await findFirst(reading, 'usage_hours', { hour: { $gte: from } })),
          ...(await findFirst(reading, 'route_hours', { hour: { $gte: from } })),
          ...(await findFirstSums(reading, ['hour', 'day'], from)),
        ];
        return hours.length === 0 ? undefined : readServiceDay(reading, findDay(Math.min(...hours)));
      }),
    serviceWeek: (from) =>
      readSnapshot({ db, scanner }, SCAN_MS, async (reading) => {
        const times = await findFirstSums(reading, ['day', 'week'], from);
        return times.length === 0 ? undefined : readServiceWeek(reading, findWeek(Math.min(...times)));
      }),
  };
}

type Grain = ServiceSum['grain'];

/** The first time of sums of each subject by some grains. */
async function findFirstSums(reading: SnapshotReading, grains: readonly Grain[], from: number): Promise<number[]> {
  const found: number[] = [];
  for (const subject of SERVICE_SUBJECTS) {
    for (const grain of grains) {
      found.push(...(await findFirst(reading, 'service_sums', { subject, grain, at: { $gte: from } })));
    }
  }
  return found;
}

/** The lowest value of the last field of a filter; empty if nothing matches. */
async function findFirst({ db, ...sending }: SnapshotReading, name: string, filter: Document): Promise<number[]> {
  const field = Object.keys(filter).at(-1) as string;
  const found = db.collection<Row>(name).find(filter, sending);
  const [row] = await found
    .sort({ [field]: 1 })
    .limit(1)
    .toArray();
  return row ? [Number(row[field])] : [];
}

async function readServiceDay({ db, ...sending }: SnapshotReading, day: number): Promise<ServiceDay> {
  const span = { $gte: day, $lt: day + DAY_MS };
  const filter: Document = { subject: { $in: [...SERVICE_SUBJECTS] }, grain: { $in: ['hour', 'day'] }, at: span };
  const stored = await db.collection('service_sums').find(filter, sending).toArray();
  const hours = await db.collection('usage_hours').aggregate(buildHoursPipeline(span), sending).toArray();
  const routes = await db.collection('route_hours').aggregate(buildRoutesPipeline(span), sending).toArray();
  return {
    day,
    stored: stored.map(readServiceSum),
    hours: hours.map((row) => ({ ...readLabels(row), ...readServiceTotals(row) })),
    routes: routes.map((row) => readRouteDocument({ ...row, ...row._id })),
  };
}

async function readServiceWeek({ db, ...sending }: SnapshotReading, week: number): Promise<ServiceWeek> {
  const at = { $gte: week, $lt: week + WEEK_MS };
  const filter: Document = { subject: { $in: [...SERVICE_SUBJECTS] }, grain: { $in: ['day', 'week'] }, at };
  const sums = await db.collection('service_sums').find(filter, sending).toArray();
  return { week, sums: sums.map(readServiceSum) };
}

function readLabels({ _id: { wallet, hour, model } }: Document) {
  return { wallet, hour: Number(hour), model };
}

function buildHoursPipeline(hour: Document): Document[] {
  const _id = { wallet: '$wallet', hour: '$hour', model: '$model' };
  const counts = SERVICE_COUNTS.filter((name) => name !== 'attempts');
  return [{ $match: { hour } }, { $group: { _id, ...sumFields(counts) } }];
}

function buildRoutesPipeline(hour: Document): Document[] {
  const _id = { hour: '$hour', upstream: '$upstream', model: '$model', ending: '$ending', reason: '$reason' };
  const counts = ['attempts', 'failed', 'cost', 'unpriced', ...TIME_FIELDS];
  return [{ $match: { hour } }, { $group: { _id, ...sumFields(counts) } }];
}

/** Sums over all of the time. Those of many accounts are added up by the database, which takes away what does not belong. */
function buildNamePipeline(spans: readonly ServiceSpan[], { subject, names, counts }: ServiceQuery): Document[] {
  const sums = sumServiceFields(subject, counts);
  // Each span by itself, and only what is added up of it: an index that has all of it answers without the documents, and
  // without looking for those that several ranges have in common.
  const parts = spans.map((span) => {
    const amounts = Object.keys(sums).map((field) => [field, span.sign === 1 ? 1 : { $multiply: [`$${field}`, -1] }]);
    return [matchSpan(span, { subject, names }), { $project: { _id: 0, name: 1, ...Object.fromEntries(amounts) } }];
  });
  const used = listServiceCounts(subject, counts).map((count) => ({ [count]: { $ne: 0 } }));
  return [
    ...uniteParts(parts),
    { $group: { _id: '$name', ...sums } },
    { $match: { $or: used } },
    { $sort: { charged: -1, failed: -1, attempts: -1, _id: 1 } },
  ];
}

/** An index has the times of sums, not their names: those of few names are found by their keys. */
function matchSpan(span: ServiceSpan, { subject, names }: Pick<ServiceQuery, 'subject' | 'names'>): Document {
  const { grain, from, until } = span;
  if (names) return { $match: { _id: { $in: listServiceKeys(span, subject, names) } } };
  return { $match: { subject, grain, at: { $gte: from, $lt: until } } };
}

function uniteParts([first = [{ $match: { _id: { $in: [] } } }], ...others]: readonly Document[][]): Document[] {
  return [...first, ...others.map((pipeline) => ({ $unionWith: { coll: 'service_sums', pipeline } }))];
}

/** The sums of each interval, or of each hour if the query asks for no parts. */
function buildTimePipeline(intervals: ReturnType<typeof listIntervals<Grain>>, query: ServiceQuery): Document[] {
  const { subject, by, names, starts, counts } = query;
  const parts = [...intervals].map(([grain, ranges]) => {
    const at = starts ? buildSlotStart('$at', ranges) : '$at';
    return [
      {
        $match: {
          subject,
          grain,
          at: matchRanges(ranges, GRAIN_MS[grain]),
          ...(names && { name: { $in: [...names] } }),
        },
      },
      { $set: { at, name: by === 'at' ? '' : '$name' } },
      { $group: { _id: { at: '$at', name: '$name' }, ...sumServiceFields(subject, counts) } },
      { $set: { grain } },
    ];
  });
  return uniteParts(parts);
}

function readNamedSum({ _id: name, ...row }: Document): ServiceRow {
  return { at: 0, name, ...readServiceTotals(row) };
}

function readIntervalSum({ _id: { at, name }, grain, ...row }: Document) {
  return { grain: grain as Grain, at: Number(at), name: `${name}`, totals: readServiceTotals(row) };
}

const readHour = ({ at, name, totals }: ReturnType<typeof readIntervalSum>): ServiceRow => ({ at, name, ...totals });

function addSigned(one: ServiceTotals | undefined, other: ServiceTotals, sign: 1 | -1): ServiceTotals {
  return one || sign < 0 ? addServiceTotals(one ?? NO_SERVICE, other, sign) : other;
}

const isUsed = (totals: ServiceTotals) => SERVICE_COUNTS.some((count) => totals[count] !== 0 && totals[count] !== 0n);

function readServiceSum({ subject, grain, at, name, ...row }: Document): ServiceSum {
  return { subject, grain, at: Number(at), name, ...readServiceTotals(row) };
}

/** Without what is not kept of its subject, or was not asked for. */
function readServiceTotals(row: Document): ServiceTotals {
  return {
    calls: Number(row.calls ?? 0),
    failed: Number(row.failed ?? 0),
    charged: sumToMicro(row.charged ?? 0),
    refunded: sumToMicro(row.refunded ?? 0),
    cost: sumToMicro(row.cost ?? 0),
    unpriced: Number(row.unpriced ?? 0),
    attempts: Number(row.attempts ?? 0),
    first: readTimes(row),
  };
}

export function readRouteDocument(row: Document): RouteHour {
  const { upstream, model, ending, reason, attempts, failed, unpriced } = row;
  const counts = { attempts: Number(attempts), failed: Number(failed), unpriced: Number(unpriced) };
  const route = { hour: Number(row.hour), upstream, model, ending, reason };
  return { ...route, ...counts, cost: sumToMicro(row.cost), first: readTimes(row) };
}

function readTimes(row: Document): readonly number[] {
  if (row.first0 === undefined) return NO_TIMES;
  return TIME_FIELDS.map((field) => Number(row[field] ?? 0));
}
