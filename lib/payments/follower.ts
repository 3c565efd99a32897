// Moves a payment step by step to the state that its provider reports. Each step happens once, even if several
// processes do this at the same time.
import type { OpenPayment } from '../catalog/payments.ts';
import { bookOperation } from '../ledger/booking.ts';
import type { PaybackOp } from '../money/decide.ts';
import { type FreePaymentChange, type Payment, type PaymentStatus, parseRefunds } from '../money/payment-rules.ts';
import type { SavedMethodRow } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { PaymentState, SavedMethod } from '../upstream/contract/payment.ts';
import { newId } from './ids.ts';
import { parseOrderFacts } from './order-facts.ts';
import { findPlayMoneyConflict, isPlayMoney } from './play-money.ts';
import { nextPaymentStep, type PaymentStepFacts } from './step.ts';

interface PaymentFollowerOptions {
  readonly store: Pick<Store, 'payments' | 'ledger' | 'settings'>;
  readonly now: () => number;
  readonly log: PaymentLog;
  /** Called after every stored change of a payment's phase or money. */
  readonly onChange?: ((payment: Payment) => void) | undefined;
  /** Called with a method that was not saved before. It must not delay the credit. */
  readonly onSaved?: ((method: SavedMethodRow) => void) | undefined;
}

export interface PaymentLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface PaymentFollower {
  /** Resolves to the payment afterwards. After a rejection with `StoreError` the same state may be passed again. */
  follow(payment: Payment, open: OpenPayment, state: PaymentState): Promise<Payment>;
  /** Applies one change, unless another process was faster. Resolves to the payment afterwards. */
  change(change: FreePaymentChange): Promise<Payment>;
  /** The same for a change that moves money. */
  book(op: PaybackOp): Promise<Payment>;
}

export const PAID_TWICE = 'an order was paid twice at its provider';

/** Changes not worth reporting. */
const UNREPORTED_CHANGES: readonly FreePaymentChange['kind'][] = ['poll', 'note_refund'];

/** Each step moves forward, so more steps mean a bug in the gateway or contradicting provider states. */
const STEPS_MAX = 100;

export function createPaymentFollower({ store, now, log, onChange, onSaved }: PaymentFollowerOptions): PaymentFollower {
  const { payments } = store;

  async function follow(first: Payment, open: OpenPayment, state: PaymentState): Promise<Payment> {
    let payment = first;
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      const step = nextPaymentStep(payment, state, await collectStepFacts(payment, open));
      if (!step) {
        reportSecondPayment(payment, state);
        return payment;
      }
      if (step.op?.kind === 'pay') await saveMethodOnce(payment, state);
      const { status, payment: after } = step.op ? await bookMoney(step.op) : await payments.change(step.change);
      if (status === 'done' && after) reportChange(payment, after);
      // Without a row in the outcome, another process changed the payment: read it again.
      const next = after ?? (await payments.get(payment.id));
      if (!next) throw new Error(`the payment ${payment.id} is gone`);
      if (status === 'refused') return next;
      payment = next;
    }
    throw new Error(`the payment ${payment.id} takes too many steps`);
  }

  async function collectStepFacts(
    payment: Payment,
    { shortfall, provider: { live } }: OpenPayment,
  ): Promise<PaymentStepFacts> {
    const needsCost = payment.phase === 'succeeded' && isPlayMoney(payment);
    const costly = needsCost ? await findPlayMoneyConflict(store.settings) : undefined;
    return { at: now(), suspend: shortfall === 'suspend', live, costly };
  }

  async function bookMoney(
    op: Parameters<typeof bookOperation>[1],
  ): Promise<{ status: PaymentStatus | 'refused'; payment?: Payment }> {
    const { status, payment } = await bookOperation(store, op);
    if (status === 'done' || status === 'exists' || status === 'stale_payment') {
      return { status: status === 'stale_payment' ? 'stale' : status, payment };
    }
    log.error({ operation: op, status }, 'the ledger refused the money of a payment');
    return { status: 'refused' };
  }

  async function bookPayback(op: PaybackOp): Promise<Payment> {
    const { status, payment } = await bookMoney(op);
    const after = payment ?? (await payments.get(op.order));
    if (!after) throw new Error(`the payment ${op.order} is gone`);
    if (status === 'done') reportChange(undefined, after);
    return after;
  }

  async function change(wanted: FreePaymentChange): Promise<Payment> {
    const { status, payment } = await payments.change(wanted);
    if (!payment) throw new Error(`the payment ${wanted.id} is gone`);
    if (status === 'done' && !UNREPORTED_CHANGES.includes(wanted.kind)) reportChange(undefined, payment);
    return payment;
  }

  /**
   * Runs before the credit, so that a crash in between leaves one saved method too many, not one too few. Not called for
   * a payment that goes to review: its method may belong to another payer.
   */
  async function saveMethodOnce(payment: Payment, { saved }: PaymentState): Promise<void> {
    if (!saved || !parseOrderFacts(payment).saveMethod) return;
    const { wallet, provider } = payment;
    const wanted = buildMethodRow({ wallet, provider, createdAt: now() }, saved);
    const kept = await payments.saveMethod(wanted);
    if (kept.id === wanted.id) onSaved?.(kept);
  }

  function reportChange(before: Payment | undefined, after: Payment): void {
    if (before && before.phase === after.phase && before.refunded === after.refunded) return;
    const { id: payment, wallet: account, provider, phase, reason, shortfall } = after;
    const fields = { payment, account, provider, phase, ...(reason !== null && { reason }) };
    if (shortfall > (before?.shortfall ?? shortfall))
      log.error({ ...fields, shortfall }, 'the wallet could not cover a refund or dispute in full');
    else if (phase === 'review') log.error(fields, 'a payment is under review: an operator has to decide');
    else log.info(fields, `a payment is ${phase.replace('_', ' ')}`);
    onChange?.(after);
  }

  /** The provider has found a payment for the order, and the order already had another one. */
  function reportSecondPayment({ id, ref }: Payment, { id: found }: PaymentState): void {
    if (ref !== null && ref !== found) log.error({ payment: id, found }, PAID_TWICE);
  }

  return { follow, change, book: bookPayback };
}

function buildMethodRow(
  of: { wallet: string; provider: string; createdAt: number },
  { id: ref, ...method }: SavedMethod,
) {
  return { id: newId('pm', of.createdAt), ...of, ref, ...method, removedAt: null };
}

/** Whether the provider still has to be asked for a refund. During a dispute the bank may take the same money. */
export function hasUnsentRefund(payment: Payment): boolean {
  return (
    payment.phase !== 'disputed' && parseRefunds(payment).some(({ state, ref }) => state === 'asked' && ref === null)
  );
}
