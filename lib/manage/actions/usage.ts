// What an account has used and what it cost, added up.
import {
  reportUsage,
  type UsageGroup,
  type UsageQuery,
  type UsageReport,
  type UsageRow,
  type UsageSum,
} from '../../ledger/usage.ts';
import { canUseHourlySums, foldUsage, readUsage } from '../../ledger/usage-fold.ts';
import { formatRub, toRub } from '../../money/money.ts';
import { USAGE_UNITS } from '../../money/usage-units.ts';
import type { ChargeFilter } from '../../store/ports/ledger.ts';
import { type Answer, formatCsv, formatMoney, formatTable, toTime } from '../answer.ts';
import { checkSpan } from '../arguments.ts';
import { findAccount, type Session } from '../session.ts';
import { archivedNote } from './archived-note.ts';

export const usageActions = { report };

interface UsageOptions extends ChargeFilter {
  readonly by: UsageGroup;
  readonly csv?: boolean;
}

/** A row with the name of its key, if rows are keys. */
type NamedRow = UsageRow & { readonly name?: string };

async function report(session: Session, account: string, options: UsageOptions): Promise<Answer> {
  const { by, csv = false, ...filter } = options;
  checkSpan(filter);
  const { store } = session;
  const { id } = await findAccount(session, account);
  const { rows, total } = await sumUsage(store, id, { by, filter });
  const names = by === 'key' ? new Map((await store.keys.list(id)).map((key) => [key.id, key.name])) : undefined;
  const named = names ? rows.map((row) => ({ ...row, name: names.get(row.group) ?? '' })) : rows;
  return {
    json: {
      account_id: id,
      from: toTime(filter.from ?? null),
      to: toTime(filter.to ?? null),
      by,
      rows: named.map((row) => ({ ...createLabels(row, by), ...sumJson(row) })),
      total: sumJson(total),
    },
    text: (rows.length === 0 ? 'No calls.' : toText(named, total, by)) + (await createArchiveNote(store, id, filter)),
    csv: csv ? toCsv(named, by) : undefined,
  };
}

/** Hourly sums include archived calls. */
async function sumUsage(store: Session['store'], wallet: string, query: UsageQuery): Promise<UsageReport> {
  if (!canUseHourlySums(query.filter)) return reportUsage(store.ledger, wallet, query);
  await foldUsage(store, wallet);
  return readUsage(store, wallet, query);
}

/** Hourly sums are complete; other queries miss archived calls. */
async function createArchiveNote(store: Session['store'], wallet: string, filter: ChargeFilter): Promise<string> {
  return canUseHourlySums(filter) ? '' : archivedNote(store, wallet);
}

function createLabels({ group, name }: NamedRow, by: UsageGroup): Record<string, string> {
  return by === 'key' ? { key_id: group, key_name: name ?? '' } : { [by]: group };
}

function sumJson({ calls, charged, refunded, units }: UsageSum) {
  return { calls, charged_rub: toRub(charged), refunded_rub: toRub(refunded), ...units };
}

/** Unused units have no column. */
function toText(rows: readonly NamedRow[], total: UsageSum, by: UsageGroup): string {
  const units = USAGE_UNITS.filter((unit) => total.units[unit] > 0);
  const cells = (labels: readonly string[], sum: UsageSum) => [
    ...labels,
    String(sum.calls),
    formatMoney(sum.charged),
    formatMoney(sum.refunded),
    ...units.map((unit) => String(sum.units[unit])),
  ];
  const labels = by === 'key' ? ['key id', 'name'] : [by];
  const head = [
    ...labels,
    ...['calls', 'charged', 'refunded', ...units].map((title) => ` ${title.replaceAll('_', ' ')}`),
  ];
  const lines = rows.map((row) => cells(Object.values(createLabels(row, by)), row));
  return formatTable(head, [...lines, cells(['total', ...labels.slice(1).map(() => '')], total)]);
}

function toCsv(rows: readonly NamedRow[], by: UsageGroup): string {
  const head = [...(by === 'key' ? ['key_id', 'key_name'] : [by]), 'calls', 'charged_rub', 'refunded_rub'];
  const lines = rows.map((row) => [
    ...Object.values(createLabels(row, by)),
    String(row.calls),
    formatRub(row.charged),
    formatRub(row.refunded),
    ...USAGE_UNITS.map((unit) => String(row.units[unit])),
  ]);
  return formatCsv([...head, ...USAGE_UNITS], lines);
}
