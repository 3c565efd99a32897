// Reads a whole SQLite store page by page; every page is one read transaction of bounded length.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Charge, Entry } from '../../money/decide.ts';
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
import { createReadOpenings } from './archives.ts';
import { createReadAttempts, createReadUsedAttempts } from './attempts.ts';
import { inReadTransaction, prepareBig } from './connection.ts';
import {
  BUDGET_COLUMNS,
  CHARGE_COLUMNS,
  ENTRY_COLUMNS,
  readBudgetRow,
  readChargeRow,
  readEntryRow,
  readWalletRow,
  WALLET_COLUMNS,
} from './rows.ts';
import type { PortReads } from './thread-ports.ts';

const SEQ_MAX = 2n ** 63n - 1n;
/** Sorts after every text. */
const AFTER_EVERY_TEXT = new Uint8Array([255]);
const LISTED = '(SELECT value FROM json_each(?))';
const STARTING_ENTRY_IDS = CHARGE_STARTING_KINDS.map((kind) => `'${kind}:' || charges.id`).join(', ');

export function journalReads(db: DatabaseSync): PortReads<'journal'> {
  const size = db.prepare('SELECT count(*) AS wallets, total(seq) AS entries FROM wallets');
  const bound = db.prepare('SELECT id FROM charges WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?');
  const unknown = db.prepare(
    `SELECT id, wallet FROM charges WHERE id > ? AND id <= ?
      AND NOT EXISTS (SELECT 1 FROM entries WHERE op_id IN (${STARTING_ENTRY_IDS})) ORDER BY id`,
  );
  const keys = db.prepare(
    `SELECT keys.id, account, requests_count, last_used_at, accounts.id IS NOT NULL AS has_account
    FROM keys LEFT JOIN accounts ON accounts.id = account WHERE keys.id > ? ORDER BY keys.id LIMIT ?`,
  );
  const used = prepareBig(
    db,
    `SELECT seq, entries.kind, entries.charged, entries.held, charge, created_at, key, model, charges.kind AS charge_kind,
      usage FROM entries LEFT JOIN charges ON charges.id = entries.charge
    WHERE entries.wallet = ? AND seq > ? ORDER BY seq LIMIT ?`,
  );
  const readUsedAttempts = createReadUsedAttempts(db);
  const { readRows, readPage } = createReadPages(db);
  return {
    size: () => size.get() as unknown as Awaited<ReturnType<JournalStore['size']>>,
    page: (from: JournalPosition | undefined, limit: number) => inReadTransaction(db, () => readPage(from, limit)),
    rows: (from: JournalPosition | undefined, limit: number): JournalRows =>
      inReadTransaction(db, () => {
        const { entries, wallets, budgets, next } = readRows(from, limit);
        return { entries, wallets, budgets, next };
      }),
    walletPage: (wallet: string, seq: number, limit: number) =>
      inReadTransaction(db, () => readPage({ id: wallet, seq }, limit, wallet)),
    usedEntries: (wallet: string, seq: number, limit: number): UsedEntry[] =>
      inReadTransaction(db, () => {
        const entries = used.all(wallet, seq, limit).map(readUsedEntryRow);
        return withUsedAttempts(entries, readUsedAttempts(listEndedCharges(entries)));
      }),
    unknownCharges: (after: string, limit: number) =>
      inReadTransaction(db, () => {
        const next = bound.get(after, limit - 1)?.id as string | undefined;
        const found = unknown.all(after, next ?? AFTER_EVERY_TEXT).map(({ id, wallet }) => ({ id, wallet }) as LostRow);
        return next === undefined ? { found } : { found, next };
      }),
    keys: (after: string, limit: number): KeyAudit[] => keys.all(after, limit).map(readKeyAuditRow),
  };
}

interface LostRow {
  readonly id: string;
  readonly wallet: string;
}

type Read<Page> = (from: JournalPosition | undefined, limit: number, only?: string) => Page;

interface Pages {
  readonly readRows: Read<JournalRows & Pick<JournalPage, 'accounts'>>;
  readonly readPage: Read<JournalPage>;
}

function createReadPages(db: DatabaseSync): Pages {
  const entries = prepareBig(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM entries WHERE (wallet, seq) > (?, ?) ORDER BY wallet, seq LIMIT ?`,
  );
  const walletEntries = prepareBig(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM entries WHERE wallet = ? AND seq > ? ORDER BY seq LIMIT ?`,
  );
  const between = 'id >= ?1 AND (?2 OR id <> ?1) AND id <= ?3 ORDER BY id LIMIT ?4';
  const wallets = prepareBig(db, `SELECT ${WALLET_COLUMNS}, grants_due FROM wallets WHERE ${between}`);
  const accounts = db.prepare(`SELECT id FROM accounts WHERE ${between}`);
  const budgets = prepareBig(db, `SELECT ${BUDGET_COLUMNS} FROM budgets WHERE wallet IN ${LISTED} ORDER BY key`);
  const readOpenings = createReadOpenings(db);
  const related = createRelated(db);

  const readRows: Pages['readRows'] = (from, limit, only) => {
    const { id, seq } = from ?? { id: '', seq: null };
    const select = only === undefined ? entries : walletEntries;
    const found = select.all(id, seq ?? SEQ_MAX, limit).map(readEntryRow);
    const end = only ?? (found.length < limit ? AFTER_EVERY_TEXT : (found.at(-1) as Entry).wallet);
    const range = [id, seq === null ? 0 : 1, end, limit] as const;
    const stored = wallets.all(...range).map((row) => ({ wallet: readWalletRow(row), due: row.grants_due }));
    const problems = new Map(stored.map(({ wallet, due }) => [wallet.id, checkGrantsDue(wallet, due)]));
    const rows = {
      entries: found,
      wallets: stored.map(({ wallet }) => wallet),
      accounts: accounts.all(...range).map((row): AccountAudit => {
        const account = row.id as string;
        const problem = problems.get(account);
        return { id: account, ...(problem !== undefined && { problem }) };
      }),
    };
    const cut = (only === undefined ? cutPage : cutWallet)(rows, limit);
    return { ...cut, budgets: budgets.all(JSON.stringify(cut.wallets.map((wallet) => wallet.id))).map(readBudgetRow) };
  };

  const readPage: Pages['readPage'] = (from, limit, only) => {
    const rows = readRows(from, limit, only);
    const walletIds = new Set([...rows.entries.map(({ wallet }) => wallet), ...rows.wallets.map(({ id }) => id)]);
    return { ...rows, openings: readOpenings(walletIds), ...related(rows.entries) };
  };

  return { readRows, readPage };
}

type Related = Pick<JournalPage, 'attempts' | 'charges' | 'others' | 'keys' | 'keyed'>;

function createRelated(db: DatabaseSync): (entries: readonly Entry[]) => Related {
  const charges = prepareBig(db, `SELECT ${CHARGE_COLUMNS} FROM charges WHERE id IN ${LISTED}`);
  const others = prepareBig(db, `SELECT ${ENTRY_COLUMNS} FROM entries WHERE op_id IN ${LISTED}`);
  const keys = db.prepare(`SELECT id, account, budget_key AS budgetKey FROM keys WHERE id IN ${LISTED}`);
  const keyed = db.prepare(`SELECT DISTINCT account FROM keys WHERE account IN ${LISTED}`);
  const readAttempts = createReadAttempts(db);
  const all = (statement: StatementSync, ids: Iterable<string>) => statement.all(JSON.stringify([...ids]));
  return (entries) => {
    const ids = new Set(entries.flatMap((entry) => getEntryChargeId(entry) ?? []));
    const onPage = new Set(entries.map((entry) => entry.opId));
    const found = all(charges, ids).map(readChargeRow);
    const operations = new Set([...ids].flatMap(listChargeOperationIds)).difference(onPage);
    const keyIds = new Set(found.map(({ key }) => key));
    const wallets = new Set(entries.map(({ wallet }) => wallet));
    return {
      charges: found,
      attempts: readAttempts([...ids]),
      others: all(others, operations).map(readEntryRow),
      keys: all(keys, keyIds).map((row) => ({ ...row }) as unknown as Related['keys'][number]),
      keyed: all(keyed, wallets).map((row) => row.account as string),
    };
  };
}

function readUsedEntryRow(row: Record<string, unknown>): UsedEntry {
  const { charged, held } = row as { charged: bigint; held: bigint };
  const entry = { seq: Number(row.seq), kind: row.kind as Entry['kind'], charged, held };
  if (row.key === null) return entry;
  const { charge: id, key, model, usage } = row as { charge: string; key: string; model: string; usage: string | null };
  const kind = row.charge_kind as Charge['kind'];
  return { ...entry, charge: { id, createdAt: Number(row.created_at), key, model, kind, usage } };
}

function readKeyAuditRow(row: Record<string, unknown>): KeyAudit {
  return {
    id: row.id as string,
    account: row.account as string,
    hasAccount: row.has_account === 1,
    requestsCount: row.requests_count as number,
    lastUsedAt: row.last_used_at as number | null,
  };
}
