// What is reported about a payment: each change once, and what operators have to know in the log.
import { expect } from 'chai';
import { PAID_LATE, type Payment, parseRefunds } from '../../lib/money/payment.ts';
import { createPaymentFollower } from '../../lib/payments/follower.ts';
import { decideReview, requestRefund } from '../../lib/payments/operator.ts';
import { createFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { adjust, applied, RUB, rejection, type StoreKind } from '../contract/store/context.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`what is told of payments on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  beforeEach(() => {
    service = use.service();
  });
  const errors = () => stage.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
  const REVIEW = 'a payment is under review: an operator has to decide';

  it('reports every refund, even if the phase stays the same', async () => {
    const { id } = await stage.credited(service);
    for (const rub of [100n, 200n]) {
      stage.bank.giveBack(id, rub * RUB);
      await service.payments.poll(id);
    }
    const told = service.changes.slice(-2).map(({ phase, refunded }) => [phase, refunded / RUB]);
    expect(told).to.deep.equal([
      ['partly_refunded', 100n],
      ['partly_refunded', 300n],
    ]);
  });

  it('reports a refund that the provider refuses, and no poll that changes nothing', async () => {
    const { id } = await stage.order(service);
    const told = service.changes.length;
    await stage.letTimePass();
    await service.payments.poll(id);
    expect(service.changes).to.have.length(told);
    stage.bank.pay(id);
    await service.payments.poll(id);
    stage.bank.hook = (asked) => (asked === 'refund' ? 400 : undefined);
    await requestRefund(stage.store, id, { at: stage.now(), amount: RUB, reason: 'a wish' });
    const before = service.changes.length;
    await service.payments.poll(id);
    const refunds = service.changes.slice(before).map((payment) => parseRefunds(payment).map(({ state }) => state));
    expect(refunds).to.deep.equal([['refused']]);
  });

  it('logs that an operator has to decide on a payment that is not what was ordered', async () => {
    const { id } = await stage.order(service);
    stage.bank.pay(id, { order: 'pay_another' });
    expect(await service.payments.poll(id)).to.include({ phase: 'review' });
    expect(errors()).to.deep.equal([REVIEW]);
  });

  it('credits a payment only once its method is saved', async () => {
    const faults = createFaultyStore(stage.store);
    const { payments } = stage.service('own_2', faults.store);
    stage.bank.saves = {
      id: 'card-9',
      kind: 'card',
      brand: 'Visa',
      last4: '4242',
      expiry: '2030-01',
      fingerprint: 'f',
    };
    const { id } = await stage.order(service, 1000, { saveMethod: true });
    stage.bank.pay(id);
    faults.next('payments.saveMethod', refuse);
    await rejection(payments.poll(id));
    expect([(await stage.payment(id)).phase, await stage.topped()]).to.deep.equal(['succeeded', 0n]);
    expect(await payments.poll(id)).to.include({ phase: 'credited' });
    expect(await stage.store.payments.methods(stage.wallet)).to.have.length(1);
  });

  it('gives up a payment that never stops changing', async () => {
    const payment = await stage.order(service);
    let steps = 0;
    const change = async () => {
      if (++steps > 1000) throw new Error('it goes on and on');
      return { status: 'stale', payment };
    };
    const store = { ...stage.store, payments: { ...stage.store.payments, change } };
    const log = { warn: () => undefined, error: () => undefined };
    const told = { now: stage.now, log, onChange: () => undefined, onSaved: () => undefined };
    const { follow } = createPaymentFollower({ store, ...told } as never);
    const [open] = service.payments.providers();
    const { ref: id, amount } = payment;
    const paid = { id, amount, currency: 'RUB', shop: 'shop-1', test: payment.test, order: payment.id, saved: null };
    const state = { ...paid, status: 'canceled', reason: 'expired', refunds: [] };
    expect(await rejection(follow(payment, open as never, state as never))).to.have.property(
      'message',
      `the payment ${payment.id} takes too many steps`,
    );
    expect(steps).to.equal(100);
  });

  it('logs a shortfall once, when it occurs', async () => {
    stage.shortfall = 'keep';
    const { id } = await stage.credited(service);
    await applied(stage.store, adjust(stage.wallet, -900n * RUB));
    stage.bank.giveBack(id, 300n * RUB);
    await service.payments.poll(id);
    await applied(stage.store, adjust(stage.wallet, 500n * RUB));
    stage.bank.giveBack(id, 100n * RUB);
    expect(await service.payments.poll(id)).to.include({ refunded: 400n * RUB, shortfall: 200n * RUB });
    stage.bank.hook = (asked) => (asked === 'refund' ? 400 : undefined);
    await requestRefund(stage.store, id, { at: stage.now(), amount: RUB, reason: 'a wish' });
    const [, , refused] = parseRefunds((await service.payments.poll(id)) as Payment);
    expect(refused?.state).to.equal('refused');
    expect(errors()).to.deep.equal(['the wallet could not cover a refund or dispute in full']);
  });

  it('reviews a payment that a provider takes after a decline, and logs nothing for a plain decline', async () => {
    const { id } = await stage.order(service);
    const reason = { kind: 'soft', code: 'insufficient_funds' } as const;
    stage.bank.pay(id, { status: 'canceled', reason });
    const ref = stage.bank.ofOrder(id)[0]?.id;
    for (let turn = 0; turn < 2; turn += 1) expect(await stage.sendWebhook(service, ref)).to.equal('done');
    expect(errors()).to.deep.equal([]);
    stage.bank.pay(id, { status: 'succeeded', reason: null });
    expect(await stage.sendWebhook(service, ref)).to.equal('done');
    expect(errors()).to.deep.equal([REVIEW]);
    expect(await stage.payment(id)).to.include({ phase: 'review', reason: PAID_LATE, credited: 0n });
    // Told again, it is no other payment.
    expect(await stage.sendWebhook(service, ref)).to.equal('done');
    const verdict = { at: stage.now(), reason: 'the payer wants it', credit: 1000n * RUB };
    expect((await decideReview(stage.store, id, verdict)).status).to.equal('done');
    expect([(await stage.payment(id)).phase, await stage.topped()]).to.deep.equal(['credited', 1000n * RUB]);
    expect(await stage.problems()).to.deep.equal([]);
  });
}
