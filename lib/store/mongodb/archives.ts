// Archives and openings in the MongoDB store.
import type { Document } from 'mongodb';
import { listEntryIds, markArchive, markOpening, openingRow, selectRemovableCalls } from '../archives.ts';
import type { Archive, ArchiveStore, Opening } from '../ports/archives.ts';
import { listWrongMarks } from '../row-mark.ts';
import { CALL_ATTEMPTS, deleteAttempts, readAttemptDocument } from './attempts.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { isDuplicate } from './failure.ts';
import {
  type Row,
  readChargeDocument,
  readEntryDocument,
  readGrantFields,
  toChargeDocument,
  toEntryDocument,
  toGrantFields,
  toLong,
} from './rows.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';

/** Of the calls that are removed in one transaction. */
const ATTEMPTS_MAX = 100_000;

export function archiveStore(connection: Connection, transactions: Transactions): ArchiveStore {
  return { ...archiveCalls(connection), ...openingReads(connection), ...openingWrites(transactions) };
}

type ArchiveCalls = Pick<ArchiveStore, 'list' | 'begin' | 'put' | 'drop'>;
type OpeningReads = Pick<ArchiveStore, 'opening' | 'openings' | 'findWrongMarks'>;

function archiveCalls({ db }: Connection): ArchiveCalls {
  const archives = db.collection<Row>('archives');
  const write = (command: Document): Promise<Document> =>
    call({ repeatable: true }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));
  const unfinished = () => read((signal) => archives.findOne({ open: true }, { signal }));
  return {
    async list() {
      const rows = await read((signal) => archives.find({}, { signal }).sort({ startedAt: 1, _id: 1 }).toArray());
      return rows.map(readArchiveDocument);
    },
    async begin(archive) {
      const found = await unfinished();
      if (found) return readArchiveDocument(found);
      try {
        await write(buildArchiveUpsert(archive));
        return archive;
      } catch (error) {
        // Another process may have started one in the meantime.
        const other = isDuplicate(error instanceof Error ? error.cause : error) ? await unfinished() : undefined;
        if (!other) throw error;
        return readArchiveDocument(other);
      }
    },
    async put(archive) {
      try {
        await write(buildArchiveUpsert(archive));
      } catch (error) {
        // An archive that is done is not changed.
        const row = await read((signal) => archives.findOne({ _id: archive.id, open: false }, { signal }));
        if (!row) throw error;
      }
    },
    async drop(id) {
      await write({ delete: 'archives', deletes: [{ q: { _id: id, state: 'writing' }, limit: 1 }] });
    },
  };
}

function openingReads({ db }: Connection): OpeningReads {
  const openings = db.collection<Row>('openings');
  return {
    async opening(wallet) {
      const row = await read((signal) => openings.findOne({ _id: wallet }, { signal }));
      return row ? readOpeningDocument(row) : undefined;
    },
    async findWrongMarks(sort, { after = '', limit }) {
      const above = { _id: { $gt: after } };
      const rows = await read((signal) =>
        db.collection<Row>(sort).find(above, { signal }).sort({ _id: 1 }).limit(limit).toArray(),
      );
      if (sort === 'openings')
        return listWrongMarks(
          rows.map((row) => ({
            row: openingRow(readOpeningDocument(row)),
            mark: Array.isArray(row.budgets) ? row.mark : 'none',
          })),
          limit,
        );
      return listWrongMarks(
        // `open` exists only for the index of unfinished archives, so the mark does not cover it.
        rows.map((row) => ({
          row: readArchiveDocument(row),
          mark: row.open === (row.state !== 'done') ? row.mark : 'open',
        })),
        limit,
      );
    },
    async openings({ after, limit }) {
      const above = { _id: { $gt: after } };
      const rows = await read((signal) => openings.find(above, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map(readOpeningDocument);
    },
  };
}

function openingWrites(transactions: Transactions): Omit<ArchiveStore, keyof ArchiveCalls | keyof OpeningReads> {
  return {
    open: (opening, from) =>
      transactions.run({
        async steps(step) {
          if ((await readOpeningSeq(step, opening.wallet)) !== from) return false;
          await saveOpening(step, opening);
          return true;
        },
      }),
    remove: (wallet, calls) =>
      transactions.run({
        async steps(step) {
          const opened = await readOpeningSeq(step, wallet);
          const ids = calls.map(({ charge }) => charge.id);
          const charges = await findAllByIds(step, 'charges', ids);
          const entries = await findAllByIds(step, 'entries', listEntryIds(calls));
          const attempts = await findAttempts(step, ids);
          const rows = {
            charges: charges.map(readChargeDocument),
            entries: entries.map(readEntryDocument),
            attempts: attempts.map(readAttemptDocument),
          };
          const gone = selectRemovableCalls(calls, rows, opened);
          await deleteByIds(
            step,
            'entries',
            gone.flatMap((whole) => whole.entries.map(({ opId }) => opId)),
          );
          const goneIds = gone.map(({ charge }) => charge.id);
          await deleteAttempts(step, goneIds);
          await deleteByIds(step, 'charges', goneIds);
        },
      }),
    restoreRows: ({ charges, entries }) =>
      transactions.run({
        async steps(step) {
          await insertMissing(step, 'charges', charges.map(toChargeDocument) as Row[]);
          await insertMissing(step, 'entries', entries.map(toEntryDocument) as Row[]);
        },
      }),
    restore: (opening) =>
      transactions.run({
        async steps(step) {
          await restoreWallet(step, opening);
          await saveOpening(step, opening);
        },
      }),
  };
}

async function readOpeningSeq(step: Step, wallet: string): Promise<number> {
  const [row] = await readFirstBatch(step({ find: 'openings', filter: { _id: wallet }, limit: 1 }));
  return Number(row?.seq ?? 0);
}

async function saveOpening(step: Step, opening: Opening): Promise<void> {
  const { wallet: _id, lasting, budgets, kept, seq, granted = 0n, grants = null, ...money } = opening;
  const columns = Object.fromEntries(Object.entries(money).map(([name, sum]) => [name, toLong(sum)]));
  const sums = { ...columns, granted: toLong(granted), grants };
  const periods = budgets.map(({ key, period, spent }) => ({ key, period, spent: toLong(spent) }));
  const u = { _id, seq, ...sums, lasting, budgets: periods, kept, mark: markOpening(opening) };
  await step({ update: 'openings', updates: [{ q: { _id }, u, upsert: true }] });
  const [checkpoint] = await readFirstBatch(step({ find: 'checkpoints', filter: { _id }, limit: 1 }));
  if (Number(checkpoint?.seq ?? 0) >= seq) return;
  await step({ update: 'checkpoints', updates: [{ q: { _id }, u: { _id, seq, ...sums }, upsert: true }] });
}

/** Sets a wallet of a copy, which has no entries yet, to its opening. */
async function restoreWallet(step: Step, { wallet, seq, budgets, ...sums }: Opening): Promise<void> {
  const { avail, held, charged, topped, adjusted } = sums;
  const money = { avail: toLong(avail), held: toLong(held), charged: toLong(charged) };
  const query = { filter: { wallet, status: { $type: 'string' } }, sort: { seq: -1 }, limit: 1 };
  const [last] = await readFirstBatch(step({ find: 'entries', ...query }));
  const { status = 'active' } = last ?? {};
  const $set = { seq, ...money, topped: toLong(topped), adjusted: toLong(adjusted), status, ...toGrantFields(sums) };
  const { n } = await step({ update: 'wallets', updates: [{ q: { _id: wallet, seq: 0 }, u: { $set } }] });
  if (n !== 1 || budgets.length === 0) return;
  const updates = budgets.map(({ key, period, spent }) => ({
    q: { _id: key },
    u: { _id: key, wallet, period, spent: toLong(spent) },
    upsert: true,
  }));
  await step({ update: 'budgets', updates });
}

/** A call has a few, so that those of all calls fit into one reply. */
function findAttempts(step: Step, charges: readonly string[]): Promise<Document[]> {
  if (charges.length === 0) return Promise.resolve([]);
  const query = { filter: { charge: { $in: charges } }, sort: { charge: 1, number: 1 } };
  return readFirstBatch(step({ find: CALL_ATTEMPTS, ...query, batchSize: ATTEMPTS_MAX, singleBatch: true }));
}

function findAllByIds(step: Step, collection: string, ids: readonly string[]): Promise<Document[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return readFirstBatch(
    step({ find: collection, filter: { _id: { $in: ids } }, batchSize: ids.length, singleBatch: true }),
  );
}

async function deleteByIds(step: Step, collection: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await step({ delete: collection, deletes: [{ q: { _id: { $in: ids } }, limit: 0 }] });
}

async function insertMissing(step: Step, collection: string, rows: readonly Row[]): Promise<void> {
  const found = new Set(
    (
      await findAllByIds(
        step,
        collection,
        rows.map(({ _id }) => _id),
      )
    ).map(({ _id }) => _id),
  );
  const documents = rows.filter(({ _id }) => !found.has(_id));
  if (documents.length > 0) await step({ insert: collection, documents });
}

/** The filter contains `open`, so that an archive that is done is not changed: its upsert fails as a duplicate. */
function buildArchiveUpsert(whole: Archive): Document {
  const { id: _id, charged, ...archive } = whole;
  const mark = markArchive(whole);
  const u = { _id, ...archive, charged: toLong(charged), open: archive.state !== 'done', mark };
  return { update: 'archives', updates: [{ q: { _id, open: true }, u, upsert: true }] };
}

function readArchiveDocument(row: Document): Archive {
  const { _id: id, file, before, state, startedAt, sha256, calls, entries, charged, first, last } = row;
  return {
    id,
    file,
    before: Number(before),
    state,
    startedAt: Number(startedAt),
    sha256,
    calls: Number(calls),
    entries: Number(entries),
    charged,
    first: numberOrNull(first),
    last: numberOrNull(last),
  };
}

export function readOpeningDocument(row: Document): Opening {
  const { _id: wallet, seq, avail, held, charged, topped, adjusted, overshoot, lasting, budgets, kept } = row;
  return {
    wallet,
    seq: Number(seq),
    avail,
    held,
    charged,
    topped,
    adjusted,
    overshoot,
    lasting: Number(lasting),
    kept,
    budgets: readOpeningBudgetList(budgets),
    ...readGrantFields(row),
  };
}

/** Returns no budgets for a damaged row, whose mark is then reported. */
function readOpeningBudgetList(rows: unknown): Opening['budgets'] {
  if (!Array.isArray(rows)) return [];
  return rows.map((row: Document) => ({ key: row?.key, period: Number(row?.period), spent: row?.spent }));
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
