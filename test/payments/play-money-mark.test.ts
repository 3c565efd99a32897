// The mark that a store's wallets pay for real models, in gateways whose store refuses to write it: no model that costs
// money works without it, so no other gateway of the store credits play money meanwhile.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { OperatorError } from '../../lib/base/operator-error.ts';
import type { Payment } from '../../lib/money/payment.ts';
import { until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { startYooKassa, type YooKassa } from '../../testkit/yookassa.ts';
import { RUB, type StoreDatabase, type StoreKind } from '../contract/store/context.ts';
import { newOrder } from '../contract/store/payments.ts';

const MARK = 'costly-upstream';

for (const kind of longer([SQLITE], STORES)) describe(`the mark of costs on ${kind.name}`, () => suite(kind));

/** Lets the database refuse the mark, or no longer. */
async function refuseMark({ url }: StoreDatabase, refuses: boolean): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5000 });
    const when = `WHEN NEW.name = '${MARK}' BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`;
    db.exec(refuses ? `CREATE TRIGGER refused BEFORE INSERT ON settings ${when}` : 'DROP TRIGGER refused');
    db.close();
    return;
  }
  const client = await MongoClient.connect(url);
  await client.db().command({ collMod: 'settings', validator: refuses ? { _id: { $ne: MARK } } : {} });
  await client.close();
}

function suite(kind: StoreKind): void {
  let database: StoreDatabase;
  let vendor: YooKassa;
  let trial: TestGateway;
  let other: TestGateway | undefined;
  const real = chatCatalog('http://127.0.0.1:9');

  beforeEach(async function () {
    this.timeout(60_000);
    database = await kind.create();
    vendor = await startYooKassa();
    const { baseUrl, shopId, secret } = vendor;
    const payments = { yookassa: { plugin: 'yookassa', settings: { baseUrl, shopId, secret } } };
    const env = { LEASE_MS: '1000' };
    trial = await startGateway({ catalog: { upstreams: {}, models: [], payments }, env, database: database.url });
    other = undefined;
    await refuseMark(database, true);
  });
  afterEach(async function () {
    this.timeout(60_000);
    await other?.stop();
    await trial.stop();
    await vendor.close();
    await database.remove();
  });

  const beside = (catalog: object) => ({
    catalog,
    database: database.url,
    folder: join(trial.folder, 'other'),
    timings: { catalogPollMs: 20 },
  });
  const log = () => readFileSync(join(other?.folder ?? '', 'log'), 'utf8');
  const models = (gateway: TestGateway) => gateway.gateway.facts.models.length;

  /** The phase in which a paid order of play money ends at the sandbox gateway. */
  async function played(): Promise<Payment> {
    const { id: wallet } = await trial.account('0');
    const facts = { description: 'Top-up', returnUrl: trial.url, pageUrl: trial.url, locale: 'en', saveMethod: false };
    const made = { provider: 'yookassa', shop: vendor.shopId, facts: JSON.stringify(facts), lease: 1 };
    const order = newOrder(wallet, made);
    await trial.store.payments.create(order);
    const find = async () => (await trial.store.payments.get(order.id)) as Payment;
    await until(async () => (await find()).phase === 'pending');
    vendor.shop.pay((await find()).ref ?? '');
    // Does not wait for the next poll.
    await trial.store.payments.put('payments', [{ ...(await find()), owner: null, lease: null, dueAt: Date.now() }]);
    await until(async () => ['credited', 'review'].includes((await find()).phase));
    const payment = await find();
    expect((await trial.store.ledger.wallet(wallet))?.topped).to.equal(payment.credited);
    return payment;
  }

  it('fails the start in one line if it cannot be written, and sends play money to review after the next start', async function () {
    this.timeout(60_000);
    const error: unknown = await startGateway(beside(real)).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as Error).message).to.contain('could not record that the upstream up costs real money');
    expect(await trial.store.settings.get(MARK)).to.equal(undefined);
    const before = await played();
    expect(before.credited, 'nothing costs money yet').to.equal(1000n * RUB);
    await refuseMark(database, false);
    other = await startGateway(beside(real));
    expect(await trial.store.settings.get(MARK)).to.equal('up');
    expect(await played()).to.include({ phase: 'review', credited: 0n });
    await until(() => log().includes('hold money of test payments'));
    const warnings = log()
      .split('\n')
      .filter((line) => line.includes('hold money of test payments'));
    expect(warnings.map((line) => JSON.parse(line).accounts)).to.deep.equal([[before.wallet]]);
  });

  it('blocks and logs a catalog edit while it cannot be written, and applies the edit afterwards', async function () {
    this.timeout(60_000);
    other = await startGateway(beside({ upstreams: {}, models: [] }));
    other.writeCatalog(real);
    expect(await other.gateway.reload()).to.equal(false);
    await until(() => log().includes('the old one stays in force; trying again soon: the store could not record'));
    expect([models(other), await trial.store.settings.get(MARK)]).to.deep.equal([0, undefined]);
    await refuseMark(database, false);
    await until(() => models(other as TestGateway) > 0);
    expect(await trial.store.settings.get(MARK)).to.equal('up');
    expect(await played()).to.include({ phase: 'review', credited: 0n });
  });
}
