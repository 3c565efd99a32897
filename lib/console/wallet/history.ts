// Payments and refunds of a wallet with their states, newest first.
import { type Payment, parseRefunds } from '../../money/payment.ts';
import { shortTime, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { paymentWords } from './payment-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Payments',
    refunds: 'Refunds',
    time: 'Time',
    amount: 'Amount',
    state: 'Status',
    origin: 'Method',
    order: 'Number',
    older: 'Older payments',
    document: 'Document',
    receipt: 'Receipt',
  },
  ru: {
    title: 'Платежи',
    refunds: 'Возвраты',
    time: 'Время',
    amount: 'Сумма',
    state: 'Статус',
    origin: 'Способ',
    order: 'Номер',
    older: 'Более ранние платежи',
    document: 'Документ',
    receipt: 'Справка об оплате',
  },
});

const PER_PAGE = 20;

/** Undefined without payments. */
export async function historySection(visit: OwnerVisit): Promise<Html | undefined> {
  const { services, account, query, language, format } = visit;
  const words = WORDS[language];
  const before = readPaymentCursor(query.get('payments'));
  const found = await services.store.payments.list({ wallet: account.id, limit: PER_PAGE, before });
  if (found.length === 0) return undefined;
  const { phases, origins } = paymentWords(language);
  const to = (path: string) => linkTo(visit, `/account/wallet${path}`);
  const columns = [words.state, words.order, words.origin, words.document].map((title) => ({ title }));
  const rows = found.map(({ id, createdAt, amount, phase, origin, credited }) => [
    shortTime(visit, createdAt),
    format.rub(amount),
    phases[phase],
    html`<a href="${to(`?order=${id}`)}"><code>…${id.slice(-6)}</code></a>`,
    origins[origin],
    credited > 0n && html`<a href="${to(`/receipt?order=${id}`)}">${words.receipt}</a>`,
  ]);
  const last = found.length === PER_PAGE ? found.at(-1) : undefined;
  return html`<h2>${words.title}</h2>
${table(words.title, [{ title: words.time, narrow: 'main' }, { title: words.amount, number: true, narrow: 'sum' }, ...columns], rows)}
${refundTable(visit, found)}
${last && html`<p><a href="${to(`?payments=${paymentCursor(last)}`)}" rel="next">${words.older}</a></p>`}`;
}

/** Undefined without refunds. */
export function refundTable(visit: OwnerVisit, payments: readonly Payment[]): Html | undefined {
  const { language, format } = visit;
  const words = WORDS[language];
  const { refunds } = paymentWords(language);
  const all = payments.flatMap((payment) => parseRefunds(payment).map((refund) => ({ ...refund, order: payment.id })));
  if (all.length === 0) return undefined;
  const rows = all.map(({ at, amount, state, order }) => [
    format.time(at),
    format.rub(BigInt(amount)),
    refunds[state],
    html`<a href="${linkTo(visit, `/account/wallet?order=${order}`)}"><code>…${order.slice(-6)}</code></a>`,
  ]);
  const columns = [words.state, words.order].map((title) => ({ title }));
  return html`<h2>${words.refunds}</h2>
${table(words.refunds, [{ title: words.time, narrow: 'main' }, { title: words.amount, number: true, narrow: 'sum' }, ...columns], rows)}`;
}

export function paymentCursor({ createdAt, id }: Pick<Payment, 'createdAt' | 'id'>): string {
  return `${createdAt}-${id}`;
}

/** Undefined if it is not a valid cursor. */
export function readPaymentCursor(text: string | null): Pick<Payment, 'createdAt' | 'id'> | undefined {
  const [, createdAt, id] = /^(\d{1,15})-(\w{1,64})$/.exec(text ?? '') ?? [];
  return id === undefined ? undefined : { createdAt: Number(createdAt), id };
}
