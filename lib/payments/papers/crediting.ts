// Credits payments of bank statements: a payment and its invoice are claimed together in one transaction, then the ledger
// books a top-up under the id of the payment. After a failure in between, crediting it again finishes the same credit.
import { bookOperation } from '../../ledger/booking.ts';
import type { OutcomeStatus } from '../../money/decide.ts';
import { KOPECK } from '../../money/money.ts';
import type { AuditLine } from '../../store/ports/audit-log.ts';
import type { Store } from '../../store/store.ts';
import { type BankPayment, findBankPayment, toBankPaymentRow } from './bank-payments.ts';
import { findInvoice, type Invoice, markInvoicePaid, toInvoiceRow, unmarkInvoicePaid } from './invoices.ts';
import { matchBankPayment } from './matching.ts';

type CreditStore = Pick<Store, 'papers' | 'ledger' | 'accounts'>;

/** What an operator chose: an invoice that is not paid, or an account. */
export type CreditTarget = { readonly invoice: string } | { readonly account: string };

export type CreditResult =
  | { readonly status: 'credited'; readonly payment: BankPayment }
  /** Credited before. */
  | { readonly status: 'known' }
  /** Somebody else decided otherwise at the same time, or before. */
  | { readonly status: 'stale' }
  | { readonly status: 'unknown_target' }
  /** The match is not certain any more. */
  | { readonly status: 'unsure' }
  /** The ledger refused: the payment is open again. */
  | { readonly status: 'refused'; readonly refusal: OutcomeStatus };

export interface CreditOptions {
  readonly at: number;
  /** Writes the line of the audit log; called before the payment counts as credited, perhaps again after a failure. */
  readonly record: (payment: BankPayment, invoice: Invoice | undefined) => Promise<void>;
}

/** Credits a payment to what an operator chose. */
export async function creditBankPayment(
  store: CreditStore,
  id: string,
  { target, ...options }: CreditOptions & { readonly target: CreditTarget },
): Promise<CreditResult> {
  const payment = await findBankPayment(store, id);
  if (!payment || payment.state === 'dismissed') return { status: 'stale' };
  if (payment.state !== 'open') return resumeCredit(store, payment, options);
  const invoice = 'invoice' in target ? await findInvoice(store, target.invoice) : undefined;
  if ('invoice' in target && (!invoice || invoice.state === 'paid')) return { status: 'unknown_target' };
  const account = 'invoice' in target ? invoice?.account : target.account;
  if (account === undefined || !(await store.accounts.get(account))) return { status: 'unknown_target' };
  return claimAndBook(store, payment, { ...options, account, invoice });
}

/** Credits a payment whose invoice is certain, or finishes a credit that was begun. */
export async function creditCertainPayment(
  store: CreditStore,
  id: string,
  options: CreditOptions,
): Promise<CreditResult> {
  const payment = await findBankPayment(store, id);
  if (!payment || payment.state === 'dismissed') return { status: 'stale' };
  if (payment.state !== 'open') return resumeCredit(store, payment, options);
  const match = await matchBankPayment(store, payment);
  if (match.status !== 'certain') return { status: 'unsure' };
  const { invoice } = match;
  return claimAndBook(store, payment, { ...options, account: invoice.account, invoice });
}

/** Sets a payment aside, and writes the line with it; false if it was credited, claimed or dismissed before. */
export async function dismissBankPayment(
  { papers }: Pick<Store, 'papers'>,
  payment: BankPayment,
  line: AuditLine,
): Promise<boolean> {
  if (payment.state !== 'open') return false;
  return papers.change([toBankPaymentRow({ ...payment, state: 'dismissed', version: payment.version + 1 })], line);
}

/** Takes back that a payment was set aside, and writes the line with it; false if it is not. */
export async function reopenBankPayment(
  { papers }: Pick<Store, 'papers'>,
  payment: BankPayment,
  line: AuditLine,
): Promise<boolean> {
  if (payment.state !== 'dismissed') return false;
  return papers.change([toBankPaymentRow({ ...payment, state: 'open', version: payment.version + 1 })], line);
}

interface Claim extends CreditOptions {
  readonly account: string;
  readonly invoice: Invoice | undefined;
}

async function claimAndBook(store: CreditStore, open: BankPayment, { account, invoice, ...options }: Claim) {
  const claimed: BankPayment = {
    ...open,
    state: 'claimed',
    account,
    invoice: invoice?.id ?? null,
    version: open.version + 1,
  };
  const rows = [toBankPaymentRow(claimed), ...(invoice ? [toInvoiceRow(markInvoicePaid(invoice, open.id))] : [])];
  // Nobody else takes the payment or the invoice from here on.
  if (!(await store.papers.change(rows))) return { status: 'stale' } as const;
  return bookClaimed(store, claimed, options);
}

async function resumeCredit(store: CreditStore, payment: BankPayment, options: CreditOptions): Promise<CreditResult> {
  return payment.state === 'credited' ? { status: 'known' } : bookClaimed(store, payment, options);
}

async function bookClaimed(store: CreditStore, claimed: BankPayment, options: CreditOptions): Promise<CreditResult> {
  const { id, account, kopecks } = claimed;
  if (account === null) throw new Error(`the claimed payment ${id} has no account`);
  const op = { kind: 'topup', wallet: account, at: options.at, amount: kopecks * KOPECK, paymentId: id } as const;
  const { status } = await bookOperation(store, op);
  if (status !== 'done' && status !== 'exists') {
    await releaseClaim(store, claimed);
    return { status: 'refused', refusal: status };
  }
  const invoice = await findClaimedInvoice(store, claimed);
  await options.record(claimed, invoice);
  return { status: 'credited', payment: await finishCredit(store, claimed) };
}

/** The ledger has the money: whatever happened to the row meanwhile, it says so in the end. */
async function finishCredit(store: CreditStore, claimed: BankPayment): Promise<BankPayment> {
  for (;;) {
    const now = await findBankPayment(store, claimed.id);
    if (!now) throw new Error(`the payment ${claimed.id} is gone`);
    if (now.state === 'credited') return now;
    const { account, invoice } = claimed;
    const credited: BankPayment = { ...now, account, invoice, state: 'credited', version: now.version + 1 };
    const paid = await findClaimedInvoice(store, claimed);
    const rows = [
      toBankPaymentRow(credited),
      ...(paid && paid.state !== 'paid' ? [toInvoiceRow(markInvoicePaid(paid, now.id))] : []),
    ];
    if (await store.papers.change(rows)) return credited;
  }
}

/** The payment is open again, and its invoice what it was; somebody else may have done so already. */
async function releaseClaim(store: CreditStore, claimed: BankPayment): Promise<void> {
  const invoice = await findClaimedInvoice(store, claimed);
  const open = { ...claimed, state: 'open', account: null, invoice: null, version: claimed.version + 1 } as const;
  const rows = [toBankPaymentRow(open)];
  if (invoice?.payment === claimed.id) rows.push(toInvoiceRow(unmarkInvoicePaid(invoice)));
  await store.papers.change(rows);
}

async function findClaimedInvoice(store: CreditStore, { invoice }: BankPayment): Promise<Invoice | undefined> {
  return invoice === null ? undefined : findInvoice(store, invoice);
}
