// Payments in the SQLite store, with their methods, consents, automatic top-ups and notices.
import type { DatabaseSync } from 'node:sqlite';
import { NEVER_STARTED } from '../../money/payment.ts';
import {
  decidePayment,
  type FreePaymentChange,
  type NewPayment,
  newPayment,
  type Payment,
  type PaymentOutcome,
} from '../../money/payment-rules.ts';
import { byTurn } from '../claim.ts';
import { cellsOf, PAYMENT_FIELDS, type PaymentSort, rowOf } from '../payment-rows.ts';
import type { JobClaim, JobRenewal } from '../ports/jobs.ts';
import type { MarkedPage } from '../ports/marked.ts';
import {
  type AutoTopupRow,
  type Consent,
  MARKED,
  type MarkedSort,
  NOTICES_MAX,
  NOTICES_REMOVED_MAX,
  type Notice,
  type PaymentList,
  type PaymentRows,
  type PaymentStore,
  type SavedMethodRow,
  VAIN_NOTICES_MAX,
  VAIN_VERDICTS,
} from '../ports/payments.ts';
import { findUnmarked, markRow } from '../row-mark.ts';
import { oneOf } from './checks.ts';
import { createClaim, createRenew } from './claim.ts';
import { type Connection, prepareBig } from './connection.ts';
import type { ReadsOf, WritesOf } from './thread-ports.ts';

const TABLES: { readonly [Sort in PaymentSort]: string } = {
  payments: 'payments',
  methods: 'saved_methods',
  consents: 'consents',
  autoTopups: 'auto_topups',
  notices: 'notices',
};

/** Quoted: some are SQL keywords. */
const columnsOf = (sort: PaymentSort): readonly string[] =>
  Object.keys(PAYMENT_FIELDS[sort]).map((name) => `"${name.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)}"`);

const selectOf = (sort: PaymentSort): string => `SELECT ${columnsOf(sort).join(', ')} FROM ${TABLES[sort]}`;

/** As the index says it. */
const IS_VAIN = oneOf('verdict', VAIN_VERDICTS);

type Select = ReturnType<typeof prepareBig>;

type Stored = Record<string, unknown>;

/** A row from a statement, whose values come in the order of the columns it names. */
function read<Sort extends PaymentSort>(sort: Sort, row: Stored): PaymentRows[Sort];
function read<Sort extends PaymentSort>(sort: Sort, row: Stored | undefined): PaymentRows[Sort] | undefined;
function read<Sort extends PaymentSort>(sort: Sort, row: Stored | undefined): PaymentRows[Sort] | undefined {
  return row && rowOf(sort, Object.values(row));
}

export function paymentWrites({ db, write }: Connection): WritesOf<'payments'> {
  const claim = createClaim(db, 'payments', columnsOf('payments').join(', '));
  const renew = createRenew(db, 'payments');
  const load = createLoadPayment(db);
  const save = createSavePayment(db);
  const putAuto = createPut(db, 'autoTopups');
  const autos = prepareBig(db, `${selectOf('autoTopups')} WHERE id = ?`);
  const showAuto = db.prepare(
    `UPDATE accounts SET auto_topup_enabled = ?, auto_topup_amount = ?, auto_topup_threshold = ? WHERE id = ?`,
  );
  const addConsent = createPut(db, 'consents');
  const puts = new Map(Object.keys(TABLES).map((sort) => [sort, createPut(db, sort as PaymentSort)]));

  /** Call it in a transaction. */
  function changeAuto(auto: AutoTopupRow): boolean {
    const before = read('autoTopups', autos.get(auto.id));
    if ((before?.version ?? 0) !== auto.version) return false;
    putAuto({ ...auto, version: auto.version + 1 });
    showAuto.run(Number(auto.enabled), auto.amount, auto.threshold, auto.id);
    return true;
  }

  return {
    create: (start: NewPayment, auto?: AutoTopupRow): Awaited<ReturnType<PaymentStore['create']>> =>
      write(() => {
        if (load(start.id)) return 'exists';
        if (auto && !changeAuto(auto)) return 'stale';
        save(newPayment(start));
        return 'created';
      }),
    claim: (asked: JobClaim): Payment[] =>
      write(() =>
        claim(asked, Date.now())
          .map((row) => read('payments', row))
          .sort(byTurn),
      ),
    renew: (renewal: JobRenewal): boolean => write(() => renew(renewal, Date.now())),
    change: (change: FreePaymentChange): PaymentOutcome =>
      write(() => {
        const outcome = decidePayment(load(change.id), change);
        if (outcome.status === 'done' && outcome.payment) save(outcome.payment);
        return outcome;
      }),
    ...methodWrites({ db, write }, changeAuto),
    addConsent: (consent: Consent): void => write(() => addConsent(consent)),
    changeAutoTopup: (auto: AutoTopupRow): boolean => write(() => changeAuto(auto)),
    ...noticeWrites({ db, write }),
    put: (sort: PaymentSort, rows: readonly PaymentRows[PaymentSort][]): void =>
      write(() => {
        for (const row of rows) puts.get(sort)?.(row);
      }),
  };
}

function methodWrites({ db, write }: Pick<Connection, 'db' | 'write'>, changeAuto: (auto: AutoTopupRow) => boolean) {
  const byRef = prepareBig(db, `${selectOf('methods')} WHERE provider = ? AND ref = ?`);
  const put = createPut(db, 'methods');
  const method = prepareBig(db, `${selectOf('methods')} WHERE id = ? AND removed_at IS NULL`);
  const charging = prepareBig(db, `${selectOf('autoTopups')} WHERE method = ?`);
  return {
    saveMethod: (method: SavedMethodRow): SavedMethodRow =>
      write(() => {
        const found = read('methods', byRef.get(method.provider, method.ref));
        if (!found) put(method);
        return found ?? method;
      }),
    removeMethod: (id: string, at: number): boolean =>
      write(() => {
        const found = read('methods', method.get(id));
        if (!found) return false;
        put({ ...found, removedAt: at });
        for (const row of charging.all(id)) changeAuto({ ...read('autoTopups', row), enabled: false, method: null });
        return true;
      }),
  };
}

function noticeWrites({ db, write }: Pick<Connection, 'db' | 'write'>) {
  const addNotice = createPut(db, 'notices');
  const judge = db.prepare('UPDATE notices SET verdict = ?, detail = ? WHERE id = ?');
  const removeVain = db.prepare(
    `DELETE FROM notices WHERE id IN (
      SELECT id FROM notices INDEXED BY notices_vain WHERE ${IS_VAIN} ORDER BY id DESC LIMIT ? OFFSET ?)`,
  );
  const removeOld = db.prepare('DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE at < ? LIMIT ?)');
  const removeMost = db.prepare(
    'DELETE FROM notices WHERE id IN (SELECT id FROM notices ORDER BY id DESC LIMIT ? OFFSET ?)',
  );
  return {
    addNotice: (notice: Notice): void =>
      write(() => {
        addNotice(notice);
        if (VAIN_VERDICTS.includes(notice.verdict)) removeVain.run(NOTICES_REMOVED_MAX, VAIN_NOTICES_MAX);
      }),
    judgeNotice: (id: string, { verdict, detail }: Pick<Notice, 'verdict' | 'detail'>): boolean =>
      write(() => judge.run(verdict, detail, id).changes === 1),
    cleanNotices: (before: number, keep = NOTICES_MAX): number =>
      write(() => {
        const old = removeOld.run(before, NOTICES_REMOVED_MAX);
        return Number(old.changes) + Number(removeMost.run(NOTICES_REMOVED_MAX, keep).changes);
      }),
  };
}

export function paymentReads(db: DatabaseSync): ReadsOf<'payments'> {
  const byRef = prepareBig(db, `${selectOf('payments')} WHERE provider = ? AND ref = ?`);
  const untold = db.prepare(
    `SELECT EXISTS (SELECT 1 FROM payments
        WHERE provider = :provider AND ref IS NULL AND phase = 'created')
      OR EXISTS (SELECT 1 FROM payments
        WHERE provider = :provider AND ref IS NULL AND phase = 'failed' AND created_at >= :since AND reason = :reason) AS has`,
  );
  const list = prepareBig(
    db,
    `${selectOf('payments')} WHERE (:wallet IS NULL OR wallet = :wallet) AND (:provider IS NULL OR provider = :provider)
      AND (:phases IS NULL OR phase IN (SELECT value FROM json_each(:phases)))
      AND (created_at, id) < (:at, :id) ORDER BY created_at DESC, id DESC LIMIT :limit`,
  );
  const one = (sort: PaymentSort) => prepareBig(db, `${selectOf(sort)} WHERE id = ?`);
  const method = one('methods');
  const auto = one('autoTopups');
  const notice = one('notices');
  const methods = prepareBig(db, `${selectOf('methods')} WHERE wallet = ? ORDER BY created_at DESC, id DESC`);
  const consents = prepareBig(db, `${selectOf('consents')} WHERE wallet = ? ORDER BY "at" DESC, id DESC`);
  const [notices, ours] = [`true`, `NOT (${IS_VAIN})`].map((which) =>
    prepareBig(db, `${selectOf('notices')} WHERE (?1 IS NULL OR id < ?1) AND ${which} ORDER BY id DESC LIMIT ?2`),
  ) as [Select, Select];
  const pages = new Map(
    Object.keys(TABLES).map((sort) => [
      sort,
      prepareBig(db, `${selectOf(sort as PaymentSort)} WHERE id > ? ORDER BY id LIMIT ?`),
    ]),
  );
  const marked = new Map(
    MARKED.map((sort) => {
      const columns = [...columnsOf(sort), 'mark'].join(', ');
      return [sort, prepareBig(db, `SELECT ${columns} FROM ${TABLES[sort]} WHERE id > ? ORDER BY id LIMIT ?`)];
    }),
  );
  return {
    unmarked: (sort: MarkedSort, { after = '', limit }: { after?: string; limit: number }): MarkedPage => {
      const rows = marked.get(sort)?.all(after, limit) ?? [];
      return findUnmarked(
        rows.map(({ mark, ...row }) => ({ row: read(sort, row), mark })),
        limit,
      );
    },
    get: createLoadPayment(db),
    find: (provider: string, ref: string): Payment | undefined => read('payments', byRef.get(provider, ref)),
    hasUntold: (provider: string, since: number): boolean =>
      Number(untold.get({ provider, since, reason: NEVER_STARTED })?.has) === 1,
    list: ({ before, limit, phases, ...asked }: PaymentList): Payment[] => {
      const { createdAt: at, id } = before ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
      const wallet = asked.wallet ?? null;
      const provider = asked.provider ?? null;
      const phasesJson = phases ? JSON.stringify(phases) : null;
      return list.all({ wallet, provider, phases: phasesJson, at, id, limit }).map((row) => read('payments', row));
    },
    method: (id: string): SavedMethodRow | undefined => read('methods', method.get(id)),
    methods: (wallet: string): SavedMethodRow[] => methods.all(wallet).map((row) => read('methods', row)),
    consents: (wallet: string): Consent[] => consents.all(wallet).map((row) => read('consents', row)),
    autoTopup: (wallet: string): AutoTopupRow | undefined => read('autoTopups', auto.get(wallet)),
    notice: (id: string): Notice | undefined => read('notices', notice.get(id)),
    notices: ({ before, limit, isVain }: Parameters<PaymentStore['notices']>[0]): Notice[] =>
      (isVain === false ? ours : notices).all(before ?? null, limit).map((row) => read('notices', row)),
    page: (sort: PaymentSort, { after = '', limit }: { after?: string; limit: number }) =>
      (pages.get(sort)?.all(after, limit) ?? []).map((row) => read(sort, row)),
  };
}

/** Reads one payment, inside the current transaction if there is one. */
export function createLoadPayment(db: DatabaseSync): (id: string) => Payment | undefined {
  const select = prepareBig(db, `${selectOf('payments')} WHERE id = ?`);
  return (id) => read('payments', select.get(id));
}

/** Writes a payment that is new, or that changed since it was loaded in the same transaction. */
export function createSavePayment(db: DatabaseSync): (payment: Payment) => void {
  return createPut(db, 'payments');
}

function createPut<Sort extends PaymentSort>(db: DatabaseSync, sort: Sort): (row: PaymentRows[Sort]) => void {
  const isMarked = (MARKED as readonly PaymentSort[]).includes(sort);
  const columns = [...columnsOf(sort), ...(isMarked ? ['mark'] : [])];
  // Not `INSERT OR REPLACE`: that removes another row that has the same unique value.
  const put = db.prepare(
    `INSERT INTO ${TABLES[sort]} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
      ON CONFLICT (id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  );
  return (row) => void put.run(...cellsOf(sort, row), ...(isMarked ? [markRow(row)] : []));
}
