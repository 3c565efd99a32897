// The list of customers for an operator: one search box, filters, and what each of them spent.
import { isCallId, readChargeId } from '../../calls/charge-id.ts';
import type { RequestLimits } from '../../money/request-limits.ts';
import { field, filterBox, orUsual, select, shortTime, table } from '../components.ts';
import {
  CUSTOMER_DAYS,
  CUSTOMER_FILTERS,
  CUSTOMER_SORTS,
  type Customer,
  type CustomerQuery,
  listCustomers,
  readCustomerQuery,
} from '../customers.ts';
import { markUnpriced, unpricedNote } from '../dashboard/unpriced.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    search: 'Name, email, last 4 characters of a key, request ID or payment',
    filter: 'Show',
    filters: {
      all: 'all customers',
      unpaid: 'never topped up',
      negative: 'balance below zero',
      suspended: 'suspended',
      silent: 'no calls for 30 days',
      low: 'balance lasts less than 7 days',
    },
    sort: 'Sort by',
    sorts: {
      spent: 'spending',
      balance: 'balance, lowest first',
      last: 'last call',
      created: 'newest first',
      name: 'name',
    },
    show: 'Find',
    find: 'Search and filter',
    title: 'Customers',
    name: 'Customer',
    owners: 'Email',
    balance: 'Balance',
    spent: `Spent in ${CUSTOMER_DAYS} days`,
    margin: 'Margin',
    errors: 'Failed',
    calls: 'Calls',
    last: 'Last call',
    terms: 'Prices, limits',
    perMinute: (count: string) => `${count}/min`,
    atOnce: (count: string) => `${count} at once`,
    addresses: (count: string) => `addresses: ${count}`,
    suspended: 'suspended',
    none: 'No customers found.',
    found: (count: string) => `Found: ${count}`,
    next: 'Next page',
  },
  ru: {
    search: 'Название, почта, последние 4 символа ключа, ID запроса или платёж',
    filter: 'Показать',
    filters: {
      all: 'всех клиентов',
      unpaid: 'ни разу не пополняли',
      negative: 'баланс ниже нуля',
      suspended: 'приостановлены',
      silent: 'без запросов 30 дней',
      low: 'баланса хватит меньше чем на 7 дней',
    },
    sort: 'Сортировать',
    sorts: {
      spent: 'по расходам',
      balance: 'по балансу, с наименьшего',
      last: 'по последнему запросу',
      created: 'сначала новые',
      name: 'по названию',
    },
    show: 'Найти',
    find: 'Поиск и фильтр',
    title: 'Клиенты',
    name: 'Клиент',
    owners: 'Почта',
    balance: 'Баланс',
    spent: `Расходы за ${CUSTOMER_DAYS} дней`,
    margin: 'Маржа',
    errors: 'Ошибки',
    calls: 'Запросы',
    last: 'Последний запрос',
    terms: 'Цены, лимиты',
    perMinute: (count: string) => `${count}/мин`,
    atOnce: (count: string) => `${count} одновременно`,
    addresses: (count: string) => `адресов: ${count}`,
    suspended: 'приостановлен',
    none: 'Клиенты не найдены.',
    found: (count: string) => `Найдено: ${count}`,
    next: 'Следующая страница',
  },
});

const PER_PAGE = 50;

/** Where a text leads that is the id of a call, a video, a payment, or a whole account id. */
export async function findByExactId({ services, query }: UserVisit): Promise<string | undefined> {
  const text = readChargeId(readCustomerQuery(query).text);
  const { ledger, payments, accounts } = services.store;
  if (!/^[\w:-]{8,100}$/.test(text)) return undefined;
  const [charge, payment, account] = await Promise.all([ledger.charge(text), payments.get(text), accounts.get(text)]);
  // Without a charge, that page says which calls have none.
  if (charge || isCallId(text)) return `/admin/ledger?id=${encodeURIComponent(text)}`;
  if (payment) return `/admin/payments/${encodeURIComponent(payment.id)}`;
  return account && `/admin/accounts/${account.id}`;
}

export async function customerList(visit: UserVisit): Promise<Html> {
  const { services, query, format, signedIn } = visit;
  const words = WORDS[visit.language];
  const wanted = readCustomerQuery(query);
  const page = Math.max(1, Math.min(10_000, Number.parseInt(query.get('page') ?? '', 10) || 1));
  const { count, customers } = await listCustomers(
    { store: services.store, customerRanks: services.customerRanks, now: services.now(), zone: signedIn.user.timeZone },
    { ...wanted, first: (page - 1) * PER_PAGE, limit: PER_PAGE },
  );
  const isMore = count > page * PER_PAGE;
  const next = new URLSearchParams({ q: wanted.text, filter: wanted.filter, sort: wanted.sort, page: `${page + 1}` });
  return html`${searchForm(visit, wanted)}
<p class="hint">${words.found(format.number(count))}</p>
${customers.length === 0 ? html`<p>${words.none}</p>` : await customerTable(visit, customers)}
${isMore && html`<p><a href="/admin/accounts?${next.toString()}" rel="next">${words.next}</a></p>`}`;
}

function searchForm({ language }: UserVisit, { text, filter, sort }: CustomerQuery): Html {
  const words = WORDS[language];
  const box = html`<form method="get" action="/admin/accounts" class="filter" aria-label="${words.title}">
${field({ name: 'q', label: words.search, type: 'search', value: text, optional: true })}
${select(
  { name: 'filter', label: words.filter, chosen: filter },
  CUSTOMER_FILTERS.map((name) => [name, words.filters[name]]),
)}
${select(
  { name: 'sort', label: words.sort, chosen: sort },
  CUSTOMER_SORTS.map((name) => [name, words.sorts[name]]),
)}
<p><button>${words.show}</button></p>
</form>`;
  return filterBox(words.find, box);
}

async function customerTable(visit: UserVisit, customers: readonly Customer[]): Promise<Html> {
  const { language, format, services } = visit;
  const words = WORDS[language];
  const owners = await services.store.users.listOwnerEmails(customers.map(({ id }) => id));
  const emails = Map.groupBy(owners, ({ account }) => account);
  const rows = customers.map(({ id, name, status, priceList, requests, avail, sums, usedAt }) => [
    html`<a href="/admin/accounts/${id}">${name}</a>${status === 'suspended' && ` · ${words.suspended}`}`,
    (emails.get(id) ?? [])
      .map(({ email }) => email)
      .sort()
      .join(', '),
    [...(priceList === undefined ? [] : [priceList]), ...describeLimits(visit, requests)].join(', '),
    usedAt === undefined ? '' : shortTime(visit, usedAt),
    format.rub(avail),
    orUsual(format.rub(sums.charged), sums.charged === 0n),
    orUsual(markUnpriced(format.rub(sums.charged - sums.cost), sums), sums.charged === sums.cost),
    sums.calls === 0 ? '' : format.percent(sums.failed / sums.calls),
    html`<a href="/admin/accounts/${id}/calls">${format.number(sums.calls)}</a>`,
  ]);
  const numbers = [words.spent, words.margin, words.errors, words.calls];
  const columns = [
    { title: words.name, narrow: 'main' },
    { title: words.owners },
    ...[words.terms, words.last].map((title) => ({ title, narrow: 'named' as const })),
    { title: words.balance, number: true, narrow: 'sum' },
    ...numbers.map((title) => ({ title, number: true, narrow: 'named' as const })),
  ] as const;
  const unpriced = customers.reduce((sum, { sums }) => sum + sums.unpriced, 0);
  return html`${table(words.title, columns, rows)}${unpricedNote(visit, { unpriced })}`;
}

function describeLimits(
  { language, format }: UserVisit,
  { perMinute, atOnce, addresses }: RequestLimits = {},
): readonly string[] {
  const words = WORDS[language];
  const parts = [
    perMinute !== undefined && words.perMinute(format.number(perMinute)),
    atOnce !== undefined && words.atOnce(format.number(atOnce)),
    addresses !== undefined && words.addresses(format.number(addresses.length)),
  ];
  return parts.filter((part) => part !== false);
}
