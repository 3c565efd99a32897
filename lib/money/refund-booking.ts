// How booking a refund or a lost dispute changes the lists of a payment: the amount taken, the shortfall, and the
// requested refunds that it absorbs.
import { type Micro, minMicro } from './money.ts';
import {
  computeHeldForRefund,
  type Dispute,
  type Moved,
  type Payment,
  parseDispute,
  parseRefunds,
  REFUNDS_MAX,
  type Refund,
} from './payment.ts';

/** A refund made by the provider, as its change describes it. */
interface ProviderRefund {
  readonly kind: 'refund';
  /** The provider's id. */
  readonly ref: string;
  /** Ours; null for a refund started elsewhere. */
  readonly refund: string | null;
  readonly at: number;
}

/**
 * Finds the requested refunds whose held money a booking uses (stored as `folded`). A refund absorbs its own request, a
 * lost dispute the requests that were never sent to the provider. Other requests are absorbed, newest first, only if the
 * rest of the payment does not cover the booking; the remaining ones stay held.
 */
export function findAbsorbedRefunds(
  payment: Payment,
  change: ProviderRefund | { readonly kind: 'reverse' },
  amount: Micro,
): readonly Refund[] {
  const holding = parseRefunds(payment).filter((refund) => computeHeldForRefund(refund) > 0n);
  const isOwn = (refund: Refund) => (change.kind === 'reverse' ? isUnsent(refund) : isSameRefund(refund, change));
  const folded = holding.filter(isOwn);
  const others = holding.filter((refund) => !isOwn(refund));
  let left =
    payment.credited - payment.refunded - others.reduce((sum, refund) => sum + computeHeldForRefund(refund), 0n);
  for (const refund of others.reverse()) {
    if (left >= amount) break;
    left += computeHeldForRefund(refund);
    folded.push(refund);
  }
  return folded;
}

function isSameRefund({ id, ref, state }: Refund, change: ProviderRefund): boolean {
  return state !== 'booked' && (id === change.refund || ref === change.ref);
}

type Booked = Required<Pick<Refund, 'amount' | 'moved'>> & { readonly taken: string };

/** The shortfall adds up what was missing now and at the request, but is never above the wallet's present debt. */
export function computeBooking(folded: readonly Refund[], { amount, taken, returned = 0n, debt }: Moved) {
  const missingNow = amount - returned - taken;
  const missing = folded.reduce((sum, refund) => sum + BigInt(refund.missing ?? 0), missingNow);
  const shortfall = minMicro(missing, debt ?? missing, amount);
  const booked: Booked = {
    amount: String(amount),
    taken: String(amount - shortfall),
    moved: String(-taken - missingNow),
  };
  return { ...booked, shortfall };
}

interface Booking {
  readonly folded: readonly Refund[];
  readonly booked: Booked;
}

export function applyLostDispute(
  payment: Payment,
  { folded, booked }: Booking,
): Pick<Payment, 'dispute' | 'refunds'> | undefined {
  const dispute = parseDispute(payment);
  if (!dispute || BigInt(dispute.amount) < BigInt(booked.amount)) return undefined;
  const lost: Dispute = { ...dispute, ...booked };
  const refunds = markAbsorbed(parseRefunds(payment), folded).map(withdrawIfUnsent);
  return { dispute: JSON.stringify(lost), refunds: JSON.stringify(refunds) };
}

export function applyBookedRefund(
  payment: Payment,
  change: ProviderRefund,
  { folded, booked }: Booking,
): Pick<Payment, 'refunds'> | undefined {
  const refunds = parseRefunds(payment);
  const found = refunds.find((refund) => isSameRefund(refund, change));
  if (refunds.length >= REFUNDS_MAX && !found) return undefined;
  const one: Refund = {
    ...(found ?? { id: change.ref, reason: '', at: change.at }),
    ref: change.ref,
    state: 'booked',
    ...booked,
  };
  const others = markAbsorbed(refunds, folded);
  const list = found ? others.map((refund) => (refund.id === found.id ? one : refund)) : [...others, one];
  return { refunds: JSON.stringify(list) };
}

function markAbsorbed(refunds: readonly Refund[], folded: readonly Refund[]): readonly Refund[] {
  return refunds.map((refund) => (folded.some(({ id }) => id === refund.id) ? { ...refund, folded: true } : refund));
}

/** The bank has the money now, so a request that was not sent yet must never reach the provider. */
function withdrawIfUnsent(refund: Refund): Refund {
  return isUnsent(refund) ? { ...refund, state: 'refused', reason: 'the dispute was lost' } : refund;
}

function isUnsent({ state, ref }: Refund): boolean {
  return state === 'asked' && ref === null;
}
