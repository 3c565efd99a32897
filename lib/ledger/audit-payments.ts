// The audit of payments: what each payment says about its money must match the journal, entry by entry, and every entry
// must belong to a payment that lists it.
import type { Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { operationId, PAYMENT_KINDS } from '../money/operations.ts';
import {
  disputeOf,
  PAYMENT_PHASES,
  type Payment,
  type PaymentPhase,
  type Refund,
  refundsOf,
} from '../money/payment-rules.ts';
import type { Store } from '../store/store.ts';
import type { Found } from './audit-rules.ts';

type Parts = Pick<Store, 'payments' | 'ledger'>;

/** Payments per read; their entries are read together. */
const PAGE = 50;

export async function checkPayments(store: Parts, found: Found): Promise<void> {
  for (let after = ''; ; ) {
    const page = await store.payments.page('payments', { after, limit: PAGE });
    const problems = await Promise.all(page.map((payment) => problemsOf(store, payment)));
    for (const [index, { id, wallet }] of page.entries()) {
      for (const problem of problems[index] ?? []) found(wallet, `payment ${id}: ${problem}`);
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
}

/** From the journal's side: each entry belongs to a payment that lists it. */
export async function checkPaymentEntries(store: Parts, entries: readonly Entry[], found: Found): Promise<void> {
  const ours = entries.filter(({ kind }) => PAYMENT_KINDS.includes(kind));
  await Promise.all(
    ours.map(async ({ wallet, seq, opId, note }) => {
      const payment = note === null ? undefined : await store.payments.get(note);
      const say = (text: string) => found(wallet, `entry ${seq}: ${text}`);
      if (!payment) say(`there is no payment ${note}`);
      else if (!movesOf(payment)?.some((move) => move.opId === opId)) say(`the payment ${note} does not list it`);
    }),
  );
}

/** An entry as the payment lists it. */
interface Move {
  readonly opId: string;
  readonly kind: Entry['kind'];
  /** The change of the wallet. */
  readonly change: Micro;
  /** What was to be taken back. */
  readonly asked: Micro;
}

/** Undefined if its lists cannot be read. */
function movesOf(payment: Payment): readonly Move[] | undefined {
  const { provider, id: order, wallet, createdAt: at, ref } = payment;
  const base = { wallet, at, amount: 1n, order };
  const back = (kind: 'payback' | 'dispute', paybackRef: string | null, amount: string, taken: string | null): Move => {
    const opId = operationId({ kind, ...base, paybackId: `${provider}:${paybackRef}`, suspend: false });
    return { opId, kind, change: -BigInt(taken ?? 0), asked: BigInt(amount) };
  };
  try {
    const moves: Move[] = [];
    if (payment.credited > 0n) {
      const opId = operationId({ kind: 'pay', ...base, paymentId: `${provider}:${ref}` });
      moves.push({ opId, kind: 'pay', change: payment.credited, asked: 0n });
    }
    for (const refund of refundsOf(payment)) {
      if (!isRefund(refund)) return undefined;
      if (refund.state === 'booked') moves.push(back('payback', refund.ref, refund.amount, refund.taken));
    }
    const dispute = disputeOf(payment);
    if (dispute && dispute.taken !== null) moves.push(back('dispute', dispute.id, dispute.amount, dispute.taken));
    return moves;
  } catch {
    return undefined;
  }
}

/** A stored list may contain anything. */
function isRefund({ id, state, amount, at }: Refund): boolean {
  const isKnown = ['asked', 'booked', 'refused'].includes(state);
  return typeof id === 'string' && isKnown && /^\d+$/.test(amount) && Number.isSafeInteger(at);
}

async function problemsOf({ payments, ledger }: Parts, payment: Payment): Promise<readonly string[]> {
  const problems = await disagreements(ledger, payment);
  if (problems.length === 0) return problems;
  // Read one after the other beside a running gateway: both may have changed in between.
  const again = await payments.get(payment.id);
  return again ? disagreements(ledger, again) : [];
}

async function disagreements(ledger: Parts['ledger'], payment: Payment): Promise<readonly string[]> {
  const moves = movesOf(payment);
  if (!moves) return ['its refunds or its dispute cannot be read'];
  const problems: string[] = sumsOf(payment, moves);
  for (const { opId, kind, change } of moves) {
    const entry = await ledger.entry(opId);
    if (!entry) problems.push(`there is no entry ${opId}`);
    else if (entry.wallet !== payment.wallet || entry.note !== payment.id || entry.kind !== kind)
      problems.push(`the entry ${opId} is another's`);
    else if (entry.avail !== change) problems.push(`${opId} moved ${entry.avail} instead of ${change}`);
  }
  return problems;
}

const CREDITED: readonly PaymentPhase[] = [
  ...(['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'] as const),
];

function sumsOf(payment: Payment, moves: readonly Move[]): string[] {
  const { phase, credited, refunded, shortfall, ref } = payment;
  const asked = moves.reduce((sum, move) => sum + move.asked, 0n);
  const taken = moves.reduce((sum, { kind, change }) => (kind === 'pay' ? sum : sum - change), 0n);
  const isLost = moves.some(({ kind }) => kind === 'dispute');
  const isBack = refunded === credited;
  const rules: readonly (readonly [boolean, string])[] = [
    [PAYMENT_PHASES.includes(phase), `it is ${phase}`],
    [credited > 0n === CREDITED.includes(phase), `it is ${phase}, and ${credited} are credited`],
    [credited === 0n || ref !== null, 'it is credited, but has no provider id'],
    [refunded === asked, `refunded ${refunded} instead of ${asked}`],
    [shortfall === asked - taken, `shortfall ${shortfall} instead of ${asked - taken}`],
    [refunded <= credited, `refunded ${refunded} of ${credited} credited`],
    [isLost === (phase === 'reversed'), `it is ${phase}, and its dispute is ${isLost ? '' : 'not '}lost`],
    [phase !== 'credited' || refunded === 0n, `it is ${phase}, and ${refunded} went back`],
    [phase !== 'partly_refunded' || (refunded > 0n && !isBack), `it is ${phase}, and ${refunded} went back`],
    [phase !== 'refunded' || isBack, `it is ${phase}, and only ${refunded} went back`],
    [!['disputed', 'kept'].includes(phase) || payment.dispute !== null, `it is ${phase}, but there is no dispute`],
  ];
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
}
