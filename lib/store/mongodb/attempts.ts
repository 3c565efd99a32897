// Attempts at upstreams in the MongoDB store.
import type { Document } from 'mongodb';
import { type Attempt, FAULT_ENDINGS } from '../../money/attempt.ts';
import type { AttemptPosition, AttemptStore, CostGroup, CostQuery, CostSum } from '../ports/attempts.ts';
import type { UsedAttempt } from '../ports/journal.ts';
import { call, MAJORITY, read, SCAN_MS, send } from './call.ts';
import type { Connection } from './connection.ts';
import { type Row, sumToMicro, toLong } from './rows.ts';
import { readSnapshot, type SnapshotReading } from './snapshot.ts';
import type { Step } from './transaction.ts';

export const CALL_ATTEMPTS = 'call_attempts';

export function attemptStore({ db, scanner }: Connection): AttemptStore {
  const rows = db.collection<Row>(CALL_ATTEMPTS);
  const scanned = scanner.db(db.databaseName).collection<Row>(CALL_ATTEMPTS);
  return {
    async list(charges) {
      const filter = { charge: { $in: [...charges] } };
      const found = await read((signal) => rows.find(filter, { signal }).sort({ charge: 1, number: 1 }).toArray());
      return found.map(readAttemptDocument);
    },
    async page({ limit, after, ...span }) {
      const filter = { $and: [matchSpan(span), ...(after ? [isAfter(after)] : [])] };
      const find = (signal: AbortSignal) =>
        scanned.find(filter, { signal }).sort({ at: 1, _id: 1 }).limit(limit).toArray();
      return (await read(find, SCAN_MS)).map(readAttemptDocument);
    },
    async search({ before, limit, isFault = false, wallet, model, upstream, ending, reason, ...span }) {
      const filter = {
        $and: [
          matchSpan(span),
          ...(before ? [isBefore(before)] : []),
          ...(wallet === undefined ? [] : [{ wallet }]),
          ...(model === undefined ? [] : [{ model }]),
          ...(upstream === undefined ? [] : [{ upstream: upstream === '' ? null : upstream }]),
          ...(ending === undefined ? [] : [{ ending }]),
          ...(reason === undefined ? [] : [{ reason: reason === '' ? null : reason }]),
          ...(isFault ? [{ ending: { $in: [...FAULT_ENDINGS] } }] : []),
        ],
      };
      const find = (signal: AbortSignal) =>
        scanned.find(filter, { signal }).sort({ at: -1, _id: -1 }).limit(limit).toArray();
      return (await read(find, SCAN_MS)).map(readAttemptDocument);
    },
    async sums(query) {
      const [costs, charges] = await Promise.all(
        [buildCostPipeline(query), buildChargedPipeline(query)].map((pipeline) =>
          read((signal) => scanned.aggregate(pipeline, { signal }).toArray(), SCAN_MS),
        ),
      );
      const charged = new Map(charges?.map((row) => [row._id, row.charged]));
      return (costs ?? []).map((row) => readSum(row, charged.get(row._id)));
    },
    // One snapshot: an archive may be removing calls along with their attempts.
    unknownCharges: (after, limit) =>
      readSnapshot({ db, scanner }, SCAN_MS, (reading) => readUnknownCharges(reading, after, limit)),
    async put(attempts) {
      if (attempts.length === 0) return;
      await call({ repeatable: true }, (signal) => send(db, { ...putAttempts(attempts), ...MAJORITY }, { signal }));
    },
  };
}

async function readUnknownCharges({ db, ...sending }: SnapshotReading, after: string, limit: number) {
  const query = { ...sending, projection: { charge: 1, wallet: 1 } };
  const found = await db
    .collection<Row>(CALL_ATTEMPTS)
    .find({ charge: { $gt: after } }, query)
    .sort({ charge: 1 })
    .limit(limit)
    .toArray();
  const wallets = new Map(found.map(({ charge, wallet }) => [charge as string, wallet as string]));
  const ids = { _id: { $in: [...wallets.keys()] } };
  const known = await db
    .collection<Row>('charges')
    .find(ids, { ...sending, projection: { _id: 1 } })
    .toArray();
  for (const { _id } of known) wallets.delete(_id);
  const last = found.length < limit ? undefined : found.at(-1);
  const unknown = [...wallets].map(([charge, wallet]) => ({ charge, wallet }));
  return last ? { found: unknown, next: last.charge as string } : { found: unknown };
}

/** The command that writes at least one attempt, overwriting. */
export function putAttempts(attempts: readonly Attempt[]): Document {
  const updates = attempts.map(toAttemptDocument).map((u) => ({ q: { _id: u._id }, u, upsert: true }));
  return { update: CALL_ATTEMPTS, updates };
}

/** Writes attempts in the transaction that ends their calls; those of the listed charges are replaced. */
export async function saveAttempts(
  step: Step,
  attempts: readonly Attempt[],
  replaced: readonly string[],
): Promise<void> {
  if (attempts.length === 0) return;
  await deleteAttempts(step, replaced);
  await step({ insert: CALL_ATTEMPTS, documents: attempts.map(toAttemptDocument) });
}

export async function deleteAttempts(step: Step, charges: readonly string[]): Promise<void> {
  if (charges.length === 0) return;
  await step({ delete: CALL_ATTEMPTS, deletes: [{ q: { charge: { $in: [...charges] } }, limit: 0 }] });
}

function matchSpan({ from = 0, to = Number.MAX_SAFE_INTEGER }: Pick<CostQuery, 'from' | 'to'>): Document {
  return { at: { $gte: from, $lt: to } };
}

/** The first condition uses the index. */
function isAfter(position: AttemptPosition): Document {
  const { at } = position;
  return { at: { $gte: at }, $or: [{ at: { $gt: at } }, { at, _id: { $gt: toAttemptId(position) } }] };
}

function isBefore(position: AttemptPosition): Document {
  const { at } = position;
  return { at: { $lte: at }, $or: [{ at: { $lt: at } }, { at, _id: { $lt: toAttemptId(position) } }] };
}

const GROUPS: Readonly<Record<CostGroup, Document | string>> = {
  day: { $dateToString: { date: { $toDate: { $toLong: '$at' } }, format: '%Y-%m-%d' } },
  model: '$model',
  upstream: { $ifNull: ['$upstream', ''] },
  account: '$wallet',
};

function buildCostPipeline({ by, ...span }: CostQuery): Document[] {
  const sumCostByCertainty = (certainty: string) => ({
    $sum: { $cond: [{ $eq: ['$certainty', certainty] }, { $ifNull: ['$cost.costRub', 0] }, 0] },
  });
  const isUnpriced = { $and: [{ $eq: ['$cost', null] }, { $ne: ['$certainty', 'none'] }] };
  const $group = {
    _id: GROUPS[by],
    calls: { $sum: { $cond: ['$last', 1, 0] } },
    attempts: { $sum: 1 },
    reported: sumCostByCertainty('reported'),
    estimated: sumCostByCertainty('estimated'),
    possible: sumCostByCertainty('possible'),
    unpriced: { $sum: { $cond: [isUnpriced, 1, 0] } },
  };
  return [{ $match: matchSpan(span) }, { $group }];
}

/** What calls were charged, by their last attempts. */
function buildChargedPipeline({ by, ...span }: CostQuery): Document[] {
  const charge = { from: 'charges', localField: 'charge', foreignField: '_id', as: 'call' };
  return [
    { $match: { ...matchSpan(span), last: true } },
    { $lookup: charge },
    { $match: { 'call.state': 'settled' } },
    { $group: { _id: GROUPS[by], charged: { $sum: { $first: '$call.charged' } } } },
  ];
}

function readSum(row: Document, charged: unknown = 0): CostSum {
  const { _id: group, calls, attempts, unpriced, reported, estimated, possible } = row;
  return {
    group,
    calls: Number(calls),
    attempts: Number(attempts),
    charged: sumToMicro(charged),
    reported: sumToMicro(reported),
    estimated: sumToMicro(estimated),
    possible: sumToMicro(possible),
    unpriced: Number(unpriced),
  };
}

function toAttemptId({ charge, number }: Pick<Attempt, 'charge' | 'number'>): string {
  return `${charge}/${String(number).padStart(4, '0')}`;
}

export function toAttemptDocument(attempt: Attempt): Document {
  const { cost, ...row } = attempt;
  const money = cost && { rate: toLong(cost.rate), cost: toLong(cost.cost), costRub: toLong(cost.costRub) };
  return {
    _id: toAttemptId(attempt),
    ...row,
    cost: money && { currency: cost.currency, prices: cost.prices, ...money },
  };
}

export function readAttemptDocument(row: Document): Attempt {
  const { charge, wallet, last, model, upstream, upstreamModel, requestId, ending, usage, certainty, cost, mark } = row;
  return {
    charge,
    number: Number(row.number),
    wallet,
    last,
    model,
    upstream,
    upstreamModel,
    keyPlace: numberOrNull(row.keyPlace),
    requestId,
    at: Number(row.at),
    ending,
    firstMs: numberOrNull(row.firstMs),
    totalMs: Number(row.totalMs),
    usage,
    certainty,
    cost: cost && {
      currency: cost.currency,
      prices: cost.prices,
      rate: cost.rate,
      cost: cost.cost,
      costRub: cost.costRub,
    },
    mark,
    ...(row.reason !== undefined && { reason: row.reason }),
  };
}

/** What usage counts of an attempt; a projection leaves out the parts of a cost that is null. */
export function readUsedAttemptDocument(row: Document): UsedAttempt {
  const { charge, model, upstream, ending, reason, certainty, cost } = row;
  const end = { ending, certainty, ...(reason !== undefined && { reason }), firstMs: numberOrNull(row.firstMs) };
  return { charge, model, upstream, ...end, cost: cost ? { costRub: cost.costRub } : null };
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
