// One payment for an operator: everything known about it, and the actions reserved for operators.
import { fault } from '../../base/faults.ts';
import { formatRub, type Micro } from '../../money/money.ts';
import type { Payment } from '../../money/payment.ts';
import { newId } from '../../payments/ids.ts';
import { askRefund, decideReview, endDispute, type OperatorOutcome, openDispute } from '../../payments/operator.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { type Form, isLine } from '../forms.ts';
import { type Answer, type Page, page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { paymentBody, paymentPageWords } from './admin-payment-parts.ts';

export const adminPayment = page({
  path: '/admin/payments/{id}',
  who: 'operator',
  get: async (visit) => paymentPage(visit, await paymentOf(visit)),
  async post(visit, sent) {
    const payment = await paymentOf(visit);
    switch (sent.text('change')) {
      case 'look':
        return look(visit, payment);
      case 'credit':
      case 'reject':
        return decide(visit, payment, sent);
      case 'refund':
        return refund(visit, payment, sent);
      case 'dispute':
        return dispute(visit, payment, sent);
      case 'won':
      case 'lost':
        return settle(visit, payment, sent.text('change') === 'won' ? 'won' : 'lost');
      default:
        throw fault('stale_form');
    }
  },
});

async function paymentOf({ services, request }: UserVisit): Promise<Payment> {
  const payment = await services.store.payments.get(String(request.params.id));
  if (!payment) throw fault('not_found');
  return payment;
}

async function paymentPage(visit: UserVisit, payment: Payment, problem?: string): Promise<Page> {
  const words = paymentPageWords(visit.language);
  const name = visit.query.get('done');
  const done = name === 'done' || name === 'exists' || name === 'looked' ? words[name] : undefined;
  return { title: words.title, body: paymentBody(visit, payment, { problem, done }) };
}

async function refused(visit: UserVisit, payment: Payment, problem: string): Promise<Page> {
  return { ...(await paymentPage(visit, payment, problem)), status: 400 };
}

async function look(visit: UserVisit, { id, wallet }: Payment): Promise<Answer> {
  await visit.services.payments.look(id);
  await audit(visit, { action: 'payment.look', target: id, account: wallet });
  return { to: `/admin/payments/${id}?done=looked` };
}

async function decide(visit: UserVisit, payment: Payment, sent: Form): Promise<Answer> {
  const words = paymentPageWords(visit.language);
  const reason = sent.text('reason');
  const isCredit = sent.text('change') === 'credit';
  const amount = isCredit ? readRub(sent.text('amount')) : null;
  if (amount === undefined) return refused(visit, payment, words.badAmount);
  if (!isLine(reason)) return refused(visit, payment, words.badText);
  const { store, now } = visit.services;
  const outcome = await decideReview(store, payment.id, { at: now(), reason, credit: amount });
  return told(visit, payment, { action: isCredit ? 'credit' : 'reject', amount, reason, outcome });
}

async function refund(visit: UserVisit, payment: Payment, sent: Form): Promise<Answer> {
  const words = paymentPageWords(visit.language);
  const [amount, reason, id] = [readRub(sent.text('amount')), sent.text('reason'), sent.text('refund')];
  if (amount === undefined) return refused(visit, payment, words.badAmount);
  if (!isLine(reason)) return refused(visit, payment, words.badText);
  const { store, now } = visit.services;
  // The form's own id: submitted twice, it asks once.
  const wanted = /^rfd_[0-9a-f]{1,60}$/.test(id) ? id : newId('rfd', now());
  const outcome = await askRefund(store, payment.id, { at: now(), amount, reason, refund: wanted });
  return told(visit, payment, { action: 'refund', amount, reason, outcome });
}

async function dispute(visit: UserVisit, payment: Payment, sent: Form): Promise<Answer> {
  const words = paymentPageWords(visit.language);
  const name = sent.text('dispute');
  const typed = sent.text('amount');
  const amount = typed === '' ? null : readRub(typed);
  if (amount === undefined) return refused(visit, payment, words.badAmount);
  if (!isLine(name)) return refused(visit, payment, words.badText);
  const { store, now } = visit.services;
  const entered = { at: now(), dispute: name, ...(amount !== null && { amount }) };
  const outcome = await openDispute(store, payment.id, entered);
  return told(visit, payment, { action: 'dispute', amount, reason: name, outcome });
}

async function settle(visit: UserVisit, payment: Payment, how: 'won' | 'lost'): Promise<Answer> {
  const { store, now, payments } = visit.services;
  const rule = payments.providers().find(({ name }) => name === payment.provider)?.shortfall ?? 'suspend';
  const end = { at: now(), how, suspend: how === 'lost' && rule === 'suspend' };
  const outcome = await endDispute(store, payment.id, end);
  return told(visit, payment, { action: `dispute_${how}`, amount: null, reason: '', outcome });
}

interface Deed {
  readonly action: string;
  readonly amount: Micro | null;
  readonly reason: string;
  readonly outcome: OperatorOutcome;
}

async function told(visit: UserVisit, { id, wallet }: Payment, deed: Deed): Promise<Answer> {
  const { action, amount, reason, outcome } = deed;
  const { status, payment } = outcome;
  if (!payment) throw fault('not_found');
  const words = paymentPageWords(visit.language);
  if (status !== 'done' && status !== 'exists') {
    return refused(visit, payment, words[status === 'no_payment' ? 'refused' : status]);
  }
  const detail = { ...(amount !== null && { rub: formatRub(amount) }), ...(reason !== '' && { reason }), status };
  await audit(visit, { action: `payment.${action}`, target: id, account: wallet, detail });
  return { to: `/admin/payments/${id}?done=${status}` };
}
