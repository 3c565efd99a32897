// Money that came into all wallets and went back, otherwise than by calls: the list and the sums, in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { Entry } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import type { LedgerStore, PaymentSum, TransferPage } from '../ports/ledger.ts';
import { prepareBig } from './connection.ts';
import { ENTRY_COLUMNS, readEntryRow } from './rows.ts';

type Span = Parameters<LedgerStore['paymentSums']>[0];

const PAYMENTS = "entries INDEXED BY entries_of_payments WHERE kind IN ('topup', 'pay', 'payback', 'dispute')";
/** Corrections are found by the ids of their operations, which saves an index of few rows. */
const CORRECTIONS = "entries WHERE op_id >= 'adjust:' AND op_id < 'adjust;'";
const WITHIN = 'at >= :from AND at < :to';

export function createTransferReads(db: DatabaseSync) {
  const listLatest = (source: string) => `SELECT * FROM (
    SELECT ${ENTRY_COLUMNS} FROM ${source} AND ${WITHIN} AND at <= :beforeAt AND (at < :beforeAt OR op_id < :beforeId)
      AND topped + adjusted <> 0
    ORDER BY at DESC, op_id DESC LIMIT :limit)`;
  const list = prepareBig(
    db,
    `${listLatest(PAYMENTS)} UNION ALL ${listLatest(CORRECTIONS)} ORDER BY at DESC, op_id DESC LIMIT :limit`,
  );
  const sums = prepareBig(
    db,
    `SELECT kind, count(*) AS count, sum(topped) AS amount FROM ${PAYMENTS} AND ${WITHIN} GROUP BY kind`,
  );
  const corrected = prepareBig(db, `SELECT coalesce(sum(adjusted), 0) AS amount FROM ${CORRECTIONS} AND ${WITHIN}`);
  return {
    transfers({ from, to, limit, before }: TransferPage): Entry[] {
      const { at: beforeAt, opId: beforeId } = before ?? { at: Number.MAX_SAFE_INTEGER, opId: '' };
      return list.all({ from, to, limit, beforeAt, beforeId }).map(readEntryRow);
    },
    paymentSums: (span: Span): PaymentSum[] =>
      sums.all({ ...span }).map((row) => ({ ...(row as unknown as PaymentSum), count: Number(row.count) })),
    correctionSum: (span: Span): Micro => (corrected.get({ ...span })?.amount as bigint | undefined) ?? 0n,
  };
}
