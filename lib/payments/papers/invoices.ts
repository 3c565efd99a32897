// Invoices (счета на оплату): a company orders a sum, pays it by bank transfer, and the import of a bank statement finds
// the invoice by its number. An invoice keeps the details of both sides as they were.
import { randomBytes } from 'node:crypto';
import { addDays, formatDay } from '../../money/days.ts';
import { FIRST_TOPUP_MINIMUM } from '../../money/decide.ts';
import { KOPECK, MICRO_PER_RUB, type Micro } from '../../money/money.ts';
import { needsFirstPayment } from '../../money/wallet.ts';
import type { AuditLine } from '../../store/ports/audit-log.ts';
import type { PaperRow } from '../../store/ports/papers.ts';
import type { Store } from '../../store/store.ts';
import { MINIMUM_ORDER } from '../order-bounds.ts';
import { type BankQrFields, buildBankQr } from './bank-qr.ts';
import type { Buyer, Seller } from './details.ts';
import { computeVat } from './vat.ts';

interface InvoiceContent {
  /** `2026-11-27`, in the account's time zone; and the last day on which it can be paid. */
  readonly date: string;
  readonly due: string;
  /** A decimal number. */
  readonly kopecks: string;
  readonly seller: Seller;
  readonly buyer: Buyer;
  /** The user who ordered it. */
  readonly user: string;
  /** The payment of a bank statement that paid it; null while it is not paid. */
  readonly payment: string | null;
  /** Of a paid one: what it was before, if not open. */
  readonly wasCanceled?: true | undefined;
}

export type InvoiceState = 'open' | 'paid' | 'canceled';

export interface Invoice extends Omit<InvoiceContent, 'kopecks'> {
  readonly id: string;
  readonly number: number;
  readonly account: string;
  readonly state: InvoiceState;
  readonly kopecks: bigint;
  /** When it was ordered, ms since the epoch. */
  readonly at: number;
  readonly version: number;
}

const INVOICE_MAX: Micro = 100_000_000n * MICRO_PER_RUB;
/** Of one account: papers are numbered, so that nobody should make thousands. */
const OPEN_MAX = 20;

const INVOICE_ID = /^inv_[0-9a-f]{24}$/;

/** For a form, so that sending it twice orders one invoice. */
export function makeInvoiceId(): string {
  return `inv_${randomBytes(12).toString('hex')}`;
}

export interface InvoiceOrder {
  /** What a form sent; anything but an id is replaced. */
  readonly id: string;
  readonly account: string;
  readonly amount: Micro;
  readonly seller: Seller;
  readonly buyer: Buyer;
  readonly user: string;
  readonly zone: string;
  readonly now: number;
}

export type OrderRefusal = 'kopecks' | 'bounds' | 'too_many';

export async function findInvoiceBounds(
  { ledger }: Pick<Store, 'ledger'>,
  account: string,
): Promise<{ readonly min: Micro; readonly max: Micro }> {
  const wallet = await ledger.wallet(account);
  return { min: wallet && needsFirstPayment(wallet) ? FIRST_TOPUP_MINIMUM : MINIMUM_ORDER, max: INVOICE_MAX };
}

export async function orderInvoice(
  store: Pick<Store, 'papers' | 'ledger'>,
  { id, account, amount, seller, buyer, user, zone, now }: InvoiceOrder,
): Promise<{ readonly invoice: Invoice } | { readonly refusal: OrderRefusal }> {
  if (amount % KOPECK !== 0n) return { refusal: 'kopecks' };
  const { min, max } = await findInvoiceBounds(store, account);
  if (amount < min || amount > max) return { refusal: 'bounds' };
  const open = await store.papers.list({ kind: 'invoice', account, state: 'open', limit: OPEN_MAX });
  if (open.length === OPEN_MAX && !open.some((row) => row.id === id)) return { refusal: 'too_many' };
  const date = formatDay(now, zone);
  const content: InvoiceContent = {
    date,
    due: addDays(date, seller.days),
    kopecks: `${amount / KOPECK}`,
    seller,
    buyer,
    user,
    payment: null,
  };
  const paper = { kind: 'invoice', id: INVOICE_ID.test(id) ? id : makeInvoiceId(), account, state: 'open' } as const;
  const row = await store.papers.issue({ ...paper, at: now, content: JSON.stringify(content) });
  // Another account's form: an id that nobody guesses was copied.
  if (row.account !== account) return { refusal: 'too_many' };
  return { invoice: readInvoiceRow(row) };
}

/** Undefined for an unknown one; the caller checks whose it is. */
export async function findInvoice({ papers }: Pick<Store, 'papers'>, id: string): Promise<Invoice | undefined> {
  const row = await papers.get('invoice', id);
  return row && readInvoiceRow(row);
}

/** Also writes its line, which no later try could write: it finds the invoice canceled. False if it was paid or canceled. */
export async function cancelInvoice(
  { papers }: Pick<Store, 'papers'>,
  invoice: Invoice,
  line: AuditLine,
): Promise<boolean> {
  if (invoice.state !== 'open') return false;
  return papers.change([toInvoiceRow({ ...invoice, state: 'canceled', version: invoice.version + 1 })], line);
}

/** Also of a canceled one, whose money came all the same. */
export function markInvoicePaid(invoice: Invoice, payment: string): Invoice {
  const wasCanceled = invoice.state === 'canceled' || undefined;
  return { ...invoice, state: 'paid', payment, wasCanceled, version: invoice.version + 1 };
}

/** Takes back that it was paid: it is what it was before. */
export function unmarkInvoicePaid(invoice: Invoice): Invoice {
  const state = invoice.wasCanceled ? 'canceled' : 'open';
  return { ...invoice, state, payment: null, wasCanceled: undefined, version: invoice.version + 1 };
}

/** The last day has passed; it is credited all the same when its money comes. */
export function isOverdue({ state, due }: Invoice, today: string): boolean {
  return state === 'open' && due < today;
}

export function readInvoiceRow({ id, number, account, state, at, version, content }: PaperRow): Invoice {
  const { kopecks, ...more }: InvoiceContent = JSON.parse(content);
  if (number === null || account === null) throw new Error(`the invoice ${id} has no number or no account`);
  return { ...more, id, number, account, at, version, state: state as InvoiceState, kopecks: BigInt(kopecks) };
}

export function toInvoiceRow({ id, number, account, state, at, version, kopecks, ...more }: Invoice): PaperRow {
  const { date, due, seller, buyer, user, payment, wasCanceled } = more;
  const content: InvoiceContent = { date, due, kopecks: `${kopecks}`, seller, buyer, user, payment, wasCanceled };
  return { kind: 'invoice', id, number, account, state, at, version, content: JSON.stringify(content) };
}

/** `27.11.2026` */
export function formatPaperDate(day: string): string {
  return day.split('-').toReversed().join('.');
}

/** The purpose of the payment (назначение платежа): the import of a statement finds the number in it. */
export function describePurpose({ number, date, kopecks, seller }: Invoice): string {
  const vat = computeVat(kopecks, seller.vat);
  const tax = vat === undefined ? 'НДС не облагается' : `в том числе НДС ${seller.vat}% ${formatKopecks(vat)} руб.`;
  return `Оплата по счёту № ${number} от ${formatPaperDate(date)}, пополнение баланса, ${tax}`;
}

/** `10000,50`; a tax is never below zero. */
function formatKopecks(kopecks: bigint): string {
  return `${kopecks / 100n},${String(kopecks % 100n).padStart(2, '0')}`;
}

export function buildInvoiceQr(invoice: Invoice): string {
  const { seller, kopecks } = invoice;
  const { name, account, bank, bik, correspondent, inn, kpp } = seller;
  const fields: BankQrFields = {
    name,
    account,
    bank,
    bik,
    correspondent,
    inn,
    kpp,
    kopecks,
    purpose: describePurpose(invoice),
  };
  return buildBankQr(fields);
}
