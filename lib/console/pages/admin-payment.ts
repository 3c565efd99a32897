// One payment for an operator: everything known about it, and the actions reserved for operators.
import { fault } from '../../base/faults.ts';
import { formatRub, KOPECK, type Micro } from '../../money/money.ts';
import type { Payment } from '../../money/payment.ts';
import { newId } from '../../payments/ids.ts';
import { decideReview, endDispute, type OperatorOutcome, openDispute, requestRefund } from '../../payments/operator.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { type Form, isIdLine, isLine, type Refused } from '../forms.ts';
import { type Answer, type Page, page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { paymentBody, paymentPageWords } from './admin-payment-parts.ts';

export const adminPayment = page({
  path: '/admin/payments/{id}',
  who: 'operator',
  get: async (visit) => paymentPage(visit, await findRequestedPayment(visit)),
  async post(visit, sent) {
    const payment = await findRequestedPayment(visit);
    switch (sent.text('change')) {
      case 'look':
        return refreshPayment(visit, payment);
      case 'credit':
      case 'reject':
        return decideOnReview(visit, payment, sent);
      case 'refund':
        return refund(visit, payment, sent);
      case 'dispute':
        return dispute(visit, payment, sent);
      case 'won':
      case 'lost':
        return settle(visit, payment, sent);
      default:
        throw fault('stale_form');
    }
  },
});

async function findRequestedPayment({ services, request }: UserVisit): Promise<Payment> {
  const payment = await services.store.payments.get(String(request.params.id));
  if (!payment) throw fault('not_found');
  return payment;
}

async function paymentPage(visit: UserVisit, payment: Payment): Promise<Page> {
  const words = paymentPageWords(visit.language);
  const name = visit.query.get('done');
  const done = name === 'done' || name === 'exists' || name === 'looked' ? words[name] : undefined;
  const account = await visit.services.store.accounts.get(payment.wallet);
  return { title: words.title, body: paymentBody(visit, { payment, account }, done) };
}

async function refused(visit: UserVisit, payment: Payment, refusal: Refused): Promise<Page> {
  return { ...(await paymentPage({ ...visit, refused: refusal }, payment)), status: 400 };
}

async function refreshPayment(visit: UserVisit, { id, wallet }: Payment): Promise<Answer> {
  await visit.services.payments.poll(id);
  await audit(visit, { action: 'payment.look', target: id, account: wallet });
  return { to: `/admin/payments/${id}?done=looked` };
}

async function decideOnReview(visit: UserVisit, payment: Payment, sent: Form): Promise<Answer> {
  const words = paymentPageWords(visit.language);
  const reason = sent.text('reason');
  const isCredit = sent.text('change') === 'credit';
  const amount = isCredit ? readKopecks(visit, sent.text('amount')) : null;
  if (amount === undefined) return refused(visit, payment, { sent, text: words.badAmount, field: 'amount' });
  if (!isLine(reason)) return refused(visit, payment, { sent, text: words.badText, field: 'reason' });
  const { store, now } = visit.services;
  const outcome = await decideReview(store, payment.id, { at: now(), reason, credit: amount });
  return finishAction(visit, payment, { sent, action: isCredit ? 'credit' : 'reject', amount, reason, outcome });
}

async function refund(visit: UserVisit, payment: Payment, sent: Form): Promise<Answer> {
  const words = paymentPageWords(visit.language);
  const amount = readKopecks(visit, sent.text('amount'));
  const reason = sent.text('reason');
  const id = sent.text('refund');
  if (amount === undefined) return refused(visit, payment, { sent, text: words.badAmount, field: 'amount' });
  if (!isLine(reason)) return refused(visit, payment, { sent, text: words.badText, field: 'reason' });
  const { store, now } = visit.services;
  // The form's own id, so that a double submission refunds once.
  const refundId = /^rfd_[0-9a-f]{1,60}$/.test(id) ? id : newId('rfd', now());
  const outcome = await requestRefund(store, payment.id, { at: now(), amount, reason, refund: refundId });
  return finishAction(visit, payment, { sent, action: 'refund', amount, reason, outcome });
}

/** Payments are made in whole kopecks; what is not could never be refunded. */
function readKopecks({ language }: UserVisit, text: string): Micro | undefined {
  const amount = readRub(text, language);
  return amount === undefined || amount % KOPECK !== 0n ? undefined : amount;
}

async function dispute(visit: UserVisit, payment: Payment, sent: Form): Promise<Answer> {
  const words = paymentPageWords(visit.language);
  const name = sent.text('dispute');
  const typed = sent.text('amount');
  const amount = typed === '' ? null : readKopecks(visit, typed);
  if (amount === undefined) return refused(visit, payment, { sent, text: words.badAmount, field: 'amount' });
  if (!isIdLine(name)) return refused(visit, payment, { sent, text: words.badText, field: 'dispute' });
  const { store, now } = visit.services;
  const entered = { at: now(), dispute: name, amount: amount ?? undefined };
  const outcome = await openDispute(store, payment.id, entered);
  return finishAction(visit, payment, { sent, action: 'dispute', amount, reason: name, outcome });
}

async function settle(visit: UserVisit, payment: Payment, sent: Form): Promise<Answer> {
  const how = sent.text('change') === 'won' ? 'won' : 'lost';
  const { store, now, payments } = visit.services;
  const rule = payments.providers().find(({ name }) => name === payment.provider)?.shortfall ?? 'suspend';
  const end = { at: now(), how, suspend: how === 'lost' && rule === 'suspend' } as const;
  const outcome = await endDispute(store, payment.id, end);
  return finishAction(visit, payment, { sent, action: `dispute_${how}`, amount: null, reason: '', outcome });
}

interface ActionResult {
  readonly sent: Form;
  readonly action: string;
  readonly amount: Micro | null;
  readonly reason: string;
  readonly outcome: OperatorOutcome;
}

async function finishAction(visit: UserVisit, { id, wallet }: Payment, result: ActionResult): Promise<Answer> {
  const { sent, action, amount, reason, outcome } = result;
  const { status, payment } = outcome;
  if (!payment) throw fault('not_found');
  const words = paymentPageWords(visit.language);
  if (status !== 'done' && status !== 'exists') {
    return refused(visit, payment, { sent, text: words[status === 'no_payment' ? 'refused' : status] });
  }
  const detail = { rub: amount === null ? undefined : formatRub(amount), reason: reason || undefined, status };
  await audit(visit, { action: `payment.${action}`, target: id, account: wallet, detail });
  return { to: `/admin/payments/${id}?done=${status}` };
}
