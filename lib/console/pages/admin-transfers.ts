// All money that came into wallets and went back, whether through a payment provider or recorded by an operator: a list
// for the books, with its sums, also as CSV.
import { addDays, findDayStart, formatDay, parseDay } from '../../money/days.ts';
import type { Entry } from '../../money/decide.ts';
import { formatMoment } from '../../money/period.ts';
import { walkFrom } from '../../store/walks.ts';
import { definitionList, field, shortTime, table } from '../components.ts';
import { type Cell, createCsv } from '../csv.ts';
import { splitPayments } from '../dashboard/figures.ts';
import { type Html, html } from '../html.ts';
import { defineWords, type Language } from '../language.ts';
import { page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { reasonText } from '../wallet/reasons.ts';
import { readAccountNames } from './admin-payments.ts';
import { entryWords } from './entry-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Money in and out',
    hint: 'What came into the balances of all accounts and went back: through payment providers (test payments too), and what operators recorded. Bonuses are not listed.',
    back: 'Payments through payment providers',
    from: 'From',
    to: 'To',
    filter: 'Filter',
    show: 'Apply',
    zone: (zone: string) => `Time zone: ${zone}. Both days are included.`,
    received: 'Received',
    returned: 'Returned',
    corrected: 'Corrections',
    total: 'Total',
    time: 'Time',
    account: 'Account',
    what: 'Operation',
    recorded: 'payment recorded by an operator',
    note: 'Number or reason',
    amount: 'Amount',
    none: 'No money came in or went back.',
    older: 'Earlier ones',
    csv: 'Download CSV',
    head: ['time', 'account', 'account_name', 'kind', 'amount_rub', 'payment', 'reason'],
  },
  ru: {
    title: 'Поступления и возвраты',
    hint: 'Деньги, которые поступили на балансы всех аккаунтов и были возвращены: через платёжные системы (в том числе тестовые платежи) и записанные операторами. Бонусов в списке нет.',
    back: 'Платежи через платёжные системы',
    from: 'С',
    to: 'По (включительно)',
    filter: 'Фильтр',
    show: 'Показать',
    zone: (zone: string) => `Часовой пояс: ${zone}.`,
    received: 'Поступило',
    returned: 'Возвращено',
    corrected: 'Корректировки',
    total: 'Итого',
    time: 'Время',
    account: 'Аккаунт',
    what: 'Операция',
    recorded: 'платёж, записанный оператором',
    note: 'Номер или основание',
    amount: 'Сумма',
    none: 'Поступлений и возвратов не было.',
    older: 'Более ранние',
    csv: 'Скачать CSV',
    head: ['время', 'id_аккаунта', 'аккаунт', 'операция', 'сумма_руб', 'номер_платежа', 'основание'],
  },
});

const PATH = '/admin/payments/all';
const PER_PAGE = 100;
/** Of a file. */
const PER_READ = 500;

export const adminTransfers = page({
  path: PATH,
  who: 'operator',
  async get(visit) {
    const { services, language, query } = visit;
    const words = WORDS[language];
    const days = readDays(visit);
    const before = readCursor(query.get('before'));
    const found = await services.store.ledger.transfers({ ...days.span, limit: PER_PAGE, before });
    const last = found.length === PER_PAGE ? found.at(-1) : undefined;
    const link = (path: string, more = {}) =>
      `${path}?${new URLSearchParams({ from: days.from, to: days.to, ...more })}`;
    const older = last && link(PATH, { before: `${last.at}-${last.opId}` });
    const body = html`<p class="hint">${words.hint} <a href="/admin/payments">${words.back}</a></p>
${filterForm(visit, days)}
${await sums(visit, days)}
${found.length === 0 ? html`<p>${words.none}</p>` : await transferTable(visit, found)}
<p>${older !== undefined && html`<a href="${older}" rel="next">${words.older}</a> · `}<a href="${link(`${PATH}.csv`)}" download>${words.csv}</a></p>`;
    return { title: words.title, body };
  },
});

export const adminTransfersCsv = page({
  path: `${PATH}.csv`,
  who: 'operator',
  isFile: true,
  async get(visit) {
    const days = readDays(visit);
    const name = `money-${days.from}-${days.to}.csv`;
    return createCsv(visit.language, name, { head: WORDS[visit.language].head, rows: listCsvRows(visit, days) });
  },
});

/** Both are included; `span` has the times for the store. */
interface Days {
  readonly from: string;
  readonly to: string;
  readonly span: { readonly from: number; readonly to: number };
}

/** Of the query; the month up to today without any. Invalid ones are ignored. */
function readDays({ query, services, signedIn }: UserVisit): Days {
  const zone = signedIn.user.timeZone;
  const last = parseDay(query.get('to') ?? '') ?? formatDay(services.now(), zone);
  const from = parseDay(query.get('from') ?? '') ?? `${last.slice(0, 7)}-01`;
  const isOrdered = from <= last;
  const to = isOrdered ? last : from;
  return { from, to, span: { from: findDayStart(from, zone), to: findDayStart(addDays(to, 1), zone) } };
}

/** Undefined if it is not a valid cursor. */
function readCursor(text: string | null): Pick<Entry, 'at' | 'opId'> | undefined {
  const [, at, opId] = /^(\d{1,15})-(.{1,500})$/s.exec(text ?? '') ?? [];
  return opId === undefined ? undefined : { at: Number(at), opId };
}

function filterForm({ language, signedIn }: UserVisit, { from, to }: Days): Html {
  const words = WORDS[language];
  return html`<form method="get" action="${PATH}" class="filter" aria-label="${words.filter}">
${field({ name: 'from', label: words.from, type: 'date', value: from, optional: true })}
${field({ name: 'to', label: words.to, type: 'date', value: to, optional: true })}
<p><button>${words.show}</button></p>
</form>
<p class="hint">${words.zone(signedIn.user.timeZone)}</p>`;
}

async function sums({ services, language, format }: UserVisit, { span }: Days): Promise<Html> {
  const words = WORDS[language];
  const { ledger } = services.store;
  const [payments, corrected] = await Promise.all([ledger.paymentSums(span), ledger.correctionSum(span)]);
  const { received, returned } = splitPayments(payments);
  return definitionList([
    [words.received, format.rub(received)],
    [words.returned, format.rub(returned)],
    [words.corrected, format.rub(corrected)],
    [words.total, html`<strong>${format.rub(received - returned + corrected)}</strong>`],
  ]);
}

async function transferTable(visit: UserVisit, entries: readonly Entry[]): Promise<Html> {
  const { language, format, services } = visit;
  const words = WORDS[language];
  const names = await readAccountNames(services.store.accounts, entries);
  const rows = entries.map((entry) => [
    shortTime(visit, entry.at),
    html`<a href="/admin/accounts/${entry.wallet}">${names.get(entry.wallet) ?? entry.wallet}</a>`,
    nameKind(language, entry.kind),
    renderNote(visit, entry),
    format.rub(readAmount(entry)),
  ]);
  return table(
    words.title,
    [
      { title: words.time, narrow: 'main' },
      { title: words.account, narrow: 'main' },
      { title: words.what },
      { title: words.note },
      { title: words.amount, number: true, narrow: 'sum' },
    ],
    rows,
  );
}

function nameKind(language: Language, kind: Entry['kind']): string {
  return kind === 'topup' ? WORDS[language].recorded : entryWords(language)[kind];
}

function renderNote({ language }: UserVisit, entry: Entry): Html | string {
  const { payment, reason } = readNote(entry);
  if (payment === '') return reasonText(language, reason);
  // One that an operator recorded has its own number, and no page.
  if (entry.kind === 'topup') return payment;
  return html`<a href="/admin/payments/${payment}"><code>…${payment.slice(-8)}</code></a>`;
}

function readNote({ kind, note }: Entry): { readonly payment: string; readonly reason: string } {
  return kind === 'adjust' ? { payment: '', reason: note ?? '' } : { payment: note ?? '', reason: '' };
}

function readAmount({ topped, adjusted }: Entry): bigint {
  return topped + adjusted;
}

/** Newest first. In Russian the last row is the total; in English programs add the rows up. */
async function* listCsvRows(visit: UserVisit, { span }: Days): AsyncGenerator<readonly Cell[]> {
  const { language, signedIn, services } = visit;
  const { ledger, accounts } = services.store;
  const zone = signedIn.user.timeZone;
  const isPlain = language === 'en';
  let total = 0n;
  const read = (before?: Entry) => ledger.transfers({ ...span, limit: PER_READ, before });
  for await (const found of walkFrom(PER_READ, read)) {
    const names = await readAccountNames(accounts, found);
    for (const entry of found) {
      const amount = readAmount(entry);
      const { payment, reason } = readNote(entry);
      total += amount;
      yield [
        isPlain ? formatMoment(entry.at, zone) : { at: entry.at, zone },
        entry.wallet,
        names.get(entry.wallet) ?? '',
        isPlain ? entry.kind : nameKind(language, entry.kind),
        { rub: amount },
        payment,
        isPlain ? reason : reasonText(language, reason),
      ];
    }
  }
  if (!isPlain) yield [WORDS.ru.total, '', '', '', { rub: total }, '', ''];
}
