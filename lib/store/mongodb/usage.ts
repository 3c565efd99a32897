// Folded usage in the MongoDB store.
import type { Document } from 'mongodb';
import type { FoldedUsage, RouteHour, UsageGrain, UsageOf, UsageStep, UsageStore } from '../ports/usage.ts';
import { formatOpenJobs, formatRouteName, listServiceSums, parseOpenJobs, toWalletHour } from '../service-sums.ts';
import { sumUsage, USAGE_GRAINS } from '../usage-grains.ts';
import { call, MAJORITY, read, SCAN_MS, send } from './call.ts';
import type { Connection } from './connection.ts';
import { type Row, toLong } from './rows.ts';
import { readRouteDocument, serviceStore } from './service-sums.ts';
import { buildServiceUpsert, toTimeFields } from './service-upsert.ts';
import { readSnapshot } from './snapshot.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';
import { readUsageTotals, usageSumStore } from './usage-sums.ts';

/** Rows per transaction of a copy. */
const ROWS_PER_STEP = 250;
/** As many as fit into a first reply. */
const ROWS_PER_DROP = 100;

export function usageStore(connection: Connection, transactions: Transactions): UsageStore {
  const { db, scanner } = connection;
  const cursors = db.collection<Row>('usage_cursors');
  const wallets = db.collection<Row>('wallets');
  return {
    progress: async (wallet) =>
      readCursorDocument(await read((signal) => cursors.findOne({ _id: wallet }, { signal }))),
    // A retry after a lost answer finds the cursor moved, so the caller reads again.
    add: (step) => transactions.run({ steps: (send) => addUsageStep(send, step) }),
    ...usageSumStore(db),
    async findBehind(after, limit) {
      const page = { projection: { seq: 1 }, sort: { _id: 1 }, limit } as const;
      const rows = await read((signal) => wallets.find({ _id: { $gt: after } }, { ...page, signal }).toArray());
      const ids = { _id: { $in: rows.map(({ _id }) => _id) } };
      const known = await read((signal) => cursors.find(ids, { signal }).toArray());
      const counted = new Map(known.map((row) => [row._id, readCursorDocument(row)]));
      const isBehind = ({ _id, seq }: Row) => {
        const { cursor, jobs } = counted.get(_id) ?? readCursorDocument(null);
        return Number(seq) > cursor || jobs.length > 0;
      };
      const found = rows.filter(isBehind).map(({ _id }) => _id);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return last ? { found, next: last._id } : { found };
    },
    readAll: (wallet) =>
      readSnapshot({ db, scanner }, SCAN_MS, async ({ db: snapshot, ...sending }) => {
        const findRows = (name: string) => snapshot.collection<Row>(name).find({ wallet }, sending).toArray();
        const cursor = await snapshot.collection<Row>('usage_cursors').findOne({ _id: wallet }, sending);
        const readUsage = async <Grain extends UsageGrain>(grain: Grain) =>
          (await findRows(`usage_${grain}s`)).map((row) => readUsageDocument(row, grain));
        const hours = await readUsage('hour');
        const days = await readUsage('day');
        const weeks = await readUsage('week');
        const routes = (await findRows('route_hours')).map(readRouteDocument);
        return { ...readCursorDocument(cursor), hours, days, weeks, routes };
      }),
    async put(wallet, { cursor, hours, routes, jobs, isPartial }) {
      await forgetUsage(transactions, wallet);
      for (let from = 0; from < Math.max(hours.length, routes.length); from += ROWS_PER_STEP) {
        const part = {
          hours: hours.slice(from, from + ROWS_PER_STEP),
          routes: routes.slice(from, from + ROWS_PER_STEP),
        };
        await transactions.run({ steps: (send) => addUsageRows(send, wallet, part) });
      }
      if (cursor === 0) return;
      // The cursor is written last: an interrupted copy folds from the beginning.
      const u = { seq: cursor, jobs: formatOpenJobs(jobs), ...(isPartial && { partial: true }) };
      const updates = [{ q: { _id: wallet }, u, upsert: true }];
      await call({ repeatable: true }, (signal) =>
        send(db, { update: 'usage_cursors', updates, ...MAJORITY }, { signal }),
      );
    },
    forget: (wallet) => forgetUsage(transactions, wallet),
    ...serviceStore(connection),
  };
}

function readCursorDocument(row: Document | null): Pick<FoldedUsage, 'cursor' | 'jobs' | 'isPartial'> {
  return {
    cursor: Number(row?.seq ?? 0),
    jobs: parseOpenJobs(row?.jobs ?? '[]'),
    isPartial: row?.partial === true,
  };
}

/** In steps, because a transaction must be short: each takes rows of the wallet away, and what they add to all wallets. */
async function forgetUsage(transactions: Transactions, wallet: string): Promise<void> {
  const forgetCursor = { delete: 'usage_cursors', deletes: [{ q: { _id: wallet }, limit: 0 }] };
  await transactions.run({ steps: (step) => step(forgetCursor) });
  while (await transactions.run({ steps: (step) => dropRows(step, wallet) }));
}

/** Resolves to whether there may be more. */
async function dropRows(step: Step, wallet: string): Promise<boolean> {
  const take = async (name: string) => {
    const find = { find: name, filter: { wallet }, limit: ROWS_PER_DROP, batchSize: ROWS_PER_DROP };
    const rows = await readFirstBatch(step(find));
    if (rows.length === 0) return rows;
    await step({ delete: name, deletes: [{ q: { _id: { $in: rows.map(({ _id }) => _id) } }, limit: 0 }] });
    return rows;
  };
  const usage = new Map<UsageGrain, readonly Document[]>();
  for (const grain of USAGE_GRAINS) usage.set(grain, await take(`usage_${grain}s`));
  const hours = usage.get('hour')?.map((row) => toWalletHour(wallet, readUsageDocument(row, 'hour'))) ?? [];
  const routes = (await take('route_hours')).map(readRouteDocument);
  const updates = listServiceSums({ hours, routes }, -1).map((sum) => buildServiceUpsert(sum));
  if (updates.length > 0) await step({ update: 'service_sums', updates });
  return [...usage.values(), routes].some(({ length }) => length === ROWS_PER_DROP);
}

async function addUsageStep(step: Step, { wallet, from, to, hours, routes = [], jobs }: UsageStep): Promise<boolean> {
  const [found] = await readFirstBatch(step({ find: 'usage_cursors', filter: { _id: wallet }, limit: 1 }));
  const now = readCursorDocument(found ?? null);
  if (now.cursor !== from) return false;
  if (jobs && formatOpenJobs(now.jobs) !== formatOpenJobs(jobs.from)) return false;
  const $set = { seq: to, jobs: formatOpenJobs(jobs ? jobs.to : now.jobs) };
  await step({ update: 'usage_cursors', updates: [{ q: { _id: wallet }, u: { $set }, upsert: true }] });
  await addUsageRows(step, wallet, { hours, routes });
  return true;
}

async function addUsageRows(
  step: Step,
  wallet: string,
  { hours, routes }: Pick<FoldedUsage, 'hours' | 'routes'>,
): Promise<void> {
  const rows = { hours: hours.map((hour) => toWalletHour(wallet, hour)), routes };
  const usage = USAGE_GRAINS.map((grain) => {
    const sums = sumUsage(hours, 'hour', grain);
    return [`usage_${grain}s`, sums.map((sum) => buildUsageUpsert(wallet, sum, grain))] as const;
  });
  const updates = {
    ...Object.fromEntries(usage),
    route_hours: routes.map((route) => buildRouteUpsert(wallet, route)),
    service_sums: listServiceSums(rows).map((sum) => buildServiceUpsert(sum)),
  };
  for (const [update, list] of Object.entries(updates)) if (list.length > 0) await step({ update, updates: list });
}

function buildUsageUpsert<Grain extends UsageGrain>(wallet: string, sum: UsageOf<Grain>, grain: Grain): Document {
  const { [grain]: at, key, model, kind, charged, refunded, cost, ...counts } = sum;
  const $inc = { ...counts, charged: toLong(charged), refunded: toLong(refunded), cost: toLong(cost) };
  return {
    q: { _id: `${wallet} ${at} ${key} ${kind} ${model}` },
    u: { $setOnInsert: { wallet, [grain]: at, key, model, kind }, $inc },
    upsert: true,
  };
}

function buildRouteUpsert(wallet: string, { hour, first, cost, ...row }: RouteHour): Document {
  const { upstream, model, ending, reason, ...counts } = row;
  const $inc = { ...counts, cost: toLong(cost), ...toTimeFields(first) };
  return {
    q: { _id: `${wallet} ${hour} ${formatRouteName(row)}` },
    u: { $setOnInsert: { wallet, hour, upstream, model, ending, reason }, $inc },
    upsert: true,
  };
}

function readUsageDocument<Grain extends UsageGrain>(row: Document, grain: Grain): UsageOf<Grain> {
  const { key, model, kind } = row;
  return { [grain]: Number(row[grain]), key, model, kind, ...readUsageTotals(row) } as unknown as UsageOf<Grain>;
}
