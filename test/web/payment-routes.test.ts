// What payment providers and payers reach over real sockets: notices, and the pages of a provider that has none elsewhere.
import { expect } from 'chai';
import { type Bank, startBank, TILLS } from '../../testkit/bank.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { RUB } from '../contract/store/context.ts';
import { newOrder } from '../contract/store/payments.ts';

describe('payment routes', () => {
  let bank: Bank;
  let gateway: TestGateway;
  let wallet: string;

  before(async () => {
    bank = await startBank();
    const payments = { till: { plugin: 'till', settings: { baseUrl: bank.url } } };
    gateway = await startGateway({ catalog: { upstreams: {}, models: [], payments }, env: { PAYMENTS_PATH: TILLS } });
  });
  beforeEach(async () => {
    wallet = (await gateway.account('0')).id;
    bank.hook = () => undefined;
  });
  after(async () => {
    await gateway.stop();
    await bank.close();
  });

  const post = (body: string, path = '/payments/till/notice') => fetch(gateway.url + path, { method: 'POST', body });

  /** An order that the bank has begun and its payer has paid. */
  async function paid(): Promise<{ readonly ref: string; readonly id: string }> {
    const order = newOrder(wallet, { test: false, amount: 1000n * RUB });
    await gateway.store.payments.create(order);
    const asked = { id: order.id, idempotenceKey: order.id, amount: String(order.amount) };
    await fetch(`${bank.url}/payments`, { method: 'POST', body: JSON.stringify(asked) });
    return { ref: bank.pay(order.id).id, id: order.id };
  }

  it('answer 200 only when the credit is stored', async () => {
    const { ref, id } = await paid();
    bank.hook = () => 503;
    expect((await post(JSON.stringify({ id: ref }))).status).to.equal(503);
    expect((await gateway.store.payments.get(id))?.phase).to.equal('created');
    bank.hook = () => undefined;
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => post(JSON.stringify({ id: ref }))));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    expect((await gateway.store.payments.get(id))?.phase).to.equal('credited');
    expect((await gateway.store.ledger.wallet(wallet))?.topped).to.equal(1000n * RUB);
    await gateway.checkMoney();
  });

  it('refuse what is no notice, what is too long, and providers that are not there', async () => {
    expect((await post('{}')).status).to.equal(400);
    expect((await post('not JSON')).status).to.equal(400);
    expect((await post('x'.repeat(70_000))).status).to.equal(413);
    expect((await post('{}', '/payments/nobody/notice')).status).to.equal(404);
    expect((await post('{}', '/payments/till')).status).to.equal(404);
    const page = await fetch(`${gateway.url}/payments/till/page/1`);
    expect([page.status, page.headers.get('content-type')]).to.deep.equal([404, 'text/html; charset=utf-8']);
    const verdicts = (await gateway.store.payments.notices({ limit: 2 })).map(({ verdict }) => verdict);
    expect(verdicts).to.deep.equal(['rejected', 'rejected']);
  });
});
