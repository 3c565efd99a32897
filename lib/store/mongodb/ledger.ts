// The ledger in MongoDB but for its batches: rows of a wallet, sums over time, orphans, and sums that are over.
import { type Collection, type Document, ReadConcern } from 'mongodb';
import { RUN_IDS } from '../../money/budget.ts';
import { SERVICE_OWNER } from '../../money/operations.ts';
import { listChargeOperationIds } from '../../money/replay.ts';
import { type ChargeFilter, type JournalPart, type LedgerStore, OUT_OF_ORDER_MAX } from '../ports/ledger.ts';
import { call, MAJORITY, read, SCAN_MS, send } from './call.ts';
import type { Connection } from './connection.ts';
import { listAliveOwners } from './owners.ts';
import { createPaidReads } from './paid-reads.ts';
import {
  type Row,
  readBudgetDocument,
  readChargeDocument,
  readEntryDocument,
  readWalletDocument,
  sumToMicro,
} from './rows.ts';
import { CHARGING, MOVES_MONEY } from './schema.ts';
import { createTransferReads } from './transfers.ts';

type LedgerReads = Omit<LedgerStore, 'lane' | 'batchMax' | 'apply'>;

/** The deadline for a page of entries. */
const PAGE_MS = 2900;

export function ledgerReads(connection: Connection): LedgerReads {
  const { db, scanner } = connection;
  const wallets = db.collection<Row>('wallets');
  const charges = db.collection<Row>('charges');
  const entries = db.collection<Row>('entries');
  const budgets = db.collection<Row>('budgets');
  const scanned = scanner.db(db.databaseName, { readConcern: new ReadConcern('majority') }).collection<Row>('charges');
  return {
    async wallet(id) {
      const row = await read((signal) => wallets.findOne({ _id: id }, { signal }));
      return row ? readWalletDocument(row) : undefined;
    },
    async charge(id) {
      const row = await read((signal) => charges.findOne({ _id: id }, { signal }));
      return row ? readChargeDocument(row) : undefined;
    },
    async charges(wallet, { before, limit, filter = {}, part }) {
      const last =
        before === undefined ? undefined : await read((signal) => charges.findOne({ _id: before }, { signal }));
      if (before !== undefined && last?.wallet !== wallet) return [];
      const options = { sort: { createdAt: -1, _id: -1 }, limit, hint: 'of_wallet' } as const;
      const older = last ? buildOlderFilter(last) : [];
      const query = { wallet, $and: [...older, ...buildChargeConditions(filter, part)] };
      const rows = await read((signal) => scanned.find(query, { ...options, signal }).toArray(), SCAN_MS);
      return rows.map(readChargeDocument);
    },
    async entry(opId) {
      const row = await read((signal) => entries.findOne({ _id: opId }, { signal }));
      return row ? readEntryDocument(row) : undefined;
    },
    async entries(wallet, { before, limit }) {
      const filter = { wallet, seq: { $lt: before ?? Number.MAX_SAFE_INTEGER } };
      const found = (signal: AbortSignal) => entries.find(filter, { signal }).sort({ seq: -1 }).limit(limit).toArray();
      return (await read(found, PAGE_MS)).map(readEntryDocument);
    },
    async listChargeEntries(chargeId) {
      const filter = { _id: { $in: listChargeOperationIds(chargeId) } };
      return (await read((signal) => entries.find(filter, { signal }).sort({ seq: 1 }).toArray())).map(
        readEntryDocument,
      );
    },
    chargedAt: createChargedAt(entries),
    ...createMovementReads(entries),
    ...createPaidReads(entries),
    ...createTransferReads(entries),
    ...createBudgetReads(budgets),
    grantsDue: createGrantsDue(connection),
    removeRuns: createRemoveRuns(connection),
    async renewLease({ charge, owner, lease, now }) {
      const updates = [{ q: { _id: charge, owner, state: 'held', lease: { $gt: now } }, u: { $set: { lease } } }];
      const command = { update: 'charges', updates, ...MAJORITY };
      const { n } = await call({ repeatable: true }, (signal) => send(db, command, { signal }));
      return Number(n) === 1;
    },
    async orphans({ now, leaseMs, after, limit }) {
      const alive = await listAliveOwners(db, now);
      const over = [{ lease: { $lt: now } }, { lease: { $gt: now + 2 * leaseMs }, owner: { $ne: SERVICE_OWNER } }];
      const rest = after && [{ lease: { $gt: after.lease } }, { lease: after.lease, _id: { $gt: after.id } }];
      const filter = { state: 'held', owner: { $nin: alive }, $and: [{ $or: over }, ...(rest ? [{ $or: rest }] : [])] };
      const sort = { lease: 1, _id: 1 } as const;
      const found = await read((signal) => charges.find(filter, { signal }).sort(sort).limit(limit).toArray());
      return found.map(readChargeDocument);
    },
  };
}

function createChargedAt(entries: Collection<Row>): LedgerStore['chargedAt'] {
  return async (wallet, at) => {
    const pipeline = [
      { $match: { wallet, at: { $lte: at }, ...CHARGING } },
      { $sort: { at: -1, seq: -1 } },
      { $limit: OUT_OF_ORDER_MAX },
      { $sort: { seq: -1 } },
      { $limit: 1 },
    ];
    const [row] = await read((signal) => entries.aggregate<Row>(pipeline, { signal }).toArray());
    return row ? row.chargedAfter : 0n;
  };
}

function createMovementReads(entries: Collection<Row>): Pick<LedgerStore, 'movements' | 'movedSince'> {
  return {
    async movements(wallet, { from, to, limit }) {
      const filter = { wallet, ...MOVES_MONEY, at: { $gte: from, $lt: to } };
      const sort = { at: 1, seq: 1 } as const;
      const found = (signal: AbortSignal) => entries.find(filter, { sort, limit, signal }).toArray();
      return (await read(found, PAGE_MS)).map(readEntryDocument);
    },
    async movedSince(wallet, at) {
      const $match = { wallet, ...MOVES_MONEY, at: { $gte: at } };
      const amount = { $sum: { $add: ['$topped', '$adjusted', { $ifNull: ['$granted', 0] }] } };
      const sums = (signal: AbortSignal) =>
        entries.aggregate([{ $match }, { $group: { _id: null, amount } }], { signal }).toArray();
      const [row] = await read(sums, PAGE_MS);
      return row ? sumToMicro(row.amount) : 0n;
    },
  };
}

function createBudgetReads(budgets: Collection<Row>): Pick<LedgerStore, 'budgets' | 'budgetPage'> {
  return {
    async budgetPage({ after, before, limit }) {
      const filter = { _id: { $gt: after, $lt: before } };
      const found = (signal: AbortSignal) => budgets.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray();
      return (await read(found)).map(readBudgetDocument);
    },
    async budgets(keys) {
      const filter = { _id: { $in: [...keys] } };
      return (await read((signal) => budgets.find(filter, { signal }).toArray())).map(readBudgetDocument);
    },
  };
}

function createGrantsDue({ db }: Connection): LedgerStore['grantsDue'] {
  const wallets = db.collection<Row>('wallets');
  return async ({ now, after, limit }) => {
    const filter = { grantsDue: { $gt: 0, $lte: now }, _id: { $gt: after } };
    const query = { sort: { _id: 1 }, limit, hint: 'by_grants_due' } as const;
    const found = await read((signal) => wallets.find(filter, { ...query, signal }).toArray());
    return found.map(readWalletDocument);
  };
}

function createRemoveRuns({ db }: Connection): LedgerStore['removeRuns'] {
  const budgets = db.collection<Row>('budgets');
  return async (before, limit) => {
    const filter = { _id: { $gte: RUN_IDS.first, $lt: RUN_IDS.after }, period: { $lt: before } };
    const find = (signal: AbortSignal) =>
      budgets
        .find(filter, { signal, projection: { _id: 1 } })
        .limit(limit)
        .toArray();
    const ids = (await read(find)).map(({ _id }) => _id);
    if (ids.length === 0) return 0;
    // The run may have begun again since.
    const q = { _id: { $in: ids }, period: { $lt: before } };
    const command = { delete: 'budgets', deletes: [{ q, limit: 0 }], ...MAJORITY };
    const { n } = await call({ repeatable: true }, (signal) => send(db, command, { signal }));
    return Number(n);
  };
}

/** Matches charges after the given one in the order of time and id; the first condition uses the index. */
function buildOlderFilter({ createdAt, _id }: Row): Document[] {
  return [
    { createdAt: { $lte: createdAt } },
    { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lt: _id } }] },
  ];
}

/** Never empty, because an empty `$and` is refused. */
function buildChargeConditions(filter: ChargeFilter, part?: JournalPart): Document[] {
  const { from = 0, to = Number.MAX_SAFE_INTEGER, key, model, kind, state, keys } = filter;
  const within = part ? [{ createdAt: { $gte: part.from, $lt: part.to } }] : [];
  const asked = Object.entries({ key, model, kind, state }).filter(([, value]) => value !== undefined);
  const isEqual = asked.map(([name, value]) => ({ [name]: value }));
  return [
    ...within,
    { createdAt: { $gte: from, $lt: to } },
    ...isEqual,
    ...(keys ? [{ key: { $in: [...keys] } }] : []),
  ];
}
