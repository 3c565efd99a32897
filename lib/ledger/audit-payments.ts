// The audit of payments: the money of each payment must match the journal, entry by entry, and every entry must belong to
// a payment that lists it.
import type { Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { getOperationId, PAYMENT_KINDS } from '../money/operations.ts';
import { refundRequestId } from '../money/payback.ts';
import {
  CREDITED_PHASES,
  computeHeldForRefund,
  PAYMENT_PHASES,
  type Payment,
  parseDispute,
  parseRefunds,
  type Refund,
} from '../money/payment-rules.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkPages } from '../store/walks.ts';
import type { ReportProblem } from './audit-rules.ts';

type Parts = Pick<Store, 'payments' | 'ledger'>;

/** Payments per read; their entries are read concurrently. */
const PAYMENTS_PER_PAGE = 50;

export async function checkPayments(store: Parts, report: ReportProblem): Promise<void> {
  const read = (page: PageStart) => store.payments.page('payments', page);
  for await (const page of walkPages(PAYMENTS_PER_PAGE, read, ({ id }) => id)) {
    const problems = await Promise.all(page.map((payment) => findPaymentProblems(store, payment)));
    for (const [index, { id, wallet }] of page.entries()) {
      for (const problem of problems[index] ?? []) report(wallet, `payment ${id}: ${problem}`);
    }
  }
}

/** The opposite direction: every entry belongs to a payment that lists it. */
export async function checkPaymentEntries(
  store: Parts,
  entries: readonly Entry[],
  report: ReportProblem,
): Promise<void> {
  const ours = entries.filter(({ kind }) => PAYMENT_KINDS.includes(kind));
  await Promise.all(
    ours.map(async ({ wallet, seq, opId, note }) => {
      const payment = note === null ? undefined : await store.payments.get(note);
      const say = (text: string) => report(wallet, `entry ${seq}: ${text}`);
      if (!payment) say(`there is no payment ${note}`);
      else if (!listExpectedEntries(payment)?.some((move) => move.opId === opId))
        say(`the payment ${note} does not list it`);
    }),
  );
}

/** An entry that the journal must have, according to the payment. */
interface ExpectedEntry {
  readonly opId: string;
  readonly kind: Entry['kind'];
  /** The change of the wallet. */
  readonly change: Micro;
  /** The amount to take back. */
  readonly asked: Micro;
  /** The part of it that the wallet covered. */
  readonly taken: Micro;
}

/** Undefined if the refunds or the dispute of the payment cannot be parsed. */
function listExpectedEntries(payment: Payment): readonly ExpectedEntry[] | undefined {
  const { provider, id: order, wallet, createdAt: at, ref } = payment;
  const base = { wallet, at, amount: 1n, order };
  const back = (
    kind: 'payback' | 'dispute',
    paybackId: string,
    amounts: Omit<ExpectedEntry, 'opId' | 'kind'>,
  ): ExpectedEntry => {
    return { opId: getOperationId({ kind, ...base, paybackId, suspend: false }), kind, ...amounts };
  };
  const booked = (
    kind: 'payback' | 'dispute',
    refId: string | null,
    { amount, taken, moved }: BookedAmounts,
  ): ExpectedEntry => {
    const had = BigInt(taken ?? 0);
    const change = moved === undefined ? -had : BigInt(moved);
    return back(kind, `${provider}:${refId}`, { change, asked: BigInt(amount), taken: had });
  };
  try {
    const expected: ExpectedEntry[] = [];
    if (payment.credited > 0n) {
      const opId = getOperationId({ kind: 'pay', ...base, paymentId: `${provider}:${ref}` });
      expected.push({ opId, kind: 'pay', change: payment.credited, asked: 0n, taken: 0n });
    }
    for (const refund of parseRefunds(payment)) {
      if (!isRefund(refund)) return undefined;
      const { id, state, off, given } = refund;
      const request = (what: 'asked' | 'refused', change: Micro) =>
        back('payback', refundRequestId(payment, id, what), { change, asked: 0n, taken: 0n });
      if (off !== undefined) expected.push(request('asked', -BigInt(off)));
      if (given !== undefined) expected.push(request('refused', BigInt(given)));
      if (state === 'booked') expected.push(booked('payback', refund.ref, refund));
    }
    const dispute = parseDispute(payment);
    if (dispute && dispute.taken !== null) expected.push(booked('dispute', dispute.id, dispute));
    return expected;
  } catch {
    return undefined;
  }
}

type BookedAmounts = Pick<Refund, 'amount' | 'taken' | 'moved'>;

/** A stored list may contain anything. */
function isRefund({ id, state, amount, at, off, missing, given }: Refund): boolean {
  const isKnown = ['asked', 'booked', 'refused'].includes(state);
  const sums = [amount, off, missing, given].filter((sum) => sum !== undefined);
  return typeof id === 'string' && isKnown && sums.every((sum) => /^\d+$/.test(sum)) && Number.isSafeInteger(at);
}

async function findPaymentProblems({ payments, ledger }: Parts, payment: Payment): Promise<readonly string[]> {
  const problems = await comparePayment(ledger, payment);
  if (problems.length === 0) return problems;
  // A running gateway may have changed both between the reads, so they are compared again.
  const again = await payments.get(payment.id);
  return again ? comparePayment(ledger, again) : [];
}

async function comparePayment(ledger: Parts['ledger'], payment: Payment): Promise<readonly string[]> {
  const expected = listExpectedEntries(payment);
  if (!expected) return ['its refunds or its dispute cannot be read'];
  const problems: string[] = checkPaymentSums(payment, expected);
  for (const { opId, kind, change } of expected) {
    const entry = await ledger.entry(opId);
    if (!entry) problems.push(`there is no entry ${opId}`);
    else if (entry.wallet !== payment.wallet || entry.note !== payment.id || entry.kind !== kind)
      problems.push(`the entry ${opId} is another's`);
    else if (entry.avail !== change) problems.push(`${opId} moved ${entry.avail} instead of ${change}`);
  }
  return problems;
}

type Rule = readonly [holds: boolean, problem: string];

/** Together the entries took the refunded amount plus what open requests hold. */
function checkTakenAmount(payment: Payment, expected: readonly ExpectedEntry[]): Rule {
  const refunds = parseRefunds(payment);
  const held = refunds.reduce((sum, refund) => sum + computeHeldForRefund(refund), 0n);
  // In earlier versions requests held nothing, and a booking took only what the wallet had.
  const bookings = [...refunds, parseDispute(payment)].filter((one) => one !== undefined);
  const left = bookings.reduce((sum, { amount, taken, moved }) => {
    const isEarly = taken !== null && moved === undefined;
    return isEarly ? sum + BigInt(amount) - BigInt(taken) : sum;
  }, 0n);
  const out = expected.reduce((sum, { kind, change }) => (kind === 'pay' ? sum : sum - change), 0n);
  const wanted = expected.reduce((sum, { asked }) => sum + asked, 0n) + held - left;
  return [out === wanted, `${out} left the wallet instead of ${wanted}`];
}

function checkPaymentSums(payment: Payment, expected: readonly ExpectedEntry[]): string[] {
  const { phase, credited, refunded, shortfall, ref } = payment;
  const asked = expected.reduce((sum, move) => sum + move.asked, 0n);
  const taken = expected.reduce((sum, move) => sum + move.taken, 0n);
  const isLost = expected.some(({ kind }) => kind === 'dispute');
  const isBack = refunded === credited;
  const rules: readonly Rule[] = [
    [PAYMENT_PHASES.includes(phase), `it is ${phase}`],
    [credited > 0n === CREDITED_PHASES.includes(phase), `it is ${phase}, and ${credited} are credited`],
    [credited === 0n || ref !== null, 'it is credited, but has no provider id'],
    [refunded === asked, `refunded ${refunded} instead of ${asked}`],
    [shortfall === asked - taken, `shortfall ${shortfall} instead of ${asked - taken}`],
    checkTakenAmount(payment, expected),
    [refunded <= credited, `refunded ${refunded} of ${credited} credited`],
    [isLost === (phase === 'reversed'), `it is ${phase}, and its dispute is ${isLost ? '' : 'not '}lost`],
    [phase !== 'credited' || refunded === 0n, `it is ${phase}, and ${refunded} went back`],
    [phase !== 'partly_refunded' || (refunded > 0n && !isBack), `it is ${phase}, and ${refunded} went back`],
    [phase !== 'refunded' || isBack, `it is ${phase}, and only ${refunded} went back`],
    [!['disputed', 'kept'].includes(phase) || payment.dispute !== null, `it is ${phase}, but there is no dispute`],
  ];
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
}
