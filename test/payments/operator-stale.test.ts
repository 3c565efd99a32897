// The answer to an operator whose payment changes at the same moment.
import { expect } from 'chai';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { requestRefund } from '../../lib/payments/operator.ts';

const CREDITED = {
  id: 'pay',
  version: 4,
  wallet: 'w',
  provider: 'till',
  phase: 'credited',
  ref: 'ref',
  refunds: '[]',
  amount: 1_000_000n,
  credited: 1_000_000n,
  refunded: 0n,
  dispute: null,
} as unknown as Payment;

describe('a refund requested while its payment changes', () => {
  for (const [amount, version, status] of [
    [400_000n, 5, 'stale'],
    [400_000n, 4, 'refused'],
    [0n, 5, 'refused'],
    [-10_000n, 5, 'refused'],
    // Not a whole kopeck.
    [400_001n, 5, 'refused'],
    [1_000_000n, 5, 'stale'],
    [1_010_000n, 5, 'refused'],
  ] as const) {
    it(`of ${amount} is ${status} when the payment is of version ${version} by then`, async () => {
      const changed = { ...CREDITED, version };
      const payments = { get: async () => CREDITED };
      const ledger = { apply: async () => [{ status: 'stale_payment', payment: changed }] };
      const wish = { at: 1000, amount, reason: 'wish', refund: 'rfd' };
      const isPossible = amount === 400_000n || amount === 1_000_000n;
      const payment = isPossible ? changed : CREDITED;
      expect(await requestRefund({ payments, ledger } as never, 'pay', wish)).to.deep.equal({ status, payment });
    });
  }
});
