// The next step of a payment as tables: its phase, what its provider reports, and what follows.
import { expect } from 'chai';
import { HOUR_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import {
  createPayment,
  NEVER_STARTED,
  PAID_LATE,
  type Payment,
  type PaymentPhase,
  type Refund,
} from '../../lib/money/payment.ts';
import { toProviderId } from '../../lib/payments/ids.ts';
import { nextPaymentStep, type PaymentStepFacts } from '../../lib/payments/step.ts';
import type { Decline, PaymentState, RefundState } from '../../lib/upstream/contract/payment.ts';

const RUB = 1_000_000n;
const AT = 1_800_000_000_000;
const FACTS: PaymentStepFacts = { at: AT, suspend: true, live: true, costly: undefined };

const ORDER = createPayment({
  id: 'pay_1',
  wallet: 'acc_1',
  provider: 'till',
  amount: 1000n * RUB,
  shop: 'shop-1',
  test: false,
  origin: 'manual',
  facts: '{}',
  createdAt: AT - 10 * MINUTE_MS,
  owner: 'own_1',
  lease: AT - 9 * MINUTE_MS,
});

function inPhase(phase: PaymentPhase, more: Partial<Payment> = {}): Payment {
  const begun = { ref: 'ref_1', expiresAt: AT + HOUR_MS, dueAt: AT, version: 4 };
  const money = ['created', 'pending', 'expired', 'succeeded'].includes(phase) ? {} : { credited: 1000n * RUB };
  return { ...ORDER, phase, ...begun, ...money, ...more };
}

function said(more: Partial<PaymentState> = {}): PaymentState {
  const paid = { id: 'ref_1', status: 'succeeded', amount: 1000n * RUB, currency: 'RUB', shop: 'shop-1' } as const;
  return { ...paid, test: false, order: 'pay_1', saved: null, refunds: [], reason: null, ...more };
}

const base = { id: 'pay_1', version: 4, at: AT };
const step = (payment: Payment, state: PaymentState, facts: Partial<PaymentStepFacts> = {}) =>
  nextPaymentStep(payment, state, { ...FACTS, ...facts });
const kindOf = (found: ReturnType<typeof step>) => found?.change?.kind ?? found?.op?.kind;

describe('the next step of a payment', () => {
  it('is the next poll if it is due later than any waits: the clock was set back since', () => {
    const waits = { status: 'pending' } as const;
    for (const phase of ['pending', 'credited'] as const) {
      expect(kindOf(step(inPhase(phase, { dueAt: AT + HOUR_MS }), said(waits))), phase).to.equal(undefined);
      expect(kindOf(step(inPhase(phase, { dueAt: AT + 24 * HOUR_MS }), said(waits))), phase).to.equal('poll');
    }
  });

  describe('while it is unpaid', () => {
    for (const phase of ['created', 'pending', 'expired'] as const) {
      it(`${phase}: becomes paid, with the provider’s state but not the id that charges the card`, () => {
        const saved = { id: 'method-7', kind: 'card', brand: 'Visa', last4: '4242', expiry: null, fingerprint: 'f-7' };
        const found = step(inPhase(phase), said({ saved: saved as PaymentState['saved'] }))?.change;
        expect(found).to.include({ kind: 'succeed', ref: 'ref_1', ...base });
        const words = JSON.parse((found as { state: string }).state);
        expect(words).to.deep.include({ status: 'succeeded', amount: '1000000000', order: 'pay_1' });
        expect(words.saved).to.deep.equal({ kind: 'card', brand: 'Visa', last4: '4242', expiry: null });
      });

      it(`${phase}: ignores another payment, paid or declined`, () => {
        for (const status of ['succeeded', 'canceled', 'pending'] as const)
          expect(step(inPhase(phase), said({ id: 'ref_2', status }))).to.equal(undefined);
      });
    }

    it('takes a payment whose provider id was unknown', () => {
      expect(step(inPhase('created', { ref: null }), said())?.change).to.include({ kind: 'succeed', ref: 'ref_1' });
    });

    const pending = said({ status: 'pending' });
    const waits: readonly [name: string, Payment, object | undefined][] = [
      ['nothing while it is being started', inPhase('created'), undefined],
      ['to look again in a minute', inPhase('pending'), { kind: 'poll', dueAt: AT + MINUTE_MS }],
      ['nothing before it is due', inPhase('pending', { dueAt: AT + 1 }), undefined],
      ['nothing if it is not due at all', inPhase('pending', { dueAt: null }), undefined],
      ['to look while its link lives', inPhase('pending', { expiresAt: AT + 1 }), { kind: 'poll' }],
      [
        'to expire when its link does',
        inPhase('pending', { expiresAt: AT }),
        { kind: 'expire', reason: 'not paid in time', dueAt: AT + HOUR_MS },
      ],
      ['to expire where its link has no time', inPhase('pending', { expiresAt: null }), { kind: 'expire' }],
      ['to look hourly later', inPhase('expired', { expiresAt: AT - 1 }), { kind: 'poll', dueAt: AT + HOUR_MS }],
      ['to give up after a day', inPhase('expired', { expiresAt: AT - 24 * HOUR_MS }), { kind: 'poll', dueAt: null }],
    ];
    for (const [name, payment, wanted] of waits) {
      it(`is ${name}`, () => {
        const found = step(payment, pending)?.change;
        if (wanted === undefined) expect(found).to.equal(undefined);
        else expect(found).to.include({ ...base, ...wanted });
      });
    }

    const declines: readonly [PaymentPhase, Decline['kind'] | null, object | undefined, more?: Partial<Payment>][] = [
      ['created', 'expired', { kind: 'begin', ref: 'ref_1', payUrl: null, expiresAt: AT, dueAt: AT }, { ref: null }],
      ['pending', 'expired', { kind: 'expire', reason: 'code', dueAt: null }],
      ['expired', 'expired', { kind: 'expire', reason: 'code', dueAt: null }],
      ['expired', 'expired', { kind: 'expire', dueAt: null }, { reason: 'not paid in time', dueAt: null }],
      ['expired', 'expired', { kind: 'expire', dueAt: null }, { reason: 'code' }],
      ['expired', 'expired', undefined, { reason: 'code', dueAt: null }],
      ['created', 'technical', { kind: 'begin', ref: 'ref_1' }, { ref: null }],
      ['pending', 'technical', { kind: 'fail', reason: 'code' }],
      ['expired', 'technical', { kind: 'cancel', reason: 'code' }],
      ['created', 'soft', { kind: 'begin', ref: 'ref_1' }, { ref: null }],
      ['pending', 'hard', { kind: 'cancel', reason: 'code' }],
      ['expired', 'soft', { kind: 'cancel', reason: 'code' }],
      ['pending', null, { kind: 'cancel', reason: 'canceled' }],
    ];
    for (const [phase, kind, wanted, more] of declines) {
      it(`${phase}: is ${JSON.stringify(wanted)} after a decline that is ${kind}, from ${JSON.stringify(more)}`, () => {
        const reason = kind && { kind, code: 'code' };
        const found = step(inPhase(phase, more), said({ status: 'canceled', reason }))?.change;
        if (wanted === undefined) expect(found).to.equal(undefined);
        else expect(found).to.include({ ...base, ...wanted });
        if (found?.kind === 'cancel') expect(JSON.parse(found.state ?? '')).to.include({ status: 'canceled' });
      });
    }
  });

  describe('after it ended without money', () => {
    for (const phase of ['canceled', 'failed'] as const) {
      const ended = (more: Partial<Payment> = {}) => inPhase(phase, { credited: 0n, dueAt: null, ...more });

      it(`${phase}: is reviewed if it was paid after all, even if it had no id`, () => {
        for (const ref of ['ref_1', null]) {
          const found = step(ended({ ref }), said())?.change;
          expect(found).to.deep.include({ kind: 'review', reason: PAID_LATE, ...base });
          const { paid } = found as { paid: { ref: string; state: string } };
          expect(paid.ref).to.equal('ref_1');
          expect(JSON.parse(paid.state)).to.include({ status: 'succeeded', after: phase });
        }
        const sum = step(ended(), said({ amount: RUB }))?.change;
        expect(sum).to.include({ reason: `${PAID_LATE}; sum: 1.00 instead of 1000.00` });
      });

      it(`${phase}: ignores another payment, and one that was not paid`, () => {
        expect(step(ended(), said({ id: 'ref_2' }))).to.equal(undefined);
        for (const status of ['canceled', 'pending'] as const)
          expect(step(ended(), said({ status }))).to.equal(undefined);
      });
    }
  });

  describe('after it succeeded', () => {
    const arrived = (more: Partial<Payment> = {}) => inPhase('succeeded', { state: '{}', ...more });

    it('credits it under the provider’s id', () => {
      expect(step(arrived(), said())?.op).to.deep.equal({
        kind: 'pay',
        wallet: 'acc_1',
        at: AT,
        amount: 1000n * RUB,
        paymentId: 'till:ref_1',
        order: 'pay_1',
        payment: { kind: 'credit', ...base, reason: null, dueAt: null },
      });
    });

    it('credits it and stays due if some of it was already refunded', () => {
      const refund = { id: 're_1', amount: RUB, currency: 'RUB', order: null } as const;
      const due = (status: RefundState['status']) =>
        step(arrived(), said({ refunds: [{ ...refund, status }] }))?.op?.payment;
      expect(due('succeeded')).to.include({ kind: 'credit', dueAt: AT });
      expect(due('pending')).to.include({ kind: 'credit', dueAt: null });
    });

    const wrong: readonly [words: string, Partial<PaymentState>, Partial<PaymentStepFacts>?, Partial<Payment>?][] = [
      ['status: pending instead of succeeded', { status: 'pending' }],
      ['status: canceled instead of succeeded', { status: 'canceled' }],
      ['sum: 999.99 instead of 1000.00', { amount: 999_990_000n }],
      ['sum: 1000.000001 instead of 1000.00', { amount: 1000n * RUB + 1n }],
      ['currency: USD instead of RUB', { currency: 'USD' }],
      ['shop: shop-2 instead of shop-1', { shop: 'shop-2' }],
      ['order: pay_2 instead of pay_1', { order: 'pay_2' }],
      ['order: null instead of pay_1', { order: null }],
      ['payment: ref_2 instead of ref_1', { id: 'ref_2' }],
      ['test: true instead of false', { test: true }],
      ['test: false instead of true', { test: false }, { live: false }, { test: true }],
      ['test: true, but its provider takes real money now', { test: true }, {}, { test: true }],
      ['test: false, but its provider takes no real money now', {}, { live: false }],
      ['test: its money is not real, and why', { test: true }, { live: false, costly: 'why' }, { test: true }],
      ['test: true instead of false; test: its money is not real, and why', { test: true }, { costly: 'why' }],
      ['test: false instead of true; test: its money is not real, and why', {}, { costly: 'why' }, { test: true }],
    ];
    for (const [reason, state, facts, payment] of wrong) {
      it(`goes to review: ${reason}`, () => {
        expect(step(arrived(payment), said(state), facts)?.change).to.deep.equal({ kind: 'review', ...base, reason });
      });
    }

    it('credits play money if nothing costs money, and real money otherwise', () => {
      expect(kindOf(step(arrived({ test: true }), said({ test: true }), { live: false }))).to.equal('pay');
      expect(kindOf(step(arrived(), said(), { costly: 'why' }))).to.equal('pay');
    });
  });

  describe('after the credit', () => {
    const ours: Refund = {
      id: 'rfd_1',
      ref: null,
      amount: String(300n * RUB),
      state: 'asked',
      reason: 'wish',
      at: AT,
      taken: null,
    };
    const theirs: RefundState = {
      id: 're_1',
      status: 'succeeded',
      amount: 300n * RUB,
      currency: 'RUB',
      order: 'rfd_1',
    };
    const back = (payment: Payment, refund: Partial<RefundState> = {}, facts: Partial<PaymentStepFacts> = {}) =>
      step(payment, said({ refunds: [{ ...theirs, ...refund }] }), facts);
    const asking = (more: Partial<Refund> = {}, payment: Partial<Payment> = {}) =>
      inPhase('credited', { refunds: JSON.stringify([{ ...ours, ...more }]), ...payment });

    for (const phase of ['credited', 'partly_refunded', 'disputed', 'reversed', 'kept'] as const) {
      it(`${phase}: takes what was refunded, once`, () => {
        const refunds = JSON.stringify([ours]);
        expect(back(inPhase(phase, { refunds }))?.op).to.deep.equal({
          kind: 'payback',
          wallet: 'acc_1',
          at: AT,
          amount: 300n * RUB,
          paybackId: 'till:re_1',
          order: 'pay_1',
          suspend: true,
          payment: { kind: 'refund', ...base, ref: 're_1', refund: 'rfd_1' },
        });
        const booked = JSON.stringify([{ ...ours, ref: 're_1', state: 'booked', taken: '1' }]);
        expect(back(inPhase(phase, { refunds: booked, dueAt: null }))).to.equal(undefined);
        const next = said({ refunds: [theirs, { ...theirs, id: 're_2', order: null }] });
        expect(step(inPhase(phase, { refunds: booked }), next)?.op).to.include({ paybackId: 'till:re_2' });
      });
    }

    for (const phase of ['review', 'rejected', 'refunded'] as const) {
      it(`${phase}: is nothing`, () => expect(back(inPhase(phase))).to.equal(undefined));
    }

    it('ignores another payment', () => {
      expect(step(inPhase('credited'), said({ id: 'ref_2', refunds: [theirs] }))).to.equal(undefined);
    });

    it('takes at most what is left, and nothing that is not a positive amount of roubles', () => {
      const amount = (refunded: bigint, refund: Partial<RefundState>) =>
        back(inPhase('credited', { refunded, dueAt: null }), refund)?.op?.amount;
      expect(amount(800n * RUB, {})).to.equal(200n * RUB);
      expect(amount(700n * RUB, {})).to.equal(300n * RUB);
      expect(amount(1000n * RUB, {})).to.equal(undefined);
      expect(amount(0n, { currency: 'USD' })).to.equal(undefined);
      expect([amount(0n, { amount: 0n }), amount(0n, { amount: -RUB })]).to.deep.equal([undefined, undefined]);
    });

    it('matches refunds by our id or the provider’s, even one that was refused before', () => {
      const which = (payment: Payment, order: string | null) =>
        (back(payment, { order })?.op?.payment as { refund: string | null } | undefined)?.refund;
      expect(which(asking(), 'rfd_1')).to.equal('rfd_1');
      expect(which(asking({ ref: 're_1' }), null)).to.equal('rfd_1');
      expect(which(asking({ amount: String(200n * RUB) }), null)).to.equal(null);
      expect(which(asking({ state: 'refused' }), 'rfd_1')).to.equal('rfd_1');
      expect(which(asking({ state: 'booked', ref: 're_0' }), 'rfd_1')).to.equal(null);
    });

    it('leaves a refund without an id of ours while one of its amount is being asked for', () => {
      const bookedBeside = (more: Partial<Refund>) => kindOf(back(asking(more, { dueAt: null }), { order: null }));
      expect(bookedBeside({})).to.equal(undefined);
      for (const more of [{ amount: String(200n * RUB) }, { ref: 're_2' }, { state: 'refused' }] as const)
        expect(bookedBeside(more), JSON.stringify(more)).to.equal('payback');
    });

    it('matches a refund that an operator called by a text that no provider takes', () => {
      const name = 'возврат 17';
      const which = (order: string) =>
        (back(asking({ id: name }), { order })?.op?.payment as { refund: string | null } | undefined)?.refund;
      expect(which(toProviderId(name))).to.equal(name);
      expect(which(name)).to.equal(name);
      expect(which(toProviderId('возврат 18'))).to.equal(null);
    });

    it('suspends by the rule of the provider', () => {
      for (const suspend of [true, false]) expect(back(asking(), {}, { suspend })?.op).to.include({ suspend });
    });

    it('stores the id of a running refund, and records a refused one', () => {
      expect(back(asking(), { status: 'pending' })?.change).to.deep.equal({
        kind: 'note_refund',
        ...base,
        refund: 'rfd_1',
        ref: 're_1',
        dueAt: AT + MINUTE_MS,
      });
      const noted = asking({ ref: 're_1' }, { dueAt: AT + 1 });
      expect(back(noted, { status: 'pending' })).to.equal(undefined);
      for (const payment of [asking(), noted]) {
        const reason = 'the provider refused it';
        expect(back(payment, { status: 'canceled' })?.op).to.deep.include({
          kind: 'payback',
          amount: 0n,
          paybackId: 'till:rfd_1:refused',
          payment: { kind: 'refuse_refund', ...base, refund: 'rfd_1', reason },
        });
      }
      const refused = asking({ state: 'refused' }, { dueAt: null });
      for (const status of ['pending', 'canceled'] as const) expect(back(refused, { status })).to.equal(undefined);
      expect(back(inPhase('credited', { dueAt: null }), { status: 'pending', order: null })).to.equal(undefined);
    });

    it('polls as long as a refund is open, by the earliest due time', () => {
      const look = (refunds: readonly Refund[], dueAt: number | null = AT) =>
        step(inPhase('credited', { refunds: JSON.stringify(refunds), dueAt }), said())?.change;
      expect(look([])).to.deep.equal({ kind: 'poll', ...base, dueAt: null });
      expect(look([], AT + 1)).to.equal(undefined);
      expect(look([], null)).to.equal(undefined);
      expect(look([ours])).to.include({ kind: 'poll', dueAt: AT + MINUTE_MS });
      const old = { ...ours, id: 'rfd_2', at: AT - HOUR_MS };
      expect(look([old])).to.include({ kind: 'poll', dueAt: AT + HOUR_MS });
      expect(look([old, ours])).to.include({ kind: 'poll', dueAt: AT + MINUTE_MS });
    });

    it('abandons a refund that the provider never started, once its key has expired', () => {
      const next = (ms: number, ref: string | null = null) => step(asking({ at: AT - ms, ref }), said());
      const aged = (...asked: Parameters<typeof next>) => next(...asked)?.change ?? next(...asked)?.op?.payment;
      expect(aged(25 * HOUR_MS)).to.include({ kind: 'poll' });
      expect(aged(25 * HOUR_MS + 1)).to.include({ kind: 'refuse_refund', refund: 'rfd_1', reason: NEVER_STARTED });
      expect(aged(25 * HOUR_MS + 1, 're_1')).to.include({ kind: 'poll' });
    });
  });
});
