// The values that each change of a payment writes to its row, besides the phase.
import { expect } from 'chai';
import {
  computeHeldForRefund,
  createPayment,
  decidePayment,
  type Payment,
  parseDispute,
  parseRefunds,
  refundableAmount,
} from '../../lib/money/payment-rules.ts';

const AT = 1_800_000_000_000;
const WAITING = createPayment({
  id: 'pay_1',
  wallet: 'w',
  provider: 'till',
  amount: 1000n,
  shop: 's',
  test: false,
  origin: 'manual',
  facts: '{}',
  createdAt: AT,
  owner: 'own_1',
  lease: AT + 10,
});
const base = { id: 'pay_1', version: 1, at: AT + 5 };
const link = { ref: 'ref_1', payUrl: 'https://till/', expiresAt: AT + 9, dueAt: AT + 7 };
const PENDING: Payment = { ...WAITING, ...link, phase: 'pending' };
const CREDITED: Payment = { ...PENDING, phase: 'credited', credited: 1000n, dueAt: null };

describe('a change of a payment', () => {
  it('begins with a payment of which only our side is known', () => {
    const { ref, payUrl, expiresAt, state, reason, dispute } = WAITING;
    expect([ref, payUrl, expiresAt, state, reason, dispute]).to.deep.equal([null, null, null, null, null, null]);
  });

  it('leaves to refund what was credited, less what was refunded and what is asked', () => {
    const refund = { id: 'rfd_1', ref: null, reason: 'r', at: AT, taken: null };
    const refunds = JSON.stringify([
      { ...refund, state: 'asked', amount: '30' },
      { ...refund, state: 'booked', amount: '200' },
      { ...refund, state: 'refused', amount: '500' },
    ]);
    expect(refundableAmount({ ...CREDITED, refunded: 200n, refunds })).to.equal(770n);
    expect([refundableAmount(CREDITED), refundableAmount(WAITING)]).to.deep.equal([1000n, 0n]);
    expect([WAITING.credited, WAITING.refunded]).to.deep.equal([0n, 0n]);
  });

  it('holds what a refund took off the balance while it is asked and not absorbed', () => {
    const refund = { id: 'rfd_1', ref: null, amount: '9', reason: 'r', at: AT, taken: null };
    for (const [facts, held] of [
      [{ state: 'asked', off: '7' }, 7n],
      [{ state: 'asked' }, 0n],
      [{ state: 'asked', off: '7', folded: true }, 0n],
      [{ state: 'booked', off: '7' }, 0n],
      [{ state: 'refused', off: '7' }, 0n],
    ] as const) {
      expect(computeHeldForRefund({ ...refund, ...facts }), JSON.stringify(facts)).to.equal(held);
    }
  });

  const rows: readonly [Payment, change: Parameters<typeof decidePayment>[1], written: Partial<Payment>][] = [
    [WAITING, { kind: 'begin', ...base, ...link }, link],
    [WAITING, { kind: 'succeed', ...base, ref: 'r', state: '{"a":1}' }, { ref: 'r', state: '{"a":1}', dueAt: AT + 5 }],
    [
      PENDING,
      { kind: 'cancel', ...base, reason: 'no', state: '{"b":1}' },
      { reason: 'no', state: '{"b":1}', dueAt: null },
    ],
    [PENDING, { kind: 'expire', ...base, reason: 'late', dueAt: AT + 99 }, { reason: 'late', dueAt: AT + 99 }],
    [PENDING, { kind: 'fail', ...base, reason: 'refused' }, { reason: 'refused', dueAt: null }],
    [
      { ...PENDING, phase: 'succeeded' },
      { kind: 'review', ...base, reason: 'sum' },
      { reason: 'sum', dueAt: null },
    ],
    [
      { ...PENDING, phase: 'review' },
      { kind: 'reject', ...base, reason: 'no' },
      { reason: 'no', dueAt: null },
    ],
  ];
  for (const [before, change, written] of rows) {
    it(`stores the values of the change ${change.kind}`, () => {
      const { status, payment } = decidePayment(before, change);
      const phase = payment?.phase;
      const wanted = { ...before, ...written, phase, owner: null, lease: null, changedAt: AT + 5, version: 2 };
      expect([status, payment]).to.deep.equal(['done', wanted]);
    });
  }

  it('stores a requested refund and the amount that it holds', () => {
    const change = { kind: 'ask_refund', ...base, refund: 'rfd_1', reason: 'wish' } as const;
    const { payment = WAITING } = decidePayment(CREDITED, change, { amount: 5n, taken: 3n });
    const money = { amount: '5', taken: null, off: '5', missing: '2' };
    const asked = { id: 'rfd_1', ref: null, state: 'asked', reason: 'wish', at: AT + 5, ...money };
    expect(parseRefunds(payment)).to.deep.equal([asked]);
  });

  it('opens a dispute of at most the remaining amount, and stores the amount taken when it is lost', () => {
    const left = { ...CREDITED, refunded: 400n };
    const dispute = (amount: bigint) => decidePayment(left, { kind: 'dispute', ...base, dispute: 'cb', amount });
    expect([dispute(0n).status, dispute(601n).status, dispute(1n).status]).to.deep.equal(['stale', 'stale', 'done']);
    const { payment = WAITING } = dispute(600n);
    expect(parseDispute(payment)).to.deep.equal({ id: 'cb', amount: '600', taken: null });
    const lost = decidePayment(payment, { kind: 'reverse', ...base, version: 2 }, { amount: 600n, taken: 70n });
    expect(parseDispute(lost.payment ?? WAITING)).to.deep.equal({
      id: 'cb',
      amount: '600',
      taken: '70',
      moved: '-600',
    });
    expect(lost.payment).to.include({ phase: 'reversed', refunded: 1000n, shortfall: 530n, dueAt: null });
  });
});
