// Migrations of MongoDB: usage counts failures, costs and attempts by route, and the sums of all wallets together. It has
// UTC days and weeks beside its hours, and counts the tokens of recordings. The sums of all have weeks too, and an index with
// what accounts are ranked by.
import { type Collection, type Db, type Document, MongoServerError } from 'mongodb';
import { WEEK_MS } from '../../base/durations.ts';
import { SERVICE_SUBJECTS } from '../ports/usage.ts';
import { findWeek, listServiceSums, NO_SERVICE } from '../service-sums.ts';
import { DAYS_OF_HOURS, type UsageFilling, WEEKS_OF_DAYS } from '../usage-grains.ts';
import { MAJORITY, send } from './call.ts';
import {
  allowOnly,
  type CollectionSchema,
  fields,
  integer,
  money,
  name,
  text,
  time,
  withOptional,
  withoutRequired,
} from './fields.ts';
import { type Row, sumToMicro } from './rows.ts';
import { buildServiceUpsert, ROUTE_FIELDS, sumServiceFields, TIME_FIELDS } from './service-upsert.ts';
import { readValidator } from './status-schema.ts';

const times = Object.fromEntries(TIME_FIELDS.map((field) => [field, integer]));
const OUTCOMES = { failed: integer, cost: money, unpriced: integer };

export const ROUTE_HOURS: CollectionSchema = {
  name: 'route_hours',
  validator: fields({
    _id: name,
    wallet: name,
    hour: time,
    upstream: text,
    model: name,
    ending: name,
    reason: text,
    attempts: integer,
    ...OUTCOMES,
    ...times,
  }),
  indexes: [
    { key: { wallet: 1, hour: 1 }, name: 'of_wallet' },
    { key: { hour: 1 }, name: 'by_time' },
  ],
};

export const SERVICE_SUMS: CollectionSchema = {
  name: 'service_sums',
  validator: fields({
    _id: name,
    subject: allowOnly(...SERVICE_SUBJECTS),
    grain: allowOnly('hour', 'day'),
    at: time,
    name,
    calls: integer,
    charged: money,
    refunded: money,
    attempts: integer,
    ...OUTCOMES,
    ...times,
  }),
  indexes: [{ key: { subject: 1, grain: 1, at: 1 }, name: 'by_time' }],
};

/** The kinds of entries by which money comes in or goes back: the partial index is used only with this condition. */
export const PAYMENTS = { kind: { $in: ['topup', 'pay', 'payback', 'dispute'] } };

/** Without fields that this version writes: another process may be further already. */
const ofEarlier = (field: string) => ({ [field]: { $exists: false } });

/** Wallets are folded again, except those whose calls have partly left for an archive: they keep their sums. */
export async function migrateUsage(db: Db, signal: AbortSignal): Promise<void> {
  const byTime = { key: { hour: 1 }, name: 'by_time' };
  await send(db, { createIndexes: 'usage_hours', indexes: [byTime], ...MAJORITY }, { signal });
  const payments = { key: { at: 1 }, name: 'of_payments', partialFilterExpression: PAYMENTS };
  await send(db, { createIndexes: 'entries', indexes: [payments], ...MAJORITY }, { signal });
  for (const [collection, added] of [
    ['usage_hours', OUTCOMES],
    ['usage_cursors', { jobs: text, partial: { bsonType: 'bool' } }],
  ] as const) {
    const validator = withOptional(added, await readValidator(db, collection, signal));
    await send(db, { collMod: collection, validator, ...MAJORITY }, { signal });
  }
  const openings = await db
    .collection<{ _id: string }>('openings')
    .find({}, { signal, projection: { _id: 1 } })
    .toArray();
  const kept = openings.map(({ _id }) => _id);
  const others = { $nin: kept };
  const remove = (collection: string, q: Document) =>
    send(db, { delete: collection, deletes: [{ q, limit: 0 }], ...MAJORITY }, { signal });
  await remove('usage_cursors', { _id: others, ...ofEarlier('jobs') });
  await remove('usage_hours', { wallet: others, ...ofEarlier('failed') });
  for (const wallet of kept) await keepSums(db, wallet, signal);
}

/** Adds the sums of a wallet to those of all, once: other processes may do the same. */
async function keepSums(db: Db, wallet: string, signal: AbortSignal): Promise<void> {
  const session = db.client.startSession();
  try {
    await session.withTransaction(async () => {
      const sending = { session, signal };
      const isOld = { _id: wallet, ...ofEarlier('jobs') };
      const change = { $set: { jobs: '[]', partial: true } };
      const { modifiedCount } = await db.collection<Row>('usage_cursors').updateOne(isOld, change, { session });
      if (modifiedCount === 0) return;
      const counts = Object.fromEntries(
        ['calls', 'charged', 'refunded'].map((field) => [field, { $sum: `$${field}` }]),
      );
      const $group = { _id: { hour: '$hour', model: '$model' }, ...counts };
      const rows = await db
        .collection('usage_hours')
        .aggregate([{ $match: { wallet } }, { $group }], sending)
        .toArray();
      const hours = rows.map(({ _id: { hour, model }, calls, charged, refunded }) => {
        const money = { charged: sumToMicro(charged), refunded: sumToMicro(refunded) };
        return { ...NO_SERVICE, wallet, hour: Number(hour), model, calls: Number(calls), ...money };
      });
      // Weeks came later, and are made from the days.
      const sums = listServiceSums({ hours, routes: [] }).filter(({ grain }) => grain !== 'week');
      const updates = sums.map((sum) => buildServiceUpsert(sum, { isWhole: true }));
      if (updates.length > 0) await send(db, { update: 'service_sums', updates }, sending);
    });
  } finally {
    await session.endSession();
  }
}

/** What hours and days counted when days began, and weeks too; the amounts are kept apart. */
const COUNTED = [
  ...['calls', 'failed', 'unpriced', 'tokensInput', 'tokensCacheRead', 'tokensCacheWrite', 'tokensCacheWrite1h'],
  ...['tokensOutput', 'tokensReasoning', 'images', 'seconds'],
];
const AMOUNTS = ['charged', 'refunded', 'cost'];

const describeCollection = (grain: 'day' | 'week'): CollectionSchema => ({
  name: `usage_${grain}s`,
  validator: fields({
    _id: name,
    wallet: name,
    [grain]: time,
    key: name,
    model: name,
    kind: name,
    ...Object.fromEntries(COUNTED.map((field) => [field, integer])),
    ...Object.fromEntries(AMOUNTS.map((field) => [field, money])),
  }),
  indexes: [{ key: { wallet: 1, [grain]: 1 }, name: 'of_wallet' }],
});

export const USAGE_DAYS = describeCollection('day');
export const USAGE_WEEKS = describeCollection('week');

/** Rows of one part of a migration, and the rest of those of the last day or week. */
const ROWS_PER_PART = 10_000;

export function fillUsageDays(db: Db, signal: AbortSignal): Promise<boolean> {
  return fillUsage(db, DAYS_OF_HOURS, signal);
}

export function fillUsageWeeks(db: Db, signal: AbortSignal): Promise<boolean> {
  return fillUsage(db, WEEKS_OF_DAYS, signal);
}

/** The first row of a part: its time is under the name of its grain. */
type Place = Readonly<Record<string, unknown>> & { readonly wallet: string };

/**
 * Makes the sums of a grain from the next rows of the finer one, in the order of wallets; resolves to whether there are more.
 * Nobody adds to rows before a process has finished the migration, and a slower one that runs beside it keeps what is there.
 */
async function fillUsage(db: Db, filling: UsageFilling, signal: AbortSignal): Promise<boolean> {
  const { from: finer, to: grain, ms } = filling;
  const rows = db.collection<Row>(`usage_${finer}s`);
  // Where the next part begins.
  const q = { _id: `usage_${grain}s` };
  const place = await db.collection<Place & { _id: string }>('schema').findOne(q, { signal });
  const { wallet, [finer]: at } = place ?? { wallet: '', [finer]: 0 };
  const from = { $or: [{ wallet, [finer]: { $gte: at } }, { wallet: { $gt: wallet } }] };
  const next = await rows.findOne(from, { sort: { wallet: 1, [finer]: 1 }, skip: ROWS_PER_PART, signal });
  const end = Number(next?.[finer]);
  const until: Place | undefined = next ? { wallet: next.wallet, [finer]: end - (end % ms) + ms } : undefined;
  await mergeUsage(rows, { $and: [from, until ? buildBefore(until, finer) : {}] }, filling, signal);
  const change = until
    ? { update: 'schema', updates: [{ q, u: { $set: until }, upsert: true }] }
    : { delete: 'schema', deletes: [{ q, limit: 1 }] };
  await send(db, { ...change, ...MAJORITY }, { signal });
  return until !== undefined;
}

function buildBefore({ wallet, ...place }: Place, finer: string): Document {
  return { $or: [{ wallet: { $lt: wallet } }, { wallet, [finer]: { $lt: place[finer] } }] };
}

async function mergeUsage(
  rows: Collection<Row>,
  matched: Document,
  { from: finer, to: grain, ms }: UsageFilling,
  signal: AbortSignal,
): Promise<void> {
  const sums = Object.fromEntries([...COUNTED, ...AMOUNTS].map((field) => [field, { $sum: `$${field}` }]));
  const labels = ['wallet', grain, 'key', 'model', 'kind'];
  const at = { $subtract: [`$${finer}`, { $mod: [`$${finer}`, ms] }] };
  const id = ['wallet', grain, 'key', 'kind', 'model'].flatMap((label, place) => [
    ...(place > 0 ? [' '] : []),
    label === grain ? { $toString: { $toLong: `$_id.${grain}` } } : `$_id.${label}`,
  ]);
  const pipeline = [
    { $match: matched },
    { $group: { _id: { wallet: '$wallet', [grain]: at, key: '$key', model: '$model', kind: '$kind' }, ...sums } },
    {
      $set: {
        _id: { $concat: id },
        ...Object.fromEntries(labels.map((label) => [label, `$_id.${label}`])),
        // A sum of hours without the field is an int.
        ...Object.fromEntries(AMOUNTS.map((field) => [field, { $toLong: `$${field}` }])),
      },
    },
    { $merge: { into: `usage_${grain}s`, whenMatched: 'keepExisting', whenNotMatched: 'insert' } },
  ];
  await rows.aggregate(pipeline, { signal, writeConcern: { w: 'majority' } }).toArray();
}

/** Lets usage count audio apart; earlier rows have none. */
export async function addUsageOfAudio(db: Db, signal: AbortSignal): Promise<void> {
  for (const collMod of ['usage_hours', 'usage_days', 'usage_weeks']) {
    const validator = withOptional({ tokensAudio: integer }, await readValidator(db, collMod, signal));
    await send(db, { collMod, validator, ...MAJORITY }, { signal });
  }
}

/** Lets the sums of all wallets be by the week too, and without what only routes have. */
export async function allowServiceWeeks(db: Db, signal: AbortSignal): Promise<void> {
  const grain = allowOnly('hour', 'day', 'week');
  const before = await readValidator(db, 'service_sums', signal);
  const validator = withOptional({ grain }, withoutRequired(ROUTE_FIELDS, before));
  await send(db, { collMod: 'service_sums', validator, ...MAJORITY }, { signal });
}

/** Where the next week begins: what is there does not tell, since a killed start leaves a part of a week. */
const WEEK_PLACE = { _id: 'service_weeks' };

/** Makes the next week from its days, and resolves to whether there was one; as `fillUsage`. */
export async function fillServiceWeeks(db: Db, signal: AbortSignal): Promise<boolean> {
  const place = await db.collection<{ _id: string; at: number }>('schema').findOne(WEEK_PLACE, { signal });
  const day = await findFirstDay(db, Number(place?.at ?? 0), signal);
  if (day !== undefined) await mergeWeek(db, findWeek(day), signal);
  const change =
    day === undefined
      ? { delete: 'schema', deletes: [{ q: WEEK_PLACE, limit: 1 }] }
      : { update: 'schema', updates: [{ q: WEEK_PLACE, u: { $set: { at: findWeek(day) + WEEK_MS } }, upsert: true }] };
  await send(db, { ...change, ...MAJORITY }, { signal });
  return day !== undefined;
}

async function findFirstDay(db: Db, from: number, signal: AbortSignal): Promise<number | undefined> {
  const days: number[] = [];
  for (const subject of SERVICE_SUBJECTS) {
    const filter = { subject, grain: 'day', at: { $gte: from } };
    const row = await db.collection<Row>('service_sums').findOne(filter, { sort: { at: 1 }, signal });
    if (row) days.push(Number(row.at));
  }
  return days.length === 0 ? undefined : Math.min(...days);
}

async function mergeWeek(db: Db, at: number, signal: AbortSignal): Promise<void> {
  const days = { $gte: at, $lt: at + WEEK_MS };
  for (const subject of SERVICE_SUBJECTS) {
    const pipeline = [
      { $match: { subject, grain: 'day', at: days } },
      { $group: { _id: '$name', ...sumServiceFields(subject) } },
      { $set: { subject, grain: 'week', at, name: '$_id', _id: { $concat: [`week ${subject} ${at} `, '$_id'] } } },
      { $merge: { into: 'service_sums', whenMatched: 'keepExisting', whenNotMatched: 'insert' } },
    ];
    const writing = { signal, writeConcern: { w: 'majority' } as const };
    await db.collection('service_sums').aggregate(pipeline, writing).toArray();
  }
}

const INDEX_NOT_FOUND = 27;

/** An index with what ranks accounts: a month of all of them was thousands of documents, each fetched by itself. */
export async function coverServiceSums(db: Db, signal: AbortSignal): Promise<void> {
  const index = { key: { subject: 1, grain: 1, at: 1, name: 1, charged: 1, calls: 1 }, name: 'by_charge' };
  await send(db, { createIndexes: 'service_sums', indexes: [index], ...MAJORITY }, { signal });
  // The new one begins with the same fields.
  await send(db, { dropIndexes: 'service_sums', index: 'by_time', ...MAJORITY }, { signal }).catch((error: unknown) => {
    if (!(error instanceof MongoServerError && error.code === INDEX_NOT_FOUND)) throw error;
  });
}
