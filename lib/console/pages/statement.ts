// The statement of a month: opening and closing balance, money in and out, and calls by model, to be printed or as CSV.
import { fault } from '../../base/faults.ts';
import { findLatestArchiveDate } from '../../ledger/archive-find.ts';
import { readStatement, type Statement } from '../../ledger/statement.ts';
import type { UsageRow } from '../../ledger/usage.ts';
import { type CountedUsage, readUsage } from '../../ledger/usage-fold.ts';
import { addDays, findDayStart, findDayStartHour, formatDay } from '../../money/days.ts';
import type { Micro } from '../../money/money.ts';
import { message, table } from '../components.ts';
import { type Cell, createCsv } from '../csv.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { formatPageMonth } from '../papers/act-list.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { entryWords } from './entry-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Statement',
    account: 'Account',
    period: 'Period',
    zone: (zone: string) => `Time zone: ${zone}.`,
    month: 'Month',
    show: 'Apply',
    opening: 'Balance at the start',
    closing: 'Balance at the end',
    soFar: 'Balance now',
    held: (amount: string) => `of which held by running calls: ${amount}`,
    moved: 'Payments, bonuses and corrections',
    none: 'None in this month.',
    further: 'others',
    calls: 'Calls by model',
    model: 'Model',
    count: 'Calls',
    edges: 'Calls begun in another month, and refunds of other months',
    date: 'Date',
    what: 'Operation',
    note: 'Number or reason',
    amount: 'Amount',
    total: 'Total',
    summary: 'Summary',
    counting: 'Calls are still being counted by model. The sums above are already exact.',
    archived: (day: string) =>
      `Calls before ${day} have been archived, so this month has no statement here. Ask the operator for it.`,
    csv: 'Download CSV',
    payments: 'Payments of the month as CSV',
    print: 'To get a PDF, print this page and choose “Save as PDF”.',
    wallet: 'Back to the wallet',
    id: 'ID',
  },
  ru: {
    title: 'Выписка',
    account: 'Аккаунт',
    period: 'Период',
    zone: (zone: string) => `Часовой пояс: ${zone}.`,
    month: 'Месяц',
    show: 'Показать',
    opening: 'Баланс на начало',
    closing: 'Баланс на конец',
    soFar: 'Баланс сейчас',
    held: (amount: string) => `из него в резерве (запросы выполняются): ${amount}`,
    moved: 'Платежи, бонусы и корректировки',
    none: 'В этом месяце их не было.',
    further: 'остальные',
    calls: 'Запросы по моделям',
    model: 'Модель',
    count: 'Запросов',
    edges: 'Запросы, начатые в другом месяце, и возвраты за другие месяцы',
    date: 'Дата',
    what: 'Операция',
    note: 'Номер или основание',
    amount: 'Сумма',
    total: 'Итого',
    summary: 'Итоги',
    counting: 'Запросы по моделям ещё подсчитываются. Суммы выше уже точные.',
    archived: (day: string) =>
      `Запросы до ${day} перенесены в архив, поэтому выписки за этот месяц здесь нет. Запросите её у оператора.`,
    csv: 'Скачать CSV',
    payments: 'Платежи за месяц в CSV',
    print: 'Чтобы сохранить выписку в PDF, откройте печать этой страницы и выберите «Сохранить как PDF».',
    wallet: 'Вернуться в кошелёк',
    id: 'ID',
  },
});

const PATH = '/account/statement';

/** When a file that was not complete may be requested again. */
const AGAIN_S = 10;

export const statement = page({
  path: PATH,
  who: 'account',
  async get(visit) {
    const words = WORDS[visit.language];
    const span = readMonthSpan(visit);
    const archived = await findLatestArchiveDate(visit.services.store, visit.account.id);
    const body =
      archived !== undefined && archived > span.from
        ? message('error', words.archived(visit.format.date(archived)))
        : renderStatement(visit, span, await readMonth(visit, span));
    return {
      title: `${words.title}: ${formatPageMonth(visit.language, span.month)}`,
      body: html`${monthForm(visit, span)}${body}`,
    };
  },
});

export const statementCsv = page({
  path: `${PATH}.csv`,
  who: 'account',
  isFile: true,
  async get(visit) {
    const words = WORDS[visit.language];
    const span = readMonthSpan(visit);
    const archived = await findLatestArchiveDate(visit.services.store, visit.account.id);
    if (archived !== undefined && archived > span.from) throw fault('not_found');
    const month = await readMonth(visit, span);
    // A file cannot say that it is incomplete.
    if (month.usage.behind) throw fault('still_counting', { retryAfterS: AGAIN_S });
    const head = [words.date, words.what, words.note, words.count, words.amount];
    const name = `statement-${span.month}-${visit.account.id}.csv`;
    return createCsv(visit.language, name, { head, rows: listCsvRows(visit, span, month) });
  },
});

interface MonthSpan {
  /** `2026-11`. */
  readonly month: string;
  readonly current: string;
  readonly from: number;
  readonly to: number;
}

/** The month of the query, or the current one; months to come count as the current one. */
export function readMonthSpan({ query, services, zone }: OwnerVisit): MonthSpan {
  const current = formatDay(services.now(), zone).slice(0, 7);
  const wanted = query.get('month') ?? '';
  const month = /^20\d{2}-(?:0[1-9]|1[0-2])$/.test(wanted) && wanted <= current ? wanted : current;
  return { month, current, from: findDayStart(`${month}-01`, zone), to: findDayStart(findNextMonth(month), zone) };
}

function findNextMonth(month: string): string {
  return `${addDays(`${month}-28`, 4).slice(0, 7)}-01`;
}

interface Month {
  readonly statement: Statement;
  readonly usage: CountedUsage;
  /** What models with calls were charged; the rest of `charged` is of calls on the edges of the month. */
  readonly models: readonly UsageRow[];
  readonly edges: Micro;
}

async function readMonth(visit: OwnerVisit, { month, from, to }: MonthSpan): Promise<Month> {
  const { services, account, zone } = visit;
  const { store } = services;
  const filter = { from: findDayStartHour(`${month}-01`, zone), to: findDayStartHour(findNextMonth(month), zone) };
  const [found, usage] = await Promise.all([
    readStatement(store.ledger, account.id, { from, to, now: services.now() }),
    readUsage(store, account.id, { by: 'model', zone, filter }),
  ]);
  if (!found) throw fault('store_unavailable');
  if (usage.behind) services.usage.foldSoon(account.id);
  const models = usage.rows.filter(({ calls, failed, charged }) => charged !== 0n || calls > failed);
  return { statement: found, usage, models, edges: found.charged - usage.total.charged };
}

function monthForm(visit: OwnerVisit, { month, current }: MonthSpan): Html {
  const words = WORDS[visit.language];
  const account = visit.query.get('account');
  return html`<form method="get" action="${PATH}" class="screen">
${account !== null && html`<input type="hidden" name="account" value="${account}">`}
<p class="field"><label for="month">${words.month}</label>
<input id="month" name="month" type="month" value="${month}" max="${current}" pattern="20\\d\\d-\\d\\d" required></p>
<p><button class="quiet">${words.show}</button></p></form>`;
}

function renderStatement(visit: OwnerVisit, span: MonthSpan, month: Month): Html {
  const words = WORDS[visit.language];
  const { format, account, zone } = visit;
  const { usage } = month;
  const last = addDays(findNextMonth(span.month), -1);
  const days = [`${span.month}-01`, last].map((day) => format.date(findDayStart(day, zone)));
  const csv = linkTo(visit, `${PATH}.csv?month=${span.month}`);
  const payments = linkTo(visit, `/account/payments.csv?month=${span.month}`);
  return html`<p>${words.account}: ${account.name} <span class="hint">${words.id} ${account.id}</span><br>
${words.period}: ${days.join(' – ')} <span class="hint">${words.zone(zone)}</span></p>
<h2>${words.summary}</h2>
${summaryTable(visit, month.statement)}
<h2>${words.moved}</h2>
${movementTable(visit, month.statement)}
<h2>${words.calls}</h2>
<section id="models"${usage.behind && html` data-again`}>${usage.behind ? message('done', words.counting) : modelTable(visit, month)}</section>
<p class="screen"><a href="${csv}" download>${words.csv}</a> · <a href="${payments}" download>${words.payments}</a>. ${words.print}</p>
<p class="screen"><a href="${linkTo(visit, '/account/wallet')}">${words.wallet}</a></p>`;
}

function summaryTable({ language, format }: OwnerVisit, found: Statement): Html {
  const words = WORDS[language];
  const { opening, closing, held, movements, furtherMovements, charged } = found;
  const moved = movements.reduce((sum, { amount }) => sum + amount, furtherMovements);
  const end = held === undefined ? words.closing : words.soFar;
  const note =
    held !== undefined && held > 0n && html`<br><span class="hint">${words.held(format.rubExact(held))}</span>`;
  const rows = [
    [words.opening, format.rubExact(opening)],
    [words.moved, format.rubExact(moved)],
    [words.calls, format.rubExact(-charged)],
    [html`<strong>${end}</strong>${note}`, html`<strong>${format.rubExact(closing)}</strong>`],
  ] as const;
  return table(words.summary, [{ title: words.what }, { title: words.amount, number: true }], rows);
}

function movementTable({ language, format }: OwnerVisit, { movements, furtherMovements }: Statement): Html {
  const words = WORDS[language];
  if (movements.length === 0) return html`<p>${words.none}</p>`;
  const kinds = entryWords(language);
  const total = movements.reduce((sum, { amount }) => sum + amount, furtherMovements);
  const rows = [
    ...movements.map(({ at, kind, note, amount }) => [
      format.time(at),
      kinds[kind],
      note ?? '',
      format.rubExact(amount),
    ]),
    ...(furtherMovements === 0n ? [] : [['', words.further, '', format.rubExact(furtherMovements)]]),
    ['', html`<strong>${words.total}</strong>`, '', html`<strong>${format.rubExact(total)}</strong>`],
  ];
  const columns = [words.date, words.what, words.note].map((title) => ({ title }));
  return table(words.moved, [...columns, { title: words.amount, number: true }], rows);
}

function modelTable({ language, format }: OwnerVisit, { statement: { charged }, models, edges }: Month): Html {
  const words = WORDS[language];
  if (models.length === 0 && charged === 0n) return html`<p>${words.none}</p>`;
  const rows = [
    ...models.map(({ group, calls, failed, charged: sum }) => [
      group,
      format.number(calls - failed),
      format.rubExact(sum),
    ]),
    ...(edges === 0n ? [] : [[words.edges, '', format.rubExact(edges)]]),
    [html`<strong>${words.total}</strong>`, '', html`<strong>${format.rubExact(charged)}</strong>`],
  ];
  const numbers = [words.count, words.amount].map((title) => ({ title, number: true }));
  return table(words.calls, [{ title: words.model }, ...numbers], rows);
}

/** Calls are negative, so that the column adds up from the opening to the closing balance. */
async function* listCsvRows(
  { language, zone, services }: OwnerVisit,
  { from, to }: MonthSpan,
  { statement: found, models, edges }: Month,
): AsyncGenerator<readonly Cell[]> {
  const words = WORDS[language];
  const kinds = entryWords(language);
  const last = formatDay(Math.min(to - 1, services.now()), zone);
  yield [formatDay(from, zone), words.opening, '', '', { rub: found.opening }];
  for (const { at, kind, note, amount } of found.movements)
    yield [formatDay(at, zone), kinds[kind], note ?? '', '', { rub: amount }];
  if (found.furtherMovements !== 0n) yield [last, words.further, '', '', { rub: found.furtherMovements }];
  for (const { group, calls, failed, charged } of models)
    yield [last, words.calls, group, calls - failed, { rub: -charged }];
  if (edges !== 0n) yield [last, words.calls, words.edges, '', { rub: -edges }];
  yield [last, found.held === undefined ? words.closing : words.soFar, '', '', { rub: found.closing }];
}
