// One payment for its owner: its state and the next step, and a receipt with its ledger entries.
import { fault } from '../../base/faults.ts';
import { refundRequestId } from '../../money/payback.ts';
import {
  NOT_ACCEPTED,
  OPEN_PHASES,
  type Payment,
  type PaymentPhase,
  parseDispute,
  parseRefunds,
} from '../../money/payment.ts';
import { definitionList, message } from '../components.ts';
import { getSpendable } from '../funds.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Answer, page, type Redirect } from '../page.ts';
import { entryWords } from '../pages/entry-words.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { refundTable } from './history.ts';
import { paymentWords } from './payment-words.ts';
import { reasonText } from './reasons.ts';

const WORDS = defineWords({
  en: {
    title: 'Payment',
    pay: 'Go to the payment page',
    payUntil: (time: string) => `The link works until ${time}.`,
    again: 'Check again',
    reason: (text: string) => `The provider says: ${text}.`,
    why: (text: string) => `Reason: ${text}.`,
    order: 'Payment number',
    amount: 'Amount',
    state: 'Status',
    credited: 'Credited',
    refunded: 'Refunded',
    created: 'Created',
    origin: 'Method',
    balance: 'Available',
    receipt: 'Receipt',
    retry: 'Pay again',
    connect: 'Next: connect a program',
    back: 'Back to the wallet',
    receiptTitle: 'Receipt',
    account: 'Account',
    entry: 'Ledger entry',
    time: 'Time',
    paid: 'Paid in',
    change: 'Balance change',
    number: (seq: number, kind: string) => `Entry ${seq}: ${kind}`,
  },
  ru: {
    title: 'Платёж',
    pay: 'Перейти к оплате',
    payUntil: (time: string) => `Ссылка действует до ${time}.`,
    again: 'Проверить ещё раз',
    reason: (text: string) => `Ответ платёжной системы: ${text}.`,
    why: (text: string) => `Причина: ${text}.`,
    order: 'Номер платежа',
    amount: 'Сумма',
    state: 'Статус',
    credited: 'Зачислено',
    refunded: 'Возвращено',
    created: 'Создан',
    origin: 'Способ',
    balance: 'Доступно',
    receipt: 'Справка об оплате',
    retry: 'Оплатить ещё раз',
    connect: 'Дальше: подключить программу',
    back: 'Назад в кошелёк',
    receiptTitle: 'Справка об оплате',
    account: 'Аккаунт',
    entry: 'Номер операции',
    time: 'Время',
    paid: 'Внесено',
    change: 'Изменение баланса',
    number: (seq: number, kind: string) => `Операция №\u00a0${seq}: ${kind}`,
  },
});

/** Provider look-ups per account and minute; beyond that the page shows what is known. */
const REFRESH_LIMIT = { name: 'payment-looks', perMinute: 60 };
/** Phases after which the payer may try again. */
const UNPAID: readonly PaymentPhase[] = ['canceled', 'failed', 'expired'];
const FAILED: readonly PaymentPhase[] = ['canceled', 'failed', 'rejected', 'expired', 'disputed', 'reversed'];

/** The payment named in the query, if it is this account's. */
async function ownPayment({ services, account, query }: OwnerVisit): Promise<Payment> {
  const payment = await services.store.payments.get(query.get('order') ?? '');
  if (payment?.wallet !== account.id) throw fault('not_found');
  return payment;
}

/** Payers return from the payment page without the account in the URL. */
export async function redirectToOwnAccount({
  services,
  account,
  accounts,
  query,
}: OwnerVisit): Promise<Redirect | undefined> {
  const id = query.get('order');
  if (id === null || query.has('account') || accounts.length < 2) return undefined;
  const wallet = (await services.store.payments.get(id))?.wallet;
  if (wallet === account.id || !accounts.some((one) => one.id === wallet)) return undefined;
  return { to: `/account/wallet?order=${encodeURIComponent(id)}&account=${encodeURIComponent(wallet ?? '')}` };
}

/** Asks the provider first, so that a payer sees the result at once; only the provider's answer leads to a credit. */
export async function orderPage(visit: OwnerVisit): Promise<Answer> {
  const { services, account, language, format } = visit;
  const words = WORDS[language];
  const payment = await refreshPayment(visit, await ownPayment(visit));
  const wallet = await services.store.ledger.wallet(account.id);
  const { phases, meanings, origins } = paymentWords(language);
  const { id, phase, amount, credited, refunded, reason, createdAt, origin } = payment;
  const needsKey = phase === 'credited' && (await services.store.keys.list(account.id)).length === 0;
  const to = (path: string) => linkTo(visit, `/account/wallet${path}`);
  const isWaiting = OPEN_PHASES.includes(phase);
  const body = html`<section id="payment" aria-live="polite"${isWaiting && html` data-again`}>
${message(FAILED.includes(phase) ? 'error' : 'done', html`${meanings[phase]}${phase === 'canceled' && reason !== null && ` ${words.reason(reasonText(language, reason))}`}${reason === NOT_ACCEPTED && ` ${words.why(reasonText(language, reason))}`}`)}
${payLink(visit, payment)}
${isWaiting && html`<p><a href="${to(`?order=${id}`)}">${words.again}</a></p>`}
${UNPAID.includes(phase) && html`<p><a class="button" href="${to('')}">${words.retry}</a></p>`}
${definitionList([
  [words.amount, html`<strong class="big">${format.rub(amount)}</strong>`],
  [words.state, phases[phase]],
  ...(credited === 0n ? [] : [[words.credited, format.rub(credited)] as const]),
  ...(refunded === 0n ? [] : [[words.refunded, format.rub(refunded)] as const]),
  [words.created, format.time(createdAt)],
  [words.origin, origins[origin]],
  [words.balance, wallet && format.rub(getSpendable(wallet))],
  [words.order, html`<code>${id}</code>`],
])}
${needsKey && html`<p><a class="button" href="${linkTo(visit, '/account/connect')}">${words.connect}</a></p>`}
${refundTable(visit, [payment])}
${credited > 0n && html`<p><a href="${to(`/receipt?order=${id}`)}">${words.receipt}</a></p>`}
</section>
<p><a href="${to('')}">${words.back}</a></p>`;
  return { title: words.title, body };
}

function payLink({ language, format, services }: OwnerVisit, { phase, payUrl, expiresAt }: Payment): Html | undefined {
  const isOpen = phase === 'pending' && payUrl !== null && (expiresAt ?? 0) > services.now();
  if (!isOpen) return undefined;
  const words = WORDS[language];
  return html`<p><a class="button" href="${payUrl}" rel="noreferrer">${words.pay}</a></p>
<p class="hint">${expiresAt !== null && words.payUntil(format.time(expiresAt))}</p>`;
}

async function refreshPayment({ services, account }: OwnerVisit, payment: Payment): Promise<Payment> {
  const { allowed } = await services.limiter.hit(REFRESH_LIMIT, account.id);
  if (!allowed) return payment;
  const after = await services.payments.poll(payment.id).catch((err: unknown) => {
    services.log.warn({ err, payment: payment.id }, 'could not refresh a payment');
    return undefined;
  });
  return after ?? (await services.store.payments.get(payment.id)) ?? payment;
}

export const receipt = page({
  path: '/account/wallet/receipt',
  who: 'account',
  async get(visit) {
    const words = WORDS[visit.language];
    const payment = await ownPayment(visit);
    const { ledger } = visit.services.store;
    const found = await Promise.all(listEntryIds(payment).map((id) => ledger.entry(id)));
    const entries = found.filter((entry) => entry !== undefined && entry.wallet === visit.account.id);
    if (payment.credited === 0n || entries.length === 0) throw fault('not_found');
    const { format, language, account } = visit;
    const kinds = entryWords(language);
    const body = html`${definitionList([
      [words.account, html`${account.name}<br><code>${account.id}</code>`],
      [words.order, html`<code>${payment.id}</code>`],
      [words.amount, format.rubExact(payment.amount)],
    ])}
${entries.map(
  (entry) =>
    entry &&
    html`<h2>${words.number(entry.seq, kinds[entry.kind])}</h2>
${definitionList([
  [words.time, format.time(entry.at)],
  [words.paid, format.rubExact(entry.topped)],
  [words.change, format.rubChanges([entry.avail])],
  [words.entry, html`<code>${entry.opId}</code>`],
])}`,
)}
<p><a href="${linkTo(visit, '/account/wallet')}">${words.back}</a></p>`;
    return { title: words.receiptTitle, body };
  },
});

/** The ids of the payment's operations in the ledger. */
function listEntryIds(payment: Payment): readonly string[] {
  const { provider, ref } = payment;
  const dispute = parseDispute(payment);
  const refunds = parseRefunds(payment);
  const booked = refunds.filter(({ state }) => state === 'booked');
  const requests = refunds.flatMap(({ id }) =>
    (['asked', 'refused'] as const).map((what) => `refund:${refundRequestId(payment, id, what)}`),
  );
  return [
    `pay:${provider}:${ref}`,
    ...requests,
    ...booked.map((refund) => `refund:${provider}:${refund.ref}`),
    ...(dispute ? [`dispute:${provider}:${dispute.id}`] : []),
  ];
}
