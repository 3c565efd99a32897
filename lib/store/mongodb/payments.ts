// Payments in the MongoDB store, with saved methods, consents, automatic top-ups and webhooks.
import type { Db, Document } from 'mongodb';
import { NEVER_STARTED } from '../../money/payment.ts';
import { createPayment, decidePayment, type Payment } from '../../money/payment-rules.ts';
import { IMPLAUSIBLE_WAIT_MS } from '../claim.ts';
import { fromCells, PAYMENT_FIELDS, type PaymentTable } from '../payment-rows.ts';
import {
  type AutoTopupRow,
  DISCARDED_VERDICTS,
  DISCARDED_WEBHOOKS_MAX,
  MARKED_TABLES,
  type MarkedTable,
  type PaymentRows,
  type PaymentStore,
  WEBHOOKS_MAX,
  WEBHOOKS_REMOVED_MAX,
} from '../ports/payments.ts';
import { listWrongMarks, markRow } from '../row-mark.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { buildVersionedReplacement, type Claimable, createClaims, replaceRows } from './claim.ts';
import type { Connection } from './connection.ts';
import { isDuplicate, StaleRead } from './failure.ts';
import { isExactly } from './fields.ts';
import { COLLECTION_NAMES } from './payment-schema.ts';
import { type Row, toLong } from './rows.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';

const PAYMENTS: Claimable<Payment> = {
  collection: COLLECTION_NAMES.payments,
  implausibleMs: IMPLAUSIBLE_WAIT_MS.payments,
  toDocument: toPaymentDocument,
  read: (row) => readRowDocument('payments', row),
};

export function paymentStore(connection: Connection, transactions: Transactions): PaymentStore {
  const { db } = connection;
  const claims = createClaims(connection, transactions, PAYMENTS);
  const rows = createRows(connection);
  const { findRow, listRows, put } = rows;

  const get = (id: string) => findRow('payments', { _id: id });

  return {
    async create(start, auto) {
      const made = createPayment(start);
      return transactions.run({
        steps: async (step) => {
          const found = await readFirstBatch(step(findOne('payments', { _id: start.id })));
          if (found.length > 0) return 'exists';
          if (auto && !(await changeAutoTopup(step, auto))) return 'stale';
          await step({ insert: COLLECTION_NAMES.payments, documents: [toPaymentDocument(made)] });
          return 'created';
        },
      });
    },
    get,
    find: (provider, ref) => findRow('payments', { provider, ref: isExactly(ref) }),
    async hasUnknownRefs(provider, since) {
      const given = { phase: 'failed', reason: NEVER_STARTED, createdAt: { $gte: since } };
      const filters = [{ phase: 'created' }, given].map((which) => ({ provider, ref: null, ...which }));
      const found = await Promise.all(filters.map((filter) => findRow('payments', filter)));
      return found.some((payment) => payment !== undefined);
    },
    list({ before, limit, wallet, provider, phases, isOpen }) {
      const { createdAt = 0, id = '' } = before ?? {};
      const older = { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lt: id } }] };
      const filter = {
        ...(wallet !== undefined && { wallet }),
        ...(provider !== undefined && { provider }),
        ...(phases && { phase: { $in: phases } }),
        ...(isOpen && { dueAt: { $gt: 0 } }),
        ...(before && older),
      };
      return listRows('payments', { filter, order: { createdAt: -1, _id: -1 }, limit });
    },
    claim: claims.claim,
    renew: claims.renew,
    async change(change) {
      for (;;) {
        const outcome = decidePayment(await get(change.id), change);
        if (outcome.status !== 'done' || !outcome.payment) return outcome;
        const updates = [buildVersionedReplacement(PAYMENTS, outcome.payment, change.version)];
        const { n } = await call({ repeatable: true }, (signal) =>
          send(db, { update: COLLECTION_NAMES.payments, updates, ...MAJORITY }, { signal }),
        );
        // Another process was faster, or an earlier attempt succeeded: the next read will show.
        if (n === 1) return outcome;
      }
    },
    ...createExtraCalls(rows, connection, transactions),
    page: (sort, { after = '', limit }) =>
      listRows(sort, { filter: { _id: { $gt: after } }, order: { _id: 1 }, limit }),
    findWrongMarks: rows.findWrongMarks,
    put,
  };
}

type ExtraCalls = Omit<
  PaymentStore,
  | 'create'
  | 'get'
  | 'find'
  | 'hasUnknownRefs'
  | 'list'
  | 'claim'
  | 'renew'
  | 'change'
  | 'page'
  | 'findWrongMarks'
  | 'put'
>;

/** Saved methods, consents, automatic top-ups and webhooks. */
function createExtraCalls(
  { findRow, listRows, put }: Rows,
  { db }: Connection,
  transactions: Transactions,
): ExtraCalls {
  return {
    async saveMethod(method) {
      const { provider, ref } = method;
      try {
        const documents = [toRowDocument('methods', method)];
        await call({ repeatable: false }, (signal) =>
          send(db, { insert: COLLECTION_NAMES.methods, documents, ...MAJORITY }, { signal }),
        );
        return method;
      } catch (error) {
        const found = isDuplicateMethod(error) && (await findRow('methods', { provider, ref }));
        if (found) return found;
        throw error;
      }
    },
    method: (id) => findRow('methods', { _id: id }),
    methods: (wallet) => listRows('methods', { filter: { wallet }, order: { createdAt: -1, _id: -1 }, limit: 0 }),
    removeMethod: (id, at) => transactions.run({ steps: (step) => removeMethod(step, id, at) }),
    addConsent: (consent) => put('consents', [consent]),
    consents: (wallet) => listRows('consents', { filter: { wallet }, order: { at: -1, _id: -1 }, limit: 0 }),
    autoTopup: (wallet) => findRow('autoTopups', { _id: wallet }),
    changeAutoTopup: (auto) => transactions.run({ steps: (step) => changeAutoTopup(step, auto) }),
    async addWebhook(webhook) {
      await put('notices', [webhook]);
      if (DISCARDED_VERDICTS.includes(webhook.verdict)) await removeWebhooks(db, IS_DISCARDED, DISCARDED_WEBHOOKS_MAX);
    },
    async setWebhookVerdict(id, { verdict, detail }) {
      const updates = [{ q: { _id: id }, u: { $set: { verdict, detail } } }];
      const { n } = await call({ repeatable: true }, (signal) =>
        send(db, { update: COLLECTION_NAMES.notices, updates, ...MAJORITY }, { signal }),
      );
      return n === 1;
    },
    webhook: (id) => findRow('notices', { _id: id }),
    webhooks({ before, limit, isDiscarded }) {
      const filter = {
        ...(before !== undefined && { _id: { $lt: before } }),
        ...(isDiscarded === false && { verdict: { $nin: DISCARDED_VERDICTS } }),
      };
      return listRows('notices', { filter, order: { _id: -1 }, limit });
    },
    async removeOldWebhooks(before, keep = WEBHOOKS_MAX) {
      return (await removeWebhooks(db, { at: { $lt: before } }, 0)) + (await removeWebhooks(db, {}, keep));
    },
  };
}

const IS_DISCARDED: Document = { verdict: { $in: DISCARDED_VERDICTS } };

/** Removes some webhooks that match the filter, except the newest `keep`; resolves to how many. */
async function removeWebhooks(db: Db, filter: Document, keep: number): Promise<number> {
  const options = { sort: { _id: -1 }, skip: keep, limit: WEBHOOKS_REMOVED_MAX, projection: { _id: 1 } } as const;
  const old = await read((signal) =>
    db
      .collection<Row>(COLLECTION_NAMES.notices)
      .find(filter, { ...options, signal })
      .toArray(),
  );
  if (old.length === 0) return 0;
  const deletes = [{ q: { _id: { $in: old.map(({ _id }) => _id) } }, limit: 0 }];
  await call({ repeatable: true }, (signal) =>
    send(db, { delete: COLLECTION_NAMES.notices, deletes, ...MAJORITY }, { signal }),
  );
  return old.length;
}

type Rows = ReturnType<typeof createRows>;

/** Reads and writes rows of every kind. */
function createRows({ db }: Connection) {
  const getCollection = (sort: PaymentTable) => db.collection<Row>(COLLECTION_NAMES[sort]);

  async function findRow<Sort extends PaymentTable>(
    sort: Sort,
    filter: Document,
  ): Promise<PaymentRows[Sort] | undefined> {
    const row = await read((signal) => getCollection(sort).findOne(filter, { signal }));
    return row ? readRowDocument(sort, row) : undefined;
  }

  async function listRows<Sort extends PaymentTable>(
    sort: Sort,
    { filter, order, limit }: { filter: Document; order: Record<string, 1 | -1>; limit: number },
  ): Promise<readonly PaymentRows[Sort][]> {
    const found = await read((signal) =>
      getCollection(sort).find(filter, { signal }).sort(order).limit(limit).toArray(),
    );
    return found.map((row) => readRowDocument(sort, row));
  }

  async function findWrongMarks(sort: MarkedTable, { after = '', limit }: { after?: string; limit: number }) {
    const found = await read((signal) =>
      getCollection(sort)
        .find({ _id: { $gt: after } }, { signal })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    );
    return listWrongMarks(
      found.map((row) => ({ row: readRowDocument(sort, row), mark: row.mark })),
      limit,
    );
  }

  async function put<Sort extends PaymentTable>(sort: Sort, list: readonly PaymentRows[Sort][]): Promise<void> {
    if (list.length === 0) return;
    const updates = list.map((row) => ({ q: { _id: row.id }, u: toRowDocument(sort, row), upsert: true }));
    await call({ repeatable: true }, (signal) =>
      send(db, { update: COLLECTION_NAMES[sort], updates, ...MAJORITY }, { signal }),
    );
  }

  return { findRow, listRows, findWrongMarks, put };
}

function findOne(sort: PaymentTable, filter: Document): Document {
  return { find: COLLECTION_NAMES[sort], filter, limit: 1 };
}

/** False if the row has changed since it was read. */
async function changeAutoTopup(step: Step, auto: AutoTopupRow): Promise<boolean> {
  const { id: _id, version, enabled, amount, threshold } = auto;
  const next = toRowDocument('autoTopups', { ...auto, version: version + 1 });
  const found = await readFirstBatch(step(findOne('autoTopups', { _id })));
  if (Number(found[0]?.version ?? 0) !== version) return false;
  const { n } =
    version === 0
      ? await step({ insert: COLLECTION_NAMES.autoTopups, documents: [next] })
      : await step({ update: COLLECTION_NAMES.autoTopups, updates: [{ q: { _id, version }, u: next }] });
  if (n !== 1) throw new StaleRead(`the automatic top-up of ${_id} has changed`);
  const shown = { autoTopup: { enabled, amount: toLong(amount), threshold: toLong(threshold) } };
  await step({ update: 'accounts', updates: [{ q: { _id }, u: { $set: shown } }] });
  return true;
}

async function removeMethod(step: Step, id: string, removedAt: number): Promise<boolean> {
  const [found] = await readFirstBatch(step(findOne('methods', { _id: id, removedAt: null })));
  if (!found) return false;
  const gone = toRowDocument('methods', { ...readRowDocument('methods', found), removedAt });
  await step({ update: COLLECTION_NAMES.methods, updates: [{ q: { _id: id }, u: gone }] });
  const [row] = await readFirstBatch(step(findOne('autoTopups', { method: isExactly(id) })));
  if (row) await changeAutoTopup(step, { ...readRowDocument('autoTopups', row), enabled: false, method: null });
  return true;
}

function isDuplicateMethod(error: unknown): boolean {
  return error instanceof Error && isDuplicate(error.cause);
}

/** Changes payments in a transaction, each from the version it was loaded with. */
export function replacePayments(
  step: Step,
  payments: readonly Payment[],
  loaded: ReadonlyMap<string, Payment>,
): Promise<void> {
  return replaceRows(step, PAYMENTS, payments, loaded);
}

function toPaymentDocument(payment: Payment): Document {
  return toRowDocument('payments', payment);
}

function toRowDocument<Sort extends PaymentTable>(sort: Sort, row: PaymentRows[Sort]): Row {
  const fields = Object.entries(PAYMENT_FIELDS[sort]).map(([name, value]) => {
    const cell: unknown = row[name as keyof PaymentRows[Sort]];
    return [name, value === 'micro' ? toLong(cell as bigint) : cell];
  });
  const { id: _id, ...rest } = Object.fromEntries(fields);
  const isMarked = (MARKED_TABLES as readonly PaymentTable[]).includes(sort);
  return { _id, ...rest, ...(isMarked && { mark: markRow(row) }) };
}

export function readRowDocument<Sort extends PaymentTable>(
  sort: Sort,
  { _id: id, ...rest }: Document,
): PaymentRows[Sort] {
  const row: Document = { id, ...rest };
  return fromCells(
    sort,
    Object.keys(PAYMENT_FIELDS[sort]).map((name) => row[name]),
  );
}
