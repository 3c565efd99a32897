// Folded usage in the MongoDB store.
import type { Document } from 'mongodb';
import { UNIT_COUNTS } from '../../money/usage-units.ts';
import type {
  FoldedUsage,
  UsageGroupSum,
  UsageHour,
  UsageQuery,
  UsageStep,
  UsageStore,
  UsageTotals,
} from '../ports/usage.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { SCAN_MS } from './ledger.ts';
import { type Row, sumToMicro, toLong } from './rows.ts';
import { readSnapshot } from './snapshot.ts';
import type { Step, Transactions } from './transaction.ts';

/** Rows per write of a copy. */
const HOURS_PER_WRITE = 500;
const COUNTS = ['calls', 'charged', 'refunded', ...UNIT_COUNTS] as const;

export function usageStore({ db, scanner }: Connection, transactions: Transactions): UsageStore {
  const cursors = db.collection<Row>('usage_cursors');
  const hours = db.collection<Row>('usage_hours');
  const wallets = db.collection<Row>('wallets');
  const write = (command: Document): Promise<Document> =>
    call({ repeatable: true }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));
  return {
    async cursor(wallet) {
      const row = await read((signal) => cursors.findOne({ _id: wallet }, { signal }));
      return Number(row?.seq ?? 0);
    },
    // A retry after a lost answer finds the cursor moved, so the caller reads again.
    add: (step) => transactions.run({ steps: (send) => addUsageStep(send, step) }),
    async sums(wallet, query) {
      const $group = {
        _id: GROUPS[query.by],
        ...Object.fromEntries(COUNTS.map((name) => [name, { $sum: `$${name}` }])),
      };
      const pipeline = [{ $match: buildUsageMatch(wallet, query) }, { $group }];
      return (await read((signal) => hours.aggregate(pipeline, { signal }).toArray())).map(readUsageSumDocument);
    },
    async findBehind(after, limit) {
      const page = { projection: { seq: 1 }, sort: { _id: 1 }, limit } as const;
      const rows = await read((signal) => wallets.find({ _id: { $gt: after } }, { ...page, signal }).toArray());
      const ids = { _id: { $in: rows.map(({ _id }) => _id) } };
      const known = await read((signal) => cursors.find(ids, { signal }).toArray());
      const counted = new Map(known.map(({ _id, seq }) => [_id, Number(seq)]));
      const found = rows.filter(({ _id, seq }) => Number(seq) > (counted.get(_id) ?? 0)).map(({ _id }) => _id);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return last ? { found, next: last._id } : { found };
    },
    readAll: (wallet) =>
      readSnapshot({ db, scanner }, SCAN_MS, async ({ db: snapshotDb, ...sending }) => {
        const cursor = await snapshotDb.collection<Row>('usage_cursors').findOne({ _id: wallet }, sending);
        const rows = await snapshotDb.collection<Row>('usage_hours').find({ wallet }, sending).toArray();
        return { cursor: Number(cursor?.seq ?? 0), hours: rows.map(readUsageHourDocument) } satisfies FoldedUsage;
      }),
    async put(wallet, { cursor, hours }) {
      await forgetUsage(write, wallet);
      const steps = Math.max(1, Math.ceil(hours.length / HOURS_PER_WRITE));
      for (let step = 0; step < steps; step += 1) {
        const updates = hours.slice(step * HOURS_PER_WRITE, (step + 1) * HOURS_PER_WRITE).map((hour) => {
          const { q, u } = buildUsageUpsert(wallet, hour);
          return { q, u: { $set: { ...u.$setOnInsert, ...u.$inc } }, upsert: true };
        });
        if (updates.length > 0) await write({ update: 'usage_hours', updates });
      }
      // The cursor is written last: an interrupted copy folds from the beginning.
      if (cursor > 0)
        await write({ update: 'usage_cursors', updates: [{ q: { _id: wallet }, u: { seq: cursor }, upsert: true }] });
    },
    forget: (wallet) => forgetUsage(write, wallet),
  };
}

async function forgetUsage(write: (command: Document) => Promise<Document>, wallet: string): Promise<void> {
  await write({ delete: 'usage_cursors', deletes: [{ q: { _id: wallet }, limit: 0 }] });
  await write({ delete: 'usage_hours', deletes: [{ q: { wallet }, limit: 0 }] });
}

async function addUsageStep(step: Step, { wallet, from, to, hours }: UsageStep): Promise<boolean> {
  const { cursor } = await step({ find: 'usage_cursors', filter: { _id: wallet }, limit: 1 });
  const [found] = cursor.firstBatch as Document[];
  if (Number(found?.seq ?? 0) !== from) return false;
  const move = { q: { _id: wallet }, u: { $set: { seq: to } }, upsert: true };
  await step({ update: 'usage_cursors', updates: [move] });
  if (hours.length > 0)
    await step({ update: 'usage_hours', updates: hours.map((hour) => buildUsageUpsert(wallet, hour)) });
  return true;
}

function buildUsageUpsert(
  wallet: string,
  { hour, key, model, kind, charged, refunded, ...counts }: UsageHour,
): Document {
  const $inc = { ...counts, charged: toLong(charged), refunded: toLong(refunded) };
  return {
    q: { _id: `${wallet} ${hour} ${key} ${kind} ${model}` },
    u: { $setOnInsert: { wallet, hour, key, model, kind }, $inc },
    upsert: true,
  };
}

const GROUPS: Readonly<Record<UsageQuery['by'], Document | string>> = {
  hour: { $toString: { $toLong: '$hour' } },
  day: { $dateToString: { format: '%Y-%m-%d', date: { $toDate: { $toLong: '$hour' } } } },
  model: '$model',
  key: '$key',
  kind: '$kind',
};

function buildUsageMatch(wallet: string, { from, to, key, keys, model, kind }: UsageQuery): Document {
  const hour = { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lt: to }) };
  return {
    wallet,
    ...(Object.keys(hour).length > 0 && { hour }),
    ...(key !== undefined && { key }),
    ...(keys !== undefined && { $and: [{ key: { $in: [...keys] } }] }),
    ...(model !== undefined && { model }),
    ...(kind !== undefined && { kind }),
  };
}

function readUsageSumDocument({ _id: group, ...row }: Document): UsageGroupSum {
  return { group, ...readUsageTotals(row) };
}

function readUsageHourDocument({ hour, key, model, kind, ...row }: Document): UsageHour {
  return { hour: Number(hour), key, model, kind, ...readUsageTotals(row) };
}

function readUsageTotals(row: Document): UsageTotals {
  // Rows of earlier versions lack some.
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row[name] ?? 0)]));
  return { ...counts, charged: sumToMicro(row.charged), refunded: sumToMicro(row.refunded) } as unknown as UsageTotals;
}
