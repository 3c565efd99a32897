// Finds the invoice that a payment of a bank statement pays. Only what is certain is credited without an operator's
// choice: the number of the invoice, the sum and the payer's tax number all agree.
import { FIRST_TOPUP_MINIMUM } from '../../money/decide.ts';
import { KOPECK } from '../../money/money.ts';
import { needsFirstPayment } from '../../money/wallet.ts';
import type { Store } from '../../store/store.ts';
import type { StatedPayment } from './bank-statement.ts';
import { type Invoice, readInvoiceRow } from './invoices.ts';

/** Why a payment is not certain. */
export type MatchReason =
  | 'no_number'
  | 'several_numbers'
  | 'unknown_number'
  | 'other_inn'
  | 'other_sum'
  | 'paid_already'
  /** Another one that waits pays the same invoice. */
  | 'paid_twice'
  | 'canceled'
  | 'first_too_small'
  | 'not_received'
  | 'contradiction';

export type Match =
  | { readonly status: 'certain'; readonly invoice: Invoice }
  /** With the invoice that it names, if there is one. */
  | { readonly status: 'unsure'; readonly reason: MatchReason; readonly invoice?: Invoice };

/** A number after «счёт», «счету», «сч.», «счёт-оферта» and the like. */
const AFTER_INVOICE = /(?<!\p{L})сч(?:[её]т\p{L}*|(?!\p{L}))\D{0,30}?(?<!\d)(\d{1,9})(?!\d)/giu;
const DATES =
  /(?<!\d)(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?!\d)|\d{1,2}\s+(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)\p{L}*\s+\d{4}(?!\d))/giu;

/** The numbers of invoices that a purpose names, each once. */
export function findInvoiceNumbers(purpose: string): readonly number[] {
  const text = purpose.normalize('NFC').replaceAll(DATES, ' ');
  const found = [...text.matchAll(AFTER_INVOICE)].map(([, number]) => Number(number));
  return [...new Set(found)];
}

export async function matchBankPayment(
  store: Pick<Store, 'papers' | 'ledger'>,
  payment: StatedPayment,
): Promise<Match> {
  const [number, ...others] = findInvoiceNumbers(payment.purpose);
  if (number === undefined) return { status: 'unsure', reason: 'no_number' };
  if (others.length > 0) return { status: 'unsure', reason: 'several_numbers' };
  const row = await store.papers.find('invoice', number);
  if (!row) return { status: 'unsure', reason: 'unknown_number' };
  const invoice = readInvoiceRow(row);
  const reason =
    findDoubt(payment, invoice) ?? ((await isFirstTooSmall(store, invoice)) ? 'first_too_small' : undefined);
  return reason === undefined ? { status: 'certain', invoice } : { status: 'unsure', reason, invoice };
}

/** Of several payments that would be certain to pay an invoice, only the first is. */
export function doubtRepeated(matches: readonly Match[]): readonly Match[] {
  const taken = new Set<string>();
  return matches.map((match) => {
    if (match.status !== 'certain') return match;
    const { invoice } = match;
    if (taken.has(invoice.id)) return { status: 'unsure', reason: 'paid_twice', invoice };
    taken.add(invoice.id);
    return match;
  });
}

function findDoubt(payment: StatedPayment, { buyer, kopecks, state }: Invoice): MatchReason | undefined {
  if (!payment.isReceived) return 'not_received';
  if (!payment.isPlain) return 'contradiction';
  if (payment.payerInn !== buyer.inn) return 'other_inn';
  if (payment.kopecks !== kopecks) return 'other_sum';
  if (state === 'paid') return 'paid_already';
  return state === 'canceled' ? 'canceled' : undefined;
}

/** The ledger refuses a first payment below the minimum; money may have gone back since the invoice was issued. */
async function isFirstTooSmall({ ledger }: Pick<Store, 'ledger'>, { account, kopecks }: Invoice): Promise<boolean> {
  const wallet = await ledger.wallet(account);
  return !wallet || (needsFirstPayment(wallet) && kopecks * KOPECK < FIRST_TOPUP_MINIMUM);
}
