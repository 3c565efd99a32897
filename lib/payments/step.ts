// Decides what a payment needs next, given its provider's state: one change or one operation at a time, until nothing is
// left to do. Pure.
import { HOUR_MS } from '../base/durations.ts';
import type { PaybackOp, PayOp } from '../money/decide.ts';
import { formatRub, minMicro } from '../money/money.ts';
import { refundBookingOp, refundRefusalOp } from '../money/payback.ts';
import { NEVER_STARTED, PAID_LATE, type PaymentPhase } from '../money/payment.ts';
import { type FreePaymentChange, type Payment, parseRefunds, type Refund } from '../money/payment-rules.ts';
import type { PaymentState, RefundState } from '../upstream/contract/payment.ts';
import { toProviderId } from './ids.ts';
import { playMoneyFlag } from './play-money.ts';
import { isDue, nextPollAt, nextRefundPollAt } from './poll-schedule.ts';

type PaymentStep =
  | { readonly change: FreePaymentChange; readonly op?: never }
  | { readonly op: PayOp | PaybackOp; readonly change?: never };

export interface PaymentStepFacts {
  readonly at: number;
  /** Whether a wallet that cannot cover a refund is suspended. */
  readonly suspend: boolean;
  /** Whether the provider now takes real money. */
  readonly live: boolean;
  /** Why play money would pay for real costs here; undefined if it would not. */
  readonly costly: string | undefined;
}

export function nextPaymentStep(
  payment: Payment,
  state: PaymentState,
  facts: PaymentStepFacts,
): PaymentStep | undefined {
  switch (payment.phase) {
    case 'created':
    case 'pending':
    case 'expired':
      return nextWaitingStep(payment, state, facts.at);
    case 'succeeded':
      return nextSucceededStep(payment, state, facts);
    case 'canceled':
    case 'failed':
      return nextUnpaidStep(payment, state, facts);
    case 'credited':
    case 'partly_refunded':
    case 'disputed':
    case 'reversed':
    case 'kept':
      return nextCreditedStep(payment, state, facts);
    default:
      return undefined;
  }
}

/** How the provider's state differs from the order; undefined if it matches. */
function findDisagreement(
  payment: Payment,
  state: PaymentState,
  { live, costly }: Pick<PaymentStepFacts, 'live' | 'costly'>,
): string | undefined {
  const { amount, shop, test, id, ref } = payment;
  const pairs: readonly (readonly [name: string, found: unknown, wanted: unknown])[] = [
    ['status', state.status, 'succeeded'],
    ['sum', formatRub(state.amount), formatRub(amount)],
    ['currency', state.currency, 'RUB'],
    ['shop', state.shop, shop],
    ['test', state.test, test],
    ['order', state.order, id],
    ['payment', state.id, ref],
  ];
  const wrong = pairs
    .filter(([, found, wanted]) => found !== wanted)
    .map(([name, found, wanted]) => `${name}: ${found} instead of ${wanted}`);
  // The order may be older than the shop's live secret.
  if (test && state.test && live) wrong.push('test: true, but its provider takes real money now');
  if (!test && !state.test && !live) wrong.push('test: false, but its provider takes no real money now');
  if ((test || state.test) && costly !== undefined) wrong.push(`test: its money is not real, and ${costly}`);
  return wrong.length === 0 ? undefined : wrong.join('; ');
}

function nextWaitingStep(payment: Payment, state: PaymentState, at: number): PaymentStep | undefined {
  const { id, version, phase } = payment;
  const base = { id, version, at };
  if (payment.ref !== null && payment.ref !== state.id) return undefined;
  if (state.status === 'succeeded') {
    return { change: { kind: 'succeed', ...base, ref: state.id, state: serializeState(state) } };
  }
  if (phase === 'created') {
    // The process that is starting it records the link with the start.
    if (state.status === 'pending') return undefined;
    // It did begin, although its end is known before the answer to its start.
    return { change: { kind: 'begin', ...base, ref: state.id, payUrl: null, expiresAt: at, dueAt: at } };
  }
  if (state.status === 'canceled') return nextCanceledStep(payment, state, at);
  const dueAt = nextPollAt(payment, at);
  if (phase === 'pending' && at >= (payment.expiresAt ?? at)) {
    return { change: { kind: 'expire', ...base, reason: 'not paid in time', dueAt } };
  }
  return isDue(payment, at) ? { change: { kind: 'poll', ...base, dueAt } } : undefined;
}

function nextCanceledStep(payment: Payment, state: PaymentState, at: number): PaymentStep | undefined {
  const { id, version, phase } = payment;
  const base = { id, version, at };
  const { kind, code: reason } = state.reason ?? { kind: 'soft', code: 'canceled' };
  if (kind === 'expired') {
    const isKnown = phase === 'expired' && payment.dueAt === null && payment.reason === reason;
    return isKnown ? undefined : { change: { kind: 'expire', ...base, reason, dueAt: null } };
  }
  if (kind === 'technical' && phase !== 'expired') return { change: { kind: 'fail', ...base, reason } };
  return { change: { kind: 'cancel', ...base, reason, state: serializeState(state) } };
}

function nextSucceededStep(payment: Payment, state: PaymentState, facts: PaymentStepFacts): PaymentStep {
  const { id, version, wallet, provider, ref, amount } = payment;
  const { at } = facts;
  const disagreement = findDisagreement(payment, state, facts);
  if (disagreement !== undefined) return { change: { kind: 'review', id, version, at, reason: disagreement } };
  // Its refunds are booked in the next step; `dueAt` lets another process do so after a crash.
  const dueAt = state.refunds.some(({ status }) => status === 'succeeded') ? at : null;
  const credit = { kind: 'credit', id, version, at, reason: null, dueAt } as const;
  const paid = { amount, paymentId: `${provider}:${ref}`, order: id, ...playMoneyFlag(payment) };
  return { op: { kind: 'pay', wallet, at, ...paid, payment: credit } };
}

/** The payer was told that nothing was paid, and may have paid again or not want it any more. */
function nextUnpaidStep(payment: Payment, state: PaymentState, facts: PaymentStepFacts): PaymentStep | undefined {
  const { id, version, phase, ref } = payment;
  if (state.status !== 'succeeded' || (ref !== null && ref !== state.id)) return undefined;
  const disagreement = findDisagreement({ ...payment, ref: state.id }, state, facts);
  const reason = [PAID_LATE, ...(disagreement === undefined ? [] : [disagreement])].join('; ');
  const paid = { ref: state.id, state: serializeState(state, phase) };
  return { change: { kind: 'review', id, version, at: facts.at, reason, paid } };
}

type RefundStepFacts = Pick<PaymentStepFacts, 'at' | 'suspend'>;

function nextCreditedStep(
  payment: Payment,
  state: PaymentState,
  { at, suspend }: RefundStepFacts,
): PaymentStep | undefined {
  if (state.id !== payment.ref) return undefined;
  const ours = parseRefunds(payment);
  for (const refund of state.refunds) {
    const step = nextRefundStep(payment, { ours, refund }, { at, suspend });
    if (step) return step;
  }
  if (!isDue(payment, at)) return undefined;
  const asked = ours.filter((refund) => refund.state === 'asked');
  const { id, version } = payment;
  const lost = asked.find((refund) => refund.ref === null && at - refund.at > LOST_MS);
  if (lost) {
    return { op: refundRefusalOp(payment, { at, refund: lost.id, reason: NEVER_STARTED }) };
  }
  const dueAt = asked.length === 0 ? null : Math.min(...asked.map((refund) => nextRefundPollAt(refund.at, at)));
  return { change: { kind: 'poll', id, version, at, dueAt } };
}

/** Its idempotency key was last sent at least an hour earlier. */
const LOST_MS = 25 * HOUR_MS;

interface RefundPair {
  readonly ours: readonly Refund[];
  readonly refund: RefundState;
}

function nextRefundStep(
  payment: Payment,
  { ours, refund }: RefundPair,
  { at, suspend }: RefundStepFacts,
): PaymentStep | undefined {
  const { id, version } = payment;
  const base = { id, version, at };
  if (ours.some((one) => one.state === 'booked' && one.ref === refund.id)) return undefined;
  const asked = ours.find(
    ({ id: own, ref, state }) => state !== 'booked' && (ref === refund.id || matchesRefund(own, refund)),
  );
  if (!asked && mayBeUnderWay(ours, refund)) return undefined;
  if (refund.status === 'succeeded') {
    const amount = minMicro(refund.amount, payment.credited - payment.refunded);
    if (amount <= 0n || refund.currency !== 'RUB') return undefined;
    return { op: refundBookingOp(payment, { at, ref: refund.id, refund: asked?.id ?? null }, { amount, suspend }) };
  }
  if (asked?.state !== 'asked') return undefined;
  if (refund.status === 'canceled') {
    return { op: refundRefusalOp(payment, { at, refund: asked.id, reason: 'the provider refused it' }) };
  }
  if (asked.ref === refund.id) return undefined;
  const dueAt = nextRefundPollAt(asked.at, at);
  return { change: { kind: 'note_refund', ...base, refund: asked.id, ref: refund.id, dueAt } };
}

/** A provider that stores no ids of ours may have made the refund whose answer, with its id, is still to come. */
function mayBeUnderWay(ours: readonly Refund[], { order, amount }: RefundState): boolean {
  return (
    order === null && ours.some((own) => own.state === 'asked' && own.ref === null && BigInt(own.amount) === amount)
  );
}

/** An earlier version sent every id as it is. */
function matchesRefund(own: string, { order }: RefundState): boolean {
  return order === own || order === toProviderId(own);
}

/** For the operator's review, without the id that can charge the saved method. `after`: how it had ended before. */
function serializeState({ saved, ...state }: PaymentState, after?: PaymentPhase): string {
  const { kind, brand, last4, expiry } = saved ?? {};
  const shown = { ...state, saved: saved && { kind, brand, last4, expiry }, after };
  return JSON.stringify(shown, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
}
