// Copies of payments: unchanged, and from a store in use in the state of their copied wallets.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { refundRequestOp } from '../../lib/money/payback.ts';
import { type Payment, parseRefunds } from '../../lib/money/payment-rules.ts';
import type { Behaviour, FaultyStore } from '../../testkit/faulty-store.ts';
import { adjust, applied, movingIn, RUB, rejection } from '../contract/store/context.ts';
import {
  changed,
  creditOf,
  newAuto,
  newMethod,
  newSucceeded,
  newWebhook,
  refundOf,
  reverseOf,
} from '../contract/store/payments.ts';
import { useCopies } from './copies.ts';

describe('copy of payments', () => {
  let from: FaultyStore;
  let to: FaultyStore;
  let wallet: string;

  const { copy, breakOff } = useCopies((opened) => {
    ({ source: from, target: to, wallet } = opened);
  });

  it('copies payments with all related rows, and refuses a target that has more', async () => {
    const { payments } = from.real;
    const [credited] = await applied(from.real, creditOf(await newSucceeded(from.real, wallet)));
    await payments.saveMethod(newMethod(wallet));
    await payments.changeAutoTopup(newAuto(wallet));
    await payments.addWebhook(newWebhook());
    expect(await copy()).to.include({ payments: 1 });
    for (const sort of ['payments', 'methods', 'autoTopups', 'notices'] as const) {
      const rows = await payments.page(sort, { limit: 10 });
      expect(rows.length, sort).to.equal(1);
      expect(await to.real.payments.page(sort, { limit: 10 })).to.deep.equal(rows);
    }
    await breakOff();
    await to.real.payments.put('payments', [{ ...(credited?.payment as Payment), id: 'pay_x', ref: 'other' }]);
    for (const live of [false, true]) {
      const error = await rejection(copy(live));
      expect(error).to.be.instanceOf(OperatorError);
      expect(String(error)).to.include('payments');
    }
  });

  it('copies the mark of wallets with play money only', async () => {
    const credit = creditOf(await newSucceeded(from.real, wallet));
    await applied(from.real, { ...credit, isPlay: true } as typeof credit);
    await copy();
    expect(await to.real.ledger.wallet(wallet)).to.deep.equal(await from.real.ledger.wallet(wallet));
    expect((await to.real.ledger.wallet(wallet))?.playMoney).to.equal(true);
    const settled = { ...adjust(wallet, 0n), settlesPlay: true } as Operation;
    await applied(from.real, settled);
    await breakOff();
    await copy();
    expect(await to.real.ledger.wallet(wallet)).to.deep.equal(await from.real.ledger.wallet(wallet));
    expect((await to.real.ledger.wallet(wallet))?.playMoney).to.equal(undefined);
  });

  it('copies that a wallet is open without a payment', async () => {
    await applied(from.real, movingIn(adjust(wallet, -1n)));
    await copy();
    const copied = await to.real.ledger.wallet(wallet);
    expect(copied).to.deep.equal(await from.real.ledger.wallet(wallet));
    expect(copied?.opened).to.equal(true);
  });

  it('is refused if a webhook arrives meanwhile, unless the store may be in use', async () => {
    const { payments } = from.real;
    await payments.addWebhook(newWebhook());
    const late: Behaviour = async (list) => {
      await payments.addWebhook(newWebhook());
      return list();
    };
    from.next('settings.list', late);
    const error = await rejection(copy());
    expect(error).to.be.instanceOf(OperatorError);
    expect(String(error)).to.include('The source changed during the copy (notices)');
    from.next('settings.list', late);
    await copy(true);
  });

  it('copies each payment of a live store in the state of its copied wallet', async () => {
    const credit = async () => (await applied(from.real, creditOf(await newSucceeded(from.real, wallet))))[0];
    const early = (await credit())?.payment as Payment;
    const lost = (await credit())?.payment as Payment;
    const disputed = await changed(from.real, lost, { kind: 'dispute', dispute: 'cb', amount: 1000n * RUB });
    const part = await changed(from.real, (await credit())?.payment as Payment, {
      kind: 'dispute',
      dispute: 'cb_2',
      amount: 600n * RUB,
    });
    const [reversed] = await applied(from.real, reverseOf(part, 'cb_2', 600n * RUB));
    from.next('keys.owners', async (list) => {
      await credit();
      await applied(from.real, refundOf(early, 'r1', 1000n * RUB), reverseOf(disputed, 'cb', 1000n * RUB));
      await applied(from.real, refundOf(reversed?.payment as Payment, 'r2', 400n * RUB));
      return list();
    });
    expect(await copy(true)).to.include({ payments: 4 });
    const rows = await to.real.payments.page('payments', { limit: 10 });
    const found = new Map(rows.map((row) => [row.id, row]));
    expect(found.get(early.id)).to.include({ phase: 'credited', refunded: 0n, shortfall: 0n });
    expect(parseRefunds(found.get(early.id) as Payment)[0]).to.include({ ref: 'r1', state: 'asked', taken: null });
    expect(found.get(lost.id)).to.include({ phase: 'disputed', refunded: 0n });
    expect(found.get(part.id)).to.include({ phase: 'reversed', refunded: 600n * RUB });
    const [late, ...others] = rows.filter(({ phase }) => phase === 'succeeded');
    expect([late?.credited, others.length]).to.deep.equal([0n, 0]);
    expect((await verifyLedger(to.real)).problems).to.deep.equal([]);
    const [again] = await applied(to.real, creditOf(late as Payment));
    expect(again?.status).to.equal('done');
  });

  it('resets payment changes newer than the copied wallet, and keeps the rest', async () => {
    const paid = async () => (await applied(from.real, creditOf(await newSucceeded(from.real, wallet))))[0]?.payment;
    const refund = async (payment: Payment, ref: string, rub: bigint) =>
      (await applied(from.real, refundOf(payment, ref, rub * RUB)))[0]?.payment as Payment;
    const dispute = (payment: Payment, id: string) =>
      changed(from.real, payment, { kind: 'dispute', dispute: id, amount: 700n * RUB });
    const twice = await refund((await paid()) as Payment, 'r1', 300n);
    const disputed = await dispute((await paid()) as Payment, 'cb_1');
    const wish = { at: Date.now(), refund: 'ref_1', reason: 'asked' };
    const [asked] = await applied(from.real, refundRequestOp((await paid()) as Payment, wish, 100n * RUB));
    const asking = asked?.payment as Payment;
    const late = await newSucceeded(from.real, wallet);
    from.next('keys.owners', async (list) => {
      await refund(await refund(twice, 'r2', 200n), 'r5', 100n);
      await refund(disputed, 'r3', 200n);
      const [credited] = await applied(from.real, creditOf(late));
      await dispute(await refund(credited?.payment as Payment, 'r4', 300n), 'cb_2');
      return list();
    });
    expect(await copy(true)).to.include({ payments: 4 });
    const read = async (id: string) => (await to.real.payments.get(id)) as Payment;
    const none = { credited: 0n, refunded: 0n, shortfall: 0n, refunds: '[]', dispute: null };
    expect(await read(late.id)).to.deep.include({ phase: 'succeeded', ...none, dueAt: late.createdAt });
    expect(await read(asking.id)).to.deep.equal(asking);
    const found = await read(twice.id);
    expect(found).to.include({ phase: 'partly_refunded', refunded: 300n * RUB, dueAt: twice.createdAt });
    expect(parseRefunds(found).map(({ ref, state, taken }) => [ref, state, taken === null])).to.deep.equal([
      ['r1', 'booked', false],
      ['r2', 'asked', true],
      ['r5', 'asked', true],
    ]);
    expect(await read(disputed.id)).to.include({ phase: 'disputed', refunded: 0n, dispute: disputed.dispute });
    expect((await verifyLedger(to.real)).problems).to.deep.equal([]);
    const [again] = await applied(to.real, refundOf(found, 'r2', 200n * RUB));
    expect([again?.status, again?.payment?.refunded]).to.deep.equal(['done', 500n * RUB]);
  });
});
