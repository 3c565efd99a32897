// Payments through a whole gateway: the test vendor with its webhooks, and the sandbox with its page, over real
// sockets.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Payment, PaymentPhase } from '../../lib/money/payment-rules.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { pollSoon, RUB } from '../../testkit/payments.ts';
import { broken, startYooKassa, type YooKassa } from '../../testkit/yookassa.ts';
import { newOrder } from '../contract/store/payments.ts';

/** What a process left is taken up soon. */
const ENV = { LEASE_MS: '1000' };

describe('a payment through the gateway', function () {
  this.timeout(60_000);
  let gateway: TestGateway;
  let wallet: string;

  /** Orders on the page; the gateway asks its provider to start the payment. */
  async function ordered(provider: string, shop: string, more = {}): Promise<Payment> {
    const facts = {
      description: 'Top-up',
      returnUrl: `${gateway.url}/account/wallet`,
      pageUrl: `${gateway.url}/payments/${provider}/page`,
      locale: 'ru',
      saveMethod: false,
    };
    const lease = Date.now() - 1;
    const order = newOrder(wallet, { provider, shop, test: true, facts: JSON.stringify(facts), lease, ...more });
    await gateway.store.payments.create(order);
    return reaches(order.id, 'pending');
  }

  const find = async (id: string) => (await gateway.store.payments.get(id)) as Payment;

  async function reaches(id: string, phase: PaymentPhase): Promise<Payment> {
    await until(async () => (await find(id)).phase === phase, 20_000);
    return find(id);
  }

  const topped = async () => (await gateway.store.ledger.wallet(wallet))?.topped;

  describe('of the test vendor', () => {
    let vendor: YooKassa;
    let webhookUrl: string;
    before(async () => {
      vendor = await startYooKassa();
      const { baseUrl, shopId, secret } = vendor;
      const settings = { baseUrl, shopId, secret, senders: ['127.0.0.0/8'] };
      const payments = { yookassa: { plugin: 'yookassa', settings } };
      gateway = await startGateway({ catalog: { upstreams: {}, models: [], payments }, env: ENV });
      webhookUrl = `${gateway.url}/payments/yookassa/notice`;
    });
    beforeEach(async () => {
      wallet = (await gateway.account('0')).id;
      vendor.webhooks.hold();
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      await gateway.stop();
      await vendor.close();
    });
    const order = () => ordered('yookassa', vendor.shopId);
    const ref = (payment: Payment) => payment.ref ?? expect.fail('it has no id');
    const last = () => vendor.webhooks.all.at(-1);

    it('is credited once for repeated and reordered webhooks', async () => {
      const payment = await order();
      expect(payment.payUrl).to.match(/^https:\/\/yoomoney\.ru\//);
      vendor.shop.hold(ref(payment));
      const held = last();
      vendor.shop.pay(ref(payment));
      const statuses = await Promise.all([1, 2, 3].map(() => vendor.webhooks.send(webhookUrl, last())));
      expect(await vendor.webhooks.send(webhookUrl, held)).to.equal(200);
      expect(statuses).to.deep.equal([200, 200, 200]);
      await reaches(payment.id, 'credited');
      expect(await topped()).to.equal(1000n * RUB);
    });

    it('is not credited by a forged webhook', async () => {
      const payment = await order();
      const object = {
        id: payment.ref,
        status: 'succeeded',
        paid: true,
        amount: { value: '1000.00', currency: 'RUB' },
      };
      const forged = { type: 'notification', event: 'payment.succeeded', object };
      expect(await vendor.webhooks.send(webhookUrl, forged)).to.equal(200);
      expect([(await find(payment.id)).phase, await topped()]).to.deep.equal(['pending', 0n]);
    });

    it('goes to review if it does not match the order', async () => {
      const payment = await order();
      vendor.shop.spoil(ref(payment), { amount: { value: '1.00', currency: 'RUB' } });
      vendor.shop.pay(ref(payment));
      expect(await vendor.webhooks.send(webhookUrl, last())).to.equal(200);
      expect((await reaches(payment.id, 'review')).reason).to.contain('sum: 1.00 instead of 1000.00');
      expect(await topped()).to.equal(0n);
    });

    it('goes to review if its test flag differs from the shop’s', async () => {
      const payment = await order();
      vendor.shop.spoil(ref(payment), { test: false });
      vendor.shop.pay(ref(payment));
      expect(await vendor.webhooks.send(webhookUrl, last())).to.equal(200);
      expect((await reaches(payment.id, 'review')).reason).to.contain('test: false instead of true');
      expect(await topped()).to.equal(0n);
    });

    it('is credited if its webhook is lost', async () => {
      const payment = await order();
      vendor.shop.pay(ref(payment));
      await pollSoon(gateway.store, payment.id);
      await reaches(payment.id, 'credited');
      expect(await topped()).to.equal(1000n * RUB);
    });

    it('makes the vendor repeat the webhook until it can be fetched', async () => {
      const payment = await order();
      vendor.go(broken(false), broken(false));
      vendor.webhooks.flow(webhookUrl);
      vendor.shop.pay(ref(payment));
      await vendor.webhooks.settled();
      expect((await find(payment.id)).phase).to.equal('credited');
    });

    it('is partly refunded if the vendor refunds a part', async () => {
      const payment = await order();
      vendor.shop.pay(ref(payment));
      await vendor.webhooks.send(webhookUrl, last());
      vendor.shop.refund({ payment_id: ref(payment), amount: { value: '300.00', currency: 'RUB' } });
      expect(await vendor.webhooks.send(webhookUrl, last())).to.equal(200);
      expect((await reaches(payment.id, 'partly_refunded')).refunded).to.equal(300n * RUB);
      expect(await topped()).to.equal(700n * RUB);
    });

    it('is canceled if it is declined', async () => {
      const payment = await order();
      vendor.shop.decline(ref(payment), 'insufficient_funds');
      await vendor.webhooks.send(webhookUrl, last());
      expect((await reaches(payment.id, 'canceled')).reason).to.equal('insufficient_funds');
    });
  });

  describe('of the sandbox', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-pay-'));
    const catalog = { upstreams: {}, models: [], payments: { sandbox: { plugin: 'sandbox' } } };
    before(async () => {
      gateway = await startGateway({ catalog, folder, env: ENV });
    });
    beforeEach(async () => {
      wallet = (await gateway.account('0')).id;
    });
    after(async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    function press(url: string, button: string): Promise<Response> {
      return fetch(url, { method: 'POST', body: new URLSearchParams({ button, card: 'good' }), redirect: 'manual' });
    }
    const order = () => ordered('sandbox', 'sandbox');

    for (const [button, phase, sum] of [
      ['paid', 'credited', 1000n],
      ['twice', 'credited', 1000n],
      ['silent', 'credited', 1000n],
      ['card_expired', 'canceled', 0n],
      ['wrong-sum', 'review', 0n],
      ['wrong-currency', 'review', 0n],
    ] as const) {
      it(`is ${phase} by the button \`${button}\` of its page`, async () => {
        const { id, payUrl: url } = await order();
        const payUrl = url ?? expect.fail('it has no page');
        const page = await fetch(payUrl);
        expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'");
        expect(await page.text()).to.contain(`value="${button}"`);
        const reply = await press(payUrl, button);
        expect([reply.status, reply.headers.get('location')]).to.deep.equal([303, `${gateway.url}/account/wallet`]);
        if (button === 'silent') await pollSoon(gateway.store, id);
        await reaches(id, phase);
        expect(await topped()).to.equal(sum * RUB);
        await gateway.checkMoney();
      });
    }

    it('survives a restart of the gateway, and can be refunded on its page', async () => {
      const { id, ref } = await order();
      await gateway.stop();
      gateway = await startGateway({ catalog, folder, env: ENV });
      const payUrl = `${gateway.url}/payments/sandbox/page/${ref}`;
      await press(payUrl, 'paid');
      await reaches(id, 'credited');
      const reply = await press(payUrl, 'half');
      expect([reply.status, reply.headers.get('location')]).to.deep.equal([303, `./${ref}`]);
      await reaches(id, 'partly_refunded');
      await press(payUrl, 'refund');
      await reaches(id, 'refunded');
      expect(await topped()).to.equal(0n);
      await gateway.checkMoney();
    });
  });
});
