// A shop whose secret is wrong: every order ends at once and says why, the operator is told, and none of them is made at the
// vendor once the secret is right. A refund goes through the same shop, from its request to its end.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { NOT_ACCEPTED } from '../../lib/money/payment.ts';
import { parseRefunds } from '../../lib/money/payment-rules.ts';
import { requestRefund } from '../../lib/payments/operator.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { pollSoon } from '../../testkit/payments.ts';
import { SQLITE } from '../../testkit/stores.ts';
import { startYooKassa, type YooKassa } from '../../testkit/yookassa.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const WALLET = '/account/wallet';
const RUB = 1_000_000n;

describe('a shop of YooKassa', function () {
  this.timeout(60_000);
  let vendor: YooKassa;
  let wrong: TestGateway;
  let right: TestGateway;
  let account: TestAccount;
  let database: StoreDatabase;

  const start = (secret: string) => {
    const { baseUrl, shopId } = vendor;
    const payments = { shop: { plugin: 'yookassa', settings: { baseUrl, shopId, secret } } };
    return startGateway({ catalog: { upstreams: {}, models: [], payments }, database: database.url });
  };
  const orderOn = async (owner: Visitor) => String((await owner.submit(WALLET, { amount: '1000' })).headers.location);

  before(async () => {
    vendor = await startYooKassa();
    database = await SQLITE.create();
    wrong = await start('test_of-another-shop');
    account = await wrong.account('0');
  });
  after(async () => {
    await right?.stop();
    await vendor?.close();
    await database?.remove();
  });

  it('ends every order at once if it rejects our secret, in both languages, and never places it later', async () => {
    const owner = await setUpOwner(wrong, account.id);
    for (let count = 0; count < 11; count += 1) {
      const page = await orderOn(owner);
      expect((await owner.get(page)).text)
        .to.contain('Nothing was credited.')
        .and.to.contain('takes no payments for this service at the moment; its operator has been told')
        .and.to.contain('Pay again');
      if (count === 0)
        expect((await owner.get(`${page}&lang=ru`)).text).to.contain('платёжная система сейчас не принимает платежи');
      await owner.get('/account?lang=en');
    }
    const orders = await wrong.store.payments.list({ wallet: account.id, limit: 20 });
    expect(orders.map(({ phase, reason }) => [phase, reason])).to.deep.equal(
      Array.from({ length: 11 }, () => ['failed', NOT_ACCEPTED]),
    );
    const log = () => readFileSync(join(wrong.folder, 'log'), 'utf8');
    await until(() => log().includes('accepts nothing of ours: see its secret'));
    expect(log()).not.to.contain('test_of-another-shop');
    await wrong.stop();
    right = await start(vendor.secret);
    const again = await setUpOwner(right, account.id, 'again@example.com');
    const page = await orderOn(again);
    expect((await again.get(page)).text).to.contain('waiting for payment');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(vendor.shop.payments.size).to.equal(1);
  });

  it('makes a requested refund once, which leaves the balance at the request', async () => {
    const [payment] = await right.store.payments.list({ wallet: account.id, phases: ['pending'], limit: 1 });
    const { id = '', ref } = payment ?? {};
    vendor.shop.pay(ref ?? '');
    await pollSoon(right.store, id);
    const find = async () => (await right.store.payments.get(id)) ?? expect.fail('it is gone');
    await until(async () => (await find()).phase === 'credited', 20_000);
    const wish = { at: Date.now(), amount: 400n * RUB, reason: 'wish', refund: `rfd_${id}` };
    expect((await requestRefund(right.store, id, wish)).status).to.equal('done');
    expect((await requestRefund(right.store, id, wish)).status).to.equal('exists');
    expect((await right.wallet(account)).avail).to.equal(600n * RUB);
    await until(async () => parseRefunds(await find())[0]?.state === 'booked', 20_000);
    expect([(await right.wallet(account)).avail, vendor.shop.refunds.size]).to.deep.equal([600n * RUB, 1]);
    await right.checkMoney();
  });
});
