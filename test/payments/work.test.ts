// What a provider is asked and which links are accepted: nothing twice, nothing too late, no link to another host.
import { expect } from 'chai';
import { DAY_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import type { NewPayment } from '../../lib/money/payment.ts';
import { NOT_ACCEPTED, parseRefunds } from '../../lib/money/payment.ts';
import { requestRefund } from '../../lib/payments/operator.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import type { PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { RUB, type StoreKind } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`work on payments on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  beforeEach(() => {
    service = use.service();
  });
  const provider = () => service.payments.providers()[0]?.provider as PaymentProvider;
  const ask = (id: string, more: { readonly at?: number; readonly rub?: bigint } = {}) => {
    const { at = stage.now(), rub = 100n } = more;
    return requestRefund(stage.store, id, { at, amount: rub * RUB, reason: 'wish' });
  };

  const links: readonly (readonly [url: string, isKept: boolean])[] = [
    ['https://pay.example.com/1', true],
    ['http://pay.example.com/1', false],
    ['ftp://pay.example.com/1', false],
    ['https://payer@pay.example.com/1', false],
    ['https://:word@pay.example.com/1', false],
    ['https://pay.example.com:8443/1', false],
    ['https://pay.example.com.evil.example/1', false],
    ['https://gate.example.com/payments/till/page/1', false],
    ['javascript:alert(1)//pay.example.com', false],
    ['no link', false],
  ];
  for (const [url, isKept] of links) {
    it(`${isKept ? 'sends' : 'never sends'} its payer to ${url}`, async () => {
      const start = provider().start;
      Object.assign(provider(), {
        start: async (...asked: Parameters<typeof start>) => ({ ...(await start(...asked)), payUrl: url }),
      });
      const payment = await stage.order(service);
      expect([payment.phase, payment.payUrl]).to.deep.equal(['pending', isKept ? url : null]);
    });
  }

  it('accepts a loopback link only without real money', async () => {
    const payUrl = 'http://127.0.0.1:9/1';
    const start = provider().start;
    const play = { start: async (...asked: Parameters<typeof start>) => ({ ...(await start(...asked)), payUrl }) };
    Object.assign(provider(), { ...play, redirectHosts: ['127.0.0.1:9'], live: false });
    expect((await stage.order(service)).payUrl).to.equal(payUrl);
    Object.assign(provider(), { live: true });
    expect((await stage.order(service)).payUrl).to.equal(null);
  });

  /** Another gateway, and the failures that it counts. */
  const openCounted = () => {
    const failures: string[] = [];
    const counts = {
      onOrder() {},
      onCredit() {},
      onWebhook() {},
      onFailure: (...told: string[]) => void failures.push(...told),
    };
    return { ...stage.service('own_2', stage.store, counts), failures };
  };

  it('counts it as a failure if a provider is asked about one payment and tells of another', async () => {
    const { payments, failures } = openCounted();
    const { id, ref } = await stage.order(service);
    const other = await stage.order(service);
    stage.bank.payments.set(ref ?? '', { ...stage.bank.pay(other.id), order: id });
    stage.aheadMs = MINUTE_MS;
    const after = await payments.poll(id);
    expect(after).to.include({ phase: 'pending', credited: 0n, owner: null });
    expect(after?.dueAt).to.be.above(stage.now() + MINUTE_MS / 2);
    expect(failures).to.deep.equal(['till', 'protocol']);
  });

  it('counts it as a failure if a provider begins an order as the payment of another', async () => {
    const { payments, failures } = openCounted();
    const { ref } = await stage.order(service);
    const open = payments.providers()[0]?.provider as PaymentProvider;
    const start = open.start;
    Object.assign(open, {
      start: async (...asked: Parameters<typeof start>) => ({ ...(await start(...asked)), id: ref }),
    });
    const order = {
      wallet: stage.wallet,
      provider: 'till',
      amount: 1000n * RUB,
      locale: 'en',
      saveMethod: false,
    } as const;
    const made = await payments.order(order);
    expect(made).to.include({ phase: 'created', ref: null, owner: null });
    expect(made.dueAt).to.be.above(stage.now());
    expect(failures).to.deep.equal(['till', 'protocol']);
  });

  it('keeps the lease of an order while its provider may still answer', async () => {
    const faults = createFaultyStore(stage.store);
    let made: NewPayment | undefined;
    faults.next('payments.create', (call, [start]) => {
      made = start as NewPayment;
      return call();
    });
    await stage.order(stage.service('own_slow', faults.store));
    expect(Number(made?.lease) - Number(made?.createdAt)).to.equal(30_000);
  });

  for (const status of [401, 403]) {
    it(`ends an order at once that its provider answers with ${status}, tells everybody, and never starts it later`, async () => {
      stage.bank.hook = () => status;
      const made: string[] = [];
      for (let count = 0; count < 11; count += 1) {
        const { id, phase, reason, dueAt } = await stage.order(service);
        expect([phase, reason, dueAt]).to.deep.equal(['failed', NOT_ACCEPTED, null]);
        made.push(id);
      }
      expect(stage.lines.filter(({ level }) => level === 'error')).to.have.length(11);
      stage.bank.hook = () => undefined;
      stage.bank.asked.clear();
      await stage.letTimePass();
      service.payments.start();
      for (const id of made) await service.payments.poll(id);
      expect([...stage.bank.asked], 'asked later').to.deep.equal([]);
      expect((await stage.order(service)).phase).to.equal('pending');
      expect(stage.bank.payments.size).to.equal(1);
    });
  }

  it('ends an order whose first answer was lost and whose provider then refuses the account', async () => {
    stage.bank.hook = () => 500;
    const { id, phase } = await stage.order(service);
    expect(phase).to.equal('created');
    stage.bank.hook = () => 401;
    await stage.letTimePass();
    service.payments.start();
    await until(async () => (await stage.payment(id)).phase === 'failed');
    expect((await stage.payment(id)).reason).to.equal(NOT_ACCEPTED);
  });

  it('searches for an earlier charge if the provider refuses the account, and never charges again', async () => {
    await stage.credited(service);
    const method = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
    await stage.store.payments.changeAutoTopup(newAuto(stage.wallet, { method: method.id }));
    const auto = (await stage.store.payments.autoTopup(stage.wallet)) as AutoTopupRow;
    stage.bank.charges = 'pay';
    // The card was charged, but the answer was lost.
    stage.bank.hook = (asked, when) =>
      asked === 'start' && when === 'after' ? Promise.reject(new Error('lost')) : undefined;
    const wish = { wallet: stage.wallet, amount: 500n * RUB, locale: 'en', method: method.id } as const;
    const made = await service.payments.charge(wish, (order) => ({ ...auto, order }));
    expect(made?.phase).to.equal('created');
    stage.bank.hook = () => 401;
    await stage.letTimePass();
    service.payments.start();
    const id = made?.id ?? '';
    await until(async () => (await stage.payment(id)).reason === NOT_ACCEPTED);
    expect((await stage.payment(id)).phase).to.equal('created');
    stage.bank.hook = () => undefined;
    stage.bank.asked.clear();
    await stage.letTimePass();
    await until(async () => (await stage.payment(id)).phase === 'credited', 20_000);
    expect([stage.bank.asked.get('start'), stage.bank.ofOrder(id).length]).to.deep.equal([undefined, 1]);
  });

  const WITHDRAWALS: readonly (readonly [what: string, change: Partial<AutoTopupRow> | undefined])[] = [
    ['the automatic top-up was turned off', { enabled: false }],
    ['another card was chosen', { method: 'pm_other' }],
    ['the account was suspended', undefined],
  ];
  for (const wasMade of [false, true]) {
    for (const [what, change] of WITHDRAWALS) {
      it(`never sends a charge again after ${what}${wasMade ? ', but finds the one that was made' : ''}`, async () => {
        await stage.credited(service);
        const method = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
        await stage.store.payments.changeAutoTopup(newAuto(stage.wallet, { method: method.id }));
        const auto = (await stage.store.payments.autoTopup(stage.wallet)) as AutoTopupRow;
        stage.bank.charges = 'pay';
        stage.bank.hook = (_, when) =>
          when === (wasMade ? 'after' : 'before') ? Promise.reject(new Error()) : undefined;
        const wish = { wallet: stage.wallet, amount: 500n * RUB, locale: 'en', method: method.id } as const;
        const { id = '' } = (await service.payments.charge(wish, (order) => ({ ...auto, order }))) ?? {};
        const claimed = (await stage.store.payments.autoTopup(stage.wallet)) as AutoTopupRow;
        if (change) await stage.store.payments.changeAutoTopup({ ...claimed, ...change });
        else await stage.store.accounts.setStatus(stage.wallet, 'suspended');
        stage.bank.hook = () => undefined;
        stage.bank.asked.clear();
        await stage.letTimePass();
        service.payments.start();
        await until(async () => stage.bank.asked.has('find'), 20_000);
        if (wasMade) await until(async () => (await stage.payment(id)).phase === 'credited', 20_000);
        expect([stage.bank.asked.get('start'), stage.bank.ofOrder(id).length]).to.deep.equal([
          undefined,
          wasMade ? 1 : 0,
        ]);
      });
    }
  }

  it('does not schedule a payment that is not due if its provider fails', async () => {
    const payment = await stage.credited(service);
    stage.bank.hook = () => 500;
    expect(await service.payments.poll(payment.id)).to.deep.equal(payment);
    expect(await stage.payment(payment.id)).to.deep.equal(payment);
  });

  it('sends a refund once, however many are requested after it', async () => {
    const { id } = await stage.credited(service);
    stage.bank.refunds = 'pending';
    for (let count = 1; count <= 3; count += 1) {
      await ask(id);
      await service.payments.poll(id);
      expect(stage.bank.asked.get('refund')).to.equal(count);
    }
    expect(stage.bank.ofOrder(id)[0]?.refunds.length).to.equal(3);
  });

  it('never sends a refund whose key the provider may have forgotten', async () => {
    const { id } = await stage.credited(service);
    await ask(id, { at: stage.now() - DAY_MS });
    const payment = await service.payments.poll(id);
    expect(stage.bank.asked.get('refund')).to.equal(undefined);
    expect(parseRefunds(payment ?? expect.fail('it is gone')).map(({ state }) => state)).to.deep.equal(['asked']);
    await ask(id);
    await service.payments.poll(id);
    expect(stage.bank.asked.get('refund')).to.equal(1);
  });

  it('refuses a refund if the provider has none', async () => {
    const { id } = await stage.credited(service);
    Object.assign(provider(), { refund: undefined });
    await ask(id);
    const payment = await service.payments.poll(id);
    const [refund] = parseRefunds(payment ?? expect.fail('it is gone'));
    expect([refund?.state, payment?.dueAt]).to.deep.equal(['refused', null]);
    expect(refund?.reason).to.include('gives nothing back');
  });
}
