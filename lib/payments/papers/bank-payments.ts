// Payments of bank statements as they are kept: each once, whatever statements it is in, until it is credited or set aside.
import type { PaperRow } from '../../store/ports/papers.ts';
import type { Store } from '../../store/store.ts';
import type { StatedPayment } from './bank-statement.ts';

/**
 * `open`: to be decided; `claimed`: it is for an account, and its credit follows; `credited`: its money is in the wallet;
 * `dismissed`: it is for no account.
 */
export type BankPaymentState = 'open' | 'claimed' | 'credited' | 'dismissed';

export interface BankPayment extends StatedPayment {
  /** The payment id in the ledger. */
  readonly id: string;
  readonly state: BankPaymentState;
  /** Whose it is; null while it is open, or dismissed. */
  readonly account: string | null;
  /** The id of the invoice that it pays; null if an operator has chosen only the account. */
  readonly invoice: string | null;
  /** When it was imported, ms since the epoch. */
  readonly at: number;
  readonly version: number;
}

interface PaymentContent extends Omit<StatedPayment, 'kopecks'> {
  readonly kopecks: string;
  readonly invoice: string | null;
}

/** The same for the same document of any statement: its date, its number, the payer's account and the sum. */
export function makeBankPaymentId({ date, number, payerAccount, kopecks }: StatedPayment): string {
  return `bank:${date}:${readNumber(number)}:${payerAccount.replaceAll(':', '')}:${kopecks}`;
}

/** One export of a bank fills numbers up with zeros, or writes № before them, and another does not. */
function readNumber(number: string): string {
  return number.replaceAll(/[\s:№]/g, '').replace(/^0+(?=.)/, '');
}

export function readBankPaymentRow({ id, state, account, at, version, content }: PaperRow): BankPayment {
  const { kopecks, ...more }: PaymentContent = JSON.parse(content);
  return { ...more, kopecks: BigInt(kopecks), id, state: state as BankPaymentState, account, at, version };
}

export function toBankPaymentRow({ id, state, account, at, version, kopecks, ...more }: BankPayment): PaperRow {
  const content: PaymentContent = { ...more, kopecks: `${kopecks}` };
  return { kind: 'payment', id, number: null, account, state, at, version, content: JSON.stringify(content) };
}

export async function findBankPayment({ papers }: Pick<Store, 'papers'>, id: string): Promise<BankPayment | undefined> {
  const row = await papers.get('payment', id);
  return row && readBankPaymentRow(row);
}

/** A statement of the same day may state a payment before its money has come. */
async function noteReceipt(papers: Store['papers'], before: BankPayment, stated: StatedPayment): Promise<void> {
  if (before.state !== 'open' || before.isReceived || !stated.isReceived) return;
  const isPlain = before.isPlain && stated.isPlain;
  // If somebody decides at this very moment, the payment is theirs.
  await papers.change([toBankPaymentRow({ ...before, ...stated, isPlain, version: before.version + 1 })]);
}

/** The payments that a statement brings to the account of the seller. */
export function listIncoming(stated: readonly StatedPayment[], account: string): readonly StatedPayment[] {
  return stated.filter(({ payeeAccount }) => payeeAccount === account);
}

export interface Imported {
  readonly added: number;
  /** Stored by an earlier import. */
  readonly known: number;
}

/** Rows per transaction. */
const ROWS_MAX = 100;

/**
 * Keeps new payments as open ones; those that are kept already stay as they are, also if two operators import at once. Only
 * money that has come since is noted.
 */
export async function keepBankPayments(
  { papers }: Pick<Store, 'papers'>,
  stated: readonly StatedPayment[],
  at: number,
): Promise<Imported> {
  const byId = new Map(stated.map((payment) => [makeBankPaymentId(payment), payment]));
  const fresh: PaperRow[] = [];
  for (const [id, payment] of byId) {
    const before = await findBankPayment({ papers }, id);
    if (before) await noteReceipt(papers, before, payment);
    else fresh.push(toBankPaymentRow({ ...payment, id, state: 'open', account: null, invoice: null, at, version: 1 }));
  }
  let added = 0;
  for (let from = 0; from < fresh.length; from += ROWS_MAX) {
    const rows = fresh.slice(from, from + ROWS_MAX);
    if (await papers.change(rows)) added += rows.length;
    // Somebody else imports at the same time.
    else for (const row of rows) if (await papers.change([row])) added += 1;
  }
  return { added, known: byId.size - added };
}
