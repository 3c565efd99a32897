// The usage of an account: bars per day with their table, and sums by model, key and kind, also as CSV.
import { fault } from '../../base/faults.ts';
import { USAGE_GROUPS, type UsageGroup, type UsageReport, type UsageRow } from '../../ledger/usage.ts';
import { type CountedUsage, readUsage, type UsageBehind } from '../../ledger/usage-fold.ts';
import { findHourDay, hasSplitHours } from '../../money/days.ts';
import { toRub } from '../../money/money.ts';
import { USAGE_UNITS } from '../../money/usage-units.ts';
import {
  type ChargeQuery,
  chargeFilterForm,
  chargeQueryText,
  keyName,
  readChargeQuery,
  select,
} from '../charge-query.ts';
import { barChart } from '../chart.ts';
import { definitionList, message, table } from '../components.ts';
import { type Cell, createCsv } from '../csv.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { isCurrent, listDaySlots, nameSlots } from '../time-slots.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import type { OwnerVisit } from '../visit.ts';
import { chargeWords } from './charge-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Usage',
    by: 'Group by',
    groups: { day: 'day', model: 'model', key: 'key', kind: 'type' },
    heads: { day: 'Day', model: 'Model', key: 'Key', kind: 'Type' },
    calls: 'Calls',
    charged: 'Charged',
    refunded: 'Refunded',
    units: {
      tokens_input: 'Input tokens',
      tokens_cache_read: 'Read from cache',
      tokens_cache_write: 'Written to cache, 5 min',
      tokens_cache_write_1h: 'Written to cache, 1 h',
      tokens_output: 'Output tokens',
      tokens_reasoning: 'of which reasoning',
      images: 'Images',
      seconds: 'Seconds',
    },
    chart: 'Charged per day',
    none: 'No usage in this period.',
    csv: 'Download CSV',
    total: 'Total',
    table: 'Usage',
    counting: 'These figures are still being counted, oldest calls first.',
    soFar: (share: string, until: string | undefined) =>
      until === undefined ? `Done: ${share}.` : `Done: ${share}, up to ${until}; later calls are still missing.`,
    again: 'Refresh',
    split:
      'Usage is stored by whole hours of UTC: in this time zone a day starts up to half an hour before or after midnight.',
  },
  ru: {
    title: 'Расходы',
    by: 'Сгруппировать по',
    groups: { day: 'дням', model: 'моделям', key: 'ключам', kind: 'типам' },
    heads: { day: 'День', model: 'Модель', key: 'Ключ', kind: 'Тип' },
    calls: 'Запросов',
    charged: 'Списано',
    refunded: 'Возвращено',
    units: {
      tokens_input: 'Входные токены',
      tokens_cache_read: 'Прочитано из кэша',
      tokens_cache_write: 'Записано в кэш на 5 мин',
      tokens_cache_write_1h: 'Записано в кэш на 1 ч',
      tokens_output: 'Выходные токены',
      tokens_reasoning: 'из них рассуждения',
      images: 'Картинки',
      seconds: 'Секунды',
    },
    chart: 'Списано по дням',
    none: 'За этот период расходов нет.',
    csv: 'Скачать CSV',
    total: 'Всего',
    table: 'Расходы',
    counting: 'Данные ещё подсчитываются, начиная с самых ранних запросов.',
    soFar: (share: string, until: string | undefined) =>
      until === undefined
        ? `Готово: ${share}.`
        : `Готово: ${share}, до ${until}; более поздних запросов здесь ещё нет.`,
    again: 'Обновить',
    split:
      'Расходы хранятся по целым часам UTC: в этом часовом поясе день начинается не ровно в полночь, а в пределах получаса от неё.',
  },
});

/** Shared with the overview. */
export const USAGE_RANGE = { days: 30, byHours: true } as const;
/** When a file that was not complete may be requested again. */
const AGAIN_S = 10;

export const usage = page({
  path: '/account/usage',
  who: 'account',
  async get(visit) {
    const { language } = visit;
    const words = WORDS[language];
    const selection = readChargeQuery(visit, USAGE_RANGE);
    const by = readGrouping(visit);
    const [report, keys] = await Promise.all([countedUsage(visit), listVisibleKeys(visit)]);
    const { kinds } = chargeWords(visit);
    const names = new Map([...keys.map((key) => [key.id, keyName(key)] as const), ...Object.entries(kinds)]);
    const nameGroup = ({ group }: UsageRow) => names.get(group) ?? group;
    const more = select(
      { name: 'by', label: words.by, chosen: by },
      USAGE_GROUPS.map((group) => [group, words.groups[group]]),
    );
    const { behind, rows } = report;
    const body = html`${chargeFilterForm(visit, selection, { keys, kinds, more })}
${isSplit(visit, selection) && html`<p class="hint">${words.split}</p>`}
<section id="figures"${behind && html` data-again`}>${behind && progress(visit, behind)}
${rows.length > 0 ? renderReport(visit, { report, by, nameGroup }) : !behind && html`<p>${words.none}</p>`}
${!behind && html`<p><a href="/account/usage.csv${chargeQueryText(visit)}" download>${words.csv}</a></p>`}</section>`;
    return { title: words.title, body };
  },
});

function isSplit({ services, zone }: OwnerVisit, { from, to }: ChargeQuery): boolean {
  return hasSplitHours(
    [from, to].map((day) => day ?? findHourDay(services.now(), zone)),
    zone,
  );
}

/** The usage counted so far; the rest is counted next. */
async function countedUsage(visit: OwnerVisit): Promise<CountedUsage> {
  const { services, account, zone } = visit;
  const { state: _, ...filter } = readChargeQuery(visit, USAGE_RANGE).filter;
  const report = await readUsage(services.store, account.id, { by: readGrouping(visit), zone, filter });
  if (report.behind) services.usage.foldSoon(account.id);
  return report;
}

function progress(visit: OwnerVisit, { entries, counted, until }: UsageBehind): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const share = `${format.number(Math.floor((counted * 100) / entries))}\u00a0%`;
  const text = html`${words.counting} ${words.soFar(share, until === undefined ? until : format.time(until))}`;
  return html`${message('done', text)}
<p><a href="${visit.path}${chargeQueryText(visit)}">${words.again}</a></p>`;
}

interface ReportOptions {
  readonly report: UsageReport;
  readonly by: UsageGroup;
  nameGroup(row: UsageRow): string;
}

function renderReport(visit: OwnerVisit, { report, by, nameGroup }: ReportOptions): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const { rows, total } = report;
  const units = USAGE_UNITS.filter((unit) => total.units[unit] > 0);
  const columns = [
    { title: words.heads[by] },
    ...[words.calls, words.charged, words.refunded, ...units.map((unit) => words.units[unit])].map((title) => ({
      title,
      number: true,
    })),
  ];
  const cells = rows.map((row) => [
    nameGroup(row),
    format.number(row.calls),
    format.rub(row.charged),
    format.rub(row.refunded),
    ...units.map((unit) => format.number(row.units[unit])),
  ]);
  return html`${definitionList([
    [words.calls, format.number(total.calls)],
    [words.charged, html`<strong class="big">${format.rub(total.charged)}</strong>`],
    [words.refunded, format.rub(total.refunded)],
  ])}
${by === 'day' && dayChart(visit, rows)}
${table(words.table, columns, cells)}`;
}

/** Each bar leads to the calls of its day. */
function dayChart(visit: OwnerVisit, rows: readonly UsageRow[]): Html {
  const { language, format, zone, services } = visit;
  const words = WORDS[language];
  const { from = rows[0]?.group ?? '', to = rows.at(-1)?.group ?? '' } = readChargeQuery(visit, USAGE_RANGE);
  const slots = listDaySlots(from, to, zone).slice(-SLOTS_MAX);
  const names = nameSlots('day', language, zone);
  const charged = new Map(rows.map((row) => [row.group, row.charged]));
  const filter = (day: string) => chargeQueryText(visit, { from: day, to: day, by: undefined });
  return barChart({
    id: 'charged',
    title: words.chart,
    slots: slots.map((slot, at) => ({
      text: `${names.name(slot)}: ${format.rub(charged.get(slot.day) ?? 0n)}`,
      tick: names.tick(slot, at, slots.length),
      href: charged.has(slot.day) ? `/account/calls${filter(slot.day)}` : undefined,
      isNow: isCurrent(slot, services.now()),
    })),
    series: [{ name: words.charged, values: slots.map(({ day }) => toRub(charged.get(day) ?? 0n)) }],
    format: format.rubAxis,
  });
}

/** More bars than pixels show nothing. */
const SLOTS_MAX = 366;

function readGrouping({ query }: OwnerVisit): UsageGroup {
  return USAGE_GROUPS.find((group) => group === query.get('by')) ?? 'day';
}

export const usageCsv = page({
  path: '/account/usage.csv',
  who: 'account',
  isFile: true,
  async get(visit) {
    const by = readGrouping(visit);
    const report = await countedUsage(visit);
    // A file cannot say that it is incomplete.
    if (report.behind) throw fault('still_counting', { retryAfterS: AGAIN_S });
    const head = [by, 'calls', 'charged_rub', 'refunded_rub', ...USAGE_UNITS];
    return createCsv(visit.language, `usage-${visit.account.id}.csv`, { head, rows: listCsvRows(report) });
  },
});

async function* listCsvRows({ rows }: UsageReport): AsyncGenerator<readonly Cell[]> {
  for (const { group, calls, charged, refunded, units } of rows) {
    yield [group, calls, { rub: charged }, { rub: refunded }, ...USAGE_UNITS.map((unit) => units[unit])];
  }
}
