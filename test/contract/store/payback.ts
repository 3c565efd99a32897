// The contract of money that a payment's refund has taken, and of wallets that hold money of test payments.
import { expect } from 'chai';
import type { Operation } from '../../../lib/money/decide.ts';
import { refundBookingOp, refundRefusalOp, refundRequestOp } from '../../../lib/money/payback.ts';
import type { Payment } from '../../../lib/money/payment-rules.ts';
import {
  AT,
  adjust,
  applied,
  balances,
  charge,
  movingIn,
  newAccount,
  newId,
  problemsOf,
  RUB,
  reserve,
  type StoreContext,
  topup,
  walletOf,
} from './context.ts';
import { creditOf, newSucceeded } from './payments.ts';

export function paybackContract(context: StoreContext): void {
  describe('and their money', () => {
    it('take money at the request of a refund, return it after a refusal, and keep it off after the booking', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newAccount(store);
      const [credited] = await applied(store, creditOf(await newSucceeded(store, wallet)));
      const first = credited?.payment as Payment;
      await applied(store, reserve(wallet, { amount: 800n * RUB }));
      const ask = refundRequestOp(first, { at: AT, refund: `rfd_${wallet}`, reason: 'wish' }, 300n * RUB);
      const [asked] = await applied(store, ask);
      expect(balances(await walletOf(other, wallet))).to.deep.equal([-100, 800, 0, 700, 0]);
      const [again] = await applied(other, ask);
      expect([asked?.status, again?.status]).to.deep.equal(['done', 'exists']);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
      const refusal = refundRefusalOp(asked?.payment as Payment, { at: AT, refund: `rfd_${wallet}`, reason: 'no' });
      const [refused] = await applied(other, refusal);
      expect((await applied(store, refusal))[0]?.status).to.equal('exists');
      expect(balances(await walletOf(store, wallet))).to.deep.equal([200, 800, 0, 1000, 0]);
      const [twice] = await applied(
        store,
        refundRequestOp(refused?.payment as Payment, { at: AT, refund: 'rfd_2', reason: '' }, 500n * RUB),
      );
      const wish = { at: AT, ref: `re_${wallet}`, refund: 'rfd_2' };
      const booking = refundBookingOp(twice?.payment as Payment, wish, { amount: 500n * RUB, suspend: true });
      const [booked] = await applied(store, booking);
      expect(booked?.payment).to.include({ phase: 'partly_refunded', refunded: 500n * RUB, shortfall: 300n * RUB });
      expect(booked?.wallet?.status).to.equal('suspended');
      expect(balances(await walletOf(store, wallet))).to.deep.equal([-300, 800, 0, 500, 0]);
      expect((await applied(store, refusal))[0]?.status).to.equal('exists');
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });

    it('of a test mark the wallet in the same batch, which pays for nothing real until an operator’s single decision', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newAccount(store);
      await applied(store, topup(wallet, 1000n * RUB));
      expect(await walletOf(store, wallet)).not.to.have.property('playMoney');
      const credit = { ...creditOf(await newSucceeded(store, wallet)), isPlay: true } as Operation;
      const real = (id: string) => ({ ...reserve(wallet, { chargeId: id, amount: RUB }), real: true }) as Operation;
      const outcomes = await applied(
        store,
        real(newId('req')),
        credit,
        real(newId('req')),
        reserve(wallet, { amount: RUB }),
      );
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['done', 'done', 'play_money', 'done']);
      for (const one of [store, other]) expect((await walletOf(one, wallet)).playMoney).to.equal(true);
      const paid = { ...charge(wallet, { amount: RUB }), real: true } as Operation;
      expect((await applied(other, paid))[0]?.status).to.equal('play_money');
      const verdicts = [adjust(wallet, 0n), adjust(wallet, -5n * RUB)].map(
        (op) => ({ ...op, settlesPlay: true }) as Operation,
      );
      const [first, second] = await Promise.all([
        applied(store, verdicts[0] as Operation),
        applied(other, verdicts[1] as Operation),
      ]);
      expect([first[0]?.status, second[0]?.status].sort()).to.deep.equal(['done', 'exists']);
      for (const one of [store, other]) expect(await walletOf(one, wallet)).not.to.have.property('playMoney');
      expect((await applied(other, real(newId('req'))))[0]?.status).to.equal('done');
      await store.accounts.setWalletFlags(wallet, { playMoney: true, opened: true });
      expect((await applied(other, real(newId('req'))))[0]?.status).to.equal('play_money');
      expect(await store.accounts.setWalletFlags('acc_none', { playMoney: true })).to.equal(false);
      await store.accounts.setWalletFlags(wallet, {});
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });

    it('opens a wallet by the balance it had elsewhere, in credit or in debt', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newAccount(store);
      const [moved] = await applied(store, movingIn(adjust(wallet, -2n * RUB)));
      expect(moved?.status).to.equal('done');
      for (const one of [store, other]) {
        expect(await walletOf(one, wallet)).to.include({ avail: -2n * RUB, topped: 0n, opened: true });
      }
      const [paid, held] = await applied(other, topup(wallet, 5n * RUB), reserve(wallet, { amount: 3n * RUB }));
      expect([paid?.status, held?.status]).to.deep.equal(['done', 'done']);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });
  });
}
