// Which notices `yookassa` listens to, and that it learns nothing from them but what to fetch.
import { expect } from 'chai';
import type { NoticeVerdict, PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import plugin from '../../payments/yookassa/index.ts';
import { openPayments } from '../../testkit/payments.ts';

const ID = '23d93cac-000f-5000-8000-126628f15141';
const SENDER = '185.71.76.1';

const settings = { shopId: '506751', secret: 'test_a-secret-of-a-shop' };

describe('webhooks of yookassa', () => {
  const provider: PaymentProvider = openPayments(plugin, settings).provider;

  function verdict(notice: unknown, address = SENDER, from: PaymentProvider = provider): NoticeVerdict {
    const body = typeof notice === 'string' ? notice : JSON.stringify(notice);
    return from.notice({ headers: { 'content-type': 'application/json' }, body, address });
  }

  const noticeOf = (event: string, object: object) => ({ type: 'notification', event, object });

  for (const event of ['payment.succeeded', 'payment.canceled', 'payment.waiting_for_capture']) {
    it(`say by ${event} which payment to fetch`, () => {
      const object = { id: ID, status: 'succeeded', amount: { value: '1000000.00', currency: 'RUB' } };
      expect(verdict(noticeOf(event, object))).to.deep.equal({ fetch: [ID] });
    });
  }

  it('name the refunded payment by refund.succeeded', () => {
    const object = { id: '216749f7-0016-50be-b000-078d43a63ae4', payment_id: ID, status: 'succeeded' };
    expect(verdict(noticeOf('refund.succeeded', object))).to.deep.equal({ fetch: [ID] });
  });

  const OBJECT = { id: ID };
  for (const [what, notice] of Object.entries({
    'that is no JSON': 'payment.succeeded',
    'that is empty': '',
    'of null': 'null',
    'of a list': [noticeOf('payment.succeeded', OBJECT)],
    'of another type': { ...noticeOf('payment.succeeded', OBJECT), type: 'message' },
    'of no type': { event: 'payment.succeeded', object: OBJECT },
    'of an event that none asked for': noticeOf('payout.succeeded', OBJECT),
    'of an event that objects have by nature': noticeOf('constructor', OBJECT),
    'without an object': { type: 'notification', event: 'payment.succeeded' },
    'whose object is a text': noticeOf('payment.succeeded', ID as never),
    'without an id': noticeOf('payment.succeeded', {}),
    'of an id that is a number': noticeOf('payment.succeeded', { id: 42 }),
    'of an id that is a path': noticeOf('payment.succeeded', { id: `../refunds/${ID}`.slice(0, 36) }),
    'of an id that is too long': noticeOf('payment.succeeded', { id: `${ID}0` }),
    'of a refund of nothing': noticeOf('refund.succeeded', OBJECT),
  })) {
    it(`${what} are rejected`, () => {
      expect(verdict(notice)).to.equal('rejected');
    });
  }

  describe('from', () => {
    const NOTICE = noticeOf('payment.succeeded', OBJECT);
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
        expect(verdict(NOTICE, address)).to.deep.equal(isSender ? { fetch: [ID] } : 'rejected');
        expect(provider.isSender?.(address)).to.equal(isSender);
      });
    }

    it('the networks of the settings are accepted instead', () => {
      const own = openPayments(plugin, { ...settings, senders: ['127.0.0.0/8', '::1'] }).provider;
      expect(verdict(NOTICE, '127.3.2.1', own)).to.deep.equal({ fetch: [ID] });
      expect(verdict(NOTICE, '::1', own)).to.deep.equal({ fetch: [ID] });
      expect(verdict(NOTICE, SENDER, own)).to.equal('rejected');
      const one = openPayments(plugin, { ...settings, senders: ['127.0.0.0/8'] }).provider;
      expect([verdict(NOTICE, '::1', one), verdict(NOTICE, SENDER, one)]).to.deep.equal(['rejected', 'rejected']);
    });

    it('any address are accepted with an empty list', () => {
      const open = openPayments(plugin, { ...settings, senders: [] }).provider;
      expect(verdict(NOTICE, '203.0.113.9', open)).to.deep.equal({ fetch: [ID] });
      expect(verdict('{}', '203.0.113.9', open)).to.equal('rejected');
      expect([open.isSender?.(SENDER), open.isSender?.('203.0.113.9')], 'the vendor comes first').to.deep.equal([
        true,
        false,
      ]);
    });
  });

  it('are judged without a request, with the same result every time', () => {
    const notice = JSON.stringify(noticeOf('payment.succeeded', OBJECT));
    const raw = Object.freeze({ headers: Object.freeze({}), body: notice, address: SENDER });
    expect([provider.notice(raw), provider.notice(raw)]).to.deep.equal([{ fetch: [ID] }, { fetch: [ID] }]);
  });
});
