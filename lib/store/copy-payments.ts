// Copies the rows of payments: unchanged or, from a store in use, as of the moment at which the wallet was copied.
import { isDeepStrictEqual } from 'node:util';
import { getOperationId } from '../money/operations.ts';
import { refundRequestId } from '../money/payback.ts';
import { DISPUTE_PHASES, type Payment, parseDispute, parseRefunds, type Refund } from '../money/payment-rules.ts';
import { createKeepKnown } from './copy-accounts.ts';
import { mismatchError } from './copy-mismatch.ts';
import { PAYMENT_FIELDS, type PaymentTable } from './payment-rows.ts';
import type { AccountStore } from './ports/accounts.ts';
import type { LedgerStore } from './ports/ledger.ts';
import type { AutoTopupRow, PaymentRows, PaymentStore } from './ports/payments.ts';
import { walkFrom } from './walks.ts';

const ROWS_PER_PAGE = 200;

interface Side {
  readonly payments: PaymentStore;
  readonly ledger: Pick<LedgerStore, 'entry'>;
}

type Target = Side & { readonly accounts: AccountStore };

/** Resolves to the number of payments. Must run after the journal was copied, so that no payment of it is missing. */
export async function copyPayments(from: Side, to: Target, live: boolean): Promise<number> {
  let payments = 0;
  for (const sort of Object.keys(PAYMENT_FIELDS) as PaymentTable[]) {
    for (let after = ''; ; ) {
      const page = await from.payments.page(sort, { after, limit: ROWS_PER_PAGE });
      const rows = live ? await rewindRows(from, to, { sort, page }) : page;
      await to.payments.put(sort, rows);
      const copies = await to.payments.page(sort, { after, limit: ROWS_PER_PAGE });
      // Rows after the last one of the source exist only if the target had other rows before.
      const same = isDeepStrictEqual(copies.slice(0, rows.length), rows) && (page.length > 0 || copies.length === 0);
      if (!same) throw mismatchError(`${sort} of payments`);
      if (sort === 'payments') payments += rows.length;
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
    }
  }
  return payments;
}

/** The rows of a page of a store in use that fit to what the copy has already. */
async function rewindRows(
  from: Side,
  to: Target,
  { sort, page }: { readonly sort: PaymentTable; readonly page: readonly PaymentRows[PaymentTable][] },
): Promise<readonly PaymentRows[PaymentTable][]> {
  if (sort === 'notices') return page;
  const getWallet = (row: PaymentRows[PaymentTable]) => ('wallet' in row ? row.wallet : row.id);
  const rows = await createKeepKnown(to, true)(page, getWallet);
  if (sort === 'payments') return Promise.all((rows as Payment[]).map((payment) => rewindPayment(to, payment)));
  if (sort !== 'autoTopups') return rows;
  const autos: AutoTopupRow[] = [];
  for (const { id } of rows) autos.push(await followAutoTopup(from, to, id));
  return autos;
}

/** The row of an automatic top-up, whose payments the copy has then, and whose account shows the same. */
async function followAutoTopup(from: Side, to: Target, wallet: string): Promise<AutoTopupRow> {
  for (;;) {
    const auto = (await from.payments.autoTopup(wallet)) as AutoTopupRow;
    await copyLaterPayments(from, to, wallet);
    const { enabled, amount, threshold } = auto;
    await to.accounts.setAutoTopup(wallet, { enabled, amount, threshold });
    // Each payment that it starts is another version.
    if ((await from.payments.autoTopup(wallet))?.version === auto.version) return auto;
  }
}

/** Those that were created after the payments had been copied. */
async function copyLaterPayments(from: Side, to: Target, wallet: string): Promise<void> {
  const read = (before?: Payment) => from.payments.list({ wallet, limit: ROWS_PER_PAGE, before });
  for await (const page of walkFrom(ROWS_PER_PAGE, read)) {
    const copies = await Promise.all(page.map(({ id }) => to.payments.get(id)));
    const later = page.filter((_, index) => copies[index] === undefined);
    await to.payments.put('payments', await Promise.all(later.map((payment) => rewindPayment(to, payment))));
    if (later.length < page.length) return;
  }
}

/** Finds the kind of rows in which the two stores differ. */
export async function findChangedPayments(from: Side, to: Side): Promise<PaymentTable | undefined> {
  for (const sort of Object.keys(PAYMENT_FIELDS) as PaymentTable[]) {
    for (let after = ''; ; ) {
      const page = { after, limit: ROWS_PER_PAGE };
      const [now, copy] = await Promise.all([from, to].map(({ payments }) => payments.page(sort, page)));
      if (!isDeepStrictEqual(now, copy)) return sort;
      const last = now?.at(-1);
      if (!last) break;
      after = last.id;
    }
  }
  return undefined;
}

/**
 * Rewinds a payment by the changes whose money the copied wallet does not have yet: a gateway on the copy polls the
 * provider and books them again.
 */
async function rewindPayment({ ledger }: Side, payment: Payment): Promise<Payment> {
  const { provider, wallet, createdAt: at, id: order } = payment;
  const base = { wallet, at, amount: 1n, order };
  const has = async (id: string) => (await ledger.entry(id)) !== undefined;
  const paybackId = (ref: string) => `${provider}:${ref}`;
  const paid = getOperationId({ kind: 'pay', ...base, paymentId: `${provider}:${payment.ref}` });
  if (payment.credited > 0n && !(await has(paid))) {
    const none = { credited: 0n, refunded: 0n, shortfall: 0n, refunds: '[]', dispute: null };
    return { ...payment, ...none, phase: 'succeeded', dueAt: at };
  }
  let known = payment;
  const dispute = parseDispute(payment);
  if (dispute?.taken && !(await has(getOperationId({ kind: 'dispute', ...buildPayback(paybackId(dispute.id)) })))) {
    const { moved: _, ...open } = dispute;
    known = { ...subtractRefund(known, dispute), phase: 'disputed', dispute: JSON.stringify({ ...open, taken: null }) };
    known = { ...known, refunds: JSON.stringify(parseRefunds(known).map(undoAbsorption)), dueAt: at };
  }
  for (const refund of parseRefunds(payment)) {
    if (
      refund.state !== 'booked' ||
      (await has(getOperationId({ kind: 'payback', ...buildPayback(paybackId(refund.ref ?? '')) })))
    )
      continue;
    const list = parseRefunds(known).map((one): Refund => {
      if (one.ref !== refund.ref) return undoAbsorption(one);
      const { moved: _, ...open } = one;
      return { ...open, state: 'asked', taken: null };
    });
    const less = { ...subtractRefund(known, refund), refunds: JSON.stringify(list), dueAt: at };
    const phase = less.refunded > 0n ? 'partly_refunded' : 'credited';
    known = { ...less, phase: DISPUTE_PHASES.includes(known.phase) ? known.phase : phase };
  }
  const hasRequest = (id: string, what: 'asked' | 'refused') =>
    has(getOperationId({ kind: 'payback', ...buildPayback(refundRequestId(payment, id, what)) }));
  const before = parseRefunds(known);
  const requests = await Promise.all(before.map((refund) => rewindRefundRequest(refund, hasRequest)));
  const isSame = requests.every((refund, index) => refund === before[index]);
  return isSame ? known : { ...known, refunds: JSON.stringify(requests), dueAt: at };

  function buildPayback(id: string) {
    return { ...base, paybackId: id, suspend: false };
  }
}

/** Rewinds a refund request that the copied wallet has not paid for yet, or a refusal that it has not received yet. */
async function rewindRefundRequest(
  refund: Refund,
  has: (id: string, what: 'asked' | 'refused') => Promise<boolean>,
): Promise<Refund> {
  const { given, ...open } = refund;
  const known =
    given === undefined || (await has(refund.id, 'refused')) ? refund : { ...open, state: 'asked' as const };
  if (known.off === undefined || (await has(refund.id, 'asked'))) return known;
  const { off: _off, missing: _missing, ...rest } = known;
  return rest;
}

/** Undoes that another change absorbed the refund. */
function undoAbsorption(refund: Refund): Refund {
  const { folded, ...rest } = refund;
  return folded ? { ...rest, state: 'asked' } : refund;
}

function subtractRefund(payment: Payment, { amount, taken }: Pick<Refund, 'amount' | 'taken'>): Payment {
  const asked = BigInt(amount);
  const given = BigInt(taken ?? 0);
  return { ...payment, refunded: payment.refunded - asked, shortfall: payment.shortfall - asked + given };
}
