// The usage of an account: bars per day with their table, and sums by model, key and kind, also as CSV.
import { USAGE_GROUPS, USAGE_UNITS, type UsageGroup, type UsageReport, type UsageRow } from '../../ledger/usage.ts';
import { readUsage } from '../../ledger/usage-fold.ts';
import { chargeFilterForm, chargeQueryText, readChargeQuery, select } from '../charge-query.ts';
import { barChart } from '../chart.ts';
import { type Cell, csvOf } from '../csv.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { facts, table } from '../parts.ts';
import type { OwnerVisit } from '../visit.ts';
import { chargeWords } from './charge-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Usage',
    by: 'Group by',
    groups: { day: 'day', model: 'model', key: 'key', kind: 'kind' },
    calls: 'Calls',
    charged: 'Charged',
    refunded: 'Refunded',
    units: { tokens_input: 'Input tokens', tokens_output: 'Output tokens', images: 'Images', seconds: 'Seconds' },
    chart: 'Charged per day',
    none: 'No usage in this range.',
    csv: 'Download CSV',
    total: 'Total',
    table: 'Usage',
  },
  ru: {
    title: 'Расход',
    by: 'Строка на',
    groups: { day: 'день', model: 'модель', key: 'ключ', kind: 'вид' },
    calls: 'Вызовов',
    charged: 'Списано',
    refunded: 'Возвращено',
    units: { tokens_input: 'Токены запроса', tokens_output: 'Токены ответа', images: 'Картинки', seconds: 'Секунды' },
    chart: 'Списано по дням',
    none: 'За это время расхода нет.',
    csv: 'В CSV',
    total: 'Всего',
    table: 'Расход',
  },
});

const DAYS = 30;

export const usage = page({
  path: '/account/usage',
  who: 'owner',
  async get(visit) {
    const { services, account, language } = visit;
    const words = WORDS[language];
    const wanted = readChargeQuery(visit, DAYS);
    const by = groupOf(visit);
    const [report, keys] = await Promise.all([
      readUsage(services.store, account.id, { by, filter: wanted.filter }),
      services.store.keys.list(account.id),
    ]);
    const { kinds } = chargeWords(visit);
    const names = new Map([...keys.map(({ id, name }) => [id, name] as const), ...Object.entries(kinds)]);
    const nameOf = ({ group }: UsageRow) => names.get(group) ?? group;
    const more = select(
      { name: 'by', label: words.by, chosen: by },
      USAGE_GROUPS.map((group) => [group, words.groups[group]]),
    );
    const csv = `/account/usage.csv${chargeQueryText(visit)}`;
    const body = html`${chargeFilterForm(visit, wanted, { keys, kinds, more })}
${report.rows.length === 0 ? html`<p>${words.none}</p>` : reportOf(visit, { report, by, nameOf })}
<p><a href="${csv}" download>${words.csv}</a></p>`;
    return { title: words.title, body };
  },
});

interface Shown {
  readonly report: UsageReport;
  readonly by: UsageGroup;
  nameOf(row: UsageRow): string;
}

function reportOf(visit: OwnerVisit, { report, by, nameOf }: Shown): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const { rows, total } = report;
  const units = USAGE_UNITS.filter((unit) => total.units[unit] > 0);
  const columns = [
    { title: words.groups[by] },
    ...[words.calls, words.charged, words.refunded, ...units.map((unit) => words.units[unit])].map((title) => ({
      title,
      number: true,
    })),
  ];
  const cells = rows.map((row) => [
    nameOf(row),
    format.number(row.calls),
    format.rub(row.charged),
    format.rub(row.refunded),
    ...units.map((unit) => format.number(row.units[unit])),
  ]);
  const bars = rows.map((row) => ({ name: row.group, value: row.charged, text: format.rub(row.charged) }));
  return html`${facts([
    [words.calls, format.number(total.calls)],
    [words.charged, html`<strong class="big">${format.rub(total.charged)}</strong>`],
    [words.refunded, format.rub(total.refunded)],
  ])}
${by === 'day' && barChart(words.chart, bars)}
${table(words.table, columns, cells)}`;
}

function groupOf({ query }: OwnerVisit): UsageGroup {
  return USAGE_GROUPS.find((group) => group === query.get('by')) ?? 'day';
}

export const usageCsv = page({
  path: '/account/usage.csv',
  who: 'owner',
  async get(visit) {
    const by = groupOf(visit);
    const { filter } = readChargeQuery(visit, DAYS);
    const report = await readUsage(visit.services.store, visit.account.id, { by, filter });
    const head = [by, 'calls', 'charged_rub', 'refunded_rub', ...USAGE_UNITS];
    return csvOf(visit.language, `usage-${visit.account.id}.csv`, { head, rows: rowsOf(report) });
  },
});

async function* rowsOf({ rows }: UsageReport): AsyncGenerator<readonly Cell[]> {
  for (const { group, calls, charged, refunded, units } of rows) {
    yield [group, calls, { rub: charged }, { rub: refunded }, ...USAGE_UNITS.map((unit) => units[unit])];
  }
}
