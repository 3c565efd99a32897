// Orders and payments, and the decisions of operators about them. Refunds are sent to the provider by a gateway that
// runs on the store.

import { InvalidInputError, OperatorError, UnknownError } from '../../base/operator-error.ts';
import { KOPECK, type Micro, toRub } from '../../money/money.ts';
import { type Payment, type PaymentPhase, parseDispute, parseRefunds } from '../../money/payment-rules.ts';
import { decideReview, endDispute, type OperatorOutcome, openDispute, requestRefund } from '../../payments/operator.ts';
import { type Answer, formatMoney, formatPairs, formatTable, toTime } from '../answer.ts';
import { findAccount, type Session } from '../session.ts';

export const paymentActions = { list, show, refund, decide, dispute };

interface ListOptions {
  readonly account?: string;
  readonly phase?: PaymentPhase;
  readonly limit: number;
  /** The payment after which the list goes on. */
  readonly before?: string;
}

async function list(session: Session, { account, phase, limit, before }: ListOptions): Promise<Answer> {
  const wallet = account === undefined ? undefined : (await findAccount(session, account)).id;
  const filter = { ...(wallet !== undefined && { wallet }), ...(phase && { phases: [phase] }) };
  const last = before === undefined ? undefined : await session.store.payments.get(before);
  if (before !== undefined && !last) throw unknownPayment(before);
  const payments = await session.store.payments.list({ limit, ...filter, ...(last && { before: last }) });
  const next = payments.length === limit ? (payments.at(-1)?.id ?? null) : null;
  const rows = payments.map(({ id, createdAt, wallet, provider, phase, amount, credited, refunded }) => [
    id,
    toTime(createdAt),
    wallet,
    provider,
    phase,
    formatMoney(amount),
    formatMoney(credited),
    formatMoney(refunded),
  ]);
  const head = ['payment', 'created', 'account', 'provider', 'phase', ' ordered', ' credited', ' gone back'];
  return {
    json: { payments: payments.map(paymentJson), next },
    text:
      rows.length === 0
        ? 'No payments.'
        : formatTable(head, rows) + (next === null ? '' : `\nOlder payments: repeat with --before ${next}`),
  };
}

async function show({ store }: Session, id: string): Promise<Answer> {
  const payment = await store.payments.get(id);
  if (!payment) throw unknownPayment(id);
  return { json: paymentJson(payment), text: paymentText(payment) };
}

interface RefundOptions {
  readonly reason: string;
  readonly refundId?: string;
}

async function refund({ store }: Session, id: string, amount: Micro, options: RefundOptions): Promise<Answer> {
  const { reason, refundId } = options;
  if (amount % KOPECK !== 0n) throw new InvalidInputError('A refund is whole kopecks: at most 2 decimals.');
  const refundRequest = { at: Date.now(), amount, reason, ...(refundId !== undefined && { refund: refundId }) };
  return createAnswer(
    id,
    await requestRefund(store, id, refundRequest),
    'Refund requested; a running gateway sends it.',
  );
}

interface DecideOptions {
  readonly credit?: Micro;
  readonly reject?: boolean;
  readonly reason: string;
}

async function decide({ store }: Session, id: string, { credit, reject, reason }: DecideOptions): Promise<Answer> {
  if (credit === undefined && !reject) throw new InvalidInputError('Use --credit with an amount, or --reject.');
  if (credit !== undefined && credit % KOPECK !== 0n)
    throw new InvalidInputError('A credit is whole kopecks: at most 2 decimals.');
  const verdict = { at: Date.now(), reason, credit: credit ?? null };
  return createAnswer(id, await decideReview(store, id, verdict), 'Decided.');
}

interface DisputeOptions {
  readonly open?: string;
  readonly amount?: Micro;
  readonly won?: boolean;
  readonly lost?: boolean;
  readonly suspend?: boolean;
}

async function dispute(session: Session, id: string, options: DisputeOptions): Promise<Answer> {
  const { store } = session;
  const { open, amount, won, lost } = options;
  const at = Date.now();
  if (open !== undefined) {
    const opening = { at, dispute: open, ...(amount !== undefined && { amount }) };
    return createAnswer(id, await openDispute(store, id, opening), 'Recorded; no money has moved.');
  }
  if (!won && !lost) throw new InvalidInputError('Use --open with its number, --won or --lost.');
  const suspend = lost === true && (options.suspend ?? (await wouldSuspend(session, id)));
  return createAnswer(id, await endDispute(store, id, { at, how: won ? 'won' : 'lost', suspend }), 'Entered.');
}

/** Whether the catalog suspends accounts with a shortfall. */
async function wouldSuspend({ store, config }: Session, id: string): Promise<boolean> {
  const { readShortfallRule } = await import('../../catalog/payments.ts');
  const payment = await store.payments.get(id);
  return payment !== undefined && readShortfallRule(config, payment.provider) === 'suspend';
}

function createAnswer(id: string, { status, payment }: OperatorOutcome, done: string): Answer {
  if (!payment) throw unknownPayment(id);
  switch (status) {
    case 'done':
    case 'exists': {
      const repeated = status === 'exists';
      const line = repeated ? 'It had been done before; nothing changed.' : done;
      return { json: { ...paymentJson(payment), repeated }, text: `${line}\n${paymentText(payment)}` };
    }
    case 'stale':
      throw new OperatorError(`The payment ${id} has just changed: look at it and try again.`);
    case 'play_money':
      throw new OperatorError(
        `The payment ${id} is a test: its money is not real, and wallets here pay for upstreams that cost real money.`,
      );
    case 'number_taken':
      throw new OperatorError(
        'Another payment has a dispute of this number: add something to it, such as "/2", if one letter is about both.',
      );
    case 'refund_taken':
      throw new OperatorError('This refund id was used for another amount or another payment.');
    default:
      throw new OperatorError(
        `The payment ${id} is ${payment.phase}, with ${formatMoney(payment.credited - payment.refunded)} left: it cannot be done.`,
      );
  }
}

function unknownPayment(id: string): OperatorError {
  return new UnknownError(`There is no payment ${id}.`);
}

function paymentJson(payment: Payment): object {
  const { id, wallet, provider, phase, origin, ref, reason, createdAt, changedAt } = payment;
  const dispute = parseDispute(payment);
  return {
    payment_id: id,
    account_id: wallet,
    provider,
    phase,
    origin,
    provider_payment_id: ref,
    reason,
    ordered_rub: toRub(payment.amount),
    credited_rub: toRub(payment.credited),
    refunded_rub: toRub(payment.refunded),
    shortfall_rub: toRub(payment.shortfall),
    created_at: toTime(createdAt),
    changed_at: toTime(changedAt),
    provider_state: payment.state === null ? null : JSON.parse(payment.state),
    refunds: parseRefunds(payment).map(({ id: refund_id, ref, amount, state, reason, at }) => ({
      refund_id,
      provider_refund_id: ref,
      amount_rub: toRub(BigInt(amount)),
      state,
      reason,
      at: toTime(at),
    })),
    dispute: dispute ? { dispute_id: dispute.id, amount_rub: toRub(BigInt(dispute.amount)) } : null,
  };
}

function paymentText(payment: Payment): string {
  const { id, wallet, provider, phase, reason, ref, amount, credited, refunded, shortfall, createdAt } = payment;
  const refunds = parseRefunds(payment).map(
    (one) => ['refund', `${one.id}  ${formatMoney(BigInt(one.amount))}  ${one.state}`] as const,
  );
  return formatPairs([
    ['payment', id],
    ['account', wallet],
    ['created', toTime(createdAt)],
    ['provider', `${provider}${ref === null ? '' : `  ${ref}`}`],
    ['phase', phase],
    ...(reason === null ? [] : [['reason', reason] as const]),
    ['ordered', formatMoney(amount)],
    ['credited', formatMoney(credited)],
    ['gone back', formatMoney(refunded)],
    ...(shortfall === 0n ? [] : [['missing', formatMoney(shortfall)] as const]),
    ...refunds,
    ...(payment.state === null ? [] : [['provider says', payment.state] as const]),
  ]);
}
