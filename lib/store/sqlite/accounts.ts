// Accounts in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { Wallet } from '../../money/decide.ts';
import { parseRequestLimits, type RequestLimits } from '../../money/request-limits.ts';
import type { Account, AccountStore, AccountSummary, Allowance, AutoTopup, PriceListUse } from '../ports/accounts.ts';
import type { WrongMarks } from '../ports/wrong-marks.ts';
import { listWrongMarks, markAccount } from '../row-mark.ts';
import { decideStatusChange } from '../status.ts';
import { type Connection, prepareBig } from './connection.ts';
import { createAddEntry } from './ledger.ts';
import { readWalletRow, WALLET_COLUMNS } from './rows.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const SELECT_ACCOUNT = `SELECT accounts.id, name, created_at, auto_topup_enabled, auto_topup_amount,
  auto_topup_threshold, request_limits, price_list, allowance_amount, allowance_reason, status FROM accounts JOIN wallets ON wallets.id = accounts.id`;

export function accountWrites({ db, write }: Connection): PortWrites<'accounts'> {
  const insertAccount = db.prepare('INSERT INTO accounts (id, name, created_at) VALUES (?, ?, ?)');
  const insertWallet = db.prepare('INSERT INTO wallets (id) VALUES (?)');
  const wallet = prepareBig(db, `SELECT ${WALLET_COLUMNS} FROM wallets WHERE id = ?`);
  const setStatus = db.prepare('UPDATE wallets SET status = ?, seq = ? WHERE id = ?');
  const addEntry = createAddEntry(db);
  const setWalletFlags = db.prepare('UPDATE wallets SET play_money = ?, opened = ? WHERE id = ?');
  const setAutoTopup = db.prepare(
    'UPDATE accounts SET auto_topup_enabled = ?, auto_topup_amount = ?, auto_topup_threshold = ? WHERE id = ?',
  );
  const setName = db.prepare('UPDATE accounts SET name = ? WHERE id = ?');
  const setRequestLimits = db.prepare('UPDATE accounts SET request_limits = ? WHERE id = ?');
  const setPriceList = db.prepare('UPDATE accounts SET price_list = ? WHERE id = ?');
  const setAllowance = db.prepare('UPDATE accounts SET allowance_amount = ?, allowance_reason = ? WHERE id = ?');
  const put = db.prepare(
    `INSERT INTO accounts (id, name, created_at, auto_topup_enabled, auto_topup_amount, auto_topup_threshold,
      request_limits, price_list, allowance_amount, allowance_reason)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (id) DO UPDATE SET name = ?2, auto_topup_enabled = ?4, auto_topup_amount = ?5, auto_topup_threshold = ?6,
      request_limits = ?7, price_list = ?8, allowance_amount = ?9, allowance_reason = ?10`,
  );
  const putWallet = db.prepare('INSERT INTO wallets (id) VALUES (?) ON CONFLICT DO NOTHING');
  const mark = createUpdateAccountMark(db);
  return {
    put: (accounts: readonly Omit<Account, 'status'>[]): void =>
      write(() => {
        for (const { id, name, createdAt, autoTopup, requests, priceList = null, allowance } of accounts) {
          const { enabled, amount, threshold } = autoTopup;
          const cells = [toJsonCell(requests), priceList, allowance?.amount ?? null, allowance?.reason ?? null];
          put.run(id, name, createdAt, Number(enabled), amount, threshold, ...cells);
          putWallet.run(id);
          mark(id);
        }
      }),
    create: ({ id, name, createdAt }: Pick<Account, 'id' | 'name' | 'createdAt'>): void =>
      write(() => {
        insertAccount.run(id, name, createdAt);
        insertWallet.run(id);
        mark(id);
      }),
    setStatus: (id: string, status: Account['status']): boolean =>
      write(() => {
        const found = wallet.get(id);
        if (!found) return false;
        const decision = decideStatusChange(readWalletRow(found), status);
        if (!decision.entry) return true;
        setStatus.run(status, decision.entry.seq, id);
        addEntry(decision.entry);
        return true;
      }),
    setWalletFlags: (id: string, { playMoney, opened }: Pick<Wallet, 'playMoney' | 'opened'>): boolean =>
      write(() => setWalletFlags.run(playMoney ? 1 : 0, opened ? 1 : 0, id).changes === 1),
    setAutoTopup: (id: string, { enabled, amount, threshold }: AutoTopup): boolean =>
      write(() => setAutoTopup.run(Number(enabled), amount, threshold, id).changes === 1),
    setName: (id: string, name: string): boolean => write(() => setName.run(name, id).changes === 1 && mark(id)),
    setRequestLimits: (id: string, limits: RequestLimits | undefined): boolean =>
      write(() => setRequestLimits.run(toJsonCell(limits), id).changes === 1 && mark(id)),
    setPriceList: (id: string, priceList: string | undefined): boolean =>
      write(() => setPriceList.run(priceList ?? null, id).changes === 1 && mark(id)),
    setAllowance: (id: string, allowance: Allowance | undefined): boolean =>
      write(() => setAllowance.run(allowance?.amount ?? null, allowance?.reason ?? null, id).changes === 1 && mark(id)),
  };
}

/** Called after every change of what the mark covers, in its transaction. */
function createUpdateAccountMark(db: DatabaseSync): (id: string) => true {
  const select = prepareBig(db, `${SELECT_ACCOUNT} WHERE accounts.id = ?`);
  const update = db.prepare('UPDATE accounts SET mark = ? WHERE id = ?');
  return (id) => {
    const row = select.get(id);
    if (row) update.run(markAccount(readAccountRow(row)), id);
    return true;
  };
}

export function accountReads(db: DatabaseSync): PortReads<'accounts'> {
  const summaries = prepareBig(
    db,
    'SELECT id, name, status, created_at, price_list, request_limits, avail, topped FROM accounts JOIN wallets USING (id)',
  );
  const created = db.prepare('SELECT count(*) AS count FROM accounts WHERE created_at >= ? AND created_at < ?');
  const account = prepareBig(db, `${SELECT_ACCOUNT} WHERE accounts.id = ?`);
  const names = db.prepare('SELECT id, name FROM accounts WHERE id IN (SELECT value FROM json_each(?))');
  const accounts = prepareBig(db, `${SELECT_ACCOUNT} ORDER BY created_at, accounts.id`);
  const page = prepareBig(db, `${SELECT_ACCOUNT} WHERE accounts.id > ? ORDER BY accounts.id LIMIT ?`);
  const uses = db.prepare(
    `SELECT price_list, count(*) AS accounts FROM accounts WHERE price_list IS NOT NULL GROUP BY price_list
    ORDER BY price_list`,
  );
  const allowances = prepareBig(
    db,
    `SELECT id, allowance_amount AS amount, allowance_reason AS reason FROM accounts
    WHERE allowance_amount IS NOT NULL ORDER BY id`,
  );
  const marked = prepareBig(
    db,
    `${SELECT_ACCOUNT.replace('status FROM', 'status, mark FROM')} WHERE accounts.id > ? ORDER BY accounts.id LIMIT ?`,
  );
  return {
    findWrongMarks: ({ after = '', limit }: Parameters<AccountStore['findWrongMarks']>[0]): WrongMarks => {
      const rows = marked.all(after, limit).map((row) => ({ account: readAccountRow(row), mark: row.mark }));
      return listWrongMarks(
        rows.map(({ account, mark }) => ({ row: { id: account.id }, mark, wanted: markAccount(account) })),
        limit,
      );
    },
    get: (id: string): Account | undefined => {
      const row = account.get(id);
      return row && readAccountRow(row);
    },
    names: (ids: readonly string[]): Pick<Account, 'id' | 'name'>[] =>
      names.all(JSON.stringify(ids)).map(({ id, name }) => ({ id: id as string, name: name as string })),
    list: (): Account[] => accounts.all().map(readAccountRow),
    summaries: () => summaries.all().map(readSummaryRow),
    countCreated: ({ from, to }: Parameters<AccountStore['countCreated']>[0]): number =>
      Number(created.get(from, to)?.count),
    page: ({ after = '', limit }: Parameters<AccountStore['page']>[0]): Account[] =>
      page.all(after, limit).map(readAccountRow),
    allowances: () => allowances.all().map((row) => ({ ...row }) as unknown as Allowance & { id: string }),
    countPriceLists: (): PriceListUse[] =>
      uses.all().map((row) => ({ priceList: row.price_list as string, accounts: Number(row.accounts) })),
  };
}

export function toJsonCell(limits: RequestLimits | undefined): string | null {
  return limits === undefined ? null : JSON.stringify(limits);
}

function readSummaryRow(row: Record<string, unknown>): AccountSummary {
  const requests = parseRequestLimits(row.request_limits);
  return {
    id: row.id as string,
    name: row.name as string,
    status: row.status as Account['status'],
    createdAt: Number(row.created_at),
    ...(row.price_list !== null && { priceList: row.price_list as string }),
    ...(requests && { requests }),
    avail: row.avail as bigint,
    topped: row.topped as bigint,
  };
}

function readAccountRow(row: Record<string, unknown>): Account {
  const requests = parseRequestLimits(row.request_limits);
  return {
    ...(requests && { requests }),
    ...(row.price_list !== null && { priceList: row.price_list as string }),
    ...(row.allowance_amount !== null && {
      allowance: { amount: row.allowance_amount as bigint, reason: row.allowance_reason as string },
    }),
    id: row.id as string,
    name: row.name as string,
    status: row.status as Account['status'],
    createdAt: Number(row.created_at),
    autoTopup: {
      enabled: row.auto_topup_enabled === 1n,
      amount: row.auto_topup_amount as bigint,
      threshold: row.auto_topup_threshold as bigint,
    },
  };
}
