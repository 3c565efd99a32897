// Payments of all accounts for an operator, those that need a decision first, also as CSV.
import { IN_WALLET_PHASES, OPEN_PHASES, PAYMENT_PHASES, type Payment } from '../../money/payment.ts';
import { formatMoment } from '../../money/period.ts';
import type { PaymentList } from '../../store/ports/payments.ts';
import type { Store } from '../../store/store.ts';
import { walkFrom } from '../../store/walks.ts';
import { accountFilterLabel, ambiguousAccountNote, findNamedAccount, type NamedAccount } from '../account-filter.ts';
import { field, orUsual, select, shortTime, table } from '../components.ts';
import { type Cell, createCsv } from '../csv.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { paymentCursor, readPaymentCursor } from '../wallet/history.ts';
import { paymentWords } from '../wallet/payment-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Payments',
    phase: 'Status',
    all: 'all',
    open: 'unfinished',
    refunding: 'refund not made yet',
    account: 'Account',
    show: 'Apply',
    filter: 'Filter',
    time: 'Created',
    payment: 'Payment',
    provider: 'Provider',
    origin: 'Method',
    amount: 'Amount',
    credited: 'Credited',
    refunded: 'Refunded',
    hint: 'Payments through payment providers. Those that operators recorded, also from bank statements, are in the list of',
    transfers: 'all money that came in and went back',
    none: 'No payments match.',
    older: 'Older payments',
    csv: 'Download CSV',
    providerId: 'ID at the provider',
    accountName: 'Account name',
    test: 'Test',
    yes: 'yes',
    changed: 'Last change',
    openPaymentLinks: {
      review: (count: string) => `Under review: ${count}`,
      disputed: (count: string) => `Disputes: ${count}`,
      refunding: (count: string) => `Refunds not made yet: ${count}`,
      open: (count: string) => `Unfinished: ${count}`,
    },
  },
  ru: {
    title: 'Платежи',
    phase: 'Статус',
    all: 'все',
    open: 'не завершены',
    refunding: 'возврат не завершён',
    account: 'Аккаунт',
    show: 'Показать',
    filter: 'Фильтр',
    time: 'Создан',
    payment: 'Платёж',
    provider: 'Платёжная система',
    origin: 'Способ',
    amount: 'Сумма',
    credited: 'Зачислено',
    refunded: 'Возвращено',
    hint: 'Здесь платежи через платёжные системы. Зачисленные вручную и по банковским выпискам есть в списке',
    transfers: 'всех поступлений и возвратов',
    none: 'Таких платежей нет.',
    older: 'Более ранние платежи',
    csv: 'Скачать CSV',
    providerId: 'ID в платёжной системе',
    accountName: 'Название аккаунта',
    test: 'Тестовый',
    yes: 'да',
    changed: 'Последнее изменение',
    openPaymentLinks: {
      review: (count: string) => `На проверке: ${count}`,
      disputed: (count: string) => `Споры: ${count}`,
      refunding: (count: string) => `Возвраты не завершены: ${count}`,
      open: (count: string) => `Не завершены: ${count}`,
    },
  },
});

const PER_PAGE = 50;
/** Of a file. */
const PER_READ = 500;
const COUNTED_MAX = 100;
const ACCOUNT_LENGTH_MAX = 100;
export const OPEN_GROUPS = {
  review: { phases: ['review'] },
  disputed: { phases: ['disputed'] },
  /** Those with a refund that the provider has not made; one credited after a review is looked at once more, too. */
  refunding: { phases: IN_WALLET_PHASES, isOpen: true },
  open: { phases: OPEN_PHASES },
} as const satisfies Readonly<Record<string, Pick<PaymentList, 'phases' | 'isOpen'>>>;

/** How many payments match, counted up to a hundred. */
export async function countPayments(
  { services, format }: UserVisit,
  of: Pick<PaymentList, 'phases' | 'isOpen'>,
): Promise<string> {
  const { length } = await services.store.payments.list({ ...of, limit: COUNTED_MAX + 1 });
  return length > COUNTED_MAX ? `${COUNTED_MAX}+` : format.number(length);
}

export const adminPayments = page({
  path: '/admin/payments',
  who: 'operator',
  async get(visit) {
    const { services, language, query } = visit;
    const words = WORDS[language];
    const filter = readFilter(visit);
    const account = await findNamedAccount(services.store, filter.account);
    const before = readPaymentCursor(query.get('before'));
    const found = await services.store.payments.list({ ...selectPayments(filter, account), limit: PER_PAGE, before });
    const last = found.length === PER_PAGE ? found.at(-1) : undefined;
    const link = (path: string, more = {}) => `${path}?${new URLSearchParams({ ...filter, ...more })}`;
    const older = last && link('/admin/payments', { before: paymentCursor(last) });
    const body = html`<p class="hint">${words.hint} <a href="/admin/payments/all">${words.transfers}</a>.</p>
${await openPaymentLinks(visit)}
${filterForm(visit, filter)}
${ambiguousAccountNote(language, filter.account, account)}
${found.length === 0 ? html`<p>${words.none}</p>` : await paymentTable(visit, found)}
<p>${older !== undefined && html`<a href="${older}" rel="next">${words.older}</a> · `}<a href="${link('/admin/payments.csv')}" download>${words.csv}</a></p>`;
    return { title: words.title, body };
  },
});

export const adminPaymentsCsv = page({
  path: '/admin/payments.csv',
  who: 'operator',
  isFile: true,
  async get(visit) {
    const { time, payment, providerId, phase, account, provider, origin, ...words } = WORDS[visit.language];
    const names = [time, payment, providerId, phase, account, words.accountName, provider, origin, words.test];
    const head = [...names, words.amount, words.credited, words.refunded, words.changed];
    return createCsv(visit.language, 'payments.csv', { head, rows: listCsvRows(visit) });
  },
});

interface Filter {
  readonly phase: string;
  /** As it was typed, '' for all. */
  readonly account: string;
}

function readFilter({ query }: UserVisit): Filter {
  return {
    phase: query.get('phase') ?? '',
    account: (query.get('account') ?? '').trim().slice(0, ACCOUNT_LENGTH_MAX),
  };
}

function selectPayments(
  { phase: chosen }: Filter,
  account: NamedAccount | undefined,
): Pick<PaymentList, 'phases' | 'isOpen' | 'wallet'> {
  const wallet = account?.id;
  if (Object.hasOwn(OPEN_GROUPS, chosen)) return { ...OPEN_GROUPS[chosen as keyof typeof OPEN_GROUPS], wallet };
  const phase = PAYMENT_PHASES.find((name) => name === chosen);
  return { phases: phase && [phase], wallet };
}

async function* listCsvRows(visit: UserVisit): AsyncGenerator<readonly Cell[]> {
  const { store } = visit.services;
  const { payments, accounts } = store;
  const filter = readFilter(visit);
  const selected = selectPayments(filter, await findNamedAccount(store, filter.account));
  const read = (before?: Payment) => payments.list({ ...selected, limit: PER_READ, before });
  for await (const found of walkFrom(PER_READ, read)) {
    const names = await readAccountNames(accounts, found);
    for (const payment of found) yield toCsvRow(visit, payment, names.get(payment.wallet) ?? '');
  }
}

export async function readAccountNames(
  accounts: Store['accounts'],
  payments: readonly Pick<Payment, 'wallet'>[],
): Promise<ReadonlyMap<string, string>> {
  const named = await accounts.names([...new Set(payments.map(({ wallet }) => wallet))]);
  return new Map(named.map(({ id, name }) => [id, name]));
}

/** In Russian for people and their spreadsheets; in English as the API has it. */
function toCsvRow({ language, signedIn }: UserVisit, payment: Payment, accountName: string): readonly Cell[] {
  const { id, ref, phase, wallet, provider, origin, test, amount, credited, refunded } = payment;
  const isPlain = language === 'en';
  const { phases, origins } = paymentWords(language);
  const zone = signedIn.user.timeZone;
  const moment = (at: number): Cell => (isPlain ? formatMoment(at, zone) : { at, zone });
  return [
    moment(payment.createdAt),
    id,
    ref ?? '',
    isPlain ? phase : phases[phase],
    wallet,
    accountName,
    provider,
    isPlain ? origin : origins[origin],
    test ? WORDS[language].yes : '',
    { rub: amount },
    { rub: credited },
    { rub: refunded },
    moment(payment.changedAt),
  ];
}

async function openPaymentLinks(visit: UserVisit): Promise<Html> {
  const words = WORDS[visit.language];
  const names = Object.keys(OPEN_GROUPS) as (keyof typeof OPEN_GROUPS)[];
  const counts = await Promise.all(names.map((name) => countPayments(visit, OPEN_GROUPS[name])));
  const items = names.map(
    (name, at) =>
      html`<li><a href="/admin/payments?phase=${name}">${words.openPaymentLinks[name](counts[at] ?? '')}</a></li>`,
  );
  return html`<ul>${items}</ul>`;
}

function filterForm({ language }: UserVisit, { phase, account }: { phase: string; account: string }): Html {
  const words = WORDS[language];
  const { phases } = paymentWords(language);
  const options = [
    ['open', words.open] as const,
    ['refunding', words.refunding] as const,
    ...PAYMENT_PHASES.map((name) => [name, phases[name]] as const),
  ];
  return html`<form method="get" action="/admin/payments" class="filter" aria-label="${words.filter}">
${select({ name: 'phase', label: words.phase, all: words.all, chosen: phase }, options)}
${field({ name: 'account', label: accountFilterLabel(language), value: account, optional: true })}
<p><button>${words.show}</button></p>
</form>`;
}

async function paymentTable(visit: UserVisit, payments: readonly Payment[]): Promise<Html> {
  const { language, format, services } = visit;
  const names = await readAccountNames(services.store.accounts, payments);
  const words = WORDS[language];
  const { phases, origins } = paymentWords(language);
  const columns = [words.time, words.payment, words.phase, words.account, words.provider, words.origin];
  const amounts = [words.amount, words.credited, words.refunded];
  const rows = payments.map(({ id, createdAt, wallet, provider, phase, origin, amount, credited, refunded }) => [
    shortTime(visit, createdAt),
    html`<a href="/admin/payments/${id}"><code>…${id.slice(-8)}</code></a>`,
    phases[phase],
    html`<a href="/admin/accounts/${wallet}">${names.get(wallet) ?? wallet}</a>`,
    provider,
    origins[origin],
    format.rub(amount),
    orUsual(format.rub(credited), credited === amount || credited === 0n),
    orUsual(format.rub(refunded), refunded === 0n),
  ]);
  return table(
    words.title,
    [
      ...columns.map((title, at) => (at < 2 ? { title, narrow: 'main' as const } : { title })),
      ...amounts.map((title, at) => ({
        title,
        number: true,
        narrow: at === 0 ? ('sum' as const) : ('named' as const),
      })),
    ],
    rows,
  );
}
