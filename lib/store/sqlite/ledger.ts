// The money tables of the SQLite store: one batch is one transaction; reads and audits see committed rows only.
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import {
  collectBatchKeys,
  collectBudgetKeys,
  collectExposedWallets,
  collectIdempotencyIds,
} from '../../money/batch-keys.ts';
import { type BudgetSum, RUN_IDS } from '../../money/budget.ts';
import { type Charge, type Entry, getChargeId, type Operation, type Outcome, type Wallet } from '../../money/decide.ts';
import { addExposure, type Folded, fold, type Loaded, listReplacedAttempts } from '../../money/fold.ts';
import { findNextEnd } from '../../money/grants.ts';
import type { Micro } from '../../money/money.ts';
import { CHARGE_STARTING_KINDS, SERVICE_OWNER } from '../../money/operations.ts';
import { listChargeOperationIds } from '../../money/replay.ts';
import { createHeldChargeCache } from '../held-charge-cache.ts';
import {
  type BudgetPage,
  type ChargePage,
  type LeaseRenewal,
  type LedgerStore,
  type OrphanPage,
  OUT_OF_ORDER_MAX,
} from '../ports/ledger.ts';
import { createDropAttempts, createSaveAttempt } from './attempts.ts';
import { type Connection, prepareBig } from './connection.ts';
import { createLoadIdempotencyRecord, createSaveIdempotencyRecord } from './idempotency.ts';
import { createLoadJob, createSaveJob } from './jobs.ts';
import { ALIVE } from './owners.ts';
import { createPaidReads } from './paid-reads.ts';
import { createLoadPayment, createSavePayment } from './payments.ts';
import {
  BUDGET_COLUMNS,
  CHARGE_COLUMNS,
  ENTRY_COLUMNS,
  readBudgetCells,
  readBudgetRow,
  readChargeRow,
  readEntryRow,
  readWalletRow,
  WALLET_COLUMNS,
} from './rows.ts';
import { MOVES_MONEY } from './schema.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';
import { createTransferReads } from './transfers.ts';

const SELECT_WALLET = `SELECT ${WALLET_COLUMNS} FROM wallets WHERE id = ?`;
const SELECT_BUDGETS = `SELECT ${BUDGET_COLUMNS} FROM budgets WHERE key IN (SELECT value FROM json_each(?))`;
const SELECT_ENTRY = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE op_id = ?`;
const SELECT_CHARGE = `SELECT ${CHARGE_COLUMNS} FROM charges WHERE id = ?`;

export function ledgerWrites({ db, write }: Connection): PortWrites<'ledger'> {
  const getChargeCache = createHeldChargeCache();
  const load = createLoadBatch(db, getChargeCache);
  const save = createSaveBatch(db);
  const renewLease = db.prepare(
    "UPDATE charges SET lease = ? WHERE id = ? AND owner = ? AND state = 'held' AND lease > ?",
  );
  const removeRuns = db.prepare(
    `DELETE FROM budgets WHERE key IN (
      SELECT key FROM budgets WHERE key >= '${RUN_IDS.first}' AND key < '${RUN_IDS.after}' AND period < ? LIMIT ?
    )`,
  );
  return {
    renewLease: ({ charge, owner, lease, now }: LeaseRenewal): boolean =>
      write(() => renewLease.run(lease, charge, owner, now).changes === 1),
    removeRuns: (before: number, limit: number): number => write(() => Number(removeRuns.run(before, limit).changes)),
    apply: (operations: readonly Operation[]): readonly Outcome[] => {
      const { loaded, folded } = write(() => {
        const rows = load(operations);
        const result = fold(rows, operations);
        save(rows, result);
        return { loaded: rows, folded: result };
      });
      rememberCharges(getChargeCache, loaded, folded);
      return folded.outcomes;
    },
  };
}

/** Called only after the commit: another writer may use the `seq` of an uncommitted write. */
function rememberCharges(
  getChargeCache: ReturnType<typeof createHeldChargeCache>,
  loaded: Loaded,
  folded: Folded,
): void {
  const changed = Map.groupBy(folded.charges, (charge) => charge.wallet);
  for (const { id, seq } of folded.wallets) {
    const { seq: seqBefore } = loaded.wallets.get(id) as Wallet;
    getChargeCache(id).remember({ seqBefore, seqAfter: seq, changed: changed.get(id) ?? [] });
  }
}

function createLoadBatch(
  db: DatabaseSync,
  getChargeCache: ReturnType<typeof createHeldChargeCache>,
): (operations: readonly Operation[]) => Loaded {
  const selectWallet = prepareBig(db, SELECT_WALLET);
  const selectCharge = prepareBig(db, SELECT_CHARGE);
  const selectEntry = prepareBig(db, SELECT_ENTRY);
  const selectBudgets = prepareBig(db, SELECT_BUDGETS);
  const selectExposed = prepareBig(
    db,
    `SELECT key, budget_key, period, caps, sum(excess) AS sum FROM charges
    WHERE wallet = ? AND state = 'held' AND excess IS NOT NULL GROUP BY key, budget_key, period, caps`,
  );
  const loadJob = createLoadJob(db);
  const loadPayment = createLoadPayment(db);
  const loadIdempotencyRecord = createLoadIdempotencyRecord(db);
  return (operations) => {
    const keys = collectBatchKeys(operations);
    const rows = { wallets: new Map(), charges: new Map(), entries: new Map(), jobs: new Map(), budgets: new Map() };
    const exposed = new Map<string, Micro>();
    const loaded: Loaded = { ...rows, payments: new Map(), idempotencyRecords: new Map(), exposed };
    for (const wallet of collectExposedWallets(operations)) {
      for (const { sum, ...row } of selectExposed.all(wallet)) {
        addExposure(exposed, { wallet, ...readBudgetCells(row) }, sum as Micro);
      }
    }
    for (const id of keys.wallets) {
      const wallet = mapRow(selectWallet.get(id), readWalletRow);
      if (wallet) loaded.wallets.set(id, wallet);
    }
    const loadCharge = (wallet: string, id: string) => {
      if (loaded.charges.has(id)) return;
      const { seq } = loaded.wallets.get(wallet) ?? {};
      const charge = getChargeCache(wallet).at(seq, id) ?? mapRow(selectCharge.get(id), readChargeRow);
      if (charge) loaded.charges.set(id, charge);
    };
    for (const op of operations) {
      const id = getChargeId(op);
      if (id !== undefined) loadCharge(op.wallet, id);
    }
    for (const id of collectIdempotencyIds(operations)) {
      const record = loadIdempotencyRecord(id);
      if (!record) continue;
      loaded.idempotencyRecords.set(id, record);
      loadCharge(record.wallet, record.charge);
    }
    for (const id of keys.entries) {
      const entry = mapRow(selectEntry.get(id), readEntryRow);
      if (entry) loaded.entries.set(id, entry);
    }
    for (const id of keys.jobs) {
      const job = loadJob(id);
      if (job) loaded.jobs.set(id, job);
    }
    for (const id of keys.payments) {
      const payment = loadPayment(id);
      if (payment) loaded.payments.set(id, payment);
    }
    const budgets = collectBudgetKeys(operations, loaded.charges);
    for (const row of selectBudgets.all(JSON.stringify([...budgets])))
      loaded.budgets.set(row.key as string, readBudgetRow(row));
    return loaded;
  };
}

function createSaveBatch(db: DatabaseSync): (loaded: Loaded, folded: Folded) => void {
  const saveWallet = createSaveWallet(db);
  const addCharge = createAddCharge(db);
  const changeCharge = createChangeCharge(db);
  const addEntry = createAddEntry(db);
  const saveJob = createSaveJob(db);
  const savePayment = createSavePayment(db);
  const setStatus = db.prepare('UPDATE wallets SET status = ? WHERE id = ?');
  const mark = db.prepare('UPDATE wallets SET play_money = ? WHERE id = ?');
  const open = db.prepare('UPDATE wallets SET opened = 1 WHERE id = ?');
  const setGrants = createSetGrants(db);
  const saveBudget = createSaveBudget(db);
  const saveIdempotencyRecord = createSaveIdempotencyRecord(db);
  const saveAttempt = createSaveAttempt(db);
  const dropAttempts = createDropAttempts(db);
  return (loaded, folded) => {
    for (const wallet of folded.wallets) {
      const before = loaded.wallets.get(wallet.id);
      saveWallet(wallet);
      if (wallet.grants !== before?.grants) setGrants(wallet);
      if (wallet.status !== before?.status) setStatus.run(wallet.status, wallet.id);
      if (wallet.playMoney !== before?.playMoney) mark.run(wallet.playMoney ? 1 : 0, wallet.id);
      if (wallet.opened && !before?.opened) open.run(wallet.id);
    }
    for (const charge of folded.charges) {
      if (loaded.charges.has(charge.id)) changeCharge(charge);
      else addCharge(charge);
    }
    for (const entry of folded.entries) addEntry(entry);
    for (const job of folded.jobs) saveJob(job);
    for (const payment of folded.payments) savePayment(payment);
    for (const budget of folded.budgets) saveBudget(budget);
    for (const record of folded.idempotencyRecords) saveIdempotencyRecord(record);
    for (const charge of listReplacedAttempts(loaded, folded)) dropAttempts(charge);
    for (const attempt of folded.attempts) saveAttempt(attempt);
  };
}

function createSaveWallet(db: DatabaseSync): (wallet: Wallet) => void {
  // No other process writes during the transaction, and a used `seq` would be refused by the journal.
  const update = db.prepare(
    'UPDATE wallets SET avail = ?, held = ?, charged = ?, topped = ?, adjusted = ?, granted = ?, seq = ? WHERE id = ?',
  );
  return ({ id, avail, held, charged, topped, adjusted, granted = 0n, seq }) => {
    const { changes } = update.run(avail, held, charged, topped, adjusted, granted, seq, id);
    assert.equal(changes, 1);
  };
}

export function createSetGrants(db: DatabaseSync): (wallet: Pick<Wallet, 'id' | 'grants'>) => void {
  const update = db.prepare('UPDATE wallets SET grants = ?, grants_due = ? WHERE id = ?');
  return ({ id, grants }) => void update.run(grants ?? null, findNextEnd({ grants }), id);
}

function createSaveBudget(db: DatabaseSync): (budget: BudgetSum) => void {
  const save = db.prepare(
    `INSERT INTO budgets (${BUDGET_COLUMNS}) VALUES (?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET period = ?3, spent = ?4`,
  );
  return ({ key, wallet, period, spent }) => void save.run(key, wallet, period, spent);
}

export function createAddCharge(db: DatabaseSync): (charge: Charge) => void {
  const insert = db.prepare(`INSERT INTO charges (${CHARGE_COLUMNS}) VALUES (${CHARGE_COLUMNS.replace(/\w+/g, '?')})`);
  return (charge) => {
    const { id, wallet, key, kind, state, reserved, charged, model, prices } = charge;
    const { usage, owner, lease, createdAt, endedAt, period, budgetKey, excess = null, grants = null } = charge;
    const caps = charge.caps ? JSON.stringify(charge.caps) : null;
    const money = [id, wallet, key, kind, state, reserved, charged, model, prices] as const;
    insert.run(...money, usage, owner, lease, createdAt, endedAt, period, budgetKey, excess, caps, grants);
  };
}

function createChangeCharge(db: DatabaseSync): (charge: Charge) => void {
  const update = db.prepare(
    `UPDATE charges SET state = ?, charged = ?, usage = ?, owner = ?, lease = ?, ended_at = ?, grants = ?
    WHERE id = ?`,
  );
  return ({ id, state, charged, usage, owner, lease, endedAt, grants = null }) => {
    update.run(state, charged, usage, owner, lease, endedAt, grants, id);
  };
}

export function createAddEntry(db: DatabaseSync): (entry: Entry) => void {
  const insert = db.prepare(`INSERT INTO entries (${ENTRY_COLUMNS}) VALUES (${ENTRY_COLUMNS.replace(/\w+/g, '?')})`);
  return (entry) => {
    const { opId, wallet, seq, kind, charge, at } = entry;
    const {
      avail,
      held,
      charged,
      topped,
      adjusted,
      overshoot,
      chargedAfter,
      note,
      status,
      mark,
      granted = 0n,
      grants = null,
    } = entry;
    const money = [avail, held, charged, topped, adjusted, overshoot, chargedAfter] as const;
    insert.run(opId, wallet, seq, kind, charge, at, ...money, note, status, mark, granted, grants);
  };
}

export function ledgerReads(db: DatabaseSync): PortReads<'ledger'> {
  const wallet = prepareBig(db, SELECT_WALLET);
  const charge = prepareBig(db, SELECT_CHARGE);
  const entry = prepareBig(db, SELECT_ENTRY);
  const entries = prepareBig(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM entries WHERE wallet = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  );
  // The index of op ids finds the entries of a charge, which saves a separate index.
  const listChargeEntries = prepareBig(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM entries WHERE op_id IN (SELECT value FROM json_each(?)) ORDER BY seq`,
  );
  const listCharges = createListCharges(db);
  const chargedAt = prepareBig(
    db,
    `SELECT charged_after FROM entries WHERE wallet = :wallet AND seq = (
      SELECT max(seq) FROM (
        SELECT seq FROM entries WHERE wallet = :wallet AND at <= :at AND charged <> 0
        ORDER BY at DESC, seq DESC LIMIT ${OUT_OF_ORDER_MAX}
      )
    )`,
  );
  const budgets = prepareBig(db, SELECT_BUDGETS);
  const budgetPage = prepareBig(
    db,
    `SELECT ${BUDGET_COLUMNS} FROM budgets WHERE key > ? AND key < ? ORDER BY key LIMIT ?`,
  );
  const grantsDue = prepareBig(
    db,
    `SELECT ${WALLET_COLUMNS} FROM wallets WHERE grants_due <= :now AND id > :after ORDER BY id LIMIT :limit`,
  );
  const orphans = prepareBig(
    db,
    `SELECT ${CHARGE_COLUMNS} FROM charges WHERE state = 'held' AND (
        lease < :now OR lease > :now + 2 * :leaseMs AND owner <> '${SERVICE_OWNER}'
      )
      AND (lease, id) > (:lease, :id)
      AND NOT EXISTS (SELECT 1 FROM owners WHERE owners.id = charges.owner AND ${ALIVE})
    ORDER BY lease, id LIMIT :limit`,
  );
  return {
    wallet: (id: string): Wallet | undefined => mapRow(wallet.get(id), readWalletRow),
    charge: (id: string): Charge | undefined => mapRow(charge.get(id), readChargeRow),
    charges: listCharges,
    entry: (opId: string): Entry | undefined => mapRow(entry.get(opId), readEntryRow),
    entries: (walletId: string, { before, limit }: Parameters<LedgerStore['entries']>[1]): Entry[] =>
      entries.all(walletId, before ?? Number.MAX_SAFE_INTEGER, limit).map(readEntryRow),
    listChargeEntries: (chargeId: string): Entry[] =>
      listChargeEntries.all(JSON.stringify(listChargeOperationIds(chargeId))).map(readEntryRow),
    chargedAt: (walletId: string, at: number): Micro =>
      mapRow(chargedAt.get({ wallet: walletId, at }), (row) => row.charged_after as bigint) ?? 0n,
    ...createMovementReads(db),
    ...createPaidReads(db),
    ...createTransferReads(db),
    budgets: (keys: readonly string[]): BudgetSum[] => budgets.all(JSON.stringify(keys)).map(readBudgetRow),
    budgetPage: ({ after, before, limit }: BudgetPage): BudgetSum[] =>
      budgetPage.all(after, before, limit).map(readBudgetRow),
    grantsDue: (page: Parameters<LedgerStore['grantsDue']>[0]): Wallet[] =>
      grantsDue.all({ ...page }).map(readWalletRow),
    orphans: ({ after = { lease: Number.MIN_SAFE_INTEGER, id: '' }, ...page }: OrphanPage): Charge[] =>
      orphans.all({ ...page, ...after }).map(readChargeRow),
  };
}

function createMovementReads(db: DatabaseSync) {
  const movements = prepareBig(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM entries WHERE wallet = ? AND ${MOVES_MONEY} AND at >= ? AND at < ?
    ORDER BY at, seq LIMIT ?`,
  );
  const movedSince = prepareBig(
    db,
    `SELECT coalesce(sum(topped + adjusted + coalesce(granted, 0)), 0) AS amount FROM entries
    WHERE wallet = ? AND ${MOVES_MONEY} AND at >= ?`,
  );
  return {
    movements: (walletId: string, { from, to, limit }: Parameters<LedgerStore['movements']>[1]): Entry[] =>
      movements.all(walletId, from, to, limit).map(readEntryRow),
    movedSince: (walletId: string, at: number): Micro =>
      mapRow(movedSince.get(walletId, at), (row) => row.amount as bigint) ?? 0n,
  };
}

/** Lists charges through the entries that start them, which saves an index that every call would have to update. */
function createListCharges(db: DatabaseSync): (wallet: string, page: ChargePage) => Charge[] {
  const columns = CHARGE_COLUMNS.replace(/\w+/g, (name) => `charges.${name}`);
  const beginning = db.prepare(
    `SELECT seq FROM entries WHERE op_id IN (${CHARGE_STARTING_KINDS.map((kind) => `'${kind}:' || :id`)}) AND wallet = :wallet`,
  );
  const list = prepareBig(
    db,
    `SELECT ${columns} FROM entries JOIN charges ON charges.id = entries.charge
    WHERE entries.wallet = :wallet AND entries.seq > :above AND entries.seq < :before AND entries.kind IN (${CHARGE_STARTING_KINDS.map(quoteSql)})
      AND entries.at >= :from AND entries.at < :to
      AND (:key IS NULL OR charges.key = :key)
      AND (:keys IS NULL OR charges.key IN (SELECT value FROM json_each(:keys))) AND (:model IS NULL OR charges.model = :model)
      AND (:kind IS NULL OR charges.kind = :kind) AND (:state IS NULL OR charges.state = :state)
    ORDER BY entries.seq DESC LIMIT :limit`,
  );
  return (wallet, { before: id, limit, filter = {}, part }) => {
    const last = id === undefined ? Number.MAX_SAFE_INTEGER : beginning.get({ id, wallet })?.seq;
    if (last === undefined) return [];
    const { above = 0, upTo = Number.MAX_SAFE_INTEGER - 1 } = part ?? {};
    const before = Math.min(Number(last), upTo + 1);
    const { from = 0, to = Number.MAX_SAFE_INTEGER, key = null, model = null, kind = null, state = null } = filter;
    const keys = filter.keys ? JSON.stringify(filter.keys) : null;
    const parameters = { wallet, above, before, limit, from, to, key, keys, model, kind, state };
    return list.all(parameters).map(readChargeRow);
  };
}

function quoteSql(text: string): string {
  return `'${text}'`;
}

function mapRow<Row, T>(row: Row | undefined, map: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : map(row);
}
