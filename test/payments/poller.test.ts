// A payment without a webhook, from the order on a page to the credit: two gateways on one store poll the test vendor,
// whatever it answers at first.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import type { Payment, PaymentPhase } from '../../lib/money/payment.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { setUpOwner } from '../../testkit/pages.ts';
import { pollSoon } from '../../testkit/payments.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { broken, type Mishap, startYooKassa, tooMany, type YooKassa } from '../../testkit/yookassa.ts';
import { RUB, type StoreDatabase, type StoreKind } from '../contract/store/context.ts';

const WALLET = '/account/wallet';
const gone: Mishap = { done: true, answer: 'reset' };

for (const kind of longer([SQLITE], STORES)) describe(`payments without webhooks on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  let database: StoreDatabase;
  let vendor: YooKassa;
  let gateways: TestGateway[];
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async function () {
    this.timeout(60_000);
    database = await kind.create();
    vendor = await startYooKassa();
    const { baseUrl, shopId, secret } = vendor;
    const payments = { yookassa: { plugin: 'yookassa', settings: { baseUrl, shopId, secret } } };
    const options = {
      catalog: { upstreams: {}, models: [], payments },
      env: { LEASE_MS: '1000' },
      database: database.url,
    };
    gateways = [await startGateway(options), await startGateway(options)];
    test = gateways[0] as TestGateway;
  });
  beforeEach(async () => {
    account = await test.account('0');
  });
  afterEach(() => test.checkMoney());
  after(async function () {
    this.timeout(60_000);
    for (const gateway of gateways) await gateway.stop();
    await vendor.close();
    await database.remove();
  });

  const find = async (id: string) => (await test.store.payments.get(id)) as Payment;
  const topped = async () => (await test.store.ledger.wallet(account.id))?.topped;

  async function reaches(id: string, phase: PaymentPhase): Promise<Payment> {
    await until(async () => (await find(id)).phase === phase, 30_000);
    return find(id);
  }

  async function ordered(...mishaps: readonly Mishap[]): Promise<string> {
    owner = await setUpOwner(test, account.id);
    vendor.go(...mishaps);
    const { headers } = await owner.submit(WALLET, { amount: '1000' });
    return String(headers.location).replace(/^.*order=/, '');
  }

  /** Drops the lease of the process that started it, and makes it due. */
  async function giveUp(id: string, more: Partial<Payment> = {}): Promise<void> {
    const payment = await find(id);
    await test.store.payments.put('payments', [{ ...payment, owner: null, lease: null, dueAt: Date.now(), ...more }]);
  }

  const made = (id: string) => [...vendor.shop.payments.values()].filter(({ metadata }) => metadata.order_id === id);
  const refOf = (id: string) => made(id)[0]?.id ?? expect.fail('the vendor has no payment of this order');

  async function creditedOnce(id: string): Promise<void> {
    const { ref } = await reaches(id, 'credited');
    expect(made(id).map((payment) => payment.id)).to.deep.equal([ref]);
    const entries = await test.store.ledger.entries(account.id, { limit: 10 });
    expect(entries.map(({ opId }) => opId)).to.deep.equal([`pay:yookassa:${ref}`]);
    expect(await topped()).to.equal(1000n * RUB);
  }

  it('are credited once if no webhook arrives', async function () {
    this.timeout(60_000);
    const id = await ordered();
    vendor.shop.pay(refOf(id));
    await creditedOnce(id);
  });

  const answers: readonly (readonly [name: string, mishaps: readonly Mishap[]])[] = [
    ['500 to a payment that it started', [broken(true)]],
    ['500 to one that it did not start', [broken(false)]],
    ['500 repeatedly', [broken(true), broken(true)]],
    ['nothing to a payment that it started', [gone]],
    ['429', [tooMany]],
  ];
  for (const [name, mishaps] of longer(answers.slice(0, 1), answers)) {
    it(`are started once and credited once if the vendor answers ${name}`, async function () {
      this.timeout(60_000);
      const id = await ordered(...mishaps);
      expect((await find(id)).phase).to.equal('created');
      await giveUp(id);
      await reaches(id, 'pending');
      expect((await find(id)).payUrl).to.match(/^https:\/\/yoomoney\.ru\//);
      vendor.shop.pay(refOf(id));
      await pollSoon(test.store, id);
      await creditedOnce(id);
    });
  }

  it('are polled on if the clock was set back by a day', async function () {
    this.timeout(60_000);
    const id = await ordered();
    vendor.shop.pay(refOf(id));
    await giveUp(id, { dueAt: Date.now() + 24 * HOUR_MS });
    await creditedOnce(id);
  });

  it('are found if the answer to their start was lost and the key is too old', async function () {
    this.timeout(60_000);
    const id = await ordered(broken(true));
    vendor.shop.pay(refOf(id));
    const before = vendor.asked.filter(({ method }) => method === 'POST').length;
    const { createdAt } = await find(id);
    await giveUp(id, { createdAt: createdAt - 23 * HOUR_MS });
    await creditedOnce(id);
    expect(vendor.asked.filter(({ method }) => method === 'POST').length, 'orders sent').to.equal(before);
  });

  it('are credited if they succeed after they expired', async function () {
    this.timeout(60_000);
    const id = await ordered();
    const { createdAt, expiresAt } = await find(id);
    const hours = 2 * HOUR_MS;
    await until(async () => (await find(id)).owner === null, 20_000);
    await giveUp(id, { createdAt: createdAt - hours, expiresAt: (expiresAt ?? 0) - hours });
    const expired = await reaches(id, 'expired');
    expect(expired.dueAt, 'it is polled again within a day').to.be.a('number');
    vendor.shop.pay(refOf(id));
    await giveUp(id);
    await creditedOnce(id);
  });

  it('are credited once if both gateways, the page of the order and a late webhook find them at the same time', async function () {
    this.timeout(60_000);
    const id = await ordered();
    vendor.shop.pay(refOf(id));
    const [webhook] = vendor.webhooks.all.slice(-1);
    const looks = Array.from({ length: 3 }, () => owner.get(`${WALLET}?order=${id}`));
    const others = gateways.map(({ url }) => vendor.webhooks.send(`${url}/payments/yookassa/notice`, webhook));
    await Promise.all([...looks, ...others]);
    await creditedOnce(id);
  });
}
