// The test vendor does what the documentation of the real one says: what a client relies on here, it may rely on there.
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import { answerWith, type Receiver, startReceiver } from '../../testkit/webhook.ts';
import { broken, startYooKassa, tooMany, type YooKassa } from '../../testkit/yookassa.ts';

const ORDER = {
  amount: { value: '100.00', currency: 'RUB' },
  capture: true,
  confirmation: { type: 'redirect', return_url: 'https://gate.example/back' },
};

describe('a test vendor of payments', () => {
  let vendor: YooKassa;
  beforeEach(async () => {
    vendor = await startYooKassa();
  });
  afterEach(() => vendor.close());

  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  type Answer = { readonly status: number; readonly json: any };

  async function ask(
    method: string,
    path: string,
    { key = '', body = undefined as unknown, headers = {} } = {},
  ): Promise<Answer> {
    const pair = Buffer.from(`${vendor.shopId}:${vendor.secret}`).toString('base64');
    const all = {
      authorization: `Basic ${pair}`,
      ...(key !== '' && { 'idempotence-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    const init = { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await fetch(vendor.baseUrl + path, init);
    return { status: response.status, json: await response.json() };
  }
  const order = (key: string, more: object = {}) => ask('POST', '/payments', { key, body: { ...ORDER, ...more } });

  it('makes one payment per key within a day, and another one after it', async () => {
    const first = await order('k-1');
    expect(first.status).to.equal(200);
    expect((await order('k-1')).json).to.deep.equal(first.json);
    vendor.advance(DAY_MS - 1000);
    expect((await order('k-1')).json.id).to.equal(first.json.id);
    vendor.advance(2000);
    expect((await order('k-1')).json.id).not.to.equal(first.json.id);
  });

  it('refuses a key with another body, or in another place', async () => {
    await order('k-1');
    const { status, json } = await order('k-1', { description: 'other' });
    expect([status, json.type, json.code, json.parameter, json.description]).to.deep.equal([
      400,
      'error',
      'invalid_request',
      'Idempotence-Key',
      'Idempotence key duplicated',
    ]);
    expect(json.id).to.have.length(36);
    expect((await ask('POST', '/refunds', { key: 'k-1', body: ORDER })).json.parameter).to.equal('Idempotence-Key');
  });

  it('keeps no key of a refused or unknown request', async () => {
    expect((await order('k-1', { amount: { value: '1', currency: 'RUB' } })).status).to.equal(400);
    vendor.go(broken(false), tooMany);
    expect((await order('k-1')).status).to.equal(500);
    expect((await order('k-1')).json.code).to.equal('too_many_requests');
    expect((await order('k-1')).status).to.equal(200);
    expect(vendor.shop.payments.size).to.equal(1);
  });

  for (const [what, status, code, asked] of [
    ['a wrong secret', 401, 'invalid_credentials', ['GET', '/payments', { headers: { authorization: 'Basic eDp5' } }]],
    ['no key', 400, 'invalid_request', ['POST', '/payments', { body: ORDER }]],
    ['a key of 65 characters', 400, 'invalid_request', ['POST', '/payments', { key: 'k'.repeat(65), body: ORDER }]],
    [
      'a body that is no JSON',
      415,
      'invalid_request',
      ['POST', '/payments', { key: 'k', headers: { 'content-type': 'text/plain' } }],
    ],
    ['another method', 405, 'invalid_request', ['PUT', '/payments', { body: {} }]],
    ['an unknown payment', 404, 'not_found', ['GET', '/payments/1', {}]],
    ['a list of a thousand', 400, 'invalid_request', ['GET', '/payments?limit=1000', {}]],
  ] as const) {
    it(`answers ${status} for ${what}`, async () => {
      const [method, path, more] = asked;
      const answer = await ask(method, path, more);
      expect([answer.status, answer.json.type, answer.json.code]).to.deep.equal([status, 'error', code]);
    });
  }

  for (const [what, change] of Object.entries({
    'no sum': { amount: undefined },
    'a sum without kopecks': { amount: { value: '100', currency: 'RUB' } },
    'a sum in dollars': { amount: { value: '100.00', currency: 'USD' } },
    'a sum below a rouble': { amount: { value: '0.99', currency: 'RUB' } },
    'no way back': { confirmation: { type: 'redirect' } },
    'a description of 129 characters': { description: 'x'.repeat(129) },
    'metadata of a number': { metadata: { order: 1 } },
    'more than a card pays': {
      amount: { value: '350000.01', currency: 'RUB' },
      payment_method_data: { type: 'bank_card' },
    },
    'an unknown card': { payment_method_id: 'nobody' },
    'half a receipt': { receipt: { customer: { email: 'a@b' }, items: [] } },
  })) {
    it(`refuses ${what}`, async () => {
      expect((await order('k-1', change)).status).to.equal(400);
      expect(vendor.shop.payments.size).to.equal(0);
    });
  }

  it('ends a payment an hour after its link was made', async () => {
    const { json } = await order('k-1');
    expect(json.confirmation.confirmation_url).to.contain(json.id);
    vendor.advance(3_599_000);
    expect((await ask('GET', `/payments/${json.id}`)).json.status).to.equal('pending');
    vendor.advance(2000);
    const { status, confirmation, cancellation_details } = (await ask('GET', `/payments/${json.id}`)).json;
    expect([status, confirmation, cancellation_details]).to.deep.equal([
      'canceled',
      undefined,
      { party: 'yoo_money', reason: 'expired_on_confirmation' },
    ]);
  });

  it('keeps final states', async () => {
    const { json } = await order('k-1');
    vendor.shop.pay(json.id);
    expect(() => vendor.shop.decline(json.id, 'card_expired')).to.throw('final');
  });

  it('lists from new to old, ten at a time unless asked for more', async () => {
    for (let at = 0; at < 25; at += 1) await order(`k-${at}`);
    const ids = [...vendor.shop.payments.keys()].reverse();
    const page = (await ask('GET', '/payments')).json;
    expect([page.type, page.items.length, page.next_cursor]).to.deep.equal(['list', 10, ids[10]]);
    const rest = (await ask('GET', `/payments?limit=20&cursor=${page.next_cursor}`)).json;
    expect([...page.items, ...rest.items].map(({ id }: { id: string }) => id)).to.deep.equal(ids);
    expect(rest).not.to.have.property('next_cursor');
  });

  it('refunds what was paid, in parts, and no more', async () => {
    const { json } = await order('k-1');
    const refund = (key: string, value: string) =>
      ask('POST', '/refunds', { key, body: { payment_id: json.id, amount: { value, currency: 'RUB' } } });
    expect((await refund('r-0', '1.00')).status).to.equal(400);
    vendor.shop.pay(json.id);
    expect((await refund('r-1', '60.00')).json.status).to.equal('succeeded');
    expect((await refund('r-2', '40.01')).json.code).to.equal('invalid_request');
    await refund('r-3', '40.00');
    const paid = (await ask('GET', `/payments/${json.id}`)).json;
    expect(paid).to.deep.include({ status: 'succeeded', refundable: false });
    expect(paid.refunded_amount.value).to.equal('100.00');
    const list = (await ask('GET', `/refunds?payment_id=${json.id}`)).json.items;
    expect(list.map(({ amount }: { amount: { value: string } }) => amount.value)).to.deep.equal(['40.00', '60.00']);
    expect((await ask('GET', '/refunds?payment_id=other')).json.items).to.deep.equal([]);
  });

  it('has a page for browsers on request', async () => {
    const here = await startYooKassa({ checkoutHere: true });
    const { id, confirmation } = here.shop.create(ORDER);
    const url = confirmation?.confirmation_url ?? '';
    expect(await (await fetch(url)).text()).to.contain('<button>Pay</button>');
    const reply = await fetch(url, { method: 'POST', redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).to.deep.equal([303, 'https://gate.example/back']);
    expect(here.shop.payments.get(id)?.status).to.equal('succeeded');
    await here.close();
  });

  describe('webhooks', () => {
    let receiver: Receiver;
    beforeEach(async () => {
      receiver = await startReceiver();
    });
    afterEach(() => receiver.stop());

    const payment = async () => (await order(`k-${Math.random()}`)).json.id as string;

    it('go out at once, again and again until they are answered 200', async () => {
      vendor.webhooks.flow(`${receiver.origin}/notice`);
      receiver.answer = answerWith(500);
      const id = await payment();
      vendor.shop.pay(id);
      while (receiver.posts.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
      receiver.answer = answerWith(200);
      await vendor.webhooks.settled();
      const sent = receiver.posts.length;
      for (const { json } of receiver.posts) {
        expect(json).to.deep.include({ type: 'notification', event: 'payment.succeeded' });
        expect(json.object).to.include({ id, status: 'succeeded' });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(receiver.posts.length).to.equal(sent);
    });

    it('can be held, told twice, out of order, or forged', async () => {
      const id = await payment();
      vendor.shop.hold(id);
      vendor.shop.pay(id);
      vendor.shop.refund({ payment_id: id, amount: { value: '1.00', currency: 'RUB' } });
      const events = vendor.webhooks.all.map(({ event }) => event);
      expect(events).to.deep.equal(['payment.waiting_for_capture', 'payment.succeeded', 'refund.succeeded']);
      // As they were when they happened.
      expect(vendor.webhooks.all[0]?.object.status).to.equal('waiting_for_capture');
      for (const webhook of vendor.webhooks.all.toReversed())
        await vendor.webhooks.send(`${receiver.origin}/x`, webhook);
      expect(receiver.posts.map(({ json }) => json.event)).to.deep.equal(events.toReversed());
      expect(await vendor.webhooks.send(`${receiver.origin}/x`, { type: 'notification', event: 'forged' })).to.equal(
        200,
      );
      expect(receiver.posts.at(-1)?.json).to.deep.equal({ type: 'notification', event: 'forged' });
    });
  });
});
