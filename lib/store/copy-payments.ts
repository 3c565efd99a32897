// Copies the rows of payments: unchanged or, from a store in use, as of the moment at which the wallet was copied.
import { isDeepStrictEqual } from 'node:util';
import { operationId } from '../money/operations.ts';
import { refundRequestId } from '../money/payback.ts';
import { DISPUTE_PHASES, type Payment, parseDispute, parseRefunds, type Refund } from '../money/payment-rules.ts';
import { mismatchError } from './copy-mismatch.ts';
import { PAYMENT_FIELDS, type PaymentTable } from './payment-rows.ts';
import type { LedgerStore } from './ports/ledger.ts';
import type { PaymentStore } from './ports/payments.ts';

const ROWS_PER_PAGE = 200;

interface Side {
  readonly payments: PaymentStore;
  readonly ledger: Pick<LedgerStore, 'entry'>;
}

/** Resolves to the number of payments. Must run after the journal was copied, so that no payment of it is missing. */
export async function copyPayments(from: Side, to: Side, live: boolean): Promise<number> {
  let payments = 0;
  for (const sort of Object.keys(PAYMENT_FIELDS) as PaymentTable[]) {
    for (let after = ''; ; ) {
      const page = await from.payments.page(sort, { after, limit: ROWS_PER_PAGE });
      const rows =
        live && sort === 'payments'
          ? await Promise.all((page as Payment[]).map((payment) => rewindPayment(to, payment)))
          : page;
      await to.payments.put(sort, rows);
      const copies = await to.payments.page(sort, { after, limit: ROWS_PER_PAGE });
      // Rows after the last one of the source exist only if the target had other rows before.
      const same = isDeepStrictEqual(copies.slice(0, rows.length), rows) && (page.length > 0 || copies.length === 0);
      if (!same) throw mismatchError(`${sort} of payments`);
      if (sort === 'payments') payments += page.length;
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
    }
  }
  return payments;
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
  const paid = operationId({ kind: 'pay', ...base, paymentId: `${provider}:${payment.ref}` });
  if (payment.credited > 0n && !(await has(paid))) {
    const none = { credited: 0n, refunded: 0n, shortfall: 0n, refunds: '[]', dispute: null };
    return { ...payment, ...none, phase: 'succeeded', dueAt: at };
  }
  let known = payment;
  const dispute = parseDispute(payment);
  if (dispute?.taken && !(await has(operationId({ kind: 'dispute', ...buildPayback(paybackId(dispute.id)) })))) {
    const { moved: _, ...open } = dispute;
    known = { ...subtractRefund(known, dispute), phase: 'disputed', dispute: JSON.stringify({ ...open, taken: null }) };
    known = { ...known, refunds: JSON.stringify(parseRefunds(known).map(undoAbsorption)), dueAt: at };
  }
  for (const refund of parseRefunds(payment)) {
    if (
      refund.state !== 'booked' ||
      (await has(operationId({ kind: 'payback', ...buildPayback(paybackId(refund.ref ?? '')) })))
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
    has(operationId({ kind: 'payback', ...buildPayback(refundRequestId(payment, id, what)) }));
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
