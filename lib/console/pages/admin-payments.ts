// Payments of all accounts for an operator, those that need a decision first.
import { PAYMENT_PHASES, type Payment, type PaymentPhase } from '../../money/payment.ts';
import type { PaymentList } from '../../store/ports/payments.ts';
import { field, orUsual, select, shortTime, table } from '../components.ts';
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
    none: 'No payments match.',
    older: 'Older payments',
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
    none: 'Таких платежей нет.',
    older: 'Более ранние платежи',
    openPaymentLinks: {
      review: (count: string) => `На проверке: ${count}`,
      disputed: (count: string) => `Споры: ${count}`,
      refunding: (count: string) => `Возвраты не завершены: ${count}`,
      open: (count: string) => `Не завершены: ${count}`,
    },
  },
});

const PER_PAGE = 50;
const COUNTED_MAX = 100;
const ID_LENGTH_MAX = 64;
/** Phases whose outcome is still open. */
const OPEN: readonly PaymentPhase[] = ['created', 'pending', 'succeeded'];
export const OPEN_GROUPS = {
  review: { phases: ['review'] },
  disputed: { phases: ['disputed'] },
  /** Those with a refund that the provider has not made; one credited after a review is looked at once more, too. */
  refunding: { phases: ['credited', 'partly_refunded'], isOpen: true },
  open: { phases: OPEN },
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
    const chosen = query.get('phase') ?? '';
    const phase = PAYMENT_PHASES.find((name) => name === chosen);
    const group = Object.hasOwn(OPEN_GROUPS, chosen)
      ? OPEN_GROUPS[chosen as keyof typeof OPEN_GROUPS]
      : { phases: phase && [phase] };
    const account = (query.get('account') ?? '').trim().slice(0, ID_LENGTH_MAX);
    const before = readPaymentCursor(query.get('before'));
    const found = await services.store.payments.list({
      ...group,
      limit: PER_PAGE,
      wallet: account === '' ? undefined : account,
      before,
    });
    const last = found.length === PER_PAGE ? found.at(-1) : undefined;
    const filter = { phase: chosen, account };
    const older = last && `/admin/payments?${new URLSearchParams({ ...filter, before: paymentCursor(last) })}`;
    const body = html`${await openPaymentLinks(visit)}
${filterForm(visit, filter)}
${found.length === 0 ? html`<p>${words.none}</p>` : paymentTable(visit, found)}
${older !== undefined && html`<p><a href="${older}" rel="next">${words.older}</a></p>`}`;
    return { title: words.title, body };
  },
});

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
${field({ name: 'account', label: words.account, value: account, optional: true })}
<p><button>${words.show}</button></p>
</form>`;
}

function paymentTable(visit: UserVisit, payments: readonly Payment[]): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const { phases, origins } = paymentWords(language);
  const columns = [words.time, words.payment, words.phase, words.account, words.provider, words.origin];
  const amounts = [words.amount, words.credited, words.refunded];
  const rows = payments.map(({ id, createdAt, wallet, provider, phase, origin, amount, credited, refunded }) => [
    shortTime(visit, createdAt),
    html`<a href="/admin/payments/${id}"><code>…${id.slice(-8)}</code></a>`,
    phases[phase],
    html`<a href="/admin/accounts/${wallet}"><code title="${wallet}">…${wallet.slice(-8)}</code></a>`,
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
