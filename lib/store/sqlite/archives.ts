// Archives and openings in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { Charge, Entry } from '../../money/decide.ts';
import { listEntryIds, markArchive, markOpening, openingRow, selectRemovableCalls } from '../archives.ts';
import type { Archive, Opening, OpeningRows, WholeCall } from '../ports/archives.ts';
import type { WrongMarks } from '../ports/wrong-marks.ts';
import { listWrongMarks } from '../row-mark.ts';
import { createDropAttempts, createReadAttempts } from './attempts.ts';
import { createPutCheckpoint } from './checkpoints.ts';
import { type Connection, prepareBig } from './connection.ts';
import { createAddCharge, createAddEntry, createSetGrants } from './ledger.ts';
import { CHARGE_COLUMNS, ENTRY_COLUMNS, readChargeRow, readEntryRow, readGrantCells } from './rows.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const ARCHIVE_COLUMNS = 'id, file, before, state, started_at, sha256, calls, entries, charged, first, last';
const OPENING_COLUMNS =
  'wallet, seq, avail, held, charged, topped, adjusted, overshoot, lasting, budgets, kept, granted, grants';
const LISTED = '(SELECT value FROM json_each(?))';

export function archiveWrites({ db, write }: Connection): PortWrites<'archives'> {
  const unfinished = prepareBig(db, `SELECT ${ARCHIVE_COLUMNS} FROM archives WHERE state <> 'done'`);
  const put = db.prepare(
    `INSERT INTO archives (${ARCHIVE_COLUMNS}, mark) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    ON CONFLICT (id) DO UPDATE SET
      state = ?4, sha256 = ?6, calls = ?7, entries = ?8, charged = ?9, first = ?10, last = ?11, mark = ?12 WHERE state <> 'done'`,
  );
  const drop = db.prepare("DELETE FROM archives WHERE id = ? AND state = 'writing'");
  const opening = prepareBig(db, `SELECT ${OPENING_COLUMNS} FROM openings WHERE wallet = ?`);
  const save = db.prepare(
    `INSERT INTO openings (${OPENING_COLUMNS}, mark) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
    ON CONFLICT (wallet) DO UPDATE SET seq = ?2, avail = ?3, held = ?4, charged = ?5, topped = ?6, adjusted = ?7,
      overshoot = ?8, lasting = ?9, budgets = ?10, kept = ?11, granted = ?12, grants = ?13, mark = ?14`,
  );
  const putCheckpoint = createPutCheckpoint(db);
  const removeCalls = createRemoveCalls(db);
  const restoring = createRestoreRows(db);
  const saveArchive = (archive: Archive) => void put.run(...toArchiveCells(archive), markArchive(archive));
  const saveOpening = (of: Opening) => {
    save.run(...toOpeningCells(of), markOpening(of));
    putCheckpoint(of);
  };
  return {
    begin: (archive: Archive): Archive =>
      write(() => {
        const [found] = unfinished.all();
        if (found) return readArchiveRow(found);
        saveArchive(archive);
        return archive;
      }),
    put: (archive: Archive): void => write(() => saveArchive(archive)),
    drop: (id: string): void => write(() => void drop.run(id)),
    open: (of: Opening, from: number): boolean =>
      write(() => {
        if (Number(opening.get(of.wallet)?.seq ?? 0) !== from) return false;
        saveOpening(of);
        return true;
      }),
    remove: (wallet: string, calls: readonly WholeCall[]): void =>
      write(() => removeCalls(calls, Number(opening.get(wallet)?.seq ?? 0))),
    restoreRows: (rows: OpeningRows): void => write(() => restoring.rows(rows)),
    restore: (of: Opening): void =>
      write(() => {
        restoring.wallet(of);
        saveOpening(of);
      }),
  };
}

export function archiveReads(db: DatabaseSync): PortReads<'archives'> {
  const list = prepareBig(db, `SELECT ${ARCHIVE_COLUMNS} FROM archives ORDER BY started_at, id`);
  const one = prepareBig(db, `SELECT ${OPENING_COLUMNS} FROM openings WHERE wallet = ?`);
  const page = prepareBig(db, `SELECT ${OPENING_COLUMNS} FROM openings WHERE wallet > ? ORDER BY wallet LIMIT ?`);
  const marked = {
    archives: prepareBig(db, `SELECT ${ARCHIVE_COLUMNS}, mark FROM archives WHERE id > ? ORDER BY id LIMIT ?`),
    openings: prepareBig(db, `SELECT ${OPENING_COLUMNS}, mark FROM openings WHERE wallet > ? ORDER BY wallet LIMIT ?`),
  };
  return {
    findWrongMarks: (sort: keyof typeof marked, page: { after?: string; limit: number }): WrongMarks => {
      const { after = '', limit } = page;
      const rows = marked[sort].all(after, limit);
      if (sort === 'openings')
        return listWrongMarks(
          rows.map((row) => ({
            row: openingRow(readOpeningRow(row)),
            mark: parseOpeningBudgets(row.budgets) ? row.mark : 'none',
          })),
          limit,
        );
      return listWrongMarks(
        rows.map((row) => ({ row: readArchiveRow(row), mark: row.mark })),
        limit,
      );
    },
    list: (): Archive[] => list.all().map(readArchiveRow),
    opening: (wallet: string): Opening | undefined => one.all(wallet).map(readOpeningRow)[0],
    openings: ({ after, limit }: { after: string; limit: number }): Opening[] =>
      page.all(after, limit).map(readOpeningRow),
  };
}

/** Reads the openings of the given wallets, inside the current transaction. */
export function createReadOpenings(db: DatabaseSync): (wallets: Iterable<string>) => Opening[] {
  const select = prepareBig(db, `SELECT ${OPENING_COLUMNS} FROM openings WHERE wallet IN ${LISTED}`);
  return (wallets) => select.all(JSON.stringify([...wallets])).map(readOpeningRow);
}

function createRemoveCalls(db: DatabaseSync): (calls: readonly WholeCall[], opened: number) => void {
  const charges = prepareBig(db, `SELECT ${CHARGE_COLUMNS} FROM charges WHERE id IN ${LISTED}`);
  const entries = prepareBig(db, `SELECT ${ENTRY_COLUMNS} FROM entries WHERE op_id IN ${LISTED}`);
  const readAttempts = createReadAttempts(db);
  const dropAttempts = createDropAttempts(db);
  const dropCharge = db.prepare('DELETE FROM charges WHERE id = ?');
  const dropEntry = db.prepare('DELETE FROM entries WHERE op_id = ?');
  return (calls, opened) => {
    const ids = calls.map(({ charge }) => charge.id);
    const rows = {
      charges: charges.all(JSON.stringify(ids)).map(readChargeRow),
      entries: entries.all(JSON.stringify(listEntryIds(calls))).map(readEntryRow),
      attempts: readAttempts(ids),
    };
    for (const { charge, entries } of selectRemovableCalls(calls, rows, opened)) {
      for (const { opId } of entries) dropEntry.run(opId);
      dropAttempts(charge.id);
      dropCharge.run(charge.id);
    }
  };
}

function createRestoreRows(db: DatabaseSync) {
  const addCharge = createAddCharge(db);
  const addEntry = createAddEntry(db);
  const setGrants = createSetGrants(db);
  const hasCharge = db.prepare('SELECT 1 FROM charges WHERE id = ?');
  const hasEntry = db.prepare('SELECT 1 FROM entries WHERE op_id = ?');
  const saveWallet = db.prepare(
    `UPDATE wallets SET avail = ?1, held = ?2, charged = ?3, topped = ?4, adjusted = ?5, seq = ?6, granted = ?8, status = coalesce(
      (SELECT status FROM entries WHERE wallet = ?7 AND status IS NOT NULL ORDER BY seq DESC LIMIT 1), 'active')
    WHERE id = ?7 AND seq = 0`,
  );
  const saveBudget = db.prepare('INSERT OR REPLACE INTO budgets (key, wallet, period, spent) VALUES (?, ?, ?, ?)');
  return {
    rows({ charges, entries }: { charges: readonly Charge[]; entries: readonly Entry[] }): void {
      for (const charge of charges) if (!hasCharge.get(charge.id)) addCharge(charge);
      for (const entry of entries) if (!hasEntry.get(entry.opId)) addEntry(entry);
    },
    wallet({ wallet, seq, avail, held, charged, topped, adjusted, granted = 0n, grants, budgets }: Opening): void {
      const { changes } = saveWallet.run(avail, held, charged, topped, adjusted, seq, wallet, granted);
      if (changes === 0) return;
      setGrants({ id: wallet, ...(grants !== undefined && { grants }) });
      for (const { key, period, spent } of budgets) saveBudget.run(key, wallet, period, spent);
    },
  };
}

function toArchiveCells(archive: Archive) {
  const { id, file, before, state, startedAt, sha256, calls, entries, charged, first, last } = archive;
  return [id, file, before, state, startedAt, sha256, calls, entries, charged, first, last] as const;
}

function readArchiveRow(row: Record<string, unknown>): Archive {
  const { id, file, state, sha256, charged } = row as unknown as Archive;
  const { before, started_at, calls, entries, first, last } = row;
  return {
    id,
    file,
    before: Number(before),
    state,
    startedAt: Number(started_at),
    sha256,
    calls: Number(calls),
    entries: Number(entries),
    charged,
    first: numberOrNull(first),
    last: numberOrNull(last),
  };
}

function toOpeningCells({ wallet, seq, lasting, budgets, kept, ...sums }: Opening) {
  const { avail, held, charged, topped, adjusted, overshoot, granted = 0n, grants = null } = sums;
  const texts = budgets.map(({ key, period, spent }) => [key, period, `${spent}`]);
  const money = [avail, held, charged, topped, adjusted, overshoot] as const;
  return [wallet, seq, ...money, lasting, JSON.stringify(texts), kept, granted, grants] as const;
}

function readOpeningRow(row: Record<string, unknown>): Opening {
  const { wallet, avail, held, charged, topped, adjusted, overshoot, kept } = row as unknown as Opening;
  return {
    wallet,
    seq: Number(row.seq),
    avail,
    held,
    charged,
    topped,
    adjusted,
    overshoot,
    lasting: Number(row.lasting),
    kept,
    budgets: readOpeningBudgets(row.budgets),
    ...readGrantCells(row),
  };
}

/** Returns no budgets for a damaged row, whose mark is then reported. */
function readOpeningBudgets(json: unknown): Opening['budgets'] {
  return (parseOpeningBudgets(json) ?? []).map(([key, period, spent]) => ({ key, period, spent }));
}

function parseOpeningBudgets(json: unknown): readonly (readonly [string, number, bigint])[] | undefined {
  try {
    const texts: [string, number, string][] = JSON.parse(json as string);
    return texts.map(([key, period, spent]) => [key, period, BigInt(spent)]);
  } catch {
    return undefined;
  }
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
