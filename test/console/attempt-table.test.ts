// The attempts of a call on the operator's page: what operators see of routes and costs, and owners do not.
import { expect } from 'chai';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { SERVICE_OWNER } from '../../lib/money/operations.ts';
import { ask, CHAT, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe("the attempts on the operator's page of a call", () => {
  let upstreams: readonly TestUpstream[];
  let test: TestGateway;
  let account: TestAccount;
  let owner: Visitor;
  let operator: Visitor;
  let id: string;

  before(async () => {
    const fails = await startUpstream(({ response }) => void response.writeHead(500).end('{}'));
    const answers = await startUpstream(({ response, ...call }) => {
      response.setHeader('x-request-id', 'vendor-7');
      return chatAnswer('Hello there, how are you?', { input: 10, output: 20 })({
        response,
        ...call,
      });
    });
    upstreams = [fails, answers];
    const open = ({ url }: TestUpstream) => ({
      plugin: 'openai-compatible',
      settings: { baseUrl: `${url}/v1`, apiKey: 'k' },
    });
    const cost = { currency: 'USD', input: '1000', output: '2000' };
    const routes = ['shaky-vendor', 'solid-vendor'].map((upstream) => ({ upstream, model: 'their-model', cost }));
    const price = { input: '100000', output: '500000' };
    test = await startGateway({
      catalog: {
        upstreams: { 'shaky-vendor': open(fails), 'solid-vendor': open(answers) },
        rates: { USD: { rub: '80', from: '2026-01-01' } },
        models: [{ id: 'model-a', type: 'text', provider: 'Test', price, routes }],
      },
    });
    account = await test.account();
    operator = await setUpOperator(test);
    owner = await setUpOwner(test, account.id);
    const { headers } = await send(test.url + CHAT, { key: account.key, body: ask('hi', { stream: true }) });
    id = String(headers['x-request-id']);
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    for (const upstream of upstreams) await upstream.close();
  });

  const asOperator = async (language: string) =>
    (await operator.get(`/admin/ledger?id=${id}&lang=${language}`)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

  it('show an operator the routes, times, costs and the margin', async () => {
    const text = await asOperator('en');
    expect(text).to.match(/shaky-vendor: their-model 1 failed: 500 server \d+ ms ₽\d\S* \(possible\)/);
    // 10 tokens at 1000 and 20 at 2000 dollars per million are 0.05 USD.
    expect(text).to.match(
      /solid-vendor: their-model 1 vendor-7 answered \d+ ms \d+ ms( [\d,]+ tokens\/s)? ₽4\.00 \(reported\)/,
    );
    expect(text).to.match(/Retries 1 Cost ₽4\.00 Possible further cost ₽\d\S* Margin ₽7\.00/);
  });

  it('are the latest error of an upstream that failed once', async () => {
    await foldUsage(test.store, account.id);
    const page = async (name: string) => (await operator.get(`/admin/upstreams/${name}?lang=en`)).text;
    expect(await page('shaky-vendor')).to.contain(`failed: 500 server, <a href="/admin/ledger?id=${id}">`);
    expect(await page('solid-vendor')).to.not.contain('/admin/ledger?id=');
  });

  it('stand beside the price calculation that the owner sees, and how to give it back', async () => {
    const text = await asOperator('en');
    const calculation = /Price calculation.*? Total: ₽[\d.]+/.exec(text)?.[0] ?? '';
    expect(calculation).to.match(/Input tokens: 10 × ₽[\d,.]+ per 1M tokens/);
    const owners = (await owner.get(`/account/calls/${id}?lang=en`)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
    expect(owners).to.contain(calculation);
    expect(text).to.contain('correct the balance on the page of the account');
    expect(owners).to.not.contain('correct the balance');
  });

  it('show an owner how many providers were asked and how long it took, without their names', async () => {
    const page = async (language: string) =>
      (await owner.get(`/account/calls/${id}?lang=${language}`)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
    const text = await page('en');
    expect(text).to.match(/Duration [\d.]+ s Time to first fragment [\d.]+ s/);
    expect(text).to.match(/Attempts .* 1 provider 1 failed [\d.]+ s 2 provider 2 answered [\d.]+ s [\d.]+ s/);
    expect(text).to.match(/Held ₽[\d.,]+, of which ₽[\d.,]+ was returned/);
    expect(text)
      .to.contain(' model-a · answered in full ₽')
      .and.not.to.contain('Billed as')
      .and.not.to.contain('Charged: ');
    expect(text).to.not.contain('vendor');
    expect(await page('ru')).to.match(/1 провайдер 1 сбой [\d,]+.с 2 провайдер 2 ответил/);
  });

  it('show them in Russian', async () => {
    const text = await asOperator('ru');
    expect(text).to.include('Обращения к провайдерам');
    expect(text).to.match(/Повторы 1 Себестоимость 4,00.₽ Возможные дополнительные затраты \S+.₽ Маржа 7,00.₽/);
  });

  it('show an owner nothing of them', async () => {
    const { status, text } = await owner.get(`/account/calls/${id}?lang=en`);
    expect(status).to.equal(200);
    expect((await owner.get(`/admin/ledger?id=${id}`)).status).to.equal(404);
    for (const secret of ['vendor', 'their-model', 'Attempts at', 'Margin', 'Cost', 'USD'])
      expect(text, secret).to.not.include(secret);
  });

  it('say so where there are none', async () => {
    const at = Date.now();
    const held = {
      kind: 'reserve',
      wallet: account.id,
      chargeId: 'req_held',
      key: account.keyId,
      chargeKind: 'text',
    } as const;
    // An owner whose holds no gateway returns.
    const lease = { owner: SERVICE_OWNER, lease: at + 60_000 };
    const terms = { model: 'model-a', prices: '{"any":"1"}', amount: 1_000_000n, ...lease, at };
    await test.store.ledger.apply([{ ...held, ...terms }]);
    const { text } = await operator.get('/admin/ledger?id=req_held&lang=en');
    const owners = (await owner.get('/account/calls/req_held?lang=en')).text;
    await test.store.ledger.apply([{ kind: 'release', wallet: account.id, chargeId: 'req_held', at }]);
    expect(text).to.include('No upstream was asked, or the call is still running.');
    expect(owners, 'nothing was returned yet').to.include('<dt>Held</dt><dd>₽1.00</dd>');
  });
});
