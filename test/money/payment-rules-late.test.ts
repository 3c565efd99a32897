// Late reports of a provider: the amount that really arrived, refunds made after a refusal, a repeated loss.
import { expect } from 'chai';
import { createPayment } from '../../lib/money/payment.ts';
import {
  decidePayment,
  type Moved,
  type Payment,
  type PaymentChange,
  parseRefunds,
} from '../../lib/money/payment-rules.ts';

const RUB = 1_000_000n;
const AT = 1_800_000_000_000;
const START = createPayment({
  id: 'pay_1',
  wallet: 'w',
  provider: 'till',
  amount: 1000n * RUB,
  shop: 's',
  test: false,
  origin: 'manual',
  facts: '{}',
  createdAt: AT,
  owner: 'own_1',
  lease: AT + 10,
});
const CREDITED: Payment = { ...START, phase: 'credited', ref: 'ref_1', credited: 1000n * RUB };

/** The payment after a change of its latest version, which must be applied. */
function changed(payment: Payment, change: object, moved?: Moved): Payment {
  const whole = { id: 'pay_1', version: payment.version, at: AT + 5, ...change } as PaymentChange;
  const outcome = decidePayment(payment, whole, moved);
  expect(outcome.status).to.equal('done');
  return outcome.payment as Payment;
}

describe('a payment with late changes', () => {
  it('is credited with the amount that arrived, whatever was ordered', () => {
    const succeeded: Payment = { ...START, phase: 'succeeded', ref: 'ref_1' };
    const moved = { amount: 990n * RUB, taken: -990n * RUB };
    const credited = changed(succeeded, { kind: 'credit', reason: 'a fee was kept', dueAt: null }, moved);
    expect(credited).to.include({ phase: 'credited', amount: 1000n * RUB, credited: 990n * RUB });
  });

  for (const [name, refund, ref] of [
    ['our id', 'rfd_1', null],
    ['its id at the provider', null, 're_1'],
  ] as const) {
    it(`books a refund that was refused but made after all, found by ${name}`, () => {
      const moved = { amount: 100n * RUB, taken: 100n * RUB };
      const asked = changed(CREDITED, { kind: 'ask_refund', refund: 'rfd_1', reason: 'wish' }, moved);
      const sent = ref ? changed(asked, { kind: 'note_refund', refund: 'rfd_1', ref, dueAt: AT + 9 }) : asked;
      const given = { amount: 0n, taken: -100n * RUB, returned: 100n * RUB };
      const refused = changed(sent, { kind: 'refuse_refund', refund: 'rfd_1', reason: 'no' }, given);
      const booked = changed(refused, { kind: 'refund', ref: 're_1', refund }, moved);
      expect(parseRefunds(booked)).to.have.length(1);
      expect(parseRefunds(booked)[0]).to.include({ id: 'rfd_1', ref: 're_1', state: 'booked' });
    });
  }

  it('loses its dispute only once, also if the loss is reported again after other changes', () => {
    const open = changed(CREDITED, { kind: 'dispute', dispute: 'cb_1', amount: 600n * RUB });
    const moved = { amount: 600n * RUB, taken: 600n * RUB };
    const lost = changed(open, { kind: 'reverse' }, moved);
    const later = changed(lost, { kind: 'poll', dueAt: null });
    for (const version of [open.version, later.version]) {
      const again = decidePayment(later, { kind: 'reverse', id: 'pay_1', version, at: AT + 9 }, moved);
      expect(again).to.deep.equal({ status: 'exists', payment: later });
    }
  });
});
