// Accounts in the MongoDB store.
import { type Collection, type Document, type FindOptions, ReadConcern } from 'mongodb';
import { parseRequestLimits } from '../../money/request-limits.ts';
import type { Account, AccountStore, AccountSummary, Allowance, AutoTopup } from '../ports/accounts.ts';
import { listWrongMarks, markAccount } from '../row-mark.ts';
import { decideStatusChange } from '../status.ts';
import { StoreError } from '../store.ts';
import { call, MAJORITY, read, SCAN_MS, send } from './call.ts';
import type { Connection } from './connection.ts';
import { StaleRead } from './failure.ts';
import { isText } from './fields.ts';
import { BATCH } from './intervals.ts';
import { type Row, readWalletDocument, toEntryDocument, toLong } from './rows.ts';
import { readFirstBatch, repeatUnknown, type Step, type Transactions } from './transaction.ts';

const EMPTY = { avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, seq: 0, status: 'active' };
const NO_TOPUP = { enabled: false, amount: 0n, threshold: 0n };

const WITH_WALLET = [
  { $lookup: { from: 'wallets', localField: '_id', foreignField: '_id', as: 'wallets' } },
  { $set: { status: { $first: '$wallets.status' } } },
  { $unset: 'wallets' },
];

const openCommitted = ({ db, scanner }: Pick<Connection, 'db' | 'scanner'>) =>
  scanner.db(db.databaseName, { readConcern: new ReadConcern('majority') });

type Lists = Pick<AccountStore, 'list' | 'allowances' | 'summaries' | 'countCreated' | 'countPriceLists'>;

/** What walks over all accounts or wallets read of them. */
function createLists({ db, scanner }: Pick<Connection, 'db' | 'scanner'>): Lists {
  const accounts = db.collection<Row>('accounts');
  const wallets = scanner.db(db.databaseName).collection<Row>('wallets');
  return {
    async list() {
      const committed = openCommitted({ db, scanner });
      const readAll = (name: string, filter: Document, options: FindOptions) =>
        read(
          (signal) =>
            committed
              .collection<Row>(name)
              .find(filter, { ...options, signal })
              .toArray(),
          SCAN_MS,
        );
      // Few wallets are not active: those are found in one pass, where each was looked up.
      const [rows, others] = await Promise.all([
        readAll('accounts', {}, { sort: { createdAt: 1, _id: 1 }, allowDiskUse: true }),
        readAll('wallets', { status: { $ne: 'active' } }, { projection: { status: 1 } }),
      ]);
      const statuses = new Map(others.map(({ _id, status }) => [_id, status]));
      return rows.map((row) => readAccountDocument({ ...row, status: statuses.get(row._id) ?? 'active' }));
    },
    async allowances() {
      const options = { projection: { allowance: 1, allowanceReason: 1 }, sort: { _id: 1 } } as const;
      const rows = await read((signal) => accounts.find({ allowance: { $gt: 0 } }, { ...options, signal }).toArray());
      return rows.flatMap((row) => {
        const { allowance } = readAllowance(row);
        return allowance ? [{ id: row._id, ...allowance }] : [];
      });
    },
    async summaries() {
      const readAll = (collection: Collection<Row>, projection: Document) =>
        read((signal) => collection.find({}, { projection, batchSize: BATCH, signal }).toArray(), SCAN_MS);
      // A $lookup for each account takes three times as long.
      const [rows, balances] = await Promise.all([
        readAll(accounts, { name: 1, createdAt: 1, priceList: 1, requests: 1 }),
        readAll(wallets, { avail: 1, topped: 1, status: 1 }),
      ]);
      const byId = new Map(balances.map((row) => [row._id, row]));
      return rows.flatMap((row): AccountSummary[] => {
        const { _id: id, name, createdAt } = row;
        const wallet = byId.get(id);
        // An account that is created at this moment may be in one list only.
        if (!wallet) return [];
        const { avail, topped, status } = wallet;
        const requests = parseRequestLimits(row.requests);
        const terms = { ...readPriceList(row), ...(requests && { requests }) };
        return [{ id, name, createdAt: Number(createdAt), ...terms, avail, topped, status }];
      });
    },
    countCreated: ({ from, to }) =>
      read((signal) => accounts.countDocuments({ createdAt: { $gte: from, $lt: to } }, { signal }), SCAN_MS),
    async countPriceLists() {
      const pipeline = [
        { $match: { priceList: isText } },
        { $group: { _id: '$priceList', accounts: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ];
      const rows = await read((signal) => accounts.aggregate(pipeline, { signal }).toArray());
      return rows.map(({ _id: priceList, accounts: count }) => ({
        priceList: `${priceList}`,
        accounts: Number(count),
      }));
    },
  };
}

export function accountStore({ db, scanner }: Connection, transactions: Transactions): AccountStore {
  const accounts = db.collection<Row>('accounts');
  const scanned = openCommitted({ db, scanner }).collection('accounts');

  async function scan(pipeline: Document[]): Promise<readonly Account[]> {
    const options = { allowDiskUse: true };
    const rows = await read((signal) => scanned.aggregate(pipeline, { ...options, signal }).toArray(), SCAN_MS);
    return rows.map(readAccountDocument);
  }

  /** Changes what the mark of an account covers. False if there is no such account. */
  function setTerms(id: string, terms: Document): Promise<boolean> {
    return repeatUnknown(() =>
      transactions.run({
        steps: async (step) => {
          const [row] = await readFirstBatch(step({ find: 'accounts', filter: { _id: id }, limit: 1 }));
          if (!row) return false;
          const $set = { ...terms, mark: markAccount(readAccountDocument({ ...row, ...terms })) };
          await step({ update: 'accounts', updates: [{ q: { _id: id }, u: { $set } }] });
          return true;
        },
      }),
    );
  }

  /** False if there is no such row. */
  async function setFields(update: 'wallets' | 'accounts', id: string, values: Document): Promise<boolean> {
    const updates = [{ q: { _id: id }, u: { $set: values } }];
    const { n } = await call({ repeatable: true }, (signal) => send(db, { update, updates, ...MAJORITY }, { signal }));
    return n === 1;
  }

  return {
    async create({ id, name, createdAt }) {
      const account = toAccountDocument({ id, name, createdAt, autoTopup: NO_TOPUP });
      await transactions.run({
        steps: async (step) => {
          const [existing] = await readFirstBatch(step({ find: 'accounts', filter: { _id: id }, limit: 1 }));
          if (existing) throw new StoreError(`the account ${id} already exists`, 'no');
          await step({ insert: 'accounts', documents: [account] });
          await step({ insert: 'wallets', documents: [{ _id: id, ...EMPTY }] });
        },
      });
    },
    async put(list) {
      if (list.length === 0) return;
      await transactions.run({
        steps: async (step) => {
          const ids = list.map(({ id }) => id);
          const limits = { projection: { createdAt: 1 }, batchSize: ids.length, singleBatch: true };
          const rows = await readFirstBatch(step({ find: 'accounts', filter: { _id: { $in: ids } }, ...limits }));
          const there = new Map(rows.map((row) => [row._id, row]));
          const old = list.filter(({ id }) => there.has(id));
          const fresh = list.filter(({ id }) => !there.has(id));
          const updates = old.map(({ id, name, autoTopup, requests = null, priceList = null, allowance }) => {
            const terms = { name, requests, priceList, ...toAllowanceFields(allowance) };
            const mark = markAccount(readAccountDocument({ ...there.get(id), ...terms }));
            return { q: { _id: id }, u: { $set: { autoTopup: toAutoTopupDocument(autoTopup), ...terms, mark } } };
          });
          if (updates.length > 0) await step({ update: 'accounts', updates });
          if (fresh.length === 0) return;
          await step({ insert: 'accounts', documents: fresh.map(toAccountDocument) });
          await step({ insert: 'wallets', documents: fresh.map(({ id }) => ({ _id: id, ...EMPTY })) });
        },
      });
    },
    async get(id) {
      const pipeline = [{ $match: { _id: id } }, ...WITH_WALLET];
      const [row] = await read((signal) => accounts.aggregate(pipeline, { signal }).toArray());
      return row && readAccountDocument(row);
    },
    async names(ids) {
      const options = { projection: { name: 1 }, batchSize: BATCH } as const;
      const filter = { _id: { $in: [...ids] } };
      const rows = await read((signal) => accounts.find(filter, { ...options, signal }).toArray());
      return rows.map(({ _id: id, name }) => ({ id, name }));
    },
    page: ({ after = '', limit }) =>
      scan([{ $match: { _id: { $gt: after } } }, { $sort: { _id: 1 } }, { $limit: limit }, ...WITH_WALLET]),
    setStatus: (id, status) =>
      repeatUnknown(() => transactions.run({ steps: (step) => changeWalletStatus(step, id, status) })),
    setWalletFlags: (id, { playMoney, opened }) =>
      setFields('wallets', id, { playMoney: playMoney ?? false, opened: opened ?? false }),
    setAutoTopup: (id, autoTopup) => setFields('accounts', id, { autoTopup: toAutoTopupDocument(autoTopup) }),
    setName: (id, name) => setTerms(id, { name }),
    setRequestLimits: (id, limits) => setTerms(id, { requests: limits ?? null }),
    setPriceList: (id, priceList) => setTerms(id, { priceList: priceList ?? null }),
    setAllowance: (id, allowance) => setTerms(id, toAllowanceFields(allowance)),
    async findWrongMarks({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => accounts.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return listWrongMarks(
        rows.map((row) => ({ row: { id: row._id }, mark: row.mark, wanted: markAccount(readAccountDocument(row)) })),
        limit,
      );
    },
    ...createLists({ db, scanner }),
  };
}

async function changeWalletStatus(step: Step, id: string, status: Account['status']): Promise<boolean> {
  const [row] = await readFirstBatch(step({ find: 'wallets', filter: { _id: id }, limit: 1 }));
  if (!row) return false;
  const { entry } = decideStatusChange(readWalletDocument(row), status);
  if (!entry) return true;
  const updates = [{ q: { _id: id, seq: row.seq }, u: { $set: { status, seq: entry.seq } } }];
  const { n } = await step({ update: 'wallets', updates });
  if (n !== 1) throw new StaleRead(`the wallet ${id} is no longer as it was read`);
  await step({ insert: 'entries', documents: [toEntryDocument(entry)] });
  return true;
}

export function isAutoTopup(value: unknown): value is AutoTopup {
  if (typeof value !== 'object' || value === null) return false;
  const { enabled, amount, threshold } = value as AutoTopup;
  return typeof enabled === 'boolean' && typeof amount === 'bigint' && typeof threshold === 'bigint';
}

function toAutoTopupDocument({ enabled, amount, threshold }: AutoTopup): Document {
  return { enabled, amount: toLong(amount), threshold: toLong(threshold) };
}

function toAccountDocument(account: Omit<Account, 'status'>): Document {
  const { id: _id, name, createdAt, autoTopup, requests, priceList, allowance } = account;
  return {
    _id,
    name,
    createdAt,
    autoTopup: toAutoTopupDocument(autoTopup),
    keysAdded: 0,
    ...(requests && { requests }),
    ...(priceList !== undefined && { priceList }),
    ...(allowance && toAllowanceFields(allowance)),
    mark: markAccount(account),
  };
}

function readAccountDocument(row: Document): Account {
  const { _id: id, name, status, createdAt, autoTopup } = row;
  const requests = parseRequestLimits(row.requests);
  // A damaged document counts as disabled; the audit reports it.
  const topup = isAutoTopup(autoTopup) ? autoTopup : NO_TOPUP;
  return {
    id,
    name,
    status,
    createdAt: Number(createdAt),
    autoTopup: topup,
    ...(requests && { requests }),
    ...readPriceList(row),
    ...readAllowance(row),
  };
}

function toAllowanceFields(allowance: Allowance | undefined): Document {
  return { allowance: allowance ? toLong(allowance.amount) : null, allowanceReason: allowance?.reason ?? null };
}

function readAllowance({ allowance: amount, allowanceReason: reason }: Document): Pick<Account, 'allowance'> {
  return typeof amount === 'bigint' ? { allowance: { amount, reason: `${reason}` } } : {};
}

/** Of an account's document. */
export function readPriceList({ priceList }: Document = {}): Pick<Account, 'priceList'> {
  return typeof priceList === 'string' ? { priceList } : {};
}
