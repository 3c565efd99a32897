// Payment pages while the provider does not answer or the store cannot write.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Bank, startBank, TILLS } from '../../testkit/bank.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';

const WALLET = '/account/wallet';
const RUB = 1_000_000n;

describe('payment pages while something fails', () => {
  let bank: Bank;
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;

  before(async () => {
    bank = await startBank();
    const payments = { till: { plugin: 'till', settings: { baseUrl: bank.url } } };
    test = await startGateway({ catalog: { upstreams: {}, models: [], payments }, env: { PAYMENTS_PATH: TILLS } });
    operator = await setUpOperator(test);
  });
  beforeEach(async () => {
    bank.hook = () => undefined;
    bank.linkMs = 3_600_000;
    account = await test.account('0');
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    await bank.close();
  });

  const order = async () => String((await owner.submit(WALLET, { amount: '1000' })).headers.location);
  const findPaymentId = (page: string) => page.replace(/^.*=/, '');
  const readPhase = async (page: string) => (await test.store.payments.get(findPaymentId(page)))?.phase;

  it('show that the provider has not answered yet, without a link', async () => {
    bank.hook = () => 503;
    const page = await owner.get(await order());
    expect(page.status).to.equal(200);
    expect(page.text).to.contain('has not answered yet').and.to.contain('Check again');
    expect(page.text).not.to.contain('class="button"');
  });

  it('show that a payment refused by the provider has failed', async () => {
    bank.hook = (asked) => (asked === 'start' ? 400 : undefined);
    expect((await owner.get(await order())).text).to.contain('technical failure');
  });

  it('show the last state while the provider is unreachable, and the credit later', async () => {
    const page = await order();
    bank.pay(findPaymentId(page));
    bank.hook = () => 503;
    const waiting = await owner.get(page);
    expect([waiting.status, waiting.text.includes('waiting for your payment')]).to.deep.equal([200, true]);
    expect((await test.wallet(account)).avail).to.equal(0n);
    bank.hook = () => undefined;
    expect((await owner.get(page)).text).to.contain('The money is in the wallet.');
    expect((await test.wallet(account)).avail).to.equal(1000n * RUB);
  });

  it('show no expired link while the provider is unreachable', async () => {
    bank.linkMs = 60_000;
    const page = await order();
    expect((await owner.get(page)).text)
      .to.contain('class="button" href="http')
      .and.to.contain('The link works until');
    bank.linkMs = -60_000;
    const late = await order();
    bank.hook = () => 503;
    const { text } = await owner.get(late);
    expect(text).to.contain('waiting for your payment').and.to.contain('Check again');
    expect(text).not.to.contain('class="button"').and.not.to.contain('The link works until');
  });

  it('ask the provider at most sixty times a minute for one account', async () => {
    const page = await order();
    const fetches = () => bank.asked.get('fetch') ?? 0;
    const before = fetches();
    for (let look = 0; look < 80; look += 1) expect((await owner.get(page)).status).to.equal(200);
    // The gateway itself polls payments that wait, too.
    expect(fetches() - before).to.be.within(60, 75);
    // It does not ask again, but shows what is stored.
    bank.pay(findPaymentId(page));
    const { ref } = (await test.store.payments.get(findPaymentId(page))) ?? {};
    await fetch(`${test.url}/payments/till/notice`, { method: 'POST', body: JSON.stringify({ id: ref }) });
    expect((await owner.get(page)).text).to.contain('The money is in the wallet.');
  });

  it('keep a payment within the limits of its provider', async () => {
    const { status, text } = await owner.submit(WALLET, { amount: '350000.01' });
    expect([status, text.includes('to ₽350,000.00')]).to.deep.equal([400, true]);
    expect((await owner.submit(WALLET, { amount: '350000' })).status).to.equal(303);
  });

  it('process a failed webhook again', async () => {
    const page = await order();
    const { id } = bank.pay(findPaymentId(page));
    bank.hook = () => 503;
    await fetch(`${test.url}/payments/till/notice`, { method: 'POST', body: JSON.stringify({ id }) });
    const [failed] = await test.store.payments.webhooks({ limit: 1 });
    const path = `/admin/notices/${failed?.id}`;
    expect((await operator.get(path)).text).to.contain('failed: the provider will send it again');
    expect((await operator.submit(path, {})).headers.location).to.equal('/admin/notices?done=again');
    expect(await readPhase(page)).to.equal('pending');
    bank.hook = () => undefined;
    const taken = await operator.submit(path, {});
    expect(taken.headers.location).to.equal('/admin/notices?done=done');
    expect((await operator.get('/admin/notices?done=done')).text).to.contain('processed again');
    expect([await readPhase(page), (await test.wallet(account)).avail]).to.deep.equal(['credited', 1000n * RUB]);
    const [deed] = await test.store.auditLog.page({ limit: 1 });
    expect([deed?.action, deed?.target]).to.deep.equal(['notice.retry', failed?.id]);
  });

  itOnSqlite('answer 503 to a payment that the store cannot write, and create none', async () => {
    const { csrf = '' } = Object.fromEntries(
      [...(await owner.get(WALLET)).text.matchAll(/name="(csrf)" value="([^"]+)"/g)].map(([, name, value]) => [
        name ?? '',
        value ?? '',
      ]),
    );
    const lock = new DatabaseSync(test.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
    lock.exec('BEGIN IMMEDIATE');
    const refused = await owner.post(WALLET, { csrf, amount: '1000' }).finally(() => {
      lock.exec('ROLLBACK');
      lock.close();
    });
    expect(refused.status).to.equal(503);
    expect(await test.store.payments.list({ wallet: account.id, limit: 1 })).to.deep.equal([]);
  });
});
