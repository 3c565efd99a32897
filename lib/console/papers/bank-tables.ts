// The payments of bank statements on the operator's page: those that are certain, each of the others with its form, and
// those that were credited last.
import { KOPECK } from '../../money/money.ts';
import type { BankPayment } from '../../payments/papers/bank-payments.ts';
import type { Invoice } from '../../payments/papers/invoices.ts';
import type { Match } from '../../payments/papers/matching.ts';
import { codeField } from '../code-field.ts';
import { definitionList, field, foldAway, form, stepForm, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { formatPageDate } from '../language.ts';
import { typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { BANK_WORDS } from './bank-words.ts';
import { nameInvoice } from './invoice-list.ts';

export interface MatchedPayment {
  readonly payment: BankPayment;
  /** Undefined if its credit was begun. */
  readonly match: Match | undefined;
  /** Which it pays or names. */
  readonly invoice: Invoice | undefined;
}

export const BANK_PATH = '/admin/papers/bank';

function invoiceLink({ language }: UserVisit, invoice: Invoice): Html {
  return html`<a href="/admin/papers/invoices/${invoice.id}">${nameInvoice(language, invoice)}</a>`;
}

function accountLink(account: string, name: string): Html {
  return html`<a href="/admin/accounts/${account}">${name}</a>`;
}

function namePayment({ language }: UserVisit, { number, date }: BankPayment): string {
  return BANK_WORDS[language].payment(number, formatPageDate(language, date));
}

function describePayer({ language }: UserVisit, { payerName, payerInn }: BankPayment): Html {
  return html`${payerName}<br><span class="hint">${payerInn !== '' && BANK_WORDS[language].inn(payerInn)}</span>`;
}

/** What is credited by one button: exactly the payments that are listed. */
export function certainSection(visit: UserVisit, certain: readonly MatchedPayment[]): Html {
  const { language, format } = visit;
  const words = BANK_WORDS[language];
  if (certain.length === 0) return html`<p>${words.none}</p>`;
  const { payment, payer, invoice, amount } = words.columns;
  const columns = [payment, payer, invoice].map((title) => ({ title }));
  const rows = certain.map((one) => [
    namePayment(visit, one.payment),
    describePayer(visit, one.payment),
    one.match === undefined ? words.begun : one.invoice && invoiceLink(visit, one.invoice),
    format.rub(one.payment.kopecks * KOPECK),
  ]);
  const sum = certain.reduce((total, one) => total + one.payment.kopecks, 0n) * KOPECK;
  const ids = certain.map((one) => html`<input type="hidden" name="payment" value="${one.payment.id}">`);
  const fields = html`<input type="hidden" name="change" value="credit_certain">${ids}${codeField(visit, 'certain')}`;
  return html`<p>${words.certainHint}</p>
${table(words.certain, [...columns, { title: amount, number: true }], rows)}
${form(visit, { action: BANK_PATH, fields, button: words.creditAll(format.rub(sum)) })}`;
}

export function unsureSection(visit: UserVisit, unsure: readonly MatchedPayment[]): Html {
  const words = BANK_WORDS[visit.language];
  if (unsure.length === 0) return html`<p>${words.none}</p>`;
  return html`<p>${words.unsureHint}</p>${unsure.map((one, at) => decisionForm(visit, one, at))}`;
}

function decisionForm(visit: UserVisit, { payment, match, invoice }: MatchedPayment, at: number): Html {
  const { language, format } = visit;
  const words = BANK_WORDS[language];
  const { payer, invoice: invoiceWord, amount, purpose, reason } = words.columns;
  const facts = [
    [amount, format.rub(payment.kopecks * KOPECK)],
    [payer, describePayer(visit, payment)],
    [purpose, payment.purpose],
    [reason, match?.status === 'unsure' ? words.reasons[match.reason] : ''],
    ...(invoice ? [[invoiceWord, invoiceLink(visit, invoice)] as const] : []),
  ] as const;
  const typed = typedFields(visit, { change: 'decide', payment: payment.id });
  const target = { id: `target-${at}`, label: words.target, hint: words.targetHint, optional: true };
  const fields = html`<input type="hidden" name="change" value="decide"><input type="hidden" name="payment" value="${payment.id}">
${field({ ...target, ...typed('target', suggestTarget({ match, invoice })) })}${codeField(visit, `payment-${at}`)}`;
  const steps = [
    ['credit', words.credit],
    ['dismiss', words.dismiss, true],
  ] as const;
  return html`<section><h3>${namePayment(visit, payment)}</h3>
${definitionList(facts)}
${stepForm(visit, { action: BANK_PATH, fields, steps })}</section>`;
}

/** Only where the payer is the buyer; a paid invoice tells only whose the money is. */
function suggestTarget({ match, invoice }: Pick<MatchedPayment, 'match' | 'invoice'>): string {
  const reason = match?.status === 'unsure' ? match.reason : undefined;
  if (reason === 'paid_already' || reason === 'paid_twice') return invoice?.account ?? '';
  return reason === 'other_sum' ? `${invoice?.number ?? ''}` : '';
}

export interface CreditedPayment {
  readonly payment: BankPayment;
  readonly account: { readonly id: string; readonly name: string } | undefined;
  readonly invoice: Invoice | undefined;
}

export function creditedTable(visit: UserVisit, credited: readonly CreditedPayment[]): Html {
  const { language, format } = visit;
  const words = BANK_WORDS[language];
  const { payment, account, invoice, amount } = words.columns;
  const columns = [payment, account, invoice].map((title) => ({ title }));
  const rows = credited.map((one) => [
    namePayment(visit, one.payment),
    one.account && accountLink(one.account.id, one.account.name),
    one.invoice ? invoiceLink(visit, one.invoice) : '–',
    format.rub(one.payment.kopecks * KOPECK),
  ]);
  return table(words.credited, [...columns, { title: amount, number: true }], rows);
}

/** Folded: few look for them. */
export function dismissedSection(visit: UserVisit, dismissed: readonly BankPayment[]): Html {
  const { language, format } = visit;
  const words = BANK_WORDS[language];
  const items = dismissed.map((payment, at) => {
    const fields = html`<input type="hidden" name="change" value="reopen"><input type="hidden" name="payment" value="${payment.id}">
<p>${namePayment(visit, payment)}, ${format.rub(payment.kopecks * KOPECK)}<br>${payment.payerName}: ${payment.purpose}</p>${codeField(visit, `reopen-${at}`)}`;
    return form(visit, { action: BANK_PATH, fields, button: words.reopen });
  });
  return foldAway(words.dismissed, html`${items}`);
}
