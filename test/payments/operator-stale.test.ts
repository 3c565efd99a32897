// The answer to an operator whose payment changes at the same moment, or whose dispute is among very many.
import { expect } from 'chai';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { openDispute, requestRefund } from '../../lib/payments/operator.ts';

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

describe('the number of a dispute', () => {
  const disputed = (at: number, number: string) =>
    ({
      ...CREDITED,
      id: `pay_${at}`,
      phase: 'disputed',
      dispute: JSON.stringify({ id: number, amount: '1' }),
    }) as Payment;

  for (const count of [0, 499, 500, 501, 1000, 1001]) {
    it(`is taken by the last of ${count} others, or free`, async () => {
      for (const number of ['taken', 'other']) {
        const all = Array.from({ length: count }, (_, at) => disputed(at, at === count - 1 ? 'taken' : `${at}`));
        const list = async ({ before, limit }: { readonly before?: Payment; readonly limit: number }) => {
          const from = before ? all.findIndex(({ id }) => id === before.id) + 1 : 0;
          return all.slice(from, from + limit);
        };
        const change = async () => ({ status: 'done', payment: CREDITED });
        const payments = { get: async () => CREDITED, list, change };
        const ledger = { entry: async () => undefined };
        const opened = await openDispute({ payments, ledger } as never, 'pay', { at: 1000, dispute: number });
        const isTaken = count > 0 && number === 'taken';
        expect(opened.status, number).to.equal(isTaken ? 'number_taken' : 'done');
      }
    });
  }
});
