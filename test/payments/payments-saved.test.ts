// The payments service against a bank: saved methods and their charges.
import { expect } from 'chai';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { until } from '../../testkit/client.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { RUB, rejection, type StoreKind } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`saved methods on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  beforeEach(() => {
    service = use.service();
  });
  const refOf = (payment: Payment) => stage.refOf(payment);
  const credited = (rub?: number) => stage.credited(service, rub);

  describe('a saved method', () => {
    const card = { id: 'card-1', kind: 'card', brand: 'Visa', last4: '4242', expiry: '2030-01', fingerprint: 'f' };

    it('is saved once, if its owner agreed', async () => {
      stage.bank.saves = card;
      await credited();
      expect(await stage.store.payments.methods(stage.wallet)).to.deep.equal([]);
      const payment = await stage.order(service, 1000, { saveMethod: true });
      stage.bank.pay(payment.id);
      await Promise.all([service.payments.poll(payment.id), stage.sendWebhook(service, refOf(payment))]);
      const methods = await stage.store.payments.methods(stage.wallet);
      expect(methods.map(({ ref, last4, removedAt }) => [ref, last4, removedAt])).to.deep.equal([
        ['card-1', '4242', null],
      ]);
      // Each owner is alerted once, even if the card is saved again.
      expect(service.saved).to.deep.equal(methods);
      const again = await stage.order(service, 1000, { saveMethod: true });
      stage.bank.pay(again.id);
      await service.payments.poll(again.id);
      expect(service.saved).to.have.length(1);
    });

    it('is not saved from a payment that goes to review', async () => {
      stage.bank.saves = { ...card, id: 'card-2' };
      const payment = await stage.order(service, 1000, { saveMethod: true });
      stage.bank.pay(payment.id, { order: 'pay_another' });
      expect((await service.payments.poll(payment.id))?.phase).to.equal('review');
      expect(await stage.store.payments.methods(stage.wallet)).to.deep.equal([]);
    });

    it('is charged once for an automatic top-up by two gateways', async () => {
      await credited();
      const method = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
      const auto = newAuto(stage.wallet, { method: method.id });
      await stage.store.payments.changeAutoTopup(auto);
      const other = stage.service('own_2', await stage.openStore());
      const charge = ({ payments }: Service) => {
        const asked = { wallet: stage.wallet, amount: 500n * RUB, locale: 'ru', method: method.id } as const;
        return payments.charge(asked, (order) => ({ ...auto, version: 1, order }));
      };
      const found = await Promise.all([charge(service), charge(other)]);
      const [payment, ...more] = found.filter((one) => one !== undefined);
      expect(more).to.deep.equal([]);
      expect(payment).to.include({ origin: 'auto', phase: 'pending', payUrl: null });
      stage.bank.saves = { ...card, id: 'card-3' };
      stage.bank.pay(payment?.id ?? '');
      expect((await service.payments.poll(payment?.id ?? ''))?.phase).to.equal('credited');
      expect(await stage.store.payments.autoTopup(stage.wallet)).to.include({ order: payment?.id });
      // Nobody agreed to that: it may be a method whose owner has just removed it.
      expect((await stage.store.payments.methods(stage.wallet)).map(({ id }) => id)).to.deep.equal([method.id]);
    });

    it('is never charged after its removal, even if the first attempt may have succeeded', async () => {
      await credited();
      const method = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
      const auto = newAuto(stage.wallet, { method: method.id });
      await stage.store.payments.changeAutoTopup(auto);
      stage.bank.hook = (asked) => {
        if (asked === 'start') throw new Error('down');
        return undefined;
      };
      const asked = { wallet: stage.wallet, amount: 500n * RUB, locale: 'ru', method: method.id } as const;
      const payment = await service.payments.charge(asked, (order) => ({ ...auto, version: 1, order }));
      expect(payment?.phase).to.equal('created');
      await stage.store.payments.removeMethod(method.id, stage.now());
      const before = stage.bank.asked.get('start');
      stage.bank.hook = () => undefined;
      await stage.letTimePass();
      service.payments.start();
      const find = () => stage.payment(payment?.id ?? '');
      await until(async () => stage.bank.asked.get('find') === 1 && (await find()).owner === null, 10_000);
      expect((await find()).phase, 'an earlier try may still arrive').to.equal('created');
      stage.aheadMs = 16 * 60_000;
      await stage.letTimePass();
      await until(async () => (await stage.payment(payment?.id ?? '')).phase === 'failed', 10_000);
      expect(stage.bank.asked.get('start')).to.equal(before);
      const again = await rejection(service.payments.charge(asked, () => auto));
      expect(String(again)).to.include('saved method');
    });

    it('is never charged for another wallet', async () => {
      const method = await stage.store.payments.saveMethod(newMethod('acc_another', { provider: 'till' }));
      const asked = { wallet: stage.wallet, amount: 1000n * RUB, locale: 'ru', method: method.id } as const;
      const refused = await rejection(service.payments.charge(asked, () => newAuto(stage.wallet)));
      expect(String(refused)).to.include('saved method');
      expect(stage.bank.payments.size).to.equal(0);
    });
  });
}
