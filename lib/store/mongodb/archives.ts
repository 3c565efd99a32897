// Archives and openings in the MongoDB store.
import type { Document } from 'mongodb';
import { entryIdsOf, markArchive, markOpening, openingRow, removable } from '../archives.ts';
import type { Archive, ArchiveStore, Opening } from '../ports/archives.ts';
import { findUnmarked } from '../row-mark.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { isDuplicate } from './failure.ts';
import { chargeOf, chargeRow, entryOf, entryRow, type Row, toLong } from './rows.ts';
import { firstBatch, type Step, type Transactions } from './transaction.ts';

export function archiveStore(connection: Connection, transactions: Transactions): ArchiveStore {
  return { ...notes(connection), ...openingReads(connection), ...openingWrites(transactions) };
}

type Notes = Pick<ArchiveStore, 'list' | 'begin' | 'put' | 'drop'>;
type Reads = Pick<ArchiveStore, 'opening' | 'openings' | 'unmarked'>;

function notes({ db }: Connection): Notes {
  const archives = db.collection<Row>('archives');
  const write = (command: Document): Promise<Document> =>
    call({ repeatable: true }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));
  const unfinished = () => read((signal) => archives.findOne({ open: true }, { signal }));
  return {
    async list() {
      const rows = await read((signal) => archives.find({}, { signal }).sort({ startedAt: 1, _id: 1 }).toArray());
      return rows.map(archiveOf);
    },
    async begin(archive) {
      const found = await unfinished();
      if (found) return archiveOf(found);
      try {
        await write(putOf(archive));
        return archive;
      } catch (error) {
        // Another process has begun one in the meantime.
        const other = isDuplicate(error instanceof Error ? error.cause : error) ? await unfinished() : undefined;
        if (!other) throw error;
        return archiveOf(other);
      }
    },
    async put(archive) {
      try {
        await write(putOf(archive));
      } catch (error) {
        // One that is done stays as it is.
        const row = await read((signal) => archives.findOne({ _id: archive.id, open: false }, { signal }));
        if (!row) throw error;
      }
    },
    async drop(id) {
      await write({ delete: 'archives', deletes: [{ q: { _id: id, state: 'writing' }, limit: 1 }] });
    },
  };
}

function openingReads({ db }: Connection): Reads {
  const openings = db.collection<Row>('openings');
  return {
    async opening(wallet) {
      const row = await read((signal) => openings.findOne({ _id: wallet }, { signal }));
      return row ? openingOf(row) : undefined;
    },
    async unmarked(sort, { after = '', limit }) {
      const above = { _id: { $gt: after } };
      const rows = await read((signal) =>
        db.collection<Row>(sort).find(above, { signal }).sort({ _id: 1 }).limit(limit).toArray(),
      );
      if (sort === 'openings')
        return findUnmarked(
          rows.map((row) => ({
            row: openingRow(openingOf(row)),
            mark: Array.isArray(row.budgets) ? row.mark : 'none',
          })),
          limit,
        );
      return findUnmarked(
        // What the index of the unfinished one goes by is not of the note.
        rows.map((row) => ({ row: archiveOf(row), mark: row.open === (row.state !== 'done') ? row.mark : 'open' })),
        limit,
      );
    },
    async openings({ after, limit }) {
      const above = { _id: { $gt: after } };
      const rows = await read((signal) => openings.find(above, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map(openingOf);
    },
  };
}

function openingWrites(transactions: Transactions): Omit<ArchiveStore, keyof Notes | keyof Reads> {
  return {
    open: (opening, from) =>
      transactions.run({
        async steps(step) {
          if ((await openedAt(step, opening.wallet)) !== from) return false;
          await saveOpening(step, opening);
          return true;
        },
      }),
    remove: (wallet, calls) =>
      transactions.run({
        async steps(step) {
          const opened = await openedAt(step, wallet);
          const charges = await findAll(
            step,
            'charges',
            calls.map(({ charge }) => charge.id),
          );
          const entries = await findAll(step, 'entries', entryIdsOf(calls));
          const rows = { charges: charges.map(chargeOf), entries: entries.map(entryOf) };
          const gone = removable(calls, rows, opened);
          await takeOut(
            step,
            'entries',
            gone.flatMap((whole) => whole.entries.map(({ opId }) => opId)),
          );
          await takeOut(
            step,
            'charges',
            gone.map(({ charge }) => charge.id),
          );
        },
      }),
    restoreRows: ({ charges, entries }) =>
      transactions.run({
        async steps(step) {
          await addMissing(step, 'charges', charges.map(chargeRow) as Row[]);
          await addMissing(step, 'entries', entries.map(entryRow) as Row[]);
        },
      }),
    restore: (opening) =>
      transactions.run({
        async steps(step) {
          await continueFrom(step, opening);
          await saveOpening(step, opening);
        },
      }),
  };
}

async function openedAt(step: Step, wallet: string): Promise<number> {
  const [row] = await firstBatch(step({ find: 'openings', filter: { _id: wallet }, limit: 1 }));
  return Number(row?.seq ?? 0);
}

async function saveOpening(step: Step, opening: Opening): Promise<void> {
  const { wallet: _id, lasting, budgets, kept, seq, ...money } = opening;
  const sums = Object.fromEntries(Object.entries(money).map(([name, sum]) => [name, toLong(sum)]));
  const periods = budgets.map(({ key, period, spent }) => ({ key, period, spent: toLong(spent) }));
  const u = { _id, seq, ...sums, lasting, budgets: periods, kept, mark: markOpening(opening) };
  await step({ update: 'openings', updates: [{ q: { _id }, u, upsert: true }] });
  const [checkpoint] = await firstBatch(step({ find: 'checkpoints', filter: { _id }, limit: 1 }));
  if (Number(checkpoint?.seq ?? 0) >= seq) return;
  await step({ update: 'checkpoints', updates: [{ q: { _id }, u: { _id, seq, ...sums }, upsert: true }] });
}

/** The wallet of a copy, before its first entry. */
async function continueFrom(step: Step, { wallet, seq, budgets, ...sums }: Opening): Promise<void> {
  const { avail, held, charged, topped, adjusted } = sums;
  const money = { avail: toLong(avail), held: toLong(held), charged: toLong(charged) };
  const query = { filter: { wallet, status: { $type: 'string' } }, sort: { seq: -1 }, limit: 1, singleBatch: true };
  const [last] = await firstBatch(step({ find: 'entries', ...query }));
  const { status = 'active' } = last ?? {};
  const $set = { seq, ...money, topped: toLong(topped), adjusted: toLong(adjusted), status };
  const { n } = await step({ update: 'wallets', updates: [{ q: { _id: wallet, seq: 0 }, u: { $set } }] });
  if (n !== 1 || budgets.length === 0) return;
  const updates = budgets.map(({ key, period, spent }) => ({
    q: { _id: key },
    u: { _id: key, wallet, period, spent: toLong(spent) },
    upsert: true,
  }));
  await step({ update: 'budgets', updates });
}

function findAll(step: Step, collection: string, ids: readonly string[]): Promise<Document[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return firstBatch(
    step({ find: collection, filter: { _id: { $in: ids } }, batchSize: ids.length, singleBatch: true }),
  );
}

async function takeOut(step: Step, collection: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await step({ delete: collection, deletes: [{ q: { _id: { $in: ids } }, limit: 0 }] });
}

async function addMissing(step: Step, collection: string, rows: readonly Row[]): Promise<void> {
  const found = new Set(
    (
      await findAll(
        step,
        collection,
        rows.map(({ _id }) => _id),
      )
    ).map(({ _id }) => _id),
  );
  const documents = rows.filter(({ _id }) => !found.has(_id));
  if (documents.length > 0) await step({ insert: collection, documents });
}

/** With `open` in the filter, so that one that is done is not changed: its upsert is a duplicate. */
function putOf(whole: Archive): Document {
  const { id: _id, charged, ...archive } = whole;
  const mark = markArchive(whole);
  const u = { _id, ...archive, charged: toLong(charged), open: archive.state !== 'done', mark };
  return { update: 'archives', updates: [{ q: { _id, open: true }, u, upsert: true }] };
}

function archiveOf(row: Document): Archive {
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

export function openingOf(row: Document): Opening {
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
    budgets: budgetsOf(budgets),
  };
}

/** Of a damaged row none: its mark tells. */
function budgetsOf(rows: unknown): Opening['budgets'] {
  if (!Array.isArray(rows)) return [];
  return rows.map((row: Document) => ({ key: row?.key, period: Number(row?.period), spent: row?.spent }));
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
