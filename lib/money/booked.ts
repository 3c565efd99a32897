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
 * The requested refunds whose money a change has: a refund's own and, where that payment has no more left for all of them,
 * every other's; a lost dispute has that of all.
 */
export function foldedBy(
  payment: Payment,
  change: Made | { readonly kind: 'reverse' },
  amount: Micro,
): readonly Refund[] {
  const holding = refundsOf(payment).filter((refund) => heldBy(refund) > 0n);
  if (change.kind === 'reverse') return holding;
  const [own, others] = [holding.filter((refund) => isOf(refund, change)), holding.filter((one) => !isOf(one, change))];
  const left = payment.credited - payment.refunded - others.reduce((sum, refund) => sum + heldBy(refund), 0n);
  return amount > left ? holding : own;
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

export function lostLists(payment: Payment, booked: Booked): Pick<Payment, 'dispute' | 'refunds'> | undefined {
  const dispute = disputeOf(payment);
  if (!dispute || BigInt(dispute.amount) < BigInt(booked.amount)) return undefined;
  const lost: Dispute = { ...dispute, ...booked };
  const refunds = refundsOf(payment).map(asFolded).map(withdrawn);
  return { dispute: JSON.stringify(lost), refunds: JSON.stringify(refunds) };
}

export function bookedLists(
  payment: Payment,
  change: Made,
  { folded, booked }: { readonly folded: readonly Refund[]; readonly booked: Booked },
): Pick<Payment, 'refunds'> | undefined {
  const refunds = refundsOf(payment);
  const found = refunds.find((refund) => isOf(refund, change));
  if (refunds.length >= REFUNDS_MAX && !found) return undefined;
  const one: Refund = {
    ...(found ?? { id: change.ref, reason: '', at: change.at }),
    ...{ ref: change.ref, state: 'booked', ...booked },
  };
  const isFolded = (refund: Refund) => folded.some(({ id }) => id === refund.id);
  const others = refunds.map((refund) => (isFolded(refund) ? asFolded(refund) : refund));
  const list = found ? others.map((refund) => (refund.id === found.id ? one : refund)) : [...others, one];
  return { refunds: JSON.stringify(list) };
}

function asFolded(refund: Refund): Refund {
  return heldBy(refund) > 0n ? { ...refund, folded: true } : refund;
}

/** The bank has the money now: what was not sent to the provider by then never is. */
function withdrawn(refund: Refund): Refund {
  return refund.state === 'asked' && refund.ref === null
    ? { ...refund, state: 'refused', reason: 'the dispute was lost' }
    : refund;
}
