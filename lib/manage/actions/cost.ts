// What calls cost the operator, added up.

import { pluralize } from '../../base/pluralize.ts';
import { type CostReport, type CostRow, reportCosts } from '../../ledger/cost-report.ts';
import { formatRub, toRub } from '../../money/money.ts';
import type { CostGroup } from '../../store/ports/attempts.ts';
import { type Answer, formatCsv, formatMoney, formatTable, toTime } from '../answer.ts';
import { checkSpan } from '../arguments.ts';
import type { Session } from '../session.ts';

export const costActions = { report };

interface ReportOptions {
  readonly by: CostGroup;
  readonly from?: number;
  readonly to?: number;
  readonly csv?: boolean;
}

async function report({ store }: Session, options: ReportOptions): Promise<Answer> {
  checkSpan(options);
  const { by, from, to, csv = false } = options;
  const found = await reportCosts(store.attempts, options);
  const { rows, total } = found;
  const span = { from: toTime(from ?? null), to: toTime(to ?? null) };
  return {
    json: { ...span, by, rows: rows.map((row) => ({ [by]: row.group, ...costJson(row) })), total: costJson(total) },
    text: (rows.length === 0 ? 'No attempts.' : toText(found, by)) + (await noteGaps(store, total, options)),
    csv: csv ? toCsv(rows, by) : undefined,
  };
}

function costJson({ calls, attempts, charged, reported, estimated, possible, margin, unpriced }: CostRow) {
  return {
    calls,
    attempts,
    charged_rub: toRub(charged),
    cost_reported_rub: toRub(reported),
    cost_estimated_rub: toRub(estimated),
    cost_possible_rub: toRub(possible),
    margin_rub: toRub(margin),
    attempts_without_cost: unpriced,
  };
}

function toText({ rows, total }: CostReport, by: CostGroup): string {
  const head = [by, ' calls', ' attempts', ' charged', ' reported', ' estimated', ' possible', ' margin'];
  const cells = (name: string, row: CostRow) => [
    name,
    String(row.calls),
    String(row.attempts),
    ...[row.charged, row.reported, row.estimated, row.possible, row.margin].map(formatMoney),
  ];
  return formatTable(head, [...rows.map((row) => cells(row.group || '(unknown)', row)), cells('total', total)]);
}

function toCsv(rows: readonly CostRow[], by: CostGroup): string {
  const amounts = ['charged', 'reported', 'estimated', 'possible', 'margin'] as const;
  const head = [by, 'calls', 'attempts', ...amounts.map((name) => `${name}_rub`), 'attempts_without_cost'];
  const lines = rows.map((row) => [
    row.group,
    String(row.calls),
    String(row.attempts),
    ...amounts.map((name) => formatRub(row[name])),
    String(row.unpriced),
  ]);
  return formatCsv(head, lines);
}

/** What the sums leave out. */
async function noteGaps(store: Session['store'], { unpriced }: CostRow, { from = 0 }: ReportOptions): Promise<string> {
  const archives = (await store.archives.list()).filter(({ last }) => last !== null && last >= from);
  const before = archives.reduce((latest, archive) => Math.max(latest, archive.before), 0);
  const missing =
    unpriced === 0
      ? ''
      : `\nUnknown: what ${pluralize(unpriced, 'attempt')} cost, at routes without a cost, or lost with a gateway.`;
  return (
    missing + (before === 0 ? '' : `\nCalls before ${toTime(before)} have left for archives, with their attempts.`)
  );
}
