// What the payment form sends to the provider: the method, the address of the payer, and no saved card where none can
// be charged.
import { expect } from 'chai';
import { parseOrderFacts } from '../../../lib/payments/order-facts.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpOwner } from '../../../testkit/pages.ts';
import { startYooKassa, type YooKassa } from '../../../testkit/yookassa.ts';

const WALLET = '/account/wallet';

describe('the payment form', () => {
  let vendor: YooKassa;
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    vendor = await startYooKassa({});
    const { baseUrl, shopId, secret } = vendor;
    const payments = { yookassa: { plugin: 'yookassa', settings: { baseUrl, shopId, secret } } };
    test = await startGateway({ catalog: { upstreams: {}, models: [], payments } });
    account = await test.account('0');
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.stop();
    await vendor.close();
  });

  const orders = () => test.store.payments.list({ wallet: account.id, limit: 10 });

  it('offers the methods and orders with the chosen one', async () => {
    const page = await owner.get(WALLET);
    expect(page.text).to.contain('<option value="yookassa:card" selected>').and.to.contain('value="yookassa:sbp"');
    const { headers } = await owner.submit(WALLET, { amount: '1000', method: 'yookassa:sbp' });
    const [order] = await orders();
    if (!order) throw new Error('there is no order');
    expect(headers.location).to.equal(`${WALLET}?order=${order.id}`);
    expect(parseOrderFacts(order)).to.include({ method: 'sbp', email: owner.email, locale: 'en', saveMethod: false });
    const [deed] = await test.store.auditLog.page({ limit: 1 });
    expect(deed).to.include({ action: 'payment.order', account: account.id, target: order.id });
    const detail = { rub: '1000.00', provider: 'yookassa', method: 'sbp', save: false };
    expect(JSON.parse(deed?.detail ?? '')).to.deep.equal(detail);
  });

  it('offers to save no card where none could be charged, and stores no consent', async () => {
    expect((await owner.get(WALLET)).text).not.to.contain('name="save"');
    const { status } = await owner.submit(WALLET, { amount: '1000', method: 'yookassa:card', save: 'yes' });
    const [order] = await orders();
    expect([status, order && parseOrderFacts(order).saveMethod]).to.deep.equal([303, false]);
    expect(await test.store.payments.consents(account.id)).to.deep.equal([]);
  });

  it('keeps the method when it refuses the sum', async () => {
    const { status, text } = await owner.submit(WALLET, { amount: 'many', method: 'yookassa:sbp' });
    expect([status, text.includes('<option value="yookassa:sbp" selected>')]).to.deep.equal([400, true]);
  });

  it('refuses an unknown method and keeps the input', async () => {
    const before = await orders();
    for (const method of ['yookassa:wallet', 'gone:card', 'card']) {
      const { status, text } = await owner.submit(WALLET, { amount: '1234', method });
      expect([status, text.includes('not available now')], method).to.deep.equal([400, true]);
      expect(text).to.contain('value="1234"');
    }
    expect(await orders()).to.deep.equal(before);
  });
});

describe('the wallet without online payment', () => {
  it('says the least sum of the first payment until there is one', async () => {
    const test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    try {
      for (const [rub, isSaid] of [
        ['0', true],
        ['1000', false],
      ] as const) {
        const { id } = await test.account(rub);
        const { text } = await (await setUpOwner(test, id)).get(WALLET);
        expect(text).to.contain('Online payment is not set up');
        expect(text.includes('The first payment must be at least'), rub).to.equal(isSaid);
      }
    } finally {
      await test.stop();
    }
  });
});
