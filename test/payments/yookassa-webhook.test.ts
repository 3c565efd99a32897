// Which webhooks `yookassa` accepts, and that it takes nothing from them but what to fetch.
import { expect } from 'chai';
import type { NoticeVerdict, PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import plugin from '../../payments/yookassa/index.ts';
import { openPayments } from '../../testkit/payments.ts';

const ID = '23d93cac-000f-5000-8000-126628f15141';
const SENDER = '185.71.76.1';

const settings = { shopId: '506751', secret: 'test_a-secret-of-a-shop' };

describe('webhooks of yookassa', () => {
  const provider: PaymentProvider = openPayments(plugin, settings).provider;

  function verdict(webhook: unknown, address = SENDER, from: PaymentProvider = provider): NoticeVerdict {
    const body = typeof webhook === 'string' ? webhook : JSON.stringify(webhook);
    return from.notice({ headers: { 'content-type': 'application/json' }, body, address });
  }

  const buildWebhook = (event: string, object: object) => ({ type: 'notification', event, object });

  for (const event of ['payment.succeeded', 'payment.canceled', 'payment.waiting_for_capture']) {
    it(`say by ${event} which payment to fetch`, () => {
      const object = { id: ID, status: 'succeeded', amount: { value: '1000000.00', currency: 'RUB' } };
      expect(verdict(buildWebhook(event, object))).to.deep.equal({ fetch: [ID] });
    });
  }

  it('name the refunded payment by refund.succeeded', () => {
    const object = { id: '216749f7-0016-50be-b000-078d43a63ae4', payment_id: ID, status: 'succeeded' };
    expect(verdict(buildWebhook('refund.succeeded', object))).to.deep.equal({ fetch: [ID] });
  });

  const OBJECT = { id: ID };
  for (const [what, webhook] of Object.entries({
    'that is no JSON': 'payment.succeeded',
    'that is empty': '',
    'of null': 'null',
    'of a list': [buildWebhook('payment.succeeded', OBJECT)],
    'of another type': { ...buildWebhook('payment.succeeded', OBJECT), type: 'message' },
    'of no type': { event: 'payment.succeeded', object: OBJECT },
    'of an event that nobody subscribed to': buildWebhook('payout.succeeded', OBJECT),
    'of an event named like a method of every object': buildWebhook('constructor', OBJECT),
    'without an object': { type: 'notification', event: 'payment.succeeded' },
    'whose object is a text': buildWebhook('payment.succeeded', ID as never),
    'without an id': buildWebhook('payment.succeeded', {}),
    'of an id that is a number': buildWebhook('payment.succeeded', { id: 42 }),
    'of an id that is a path': buildWebhook('payment.succeeded', { id: `../refunds/${ID}`.slice(0, 36) }),
    'of an id that is too long': buildWebhook('payment.succeeded', { id: `${ID}0` }),
    'of a refund of nothing': buildWebhook('refund.succeeded', OBJECT),
  })) {
    it(`${what} are rejected`, () => {
      expect(verdict(webhook)).to.equal('rejected');
    });
  }

  describe('from', () => {
    const WEBHOOK = buildWebhook('payment.succeeded', OBJECT);
    for (const [address, isSender] of [
      ['185.71.75.255', false],
      ['185.71.76.0', true],
      ['185.71.76.31', true],
      ['185.71.76.32', false],
      ['185.71.77.0', true],
      ['185.71.77.31', true],
      ['185.71.77.32', false],
      ['77.75.153.0', true],
      ['77.75.153.127', true],
      ['77.75.153.128', false],
      ['77.75.154.127', false],
      ['77.75.154.128', true],
      ['77.75.154.255', true],
      ['77.75.156.10', false],
      ['77.75.156.11', true],
      ['77.75.156.12', false],
      ['77.75.156.35', true],
      ['77.75.156.36', false],
      ['2a02:517f:ffff::1', false],
      ['2a02:5180::1', true],
      ['2A02:5180:FFFF:ffff:ffff:ffff:ffff:ffff', true],
      ['2a02:5181::', false],
      ['::ffff:185.71.76.5', true],
      ['::ffff:185.71.76.32', false],
      ['127.0.0.1', false],
      ['', false],
      ['185.71.76.1, 10.0.0.1', false],
    ] as const) {
      it(`${address || 'nowhere'} are ${isSender ? 'accepted' : 'rejected'}`, () => {
        expect(verdict(WEBHOOK, address)).to.deep.equal(isSender ? { fetch: [ID] } : 'rejected');
        expect(provider.isSender?.(address)).to.equal(isSender);
      });
    }

    it('the networks of the settings are accepted instead', () => {
      const own = openPayments(plugin, { ...settings, senders: ['127.0.0.0/8', '::1'] }).provider;
      expect(verdict(WEBHOOK, '127.3.2.1', own)).to.deep.equal({ fetch: [ID] });
      expect(verdict(WEBHOOK, '::1', own)).to.deep.equal({ fetch: [ID] });
      expect(verdict(WEBHOOK, SENDER, own)).to.equal('rejected');
      const one = openPayments(plugin, { ...settings, senders: ['127.0.0.0/8'] }).provider;
      expect([verdict(WEBHOOK, '::1', one), verdict(WEBHOOK, SENDER, one)]).to.deep.equal(['rejected', 'rejected']);
    });

    it('any address are accepted with an empty list', () => {
      const open = openPayments(plugin, { ...settings, senders: [] }).provider;
      expect(verdict(WEBHOOK, '203.0.113.9', open)).to.deep.equal({ fetch: [ID] });
      expect(verdict('{}', '203.0.113.9', open)).to.equal('rejected');
      expect([open.isSender?.(SENDER), open.isSender?.('203.0.113.9')], 'the vendor comes first').to.deep.equal([
        true,
        false,
      ]);
    });
  });

  it('are judged without a request, with the same result every time', () => {
    const webhook = JSON.stringify(buildWebhook('payment.succeeded', OBJECT));
    const raw = Object.freeze({ headers: Object.freeze({}), body: webhook, address: SENDER });
    expect([provider.notice(raw), provider.notice(raw)]).to.deep.equal([{ fetch: [ID] }, { fetch: [ID] }]);
  });
});
