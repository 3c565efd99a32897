// The payments service against a bank: what is credited once, and what is not.
import { mock } from 'node:test';
import { expect } from 'chai';
import { HOUR_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import { NOT_ACCEPTED } from '../../lib/money/payment.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { decideReview } from '../../lib/payments/operator.ts';
import { parseOrderFacts } from '../../lib/payments/order-facts.ts';
import { until } from '../../testkit/client.ts';
import { makeGate } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { RUB, rejection, type StoreKind } from '../contract/store/context.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`payments on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  beforeEach(() => {
    service = use.service();
  });
  const refOf = (payment: Payment) => stage.refOf(payment);
  const credited = (rub?: number) => stage.credited(service, rub);

  it('remove webhooks older than half a year, every six hours', async () => {
    const { payments } = stage.store;
    const keptMs = 180 * 24 * HOUR_MS;
    const add = (id: string, ageMs: number) =>
      payments.addWebhook({
        id,
        provider: 'till',
        at: Date.now() - ageMs,
        address: '127.0.0.1',
        headers: '{}',
        body: '{}',
        verdict: 'done',
        detail: '',
      });
    await add('old', keptMs + HOUR_MS);
    await add('young', keptMs - HOUR_MS);
    const left = async () => (await payments.webhooks({ limit: 10 })).map(({ id }) => id);
    let cleaned = 0;
    const clean = service.store.payments.removeOldWebhooks;
    Object.assign(service.store.payments, {
      removeOldWebhooks(before: number) {
        cleaned += 1;
        return clean(before);
      },
    });
    // Only for a moment in which nothing else runs in this process.
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    try {
      service.payments.start();
      mock.timers.tick(6 * HOUR_MS - 1);
      expect(cleaned).to.equal(0);
      mock.timers.tick(1);
      expect(cleaned).to.equal(1);
    } finally {
      mock.timers.reset();
    }
    await until(async () => (await left()).length === 1);
    // The first time it removes some, so there may be more.
    await until(() => cleaned === 2);
    Object.assign(service.store.payments, { removeOldWebhooks: clean });
    expect([await left(), cleaned]).to.deep.equal([['young'], 2]);
  });

  describe('an order', () => {
    it('gets a link, and is credited when its payer returns', async () => {
      const payment = await stage.order(service);
      expect(payment).to.include({ phase: 'pending', ref: refOf(payment), test: false });
      expect(payment.payUrl).to.match(/^https:\/\/pay\.example\.com\//);
      // Nobody can have paid it yet.
      expect(stage.bank.asked.get('fetch')).to.equal(undefined);
      expect((await service.payments.poll(payment.id))?.phase).to.equal('pending');
      stage.bank.pay(payment.id);
      expect((await service.payments.poll(payment.id))?.phase).to.equal('credited');
      expect(await stage.topped()).to.equal(1000n * RUB);
      expect(service.changes.map(({ phase }) => phase)).to.deep.equal(['pending', 'succeeded', 'credited']);
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('carries what its owner chose, in the language of the owner', async () => {
      const asked = {
        wallet: stage.wallet,
        provider: 'till',
        amount: 1234n * RUB + 560_000n,
        saveMethod: false,
      } as const;
      const russian = await service.payments.order({ ...asked, locale: 'ru', method: 'sbp', email: 'ann@example.com' });
      expect(parseOrderFacts(russian)).to.deep.equal({
        description: 'Пополнение баланса на 1234,56 руб.',
        returnUrl: `https://gate.example.com/account/wallet?order=${russian.id}`,
        pageUrl: 'https://gate.example.com/payments/till/page',
        ...{ locale: 'ru', saveMethod: false, method: 'sbp', email: 'ann@example.com' },
      });
      const english = parseOrderFacts(await service.payments.order({ ...asked, locale: 'en' }));
      expect(english)
        .to.include({ description: 'Top-up 1234.56 RUB', locale: 'en' })
        .and.to.not.have.property('method');
    });

    it('is leased to its process while the bank may still answer', async () => {
      const leases: number[] = [];
      stage.bank.hook = async () => {
        const [row] = await stage.store.payments.list({ wallet: stage.wallet, limit: 1 });
        leases.push((row?.lease ?? 0) - (row?.createdAt ?? 0));
        return undefined;
      };
      await stage.order(service);
      expect(leases[0]).to.equal(30_000);
    });

    it('does not delay a stop of the service, and stays `created`', async () => {
      const gate = makeGate();
      let isAsked = false;
      stage.bank.hook = async () => {
        isAsked = true;
        await gate.opened;
        return undefined;
      };
      const ordering = stage.order(service);
      await until(() => isAsked);
      await service.payments.stop();
      expect(await ordering).to.include({ phase: 'created', ref: null });
      gate.open();
    });

    it('is at least 1000 RUB before the first payment, even beside another open order, and 1 RUB later', async () => {
      await stage.order(service, 1000);
      const error = await rejection(stage.order(service, 999));
      expect(String(error)).to.match(/at least 1000\b/);
      expect(await service.payments.minimumOrder(stage.wallet)).to.equal(1000n * RUB);
      await credited();
      expect((await stage.order(service, 1)).phase).to.equal('pending');
      for (const amount of [0n, RUB / 100n, 1_000_001n, 2_000_000n * RUB]) {
        expect(String(await rejection(stage.order(service, 1, { amount })))).to.match(/must be/);
      }
      expect(String(await rejection(stage.order(service, 400_000, { method: 'card' })))).to.include('at most 350000');
      expect(String(await rejection(stage.order(service, 5, { provider: 'other' })))).to.include('provider');
    });

    it('is refused beyond ten open ones', async () => {
      for (let count = 0; count < 10; count += 1) await stage.order(service);
      expect(String(await rejection(stage.order(service)))).to.include('too many orders');
    });

    it('is refused beyond ten open ones while the bank is down', async () => {
      stage.bank.hook = () => 500;
      for (let count = 0; count < 10; count += 1) expect((await stage.order(service)).phase).to.equal('created');
      expect(String(await rejection(stage.order(service)))).to.include('too many orders');
    });

    it('fails if the bank refuses it, and tells its payer why', async () => {
      stage.bank.hook = (asked) => (asked === 'start' ? 400 : undefined);
      const payment = await stage.order(service);
      expect(payment).to.include({ phase: 'failed', dueAt: null, ref: null });
      expect(payment.reason).to.include('refused');
      stage.bank.hook = (asked) => (asked === 'start' ? 401 : undefined);
      expect(await stage.order(service)).to.include({ phase: 'failed', reason: NOT_ACCEPTED });
    });

    it('continues with the same key after a lost answer, and starts one payment', async () => {
      stage.bank.hook = (asked, when) => {
        if (asked === 'start' && when === 'after') throw new Error('lost');
        return undefined;
      };
      const payment = await stage.order(service);
      expect([payment.phase, stage.bank.payments.size]).to.deep.equal(['created', 1]);
      stage.bank.hook = () => undefined;
      await stage.letTimePass();
      service.payments.start();
      await until(async () => (await stage.payment(payment.id)).phase === 'pending', 10_000);
      expect(stage.bank.payments.size).to.equal(1);
      expect((await stage.payment(payment.id)).payUrl).to.match(/^https/);
    });

    it('is found after a lost answer even if the bank refuses its repeat', async () => {
      stage.bank.hook = (asked, when) => {
        if (asked === 'start' && when === 'after') throw new Error('lost');
        return undefined;
      };
      const payment = await stage.order(service);
      stage.bank.pay(payment.id);
      stage.bank.hook = (asked) => (asked === 'start' ? 400 : undefined);
      await stage.letTimePass();
      service.payments.start();
      await until(async () => (await stage.payment(payment.id)).phase === 'credited', 10_000);
      expect(await stage.topped()).to.equal(1000n * RUB);
    });

    it('is searched by its id once its key is too old, and never started again', async () => {
      stage.bank.hook = (asked, when) => {
        if (asked === 'start' && when === 'after') throw new Error('lost');
        return undefined;
      };
      const lost = await stage.order(service);
      const never = await stage.order(service);
      stage.bank.payments.delete(refOf(never) ?? '');
      stage.bank.pay(lost.id);
      const before = stage.bank.asked.get('start');
      stage.aheadMs = 25 * HOUR_MS;
      await stage.letTimePass();
      service.payments.start();
      await until(async () => (await stage.payment(lost.id)).phase === 'credited', 10_000);
      await until(async () => (await stage.payment(never.id)).phase === 'failed', 10_000);
      expect(stage.bank.asked.get('start')).to.equal(before);
      expect(await stage.topped()).to.equal(1000n * RUB);
    });

    it('never sends its payer to a host that is not the provider’s', async () => {
      const open = service.payments.providers()[0];
      const start = open?.provider.start;
      if (!open || !start) throw new Error('there is no till');
      Object.assign(open.provider, {
        start: async (...args: Parameters<typeof start>) => ({
          ...(await start(...args)),
          payUrl: 'https://evil.example/',
        }),
      });
      const payment = await stage.order(service);
      expect(payment).to.include({ phase: 'pending', payUrl: null });
      expect(stage.lines.some(({ message }) => message.includes('not allowed'))).to.equal(true);
    });
  });

  it('are paid on a page of the gateway only without real money', async () => {
    for (const live of [false, true]) {
      stage.settings = { live };
      const own = stage.service(`own_${live}`);
      const provider = own.payments.providers()[0]?.provider;
      const start = provider?.start;
      if (!provider || !start) throw new Error('there is no till');
      Object.assign(provider, {
        start: async (...[order, signal]: Parameters<typeof start>) => {
          return { ...(await start(order, signal)), payUrl: `${order.pageUrl}/1` };
        },
      });
      const { payUrl } = await stage.order(own);
      expect(payUrl).to.equal(live ? null : 'https://gate.example.com/payments/till/page/1');
    }
  });

  describe('a credit', () => {
    it('happens once for five copies of a webhook, the return page and two gateways that poll at the same time', async () => {
      const other = stage.service('own_2', await stage.openStore());
      const payment = await stage.order(service);
      stage.bank.pay(payment.id);
      const ref = refOf(payment);
      for (const one of [service, other]) one.payments.start();
      stage.aheadMs = 6000;
      const webhooks = [service, other, service, other, service].map((one) => stage.sendWebhook(one, ref));
      const looks = [service, other].map((one) => one.payments.poll(payment.id));
      expect(await Promise.all(webhooks)).to.deep.equal(['done', 'done', 'done', 'done', 'done']);
      await Promise.all(looks);
      await until(async () => (await stage.payment(payment.id)).phase === 'credited');
      expect(await stage.topped()).to.equal(1000n * RUB);
      const entries = await stage.store.ledger.entries(stage.wallet, { limit: 10 });
      expect(entries.map(({ opId }) => opId)).to.deep.equal([`pay:till:${ref}`]);
    });

    it('does not follow a forged webhook', async () => {
      const payment = await stage.order(service);
      expect(await stage.sendWebhook(service, refOf(payment))).to.equal('done');
      expect(await stage.sendWebhook(service, 'bp-unknown')).to.equal('done');
      expect(await stage.sendWebhook(service, undefined)).to.equal('rejected');
      expect(await service.payments.handleWebhook('till', { headers: {}, body: '{', address: '' })).to.equal(
        'rejected',
      );
      expect(await service.payments.handleWebhook('nobody', { headers: {}, body: '{}', address: '' })).to.equal(
        undefined,
      );
      expect([(await stage.payment(payment.id)).phase, await stage.topped()]).to.deep.equal(['pending', 0n]);
      const webhooks = await stage.store.payments.webhooks({ limit: 4 });
      expect(webhooks.map(({ verdict }) => verdict)).to.have.members(['done', 'foreign', 'rejected', 'rejected']);
    });

    it('follows a repeated webhook if the first one could not be processed', async () => {
      const payment = await stage.order(service);
      stage.bank.pay(payment.id);
      stage.bank.hook = (asked) => {
        if (asked === 'fetch') throw new Error('down');
        return undefined;
      };
      expect(await stage.sendWebhook(service, refOf(payment))).to.equal('again');
      expect((await stage.store.payments.webhooks({ limit: 1 }))[0]).to.include({
        verdict: 'failed',
        detail: 'server',
      });
      expect(await stage.topped()).to.equal(0n);
      stage.bank.hook = () => undefined;
      expect(await stage.sendWebhook(service, refOf(payment))).to.equal('done');
      expect(await stage.topped()).to.equal(1000n * RUB);
    });

    it('follows a webhook that arrives before the bank’s answer to the order is read', async () => {
      let noticed: Promise<unknown> | undefined;
      stage.bank.hook = async (asked, when) => {
        if (asked !== 'start' || when !== 'after') return undefined;
        const [payment] = stage.bank.payments.values();
        if (payment?.order) stage.bank.pay(payment.order);
        noticed = stage.sendWebhook(service, payment?.id);
        await noticed;
        return undefined;
      };
      const payment = await stage.order(service);
      expect(await noticed).to.equal('done');
      expect(payment.phase).to.equal('credited');
      expect(await stage.topped()).to.equal(1000n * RUB);
    });

    it('keeps the link of the order if the webhook arrives first', async () => {
      stage.bank.hook = async (asked, when) => {
        if (asked !== 'start' || when !== 'after') return undefined;
        const [payment] = stage.bank.payments.values();
        expect(await stage.sendWebhook(service, payment?.id)).to.equal('done');
        return undefined;
      };
      const payment = await stage.order(service);
      expect(payment.phase).to.equal('pending');
      expect(payment.payUrl).to.match(/^https/);
    });

    for (const [name, wrong] of Object.entries({
      sum: { amount: String(999n * RUB) },
      currency: { currency: 'USD' },
      shop: { shop: 'shop-2' },
      'test flag': { test: true },
    })) {
      it(`does not follow a payment with another ${name}: an operator decides, once`, async () => {
        const payment = await stage.order(service);
        stage.bank.pay(payment.id, wrong);
        const reviewed = await service.payments.poll(payment.id);
        expect([reviewed?.phase, await stage.topped()]).to.deep.equal(['review', 0n]);
        expect(reviewed?.reason).to.include(name.split(' ')[0]);
        await stage.sendWebhook(service, refOf(payment));
        expect(await stage.topped()).to.equal(0n);
        const decide = (credit: bigint | null) =>
          decideReview(stage.store, payment.id, { at: stage.now(), reason: 'seen', credit });
        const found = await Promise.all([decide(999n * RUB), decide(null)]);
        const done = found.filter(({ status }) => status === 'done');
        expect(done.length).to.equal(1);
        const last = await stage.payment(payment.id);
        expect(await stage.topped()).to.equal(last.phase === 'credited' ? 999n * RUB : 0n);
        expect((await decide(5n * RUB)).status).to.equal('refused');
        expect(await stage.problems()).to.deep.equal([]);
      });
    }

    it('does not follow a payment that names another order', async () => {
      const one = await stage.order(service);
      const other = await stage.order(service);
      const paid = stage.bank.pay(one.id);
      paid.order = other.id;
      expect((await service.payments.poll(one.id))?.phase).to.equal('review');
      expect(await stage.sendWebhook(service, paid.id)).to.equal('done');
      expect((await stage.payment(other.id)).phase).to.equal('pending');
      expect(await stage.topped()).to.equal(0n);
    });

    it('follows a success after the link has expired', async () => {
      const payment = await stage.order(service);
      stage.aheadMs = 2 * HOUR_MS;
      expect((await service.payments.poll(payment.id))?.phase).to.equal('expired');
      stage.bank.pay(payment.id);
      stage.aheadMs += HOUR_MS + MINUTE_MS;
      await stage.letTimePass();
      service.payments.start();
      await until(async () => (await stage.payment(payment.id)).phase === 'credited', 10_000);
      expect(await stage.topped()).to.equal(1000n * RUB);
    });

    it('is not polled a day after its link expired, only when somebody asks', async () => {
      const payment = await stage.order(service);
      stage.aheadMs = 26 * HOUR_MS;
      const expired = await service.payments.poll(payment.id);
      expect(expired).to.include({ phase: 'expired', dueAt: null });
      stage.bank.pay(payment.id);
      expect((await service.payments.poll(payment.id))?.phase).to.equal('credited');
    });

    it('does not follow a decline', async () => {
      for (const [reason, phase] of [
        [{ kind: 'soft', code: 'insufficient_funds' }, 'canceled'],
        [{ kind: 'expired', code: 'expired_on_confirmation' }, 'expired'],
        [{ kind: 'technical', code: 'issuer_unavailable' }, 'failed'],
      ] as const) {
        const payment = await stage.order(service);
        stage.bank.pay(payment.id, { status: 'canceled', reason });
        expect(await service.payments.poll(payment.id)).to.include({ phase, reason: reason.code, dueAt: null });
        await service.payments.poll(payment.id);
      }
      expect(await stage.topped()).to.equal(0n);
    });
  });
}
