// What the booking of a refund, or a lost dispute, leaves in a payment's lists: what it took, what was missing of that, and
// which requested refunds it has the money of.
import type { Micro } from './money.ts';
import {
  type Dispute,
  disputeOf,
  heldBy,
  type Moved,
  type Payment,
  REFUNDS_MAX,
  type Refund,
  refundsOf,
} from './payment.ts';

/** What a change says of the refund that the provider has made. */
interface Made {
  readonly kind: 'refund';
  /** The provider's id. */
  readonly ref: string;
  /** Ours; null for a refund started elsewhere. */
  readonly refund: string | null;
  readonly at: number;
}

/**
 * The requested refunds whose money a change has: a refund's own, a lost dispute's those that were never sent, and of the
 * others only as many, the newest first, as the rest of the payment does not cover: what is still on its way back stays
 * off the balance.
 */
export function foldedBy(
  payment: Payment,
  change: Made | { readonly kind: 'reverse' },
  amount: Micro,
): readonly Refund[] {
  const holding = refundsOf(payment).filter((refund) => heldBy(refund) > 0n);
  const isOwn = (refund: Refund) => (change.kind === 'reverse' ? isUnsent(refund) : isOf(refund, change));
  const folded = holding.filter(isOwn);
  const others = holding.filter((refund) => !isOwn(refund));
  let left = payment.credited - payment.refunded - others.reduce((sum, refund) => sum + heldBy(refund), 0n);
  for (const refund of others.reverse()) {
    if (left >= amount) break;
    left += heldBy(refund);
    folded.push(refund);
  }
  return folded;
}

function isOf({ id, ref, state }: Refund, change: Made): boolean {
  return state !== 'booked' && (id === change.refund || ref === change.ref);
}

export type Booked = Required<Pick<Refund, 'amount' | 'moved'>> & { readonly taken: string };

/** What was missing of it, now and when it was requested, unless something has come in since. */
export function bookedOf(folded: readonly Refund[], { amount, taken, returned = 0n, debt }: Moved) {
  const missingNow = amount - returned - taken;
  const missing = folded.reduce((sum, refund) => sum + BigInt(refund.missing ?? 0), missingNow);
  const shortfall = [missing, debt ?? missing, amount].reduce((least, one) => (one < least ? one : least));
  const booked: Booked = {
    amount: String(amount),
    taken: String(amount - shortfall),
    moved: String(-taken - missingNow),
  };
  return { ...booked, shortfall };
}

interface Fold {
  readonly folded: readonly Refund[];
  readonly booked: Booked;
}

export function lostLists(
  payment: Payment,
  { folded, booked }: Fold,
): Pick<Payment, 'dispute' | 'refunds'> | undefined {
  const dispute = disputeOf(payment);
  if (!dispute || BigInt(dispute.amount) < BigInt(booked.amount)) return undefined;
  const lost: Dispute = { ...dispute, ...booked };
  const refunds = foldedIn(refundsOf(payment), folded).map(withdrawn);
  return { dispute: JSON.stringify(lost), refunds: JSON.stringify(refunds) };
}

export function bookedLists(
  payment: Payment,
  change: Made,
  { folded, booked }: Fold,
): Pick<Payment, 'refunds'> | undefined {
  const refunds = refundsOf(payment);
  const found = refunds.find((refund) => isOf(refund, change));
  if (refunds.length >= REFUNDS_MAX && !found) return undefined;
  const one: Refund = {
    ...(found ?? { id: change.ref, reason: '', at: change.at }),
    ref: change.ref,
    state: 'booked',
    ...booked,
  };
  const others = foldedIn(refunds, folded);
  const list = found ? others.map((refund) => (refund.id === found.id ? one : refund)) : [...others, one];
  return { refunds: JSON.stringify(list) };
}

function foldedIn(refunds: readonly Refund[], folded: readonly Refund[]): readonly Refund[] {
  return refunds.map((refund) => (folded.some(({ id }) => id === refund.id) ? { ...refund, folded: true } : refund));
}

/** The bank has the money now: what was not sent to the provider by then never is. */
function withdrawn(refund: Refund): Refund {
  return isUnsent(refund) ? { ...refund, state: 'refused', reason: 'the dispute was lost' } : refund;
}

function isUnsent({ state, ref }: Refund): boolean {
  return state === 'asked' && ref === null;
}
