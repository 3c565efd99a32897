// The invoices of an account, and the words for their states.
import { formatDay } from '../../money/days.ts';
import { KOPECK } from '../../money/money.ts';
import { type Invoice, isOverdue } from '../../payments/papers/invoices.ts';
import { table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, formatPageDate, type Language } from '../language.ts';
import { linkTo, type OwnerVisit, type UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Invoices',
    number: 'Invoice',
    name: (number: string, date: string) => `No. ${number} of ${date}`,
    amount: 'Amount',
    state: 'Status',
    states: { open: 'awaiting payment', paid: 'paid', canceled: 'canceled', overdue: 'overdue' },
    due: (day: string) => `by ${day}`,
  },
  ru: {
    title: 'Счета',
    number: 'Счёт',
    name: (number: string, date: string) => `№\u00a0${number} от ${date}`,
    amount: 'Сумма',
    state: 'Статус',
    states: { open: 'ожидает оплаты', paid: 'оплачен', canceled: 'отменён', overdue: 'просрочен' },
    due: (day: string) => `до ${day}`,
  },
});

type InvoiceVisit = UserVisit & Partial<Pick<OwnerVisit, 'zone' | 'accounts'>>;

export function nameInvoice(language: Language, { number, date }: Pick<Invoice, 'number' | 'date'>): string {
  return WORDS[language].name(String(number), formatPageDate(language, date));
}

/** `awaiting payment by …`, `paid`. */
export function describeInvoiceState({ language, services }: UserVisit, invoice: Invoice, zone: string): string {
  const words = WORDS[language];
  if (isOverdue(invoice, formatDay(services.now(), zone))) return words.states.overdue;
  const state = words.states[invoice.state];
  return invoice.state === 'open' ? `${state} ${words.due(formatPageDate(language, invoice.due))}` : state;
}

interface ListedInvoices {
  readonly invoices: readonly Invoice[];
  /** The path before the id of an invoice. */
  readonly base: string;
  readonly zone: string;
}

export function invoiceTable(visit: InvoiceVisit, { invoices, base, zone }: ListedInvoices): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const rows = invoices.map((invoice) => [
    html`<a href="${linkTo(visit, `${base}${invoice.id}`)}">${nameInvoice(language, invoice)}</a>`,
    describeInvoiceState(visit, invoice, zone),
    format.rub(invoice.kopecks * KOPECK),
  ]);
  const names = [words.number, words.state].map((title) => ({ title }));
  return table(words.title, [...names, { title: words.amount, number: true }], rows);
}
