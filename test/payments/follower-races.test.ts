// If several processes make the same change of a payment, only the one that stored it reports it.
import { expect } from 'chai';
import type { OpenPayment } from '../../lib/catalog/payments.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { createPaymentFollower } from '../../lib/payments/follower.ts';
import type { PaymentState } from '../../lib/upstream/contract/payment.ts';
import { rejection } from '../contract/store/context.ts';

const PENDING = {
  id: 'pay',
  version: 4,
  wallet: 'w',
  provider: 'till',
  phase: 'pending',
  ref: 'ref',
  dueAt: null,
  reason: null,
  credited: 0n,
  refunded: 0n,
  shortfall: 0n,
  refunds: '[]',
  createdAt: 0,
  expiresAt: 9_000,
} as unknown as Payment;
const CANCELED = { ...PENDING, version: 5, phase: 'canceled', reason: 'declined' } as Payment;
const STATE = {
  id: 'ref',
  order: 'pay',
  status: 'canceled',
  reason: { kind: 'soft', code: 'declined' },
  refunds: [],
  amount: 5n,
  currency: 'RUB',
  shop: 'shop',
  test: false,
  saved: null,
} as unknown as PaymentState;
const OPEN = { name: 'till', shortfall: 'keep', provider: { live: true } } as unknown as OpenPayment;

describe('a change of a payment', () => {
  /** How the store answers each change, and what is reported. */
  function open(status: 'done' | 'exists' | 'stale' | 'no_payment') {
    const after = status === 'no_payment' ? undefined : CANCELED;
    const told: string[] = [];
    const payments = { change: async () => ({ status, payment: after }), get: async () => after };
    const log = (_fields: object, message: string) => void told.push(message);
    const follow = createPaymentFollower({
      store: { payments } as never,
      now: () => 1000,
      log: { info: log, warn: log, error: log },
      onChange: ({ phase }) => void told.push(phase),
    });
    return { ...follow, told };
  }

  it('is reported once it is stored, and not if another process was faster', async () => {
    for (const [status, words] of [
      ['done', ['a payment is canceled', 'canceled']],
      ['exists', []],
      ['stale', []],
    ] as const) {
      const { follow, told } = open(status);
      expect(await follow(PENDING, OPEN, STATE), status).to.equal(CANCELED);
      expect(told, status).to.deep.equal(words);
    }
  });

  it('is reported in the same way by `change`, except for polls', async () => {
    const base = { id: 'pay', version: 4, at: 1000 };
    for (const [status, count] of [
      ['done', 2],
      ['exists', 0],
      ['stale', 0],
    ] as const) {
      const failed = open(status);
      await failed.change({ kind: 'fail', ...base, reason: 'no' });
      expect(failed.told, status).to.have.length(count);
      const looked = open(status);
      await looked.change({ kind: 'poll', ...base, dueAt: 2000 });
      expect(looked.told, status).to.deep.equal([]);
    }
  });

  it('leaves the payment unchanged and logs an error if the ledger refuses the money', async () => {
    const errors: string[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: (_: object, line: string) => errors.push(line) };
    const paid = {
      ...PENDING,
      phase: 'succeeded',
      amount: 5n,
      shop: 'shop',
      test: false,
      facts: '{}',
      state: null,
    } as unknown as Payment;
    let applied = 0;
    const ledger = {
      apply: async () => {
        applied += 1;
        return [{ status: 'id_taken' }];
      },
    };
    const payments = { get: async () => paid };
    const { follow } = createPaymentFollower({ store: { payments, ledger } as never, now: () => 1000, log });
    expect(await follow(paid, OPEN, { ...STATE, status: 'succeeded', reason: null } as PaymentState)).to.equal(paid);
    expect([applied, errors]).to.deep.equal([1, ['the ledger refused the money of a payment']]);
  });

  it('fails when the payment is gone', async () => {
    const { change, follow } = open('no_payment');
    const failures = [change({ kind: 'poll', id: 'pay', version: 4, at: 0, dueAt: 0 }), follow(PENDING, OPEN, STATE)];
    for (const failure of failures) expect(String(await rejection(failure))).to.include('the payment pay is gone');
  });
});
