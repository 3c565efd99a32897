// The audit of payments: what each payment says about its money must match the journal, entry by entry, and every entry
// must belong to a payment that lists it.
import type { Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { operationId, PAYMENT_KINDS } from '../money/operations.ts';
import { refundRequestId } from '../money/payback.ts';
import {
  heldForRefund,
  PAYMENT_PHASES,
  type Payment,
  type PaymentPhase,
  parseDispute,
  parseRefunds,
  type Refund,
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
  /** How much of that the wallet had. */
  readonly taken: Micro;
}

/** Undefined if its lists cannot be read. */
function movesOf(payment: Payment): readonly Move[] | undefined {
  const { provider, id: order, wallet, createdAt: at, ref } = payment;
  const base = { wallet, at, amount: 1n, order };
  const back = (kind: 'payback' | 'dispute', paybackId: string, more: Omit<Move, 'opId' | 'kind'>): Move => {
    return { opId: operationId({ kind, ...base, paybackId, suspend: false }), kind, ...more };
  };
  const booked = (kind: 'payback' | 'dispute', refId: string | null, { amount, taken, moved }: Booked): Move => {
    const had = BigInt(taken ?? 0);
    const change = moved === undefined ? -had : BigInt(moved);
    return back(kind, `${provider}:${refId}`, { change, asked: BigInt(amount), taken: had });
  };
  try {
    const moves: Move[] = [];
    if (payment.credited > 0n) {
      const opId = operationId({ kind: 'pay', ...base, paymentId: `${provider}:${ref}` });
      moves.push({ opId, kind: 'pay', change: payment.credited, asked: 0n, taken: 0n });
    }
    for (const refund of parseRefunds(payment)) {
      if (!isRefund(refund)) return undefined;
      const { id, state, off, given } = refund;
      const request = (what: 'asked' | 'refused', change: Micro) =>
        back('payback', refundRequestId(payment, id, what), { change, asked: 0n, taken: 0n });
      if (off !== undefined) moves.push(request('asked', -BigInt(off)));
      if (given !== undefined) moves.push(request('refused', BigInt(given)));
      if (state === 'booked') moves.push(booked('payback', refund.ref, refund));
    }
    const dispute = parseDispute(payment);
    if (dispute && dispute.taken !== null) moves.push(booked('dispute', dispute.id, dispute));
    return moves;
  } catch {
    return undefined;
  }
}

type Booked = Pick<Refund, 'amount' | 'taken' | 'moved'>;

/** A stored list may contain anything. */
function isRefund({ id, state, amount, at, off, missing, given }: Refund): boolean {
  const isKnown = ['asked', 'booked', 'refused'].includes(state);
  const sums = [amount, off, missing, given].filter((sum) => sum !== undefined);
  return typeof id === 'string' && isKnown && sums.every((sum) => /^\d+$/.test(sum)) && Number.isSafeInteger(at);
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

/** Together the entries took what is refunded and what open requests hold. */
function heldRules(payment: Payment, moves: readonly Move[]): readonly (readonly [boolean, string])[] {
  const refunds = parseRefunds(payment);
  const held = refunds.reduce((sum, refund) => sum + heldForRefund(refund), 0n);
  // Before requests took anything, a booking took only what was there.
  const isEarly = ({ taken, moved }: Booked) => taken !== null && moved === undefined;
  const early = [...refunds, parseDispute(payment)].filter((one) => one !== undefined).filter(isEarly);
  const left = early.reduce((sum, { amount, taken }) => sum + BigInt(amount) - BigInt(taken ?? 0), 0n);
  const out = moves.reduce((sum, { kind, change }) => (kind === 'pay' ? sum : sum - change), 0n);
  const wanted = moves.reduce((sum, { asked }) => sum + asked, 0n) + held - left;
  return [[out === wanted, `${out} left the wallet instead of ${wanted}`]];
}

const CREDITED: readonly PaymentPhase[] = [
  ...(['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'] as const),
];

function sumsOf(payment: Payment, moves: readonly Move[]): string[] {
  const { phase, credited, refunded, shortfall, ref } = payment;
  const asked = moves.reduce((sum, move) => sum + move.asked, 0n);
  const taken = moves.reduce((sum, move) => sum + move.taken, 0n);
  const isLost = moves.some(({ kind }) => kind === 'dispute');
  const isBack = refunded === credited;
  const rules: readonly (readonly [boolean, string])[] = [
    [PAYMENT_PHASES.includes(phase), `it is ${phase}`],
    [credited > 0n === CREDITED.includes(phase), `it is ${phase}, and ${credited} are credited`],
    [credited === 0n || ref !== null, 'it is credited, but has no provider id'],
    [refunded === asked, `refunded ${refunded} instead of ${asked}`],
    [shortfall === asked - taken, `shortfall ${shortfall} instead of ${asked - taken}`],
    ...heldRules(payment, moves),
    [refunded <= credited, `refunded ${refunded} of ${credited} credited`],
    [isLost === (phase === 'reversed'), `it is ${phase}, and its dispute is ${isLost ? '' : 'not '}lost`],
    [phase !== 'credited' || refunded === 0n, `it is ${phase}, and ${refunded} went back`],
    [phase !== 'partly_refunded' || (refunded > 0n && !isBack), `it is ${phase}, and ${refunded} went back`],
    [phase !== 'refunded' || isBack, `it is ${phase}, and only ${refunded} went back`],
    [!['disputed', 'kept'].includes(phase) || payment.dispute !== null, `it is ${phase}, but there is no dispute`],
  ];
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
}
