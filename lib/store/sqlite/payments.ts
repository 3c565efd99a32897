// Payments in the SQLite store, with saved methods, consents, automatic top-ups and webhooks.
import type { DatabaseSync } from 'node:sqlite';
import { NEVER_STARTED } from '../../money/payment.ts';
import {
  createPayment,
  decidePayment,
  type FreePaymentChange,
  type NewPayment,
  type Payment,
  type PaymentOutcome,
} from '../../money/payment-rules.ts';
import { compareDue } from '../claim.ts';
import { fromCells, PAYMENT_FIELDS, type PaymentTable, toCells } from '../payment-rows.ts';
import type { JobClaim, JobRenewal } from '../ports/jobs.ts';
import {
  type AutoTopupRow,
  type Consent,
  DISCARDED_VERDICTS,
  DISCARDED_WEBHOOKS_MAX,
  MARKED_TABLES,
  type MarkedTable,
  type PaymentList,
  type PaymentRows,
  type PaymentStore,
  type PaymentWebhook,
  type SavedMethodRow,
  WEBHOOKS_MAX,
  WEBHOOKS_REMOVED_MAX,
} from '../ports/payments.ts';
import type { WrongMarks } from '../ports/wrong-marks.ts';
import { listWrongMarks, markRow } from '../row-mark.ts';
import { matchAny } from './checks.ts';
import { createClaim, createRenew } from './claim.ts';
import { type Connection, prepareBig } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const TABLES: { readonly [Sort in PaymentTable]: string } = {
  payments: 'payments',
  methods: 'saved_methods',
  consents: 'consents',
  autoTopups: 'auto_topups',
  notices: 'notices',
};

/** Column names in snake case, quoted because some are SQL keywords. */
const listColumns = (sort: PaymentTable): readonly string[] =>
  Object.keys(PAYMENT_FIELDS[sort]).map((name) => `"${name.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)}"`);

const buildSelect = (sort: PaymentTable): string => `SELECT ${listColumns(sort).join(', ')} FROM ${TABLES[sort]}`;

/** Must equal the condition of the index. */
const IS_DISCARDED = matchAny('verdict', DISCARDED_VERDICTS);

type Select = ReturnType<typeof prepareBig>;

type StoredRow = Record<string, unknown>;

/** Reads a row, whose values are in the order of the selected columns. */
function readPaymentsRow<Sort extends PaymentTable>(sort: Sort, row: StoredRow): PaymentRows[Sort];
function readPaymentsRow<Sort extends PaymentTable>(
  sort: Sort,
  row: StoredRow | undefined,
): PaymentRows[Sort] | undefined;
function readPaymentsRow<Sort extends PaymentTable>(
  sort: Sort,
  row: StoredRow | undefined,
): PaymentRows[Sort] | undefined {
  return row && fromCells(sort, Object.values(row));
}

export function paymentWrites({ db, write }: Connection): PortWrites<'payments'> {
  const claim = createClaim(db, 'payments', listColumns('payments').join(', '));
  const renew = createRenew(db, 'payments');
  const load = createLoadPayment(db);
  const save = createSavePayment(db);
  const putAutoTopup = createPutRow(db, 'autoTopups');
  const selectAutoTopup = prepareBig(db, `${buildSelect('autoTopups')} WHERE id = ?`);
  const showAutoTopup = db.prepare(
    `UPDATE accounts SET auto_topup_enabled = ?, auto_topup_amount = ?, auto_topup_threshold = ? WHERE id = ?`,
  );
  const addConsent = createPutRow(db, 'consents');
  const puts = new Map(Object.keys(TABLES).map((sort) => [sort, createPutRow(db, sort as PaymentTable)]));

  /** Must be called in a transaction. */
  function changeAutoTopupRow(auto: AutoTopupRow): boolean {
    const before = readPaymentsRow('autoTopups', selectAutoTopup.get(auto.id));
    if ((before?.version ?? 0) !== auto.version) return false;
    putAutoTopup({ ...auto, version: auto.version + 1 });
    showAutoTopup.run(Number(auto.enabled), auto.amount, auto.threshold, auto.id);
    return true;
  }

  return {
    create: (start: NewPayment, auto?: AutoTopupRow): Awaited<ReturnType<PaymentStore['create']>> =>
      write(() => {
        if (load(start.id)) return 'exists';
        if (auto && !changeAutoTopupRow(auto)) return 'stale';
        save(createPayment(start));
        return 'created';
      }),
    claim: (asked: JobClaim): Payment[] =>
      write(() =>
        claim(asked, Date.now())
          .map((row) => readPaymentsRow('payments', row))
          .sort(compareDue),
      ),
    renew: (renewal: JobRenewal): boolean => write(() => renew(renewal, Date.now())),
    change: (change: FreePaymentChange): PaymentOutcome =>
      write(() => {
        const outcome = decidePayment(load(change.id), change);
        if (outcome.status === 'done' && outcome.payment) save(outcome.payment);
        return outcome;
      }),
    ...methodWrites({ db, write }, changeAutoTopupRow),
    addConsent: (consent: Consent): void => write(() => addConsent(consent)),
    changeAutoTopup: (auto: AutoTopupRow): boolean => write(() => changeAutoTopupRow(auto)),
    ...webhookWrites({ db, write }),
    put: (sort: PaymentTable, rows: readonly PaymentRows[PaymentTable][]): void =>
      write(() => {
        for (const row of rows) puts.get(sort)?.(row);
      }),
  };
}

function methodWrites({ db, write }: Pick<Connection, 'db' | 'write'>, changeAuto: (auto: AutoTopupRow) => boolean) {
  const byRef = prepareBig(db, `${buildSelect('methods')} WHERE provider = ? AND ref = ?`);
  const put = createPutRow(db, 'methods');
  const method = prepareBig(db, `${buildSelect('methods')} WHERE id = ? AND removed_at IS NULL`);
  const charging = prepareBig(db, `${buildSelect('autoTopups')} WHERE method = ?`);
  return {
    saveMethod: (method: SavedMethodRow): SavedMethodRow =>
      write(() => {
        const found = readPaymentsRow('methods', byRef.get(method.provider, method.ref));
        if (!found) put(method);
        return found ?? method;
      }),
    removeMethod: (id: string, at: number): boolean =>
      write(() => {
        const found = readPaymentsRow('methods', method.get(id));
        if (!found) return false;
        put({ ...found, removedAt: at });
        for (const row of charging.all(id))
          changeAuto({ ...readPaymentsRow('autoTopups', row), enabled: false, method: null });
        return true;
      }),
  };
}

function webhookWrites({ db, write }: Pick<Connection, 'db' | 'write'>) {
  const addWebhook = createPutRow(db, 'notices');
  const judge = db.prepare('UPDATE notices SET verdict = ?, detail = ? WHERE id = ?');
  const removeVain = db.prepare(
    `DELETE FROM notices WHERE id IN (
      SELECT id FROM notices INDEXED BY notices_vain WHERE ${IS_DISCARDED} ORDER BY id DESC LIMIT ? OFFSET ?)`,
  );
  const removeOld = db.prepare('DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE at < ? LIMIT ?)');
  const removeMost = db.prepare(
    'DELETE FROM notices WHERE id IN (SELECT id FROM notices ORDER BY id DESC LIMIT ? OFFSET ?)',
  );
  return {
    addWebhook: (webhook: PaymentWebhook): void =>
      write(() => {
        addWebhook(webhook);
        if (DISCARDED_VERDICTS.includes(webhook.verdict)) removeVain.run(WEBHOOKS_REMOVED_MAX, DISCARDED_WEBHOOKS_MAX);
      }),
    setWebhookVerdict: (id: string, { verdict, detail }: Pick<PaymentWebhook, 'verdict' | 'detail'>): boolean =>
      write(() => judge.run(verdict, detail, id).changes === 1),
    removeOldWebhooks: (before: number, keep = WEBHOOKS_MAX): number =>
      write(() => {
        const old = removeOld.run(before, WEBHOOKS_REMOVED_MAX);
        return Number(old.changes) + Number(removeMost.run(WEBHOOKS_REMOVED_MAX, keep).changes);
      }),
  };
}

export function paymentReads(db: DatabaseSync): PortReads<'payments'> {
  const byRef = prepareBig(db, `${buildSelect('payments')} WHERE provider = ? AND ref = ?`);
  const untold = db.prepare(
    `SELECT EXISTS (SELECT 1 FROM payments
        WHERE provider = :provider AND ref IS NULL AND phase = 'created')
      OR EXISTS (SELECT 1 FROM payments
        WHERE provider = :provider AND ref IS NULL AND phase = 'failed' AND created_at >= :since AND reason = :reason) AS has`,
  );
  const [list, listOpen] = ['true', 'due_at IS NOT NULL'].map((which) =>
    prepareBig(
      db,
      `${buildSelect('payments')} WHERE (:wallet IS NULL OR wallet = :wallet) AND (:provider IS NULL OR provider = :provider)
        AND (:phases IS NULL OR phase IN (SELECT value FROM json_each(:phases))) AND ${which}
        AND (created_at, id) < (:at, :id) ORDER BY created_at DESC, id DESC LIMIT :limit`,
    ),
  ) as [Select, Select];
  const one = (sort: PaymentTable) => prepareBig(db, `${buildSelect(sort)} WHERE id = ?`);
  const method = one('methods');
  const auto = one('autoTopups');
  const webhook = one('notices');
  const methods = prepareBig(db, `${buildSelect('methods')} WHERE wallet = ? ORDER BY created_at DESC, id DESC`);
  const consents = prepareBig(db, `${buildSelect('consents')} WHERE wallet = ? ORDER BY "at" DESC, id DESC`);
  const [webhooks, undiscarded] = [`true`, `NOT (${IS_DISCARDED})`].map((which) =>
    prepareBig(db, `${buildSelect('notices')} WHERE (?1 IS NULL OR id < ?1) AND ${which} ORDER BY id DESC LIMIT ?2`),
  ) as [Select, Select];
  const pages = new Map(
    Object.keys(TABLES).map((sort) => [
      sort,
      prepareBig(db, `${buildSelect(sort as PaymentTable)} WHERE id > ? ORDER BY id LIMIT ?`),
    ]),
  );
  const marked = new Map(
    MARKED_TABLES.map((sort) => {
      const columns = [...listColumns(sort), 'mark'].join(', ');
      return [sort, prepareBig(db, `SELECT ${columns} FROM ${TABLES[sort]} WHERE id > ? ORDER BY id LIMIT ?`)];
    }),
  );
  return {
    findWrongMarks: (sort: MarkedTable, { after = '', limit }: { after?: string; limit: number }): WrongMarks => {
      const rows = marked.get(sort)?.all(after, limit) ?? [];
      return listWrongMarks(
        rows.map(({ mark, ...row }) => ({ row: readPaymentsRow(sort, row), mark })),
        limit,
      );
    },
    get: createLoadPayment(db),
    find: (provider: string, ref: string): Payment | undefined => readPaymentsRow('payments', byRef.get(provider, ref)),
    hasUnknownRefs: (provider: string, since: number): boolean =>
      Number(untold.get({ provider, since, reason: NEVER_STARTED })?.has) === 1,
    list: ({ before, limit, phases, isOpen, ...asked }: PaymentList): Payment[] => {
      const { createdAt: at, id } = before ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
      const { wallet = null, provider = null } = asked;
      const phasesJson = phases ? JSON.stringify(phases) : null;
      return (isOpen ? listOpen : list)
        .all({ wallet, provider, phases: phasesJson, at, id, limit })
        .map((row) => readPaymentsRow('payments', row));
    },
    method: (id: string): SavedMethodRow | undefined => readPaymentsRow('methods', method.get(id)),
    methods: (wallet: string): SavedMethodRow[] => methods.all(wallet).map((row) => readPaymentsRow('methods', row)),
    consents: (wallet: string): Consent[] => consents.all(wallet).map((row) => readPaymentsRow('consents', row)),
    autoTopup: (wallet: string): AutoTopupRow | undefined => readPaymentsRow('autoTopups', auto.get(wallet)),
    webhook: (id: string): PaymentWebhook | undefined => readPaymentsRow('notices', webhook.get(id)),
    webhooks: ({ before, limit, isDiscarded }: Parameters<PaymentStore['webhooks']>[0]): PaymentWebhook[] =>
      (isDiscarded === false ? undiscarded : webhooks)
        .all(before ?? null, limit)
        .map((row) => readPaymentsRow('notices', row)),
    page: (sort: PaymentTable, { after = '', limit }: { after?: string; limit: number }) =>
      (pages.get(sort)?.all(after, limit) ?? []).map((row) => readPaymentsRow(sort, row)),
  };
}

/** Reads one payment, inside the current transaction if there is one. */
export function createLoadPayment(db: DatabaseSync): (id: string) => Payment | undefined {
  const select = prepareBig(db, `${buildSelect('payments')} WHERE id = ?`);
  return (id) => readPaymentsRow('payments', select.get(id));
}

/** Writes a new payment, or one that was loaded in the same transaction. */
export function createSavePayment(db: DatabaseSync): (payment: Payment) => void {
  return createPutRow(db, 'payments');
}

function createPutRow<Sort extends PaymentTable>(db: DatabaseSync, sort: Sort): (row: PaymentRows[Sort]) => void {
  const isMarked = (MARKED_TABLES as readonly PaymentTable[]).includes(sort);
  const columns = [...listColumns(sort), ...(isMarked ? ['mark'] : [])];
  // Not `INSERT OR REPLACE`, which would delete another row with the same unique value.
  const put = db.prepare(
    `INSERT INTO ${TABLES[sort]} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
      ON CONFLICT (id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  );
  return (row) => void put.run(...toCells(sort, row), ...(isMarked ? [markRow(row)] : []));
}
