// `yookassa` in trouble: lost answers, used keys, refusals, and secrets that must not leak.
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import type { PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import plugin from '../../payments/yookassa/index.ts';
import { makeOrder, makeRefund, openPayments, RUB } from '../../testkit/payments.ts';
import { broken, type Mishap, tooMany, type YooKassa } from '../../testkit/yookassa.ts';
import { signal, thrownBy, VendorStage } from './stage.ts';

/** An abort stands for any clock of the caller's. */
const SHORT_MS = 100;

describe('yookassa in trouble', () => {
  const stage = new VendorStage();
  let vendor: YooKassa;
  let provider: PaymentProvider;
  beforeEach(async () => {
    provider = await stage.open({ autopayments: true });
    vendor = stage.vendor;
  });
  afterEach(() => stage.close());

  const gateway: Mishap['answer'] = { status: 502, body: '<html><body>502 Bad Gateway</body></html>' };
  const UNKNOWN: Readonly<Record<string, Mishap['answer']>> = {
    'a 500': broken(true).answer,
    'an answer that never comes': 'hang',
    'a connection that breaks': 'reset',
    'a proxy that fails': gateway,
    'an answer that is no JSON': { status: 200, body: 'OK' },
  };

  describe('an unknown outcome', () => {
    for (const [what, answer] of Object.entries(UNKNOWN)) {
      for (const done of [true, false]) {
        it(`after ${what} is one payment in the end, whether it was made (${done}) or not`, async () => {
          const order = makeOrder();
          vendor.go({ done, answer });
          const patience = answer === 'hang' ? AbortSignal.timeout(SHORT_MS) : signal;
          const error = await thrownBy(provider.start(order, patience));
          if (answer !== 'hang') {
            expect(isUpstreamFault(error), String(error)).to.equal(true);
            expect(['network', 'timeout', 'server', 'overloaded', 'protocol']).to.include(error.kind);
          }
          expect(vendor.shop.payments.size).to.equal(done ? 1 : 0);
          const { id } = await provider.start(order, signal);
          expect([...vendor.shop.payments.keys()]).to.deep.equal([id]);
        });
      }
    }

    it('charges a saved method once', async () => {
      const { id } = await provider.start(makeOrder({ saveMethod: true }), signal);
      vendor.shop.pay(id);
      const { saved } = await provider.fetch({ id }, signal);
      if (!saved) expect.fail('it was not saved');
      const order = makeOrder({ amount: 500n * RUB });
      vendor.go(broken(true), broken(false));
      expect(await thrownBy(provider.charge?.(order, saved, signal))).to.include({ kind: 'server' });
      expect(await thrownBy(provider.charge?.(order, saved, signal))).to.include({ kind: 'server' });
      expect(await provider.charge?.(order, saved, signal)).to.include({ status: 'succeeded', order: order.id });
      expect(vendor.shop.payments.size).to.equal(2);
    });

    it('refunds once', async () => {
      const { id } = await provider.start(makeOrder(), signal);
      vendor.shop.pay(id);
      const order = makeRefund(id, { amount: 500n * RUB });
      vendor.go({ done: true, answer: 'reset' });
      expect(await thrownBy(provider.refund?.(order, signal))).to.include({ kind: 'network' });
      const refund = await provider.refund?.(order, signal);
      expect((await provider.fetch({ id }, signal)).refunds).to.deep.equal([refund]);
    });
  });

  describe('an order whose answer was lost a day ago', () => {
    it('is found by its id in the metadata, many pages back', async () => {
      const order = makeOrder();
      vendor.go(broken(true));
      await thrownBy(provider.start(order, signal));
      const [id = ''] = vendor.shop.payments.keys();
      vendor.shop.pay(id);
      vendor.advance(DAY_MS / 2);
      for (let at = 0; at < 250; at += 1)
        vendor.shop.create({
          amount: { value: '1.00', currency: 'RUB' },
          confirmation: {},
          metadata: { order_id: `pay_${at}` },
        });
      vendor.advance(DAY_MS / 2);
      expect(await provider.find(order, signal)).to.include({ id, status: 'succeeded', order: order.id });
      const pages = vendor.asked.filter(({ method, path }) => method === 'GET' && path === '/v3/payments');
      expect(pages.map(({ query }) => query.get('limit'))).to.deep.equal(['100', '100', '100']);
    });

    it('does not exist if no payment has its id', async () => {
      await provider.start(makeOrder(), signal);
      expect(await provider.find(makeOrder(), signal)).to.equal(undefined);
    });

    it('is searched among payments since the order, with a margin for different clocks', async () => {
      const order = makeOrder();
      vendor.advance(-300_000);
      const { id } = await provider.start(order, signal);
      expect(await provider.find(order, signal)).to.include({ id });
      expect(await provider.find({ ...order, createdAt: order.createdAt + 2 * DAY_MS }, signal)).to.equal(undefined);
    });

    it('is found if it was paid for at the end of the life of its key, by a clock that runs ahead', async () => {
      const order = makeOrder();
      vendor.advance(provider.keysLiveMs + 300_000);
      const { id } = await provider.start(order, signal);
      expect(await provider.find(order, signal)).to.include({ id });
    });

    it('is not reported as missing if a page cannot be read', async () => {
      vendor.go(broken(false));
      expect(await thrownBy(provider.find(makeOrder(), signal))).to.include({ kind: 'server' });
    });

    it('is not sent again if the vendor may have forgotten its key', () => {
      expect(provider.keysLiveMs).to.be.within(DAY_MS / 2, DAY_MS - 1);
    });
  });

  describe('a used key', () => {
    it('returns the payment of the same order with a changed body', async () => {
      const order = makeOrder();
      const first = await provider.start(order, signal);
      const changed = stage.reopen({ methods: ['sbp'] });
      expect(await changed.start({ ...order, description: 'In other words' }, signal)).to.deep.equal(first);
      expect(vendor.shop.payments.size).to.equal(1);
    });

    it('fails without a payment if another order used it', async () => {
      const { idempotenceKey } = makeOrder();
      await provider.start(makeOrder({ idempotenceKey }), signal);
      expect(await thrownBy(provider.start(makeOrder({ idempotenceKey }), signal))).to.include({ kind: 'protocol' });
      expect(vendor.shop.payments.size).to.equal(1);
    });

    it('returns the refund if the same refund used it', async () => {
      const { id } = await provider.start(makeOrder(), signal);
      vendor.shop.pay(id);
      const order = makeRefund(id, { amount: 500n * RUB });
      const first = await provider.refund?.(order, signal);
      expect(await provider.refund?.({ ...order, reason: 'In other words' }, signal)).to.deep.equal(first);
      const other = makeRefund(id, { idempotenceKey: order.idempotenceKey, amount: 500n * RUB });
      expect(await thrownBy(provider.refund?.(other, signal))).to.include({ kind: 'protocol' });
      expect(vendor.shop.refunds.size).to.equal(1);
    });

    it('is refused if it has more than 64 characters', async () => {
      const error = await thrownBy(provider.start(makeOrder({ idempotenceKey: 'k'.repeat(65) }), signal));
      expect(error).to.include({ kind: 'protocol' });
      expect(vendor.shop.payments.size).to.equal(0);
    });
  });

  describe('a refusal', () => {
    it('of too many requests is retryable', async () => {
      vendor.go(tooMany);
      expect(await thrownBy(provider.start(makeOrder(), signal))).to.include({ kind: 'rate', status: 429 });
    });

    it('of the secret is an `auth` fault', async () => {
      const other = stage.reopen({ secret: 'test_of-another-shop' });
      expect(await thrownBy(other.start(makeOrder(), signal))).to.include({ kind: 'auth', status: 401 });
      expect(vendor.shop.payments.size).to.equal(0);
    });

    it('of an unknown id is a `missing` fault', async () => {
      const id = '23d93cac-000f-5000-8000-126628f15141';
      expect(await thrownBy(provider.fetch({ id }, signal))).to.include({ kind: 'missing' });
    });

    it('of a foreign id does not leave its URL path', async () => {
      expect(await thrownBy(provider.fetch({ id: '../refunds?limit=1' }, signal))).to.include({ kind: 'missing' });
      expect(vendor.asked.at(-1)?.path).to.equal('/v3/payments/..%2Frefunds%3Flimit%3D1');
    });

    it('by the rules of the shop is a `request` fault', async () => {
      const error = await thrownBy(provider.start(makeOrder({ amount: 700_001n * RUB }), signal));
      expect(error).to.include({ kind: 'request', status: 400 });
    });
  });

  it('contains no secret, even if the vendor repeats one', async () => {
    const pair = Buffer.from(`${vendor.shopId}:${vendor.secret}`).toString('base64');
    const body = `you sent ${vendor.secret} as Basic ${pair}`;
    const answers: Mishap['answer'][] = [400, 401, 403, 404, 429, 500, 200].map((status) => ({ status, body }));
    for (const answer of answers) {
      vendor.go({ done: false, answer });
      const error = await thrownBy(provider.start(makeOrder(), signal));
      const told = [error.detail, error.message, error.stack, JSON.stringify(error)].join('\n');
      expect(told).not.to.contain(vendor.secret);
      expect(told).not.to.contain(pair.slice(0, 40));
    }
    expect(JSON.stringify(stage.opened.map(({ logged }) => logged))).not.to.contain(vendor.secret);
    expect(stage.opened[0]?.secrets).to.deep.equal([vendor.secret]);
  });

  describe('settings', () => {
    const mistakeOf = (settings: object) => {
      try {
        openPayments(plugin, settings);
      } catch (error) {
        return String(error);
      }
      return expect.fail('they were taken');
    };
    const GOOD = { shopId: '506751', secret: 'live_a-secret-of-a-shop' };

    it('default to the vendor’s URL, with real money unless the secret is a test secret', () => {
      const open = openPayments(plugin, GOOD);
      expect([open.origin, open.provider.live, open.provider.shop]).to.deep.equal([
        'https://api.yookassa.ru',
        true,
        '506751',
      ]);
      expect(provider.live).to.equal(false);
      expect(open.provider.limits?.card).to.deep.equal({ min: RUB, max: 350_000n * RUB });
      expect(open.provider.limits?.sbp).to.deep.equal({ min: RUB, max: 700_000n * RUB });
    });

    for (const [what, settings] of Object.entries({
      'no secret': { shopId: '506751' },
      'an empty secret': { ...GOOD, secret: '' },
      'a blank secret': { ...GOOD, secret: '   ' },
      'no shop': { secret: GOOD.secret },
      'an unknown method': { ...GOOD, methods: ['cash'] },
      'no method': { ...GOOD, methods: [] },
      'a receipt without a rate': { ...GOOD, receipt: { paymentSubject: 'service', paymentMode: 'advance' } },
      'a rate that there is not': { ...GOOD, receipt: { vatCode: 13, paymentSubject: 'x', paymentMode: 'y' } },
      'a sender that is no network': { ...GOOD, senders: ['yookassa.ru'] },
      'a sender of too many bits': { ...GOOD, senders: ['185.71.76.0/33'] },
    })) {
      it(`with ${what} do not start`, () => {
        expect(mistakeOf(settings)).to.match(/^OperatorError: Payment provider `till`: bad settings: /);
        expect(mistakeOf(settings)).not.to.contain(GOOD.secret);
      });
    }
  });
});
