// Reads a whole MongoDB store page by page; every page is a snapshot with its own deadline.
import type { Document } from 'mongodb';
import { ReadConcern } from 'mongodb';
import type { BudgetSum } from '../../money/budget.ts';
import type { Entry, Wallet } from '../../money/decide.ts';
import { CHARGE_STARTING_KINDS } from '../../money/operations.ts';
import { getEntryChargeId, listChargeOperationIds } from '../../money/replay.ts';
import { checkGrantsDue, cutPage, cutWallet, listEndedCharges, withUsedAttempts } from '../journal.ts';
import type {
  AccountAudit,
  JournalPage,
  JournalPosition,
  JournalRows,
  JournalStore,
  KeyAudit,
  UsedEntry,
} from '../ports/journal.ts';
import { isAutoTopup } from './accounts.ts';
import { readOpeningDocument } from './archives.ts';
import { CALL_ATTEMPTS, readAttemptDocument, readUsedAttemptDocument } from './attempts.ts';
import { read, SCAN_MS } from './call.ts';
import type { Connection } from './connection.ts';
import { type Row, readBudgetDocument, readChargeDocument, readEntryDocument, readWalletDocument } from './rows.ts';
import { readSnapshot, type SnapshotReading } from './snapshot.ts';

/** The deadline of a page, including retries after an election. */
const PAGE_MS = 15_000;

export function journalStore({ db, scanner }: Connection): JournalStore {
  const plain = scanner.db(db.databaseName, { readConcern: new ReadConcern('majority') });
  const readPageSnapshot = <T>(work: (reading: SnapshotReading) => Promise<T>) =>
    readSnapshot({ db, scanner }, PAGE_MS, work);

  return {
    async size() {
      const sum = { $group: { _id: null, wallets: { $sum: 1 }, entries: { $sum: '$seq' } } };
      const sums = await read((signal) => plain.collection('wallets').aggregate([sum], { signal }).toArray(), SCAN_MS);
      return { wallets: Number(sums[0]?.wallets ?? 0), entries: Number(sums[0]?.entries ?? 0) };
    },
    page: (from, limit) => readPageSnapshot((reading) => readPage(reading, from, limit)),
    rows: (from, limit) => readPageSnapshot((reading) => readRows(reading, from, limit)),
    walletPage: (wallet, seq, limit) =>
      readPageSnapshot((reading) => readPage(reading, { id: wallet, seq }, limit, wallet)),
    usedEntries: (wallet, seq, limit) =>
      readPageSnapshot((reading) => readUsedEntries(reading, { id: wallet, seq }, limit)),
    unknownCharges: (after, limit) => readPageSnapshot((reading) => readUnknownCharges(reading, after, limit)),
    keys: (after, limit) => read((signal) => readKeys({ db: plain, signal }, after, limit), PAGE_MS),
  };
}

interface Query {
  readonly sort?: Document;
  readonly limit?: number;
  readonly fields?: readonly string[];
}

function findRows(reading: SnapshotReading, collection: string, filter: Document, query: Query = {}): Promise<Row[]> {
  const { db, ...sending } = reading;
  const { sort = {}, limit = 0, fields } = query;
  const projection = fields && Object.fromEntries(fields.map((field) => [field, 1]));
  const options = { ...sending, sort, limit, ...(projection && { projection }) };
  return db
    .collection<Row>(collection)
    .find(filter as object, options)
    .toArray();
}

/** Reads the rows of a page, and the documents of its accounts. */
async function readCutPage(
  reading: SnapshotReading,
  from: JournalPosition | undefined,
  limit: number,
  only?: string,
): Promise<{ readonly cut: ReturnType<typeof cutPage>; readonly documents: ReadonlyMap<string, Row> }> {
  const { id, seq } = from ?? { id: '', seq: null };
  const entries = await readEntries(reading, { id, seq }, limit, only);
  const last = only ?? (entries.length < limit ? undefined : entries.at(-1)?.wallet);
  const end = last === undefined ? {} : { $lte: last };
  const between = { _id: { [seq === null ? '$gt' : '$gte']: id, ...end } };
  const inOrder = { sort: { _id: 1 }, limit };
  const wallets = await findRows(reading, 'wallets', between, inOrder);
  const accounts = await findRows(reading, 'accounts', between, { ...inOrder, fields: ['keysAdded', 'autoTopup'] });
  const problems = new Map(wallets.map((row) => [row._id, checkGrantsDue(readWalletDocument(row), row.grantsDue)]));
  const rows = {
    entries,
    wallets: wallets.map(readWalletDocument),
    accounts: accounts.map(({ _id: account }): AccountAudit => {
      const problem = problems.get(account);
      return { id: account, ...(problem !== undefined && { problem }) };
    }),
  };
  const cut = (only === undefined ? cutPage : cutWallet)(rows, limit);
  return { cut, documents: new Map(accounts.map((row) => [row._id, row])) };
}

async function readBudgets(reading: SnapshotReading, wallets: readonly Wallet[]): Promise<readonly BudgetSum[]> {
  const filter = { wallet: { $in: wallets.map(({ id }) => id) } };
  return (await findRows(reading, 'budgets', filter, { sort: { _id: 1 } })).map(readBudgetDocument);
}

async function readRows(
  reading: SnapshotReading,
  from: JournalPosition | undefined,
  limit: number,
): Promise<JournalRows> {
  const { entries, wallets, next } = (await readCutPage(reading, from, limit)).cut;
  return { entries, wallets, next, budgets: await readBudgets(reading, wallets) };
}

async function readPage(
  reading: SnapshotReading,
  from: JournalPosition | undefined,
  limit: number,
  only?: string,
): Promise<JournalPage> {
  const { cut, documents } = await readCutPage(reading, from, limit, only);
  const ids = new Set([...cut.entries.map(({ wallet }) => wallet), ...cut.accounts.map((account) => account.id)]);
  const keys = await countKeys(reading, [...ids]);
  const walletIds = new Set([...cut.entries.map(({ wallet }) => wallet), ...cut.wallets.map((wallet) => wallet.id)]);
  const openings = await findRows(reading, 'openings', { _id: { $in: [...walletIds] } });
  return {
    ...cut,
    budgets: await readBudgets(reading, cut.wallets),
    openings: openings.map(readOpeningDocument),
    accounts: cut.accounts.map((account) => {
      const document = documents.get(account.id);
      const found = Number(document?.keysAdded);
      const wanted = keys.get(account.id) ?? 0;
      if (!isAutoTopup(document?.autoTopup)) return { ...account, problem: 'its autoTopup cannot be read' };
      return found === wanted ? account : { ...account, problem: `keysAdded: ${found} instead of ${wanted}` };
    }),
    ...(await readRelated(reading, cut.entries)),
    keyed: [...keys.keys()],
  };
}

/** Two queries, each along the index: for a single query with `$or` the server may choose to sort. */
async function readEntries(
  reading: SnapshotReading,
  { id, seq }: JournalPosition,
  limit: number,
  only: string | undefined,
): Promise<Entry[]> {
  const findAbove = (wallet: Document | string, above: Document, most: number) =>
    findRows(reading, 'entries', { wallet, ...above }, { sort: { wallet: 1, seq: 1 }, limit: most });
  const rest = seq === null ? [] : await findAbove(id, { seq: { $gt: seq } }, limit);
  const later =
    rest.length === limit || only !== undefined ? [] : await findAbove({ $gt: id }, {}, limit - rest.length);
  return [...rest, ...later].map(readEntryDocument);
}

async function readRelated(reading: SnapshotReading, entries: readonly Entry[]) {
  const ids = new Set(entries.flatMap((entry) => getEntryChargeId(entry) ?? []));
  const onPage = new Set(entries.map((entry) => entry.opId));
  const operations = new Set([...ids].flatMap(listChargeOperationIds)).difference(onPage);
  const listed = (list: Iterable<string>) => ({ _id: { $in: [...list] } });
  const charges = (await findRows(reading, 'charges', listed(ids))).map(readChargeDocument);
  const attempts = await findRows(
    reading,
    CALL_ATTEMPTS,
    { charge: { $in: [...ids] } },
    { sort: { charge: 1, number: 1 } },
  );
  const others = await findRows(reading, 'entries', listed(operations));
  const keyIds = new Set(charges.map(({ key }) => key));
  const keys = await findRows(reading, 'keys', listed(keyIds), { fields: ['account', 'budgetKey'] });
  return {
    charges,
    attempts: attempts.map(readAttemptDocument),
    others: others.map(readEntryDocument),
    keys: keys.map(({ _id: id, account, budgetKey }) => ({ id, account, budgetKey })),
  };
}

async function readUsedEntries(
  reading: SnapshotReading,
  from: JournalPosition,
  limit: number,
): Promise<readonly UsedEntry[]> {
  const entries = await readEntries(reading, from, limit, from.id);
  const ids = new Set(entries.flatMap((entry) => entry.charge ?? []));
  const charges = (await findRows(reading, 'charges', { _id: { $in: [...ids] } })).map(readChargeDocument);
  const byId = new Map(
    charges.map(({ id, createdAt, key, model, kind, usage }) => [id, { id, createdAt, key, model, kind, usage }]),
  );
  const used = entries.map(({ seq, kind, charged, held, charge: id }): UsedEntry => {
    const charge = byId.get(id ?? '');
    return charge ? { seq, kind, charged, held, charge } : { seq, kind, charged, held };
  });
  const ended = listEndedCharges(used);
  if (ended.length === 0) return used;
  const sort = { charge: 1, number: 1 };
  const fields = ['charge', 'model', 'upstream', 'ending', 'reason', 'firstMs', 'certainty', 'cost.costRub'];
  const attempts = await findRows(reading, CALL_ATTEMPTS, { charge: { $in: ended } }, { sort, fields });
  return withUsedAttempts(used, attempts.map(readUsedAttemptDocument));
}

async function countKeys(
  { db, ...sending }: SnapshotReading,
  accounts: readonly string[],
): Promise<Map<string, number>> {
  const pipeline = [
    { $match: { account: { $in: accounts } } },
    { $group: { _id: '$account', keys: { $sum: { $literal: 1 } } } },
  ];
  const rows = await db.collection('keys').aggregate<Row>(pipeline, sending).toArray();
  return new Map(rows.map((row) => [row._id, Number(row.keys)]));
}

async function readUnknownCharges(reading: SnapshotReading, after: string, limit: number) {
  const query = { sort: { _id: 1 }, limit, fields: ['wallet'] };
  const charges = await findRows(reading, 'charges', { _id: { $gt: after } }, query);
  const beginnings = new Map<string, string>(
    charges.flatMap(({ _id }) => CHARGE_STARTING_KINDS.map((kind) => [`${kind}:${_id}`, _id] as const)),
  );
  const filter = { _id: { $in: [...beginnings.keys()] } };
  const known = new Set(
    (await findRows(reading, 'entries', filter, { fields: ['_id'] })).map((row) => beginnings.get(row._id)),
  );
  const found = charges.filter(({ _id }) => !known.has(_id)).map(({ _id: id, wallet }) => ({ id, wallet }));
  const last = charges.length < limit ? undefined : charges.at(-1);
  return last ? { found, next: last._id } : { found };
}

async function readKeys(reading: SnapshotReading, after: string, limit: number): Promise<readonly KeyAudit[]> {
  const rows = await findRows(reading, 'keys', { _id: { $gt: after } }, { sort: { _id: 1 }, limit });
  const filter = { _id: { $in: [...new Set(rows.map((row) => row.account))] } };
  const accounts = new Set((await findRows(reading, 'accounts', filter, { fields: ['_id'] })).map((row) => row._id));
  return rows.map(({ _id: id, account, requestsCount, lastUsedAt }) => ({
    id,
    account,
    hasAccount: accounts.has(account),
    requestsCount: Number(requestsCount),
    lastUsedAt: lastUsedAt === null ? null : Number(lastUsedAt),
  }));
}
