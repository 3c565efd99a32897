// Payments in the MongoDB store, with their methods, consents, automatic top-ups and notices.
import type { Db, Document } from 'mongodb';
import { NEVER_STARTED } from '../../money/payment.ts';
import { decidePayment, newPayment, type Payment } from '../../money/payment-rules.ts';
import { rowOf as fromCells, PAYMENT_FIELDS, type PaymentSort } from '../payment-rows.ts';
import {
  type AutoTopupRow,
  MARKED,
  type MarkedSort,
  NOTICES_MAX,
  NOTICES_REMOVED_MAX,
  type PaymentRows,
  type PaymentStore,
  VAIN_NOTICES_MAX,
  VAIN_VERDICTS,
} from '../ports/payments.ts';
import { findUnmarked, markRow } from '../row-mark.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { type Claimable, createClaims, replacement, replaceRows } from './claim.ts';
import type { Connection } from './connection.ts';
import { isDuplicate, StaleRead } from './failure.ts';
import { isExactly } from './fields.ts';
import { COLLECTION_OF } from './payment-schema.ts';
import { type Row, toLong } from './rows.ts';
import { firstBatch, type Step, type Transactions } from './transaction.ts';

const PAYMENTS: Claimable<Payment> = {
  collection: COLLECTION_OF.payments,
  rowOf: paymentRow,
  read: (row) => rowOf('payments', row),
};

export function paymentStore(connection: Connection, transactions: Transactions): PaymentStore {
  const { db } = connection;
  const claims = createClaims(connection, transactions, PAYMENTS);
  const rows = createRows(connection);
  const { one, many, put } = rows;

  const get = (id: string) => one('payments', { _id: id });

  return {
    async create(start, auto) {
      const made = newPayment(start);
      return transactions.run({
        steps: async (step) => {
          const found = await firstBatch(step(findOne('payments', { _id: start.id })));
          if (found.length > 0) return 'exists';
          if (auto && !(await changeAuto(step, auto))) return 'stale';
          await step({ insert: COLLECTION_OF.payments, documents: [paymentRow(made)] });
          return 'created';
        },
      });
    },
    get,
    find: (provider, ref) => one('payments', { provider, ref: isExactly(ref) }),
    async hasUntold(provider, since) {
      const given = { phase: 'failed', reason: NEVER_STARTED, createdAt: { $gte: since } };
      const filters = [{ phase: 'created' }, given].map((which) => ({ provider, ref: null, ...which }));
      const found = await Promise.all(filters.map((filter) => one('payments', filter)));
      return found.some((payment) => payment !== undefined);
    },
    list({ before, limit, wallet, provider, phases }) {
      const { createdAt = 0, id = '' } = before ?? {};
      const older = { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lt: id } }] };
      const filter = {
        ...(wallet !== undefined && { wallet }),
        ...(provider !== undefined && { provider }),
        ...(phases && { phase: { $in: phases } }),
        ...(before && older),
      };
      return many('payments', { filter, order: { createdAt: -1, _id: -1 }, limit });
    },
    claim: claims.claim,
    renew: claims.renew,
    async change(change) {
      for (;;) {
        const outcome = decidePayment(await get(change.id), change);
        if (outcome.status !== 'done' || !outcome.payment) return outcome;
        const updates = [replacement(PAYMENTS, outcome.payment, change.version)];
        const { n } = await call({ repeatable: true }, (signal) =>
          send(db, { update: COLLECTION_OF.payments, updates, ...MAJORITY }, { signal }),
        );
        // Another process was faster, or an earlier attempt succeeded: the next read will tell.
        if (n === 1) return outcome;
      }
    },
    ...extrasOf(rows, connection, transactions),
    page: (sort, { after = '', limit }) => many(sort, { filter: { _id: { $gt: after } }, order: { _id: 1 }, limit }),
    unmarked: rows.unmarked,
    put,
  };
}

type Extras = Omit<
  PaymentStore,
  'create' | 'get' | 'find' | 'hasUntold' | 'list' | 'claim' | 'renew' | 'change' | 'page' | 'unmarked' | 'put'
>;

/** What belongs to payments. */
function extrasOf({ one, many, put }: Rows, { db }: Connection, transactions: Transactions): Extras {
  return {
    async saveMethod(method) {
      const { provider, ref } = method;
      try {
        const documents = [documentOf('methods', method)];
        await call({ repeatable: false }, (signal) =>
          send(db, { insert: COLLECTION_OF.methods, documents, ...MAJORITY }, { signal }),
        );
        return method;
      } catch (error) {
        const found = isTaken(error) && (await one('methods', { provider, ref }));
        if (found) return found;
        throw error;
      }
    },
    method: (id) => one('methods', { _id: id }),
    methods: (wallet) => many('methods', { filter: { wallet }, order: { createdAt: -1, _id: -1 }, limit: 0 }),
    removeMethod: (id, at) => transactions.run({ steps: (step) => removeMethod(step, id, at) }),
    addConsent: (consent) => put('consents', [consent]),
    consents: (wallet) => many('consents', { filter: { wallet }, order: { at: -1, _id: -1 }, limit: 0 }),
    autoTopup: (wallet) => one('autoTopups', { _id: wallet }),
    changeAutoTopup: (auto) => transactions.run({ steps: (step) => changeAuto(step, auto) }),
    async addNotice(notice) {
      await put('notices', [notice]);
      if (VAIN_VERDICTS.includes(notice.verdict)) await removeNotices(db, IS_VAIN, VAIN_NOTICES_MAX);
    },
    async judgeNotice(id, { verdict, detail }) {
      const updates = [{ q: { _id: id }, u: { $set: { verdict, detail } } }];
      const { n } = await call({ repeatable: true }, (signal) =>
        send(db, { update: COLLECTION_OF.notices, updates, ...MAJORITY }, { signal }),
      );
      return n === 1;
    },
    notice: (id) => one('notices', { _id: id }),
    notices({ before, limit, isVain }) {
      const filter = {
        ...(before !== undefined && { _id: { $lt: before } }),
        ...(isVain === false && { verdict: { $nin: VAIN_VERDICTS } }),
      };
      return many('notices', { filter, order: { _id: -1 }, limit });
    },
    async cleanNotices(before, keep = NOTICES_MAX) {
      return (await removeNotices(db, { at: { $lt: before } }, 0)) + (await removeNotices(db, {}, keep));
    },
  };
}

const IS_VAIN: Document = { verdict: { $in: VAIN_VERDICTS } };

/** Removes some of those that the filter finds, but for the newest `keep`; resolves with how many. */
async function removeNotices(db: Db, filter: Document, keep: number): Promise<number> {
  const options = { sort: { _id: -1 }, skip: keep, limit: NOTICES_REMOVED_MAX, projection: { _id: 1 } } as const;
  const old = await read((signal) =>
    db
      .collection<Row>(COLLECTION_OF.notices)
      .find(filter, { ...options, signal })
      .toArray(),
  );
  if (old.length === 0) return 0;
  const deletes = [{ q: { _id: { $in: old.map(({ _id }) => _id) } }, limit: 0 }];
  await call({ repeatable: true }, (signal) =>
    send(db, { delete: COLLECTION_OF.notices, deletes, ...MAJORITY }, { signal }),
  );
  return old.length;
}

type Rows = ReturnType<typeof createRows>;

/** The rows of every kind. */
function createRows({ db }: Connection) {
  const collectionOf = (sort: PaymentSort) => db.collection<Row>(COLLECTION_OF[sort]);

  async function one<Sort extends PaymentSort>(sort: Sort, filter: Document): Promise<PaymentRows[Sort] | undefined> {
    const row = await read((signal) => collectionOf(sort).findOne(filter, { signal }));
    return row ? rowOf(sort, row) : undefined;
  }

  async function many<Sort extends PaymentSort>(
    sort: Sort,
    { filter, order, limit }: { filter: Document; order: Record<string, 1 | -1>; limit: number },
  ): Promise<readonly PaymentRows[Sort][]> {
    const found = await read((signal) =>
      collectionOf(sort).find(filter, { signal }).sort(order).limit(limit).toArray(),
    );
    return found.map((row) => rowOf(sort, row));
  }

  async function unmarked(sort: MarkedSort, { after = '', limit }: { after?: string; limit: number }) {
    const found = await read((signal) =>
      collectionOf(sort)
        .find({ _id: { $gt: after } }, { signal })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    );
    return findUnmarked(
      found.map((row) => ({ row: rowOf(sort, row), mark: row.mark })),
      limit,
    );
  }

  async function put<Sort extends PaymentSort>(sort: Sort, list: readonly PaymentRows[Sort][]): Promise<void> {
    if (list.length === 0) return;
    const updates = list.map((row) => ({ q: { _id: row.id }, u: documentOf(sort, row), upsert: true }));
    await call({ repeatable: true }, (signal) =>
      send(db, { update: COLLECTION_OF[sort], updates, ...MAJORITY }, { signal }),
    );
  }

  return { one, many, unmarked, put };
}

function findOne(sort: PaymentSort, filter: Document): Document {
  return { find: COLLECTION_OF[sort], filter, limit: 1, batchSize: 1, singleBatch: true };
}

/** False if it has changed since it was read. */
async function changeAuto(step: Step, auto: AutoTopupRow): Promise<boolean> {
  const { id: _id, version, enabled, amount, threshold } = auto;
  const next = documentOf('autoTopups', { ...auto, version: version + 1 });
  const found = await firstBatch(step(findOne('autoTopups', { _id })));
  if (Number(found[0]?.version ?? 0) !== version) return false;
  const { n } =
    version === 0
      ? await step({ insert: COLLECTION_OF.autoTopups, documents: [next] })
      : await step({ update: COLLECTION_OF.autoTopups, updates: [{ q: { _id, version }, u: next }] });
  if (n !== 1) throw new StaleRead(`the automatic top-up of ${_id} has changed`);
  const shown = { autoTopup: { enabled, amount: toLong(amount), threshold: toLong(threshold) } };
  await step({ update: 'accounts', updates: [{ q: { _id }, u: { $set: shown } }] });
  return true;
}

async function removeMethod(step: Step, id: string, removedAt: number): Promise<boolean> {
  const [found] = await firstBatch(step(findOne('methods', { _id: id, removedAt: null })));
  if (!found) return false;
  const gone = documentOf('methods', { ...rowOf('methods', found), removedAt });
  await step({ update: COLLECTION_OF.methods, updates: [{ q: { _id: id }, u: gone }] });
  const [row] = await firstBatch(step(findOne('autoTopups', { method: isExactly(id) })));
  if (row) await changeAuto(step, { ...rowOf('autoTopups', row), enabled: false, method: null });
  return true;
}

function isTaken(error: unknown): boolean {
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

function paymentRow(payment: Payment): Document {
  return documentOf('payments', payment);
}

function documentOf<Sort extends PaymentSort>(sort: Sort, row: PaymentRows[Sort]): Row {
  const fields = Object.entries(PAYMENT_FIELDS[sort]).map(([name, value]) => {
    const cell: unknown = row[name as keyof PaymentRows[Sort]];
    return [name, value === 'micro' ? toLong(cell as bigint) : cell];
  });
  const { id: _id, ...rest } = Object.fromEntries(fields);
  const isMarked = (MARKED as readonly PaymentSort[]).includes(sort);
  return { _id, ...rest, ...(isMarked && { mark: markRow(row) }) };
}

export function rowOf<Sort extends PaymentSort>(sort: Sort, { _id: id, ...rest }: Document): PaymentRows[Sort] {
  const row: Document = { id, ...rest };
  return fromCells(
    sort,
    Object.keys(PAYMENT_FIELDS[sort]).map((name) => row[name]),
  );
}
