// The price list of an account on pages: an operator sets it, its owner sees own prices, and what a call saved.
import { expect } from 'chai';
import { ask, CHAT, send, until } from '../../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpOperator, setUpOwner } from '../../../testkit/pages.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../../testkit/upstream.ts';

describe('the price list of an account', () => {
  let upstream: TestUpstream;
  let test: TestGateway;
  let account: TestAccount;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    upstream = await startUpstream(chatAnswer('hello', { input: 1000, output: 2000 }));
    test = await startGateway({ catalog: chatCatalog(upstream.url, { priceLists: { partner: { factor: '0.9' } } }) });
    account = await test.account();
    [operator, owner] = [await setUpOperator(test), await setUpOwner(test, account.id)];
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    await upstream.close();
  });

  const path = () => `/admin/accounts/${account.id}`;
  const change = (price_list: string) => operator.submit(path(), { change: 'price_list', price_list });

  it('is set by an operator among those of the catalog, which the audit log says', async () => {
    expect((await operator.get(path())).text).to.contain('<dt>Price list</dt><dd>List prices</dd>');
    expect((await change('partner')).headers.location).to.equal(`${path()}?done=done`);
    const { text } = await operator.get(path());
    expect(text).to.contain('<dt>Price list</dt><dd><code>partner</code></dd>');
    expect(text).to.contain('<option value="partner" selected>partner</option>');
    const [deed] = await test.store.auditLog.page({ limit: 1 });
    expect(deed).to.include({ action: 'account.price_list', account: account.id, target: account.id });
    expect(JSON.parse(deed?.detail ?? '')).to.deep.equal({ price_list: 'partner', before: 'none' });
    expect((await operator.get('/admin/audit')).text).to.contain('price list: partner');
    for (const name of ['other', '']) {
      const refused = await change(name);
      expect([refused.status, refused.text.includes('The catalog has no such price list.')]).to.deep.equal([400, true]);
    }
    expect((await operator.get('/admin/catalog')).text).to.match(
      /<td[^>]*><code>partner<\/code><\/td><td[^>]*><code>[0-9a-f]{8}<\/code><\/td><td[^>]*>3<\/td><td[^>]*>1<\/td>/,
    );
  });

  it('changes the prices that its owner sees: models, calculator, playground', async () => {
    const prices = async (query: string) => (await owner.get(query)).text;
    const models = await prices('/account/models?lang=en&model=model-a&characters=4000&answer=4000');
    expect(models).to.contain('₽900.00').and.to.not.contain('₽1,000.00');
    expect(models).to.contain('₽5.40');
    expect(await prices('/account/playground?lang=en&kind=text&model=model-a&prompt=hi')).to.contain('₽900.00');
  });

  it('shows on the page of a call what it would have cost at list prices', async () => {
    const body = { ...ask('hi'), max_tokens: 3000 };
    let id = '';
    await until(async () => {
      const reply = await send(test.url + CHAT, { key: account.key, body });
      id = String(reply.headers['x-request-id']);
      return reply.json.billing.charged_rub === 9.9;
    });
    const read = async (language: string) => (await owner.get(`/account/calls/${id}?lang=${language}`)).text;
    expect(await read('ru')).to.match(/Обычная цена: 11,00\s₽, ваша: 9,90\s₽, −10\s%/);
    const text = await read('en');
    expect(text).to.contain('List price: ₽11.00, yours: ₽9.90, −10%');
    expect(text, "the name is the operator's").not.to.contain('partner');
  });

  it('that the catalog no longer has is reported; list prices apply', async () => {
    const checks = async () => (await operator.get('/admin/checks')).text;
    expect(await checks()).not.to.contain('Not in the catalog, so list prices apply');
    test.writeCatalog(chatCatalog(upstream.url));
    expect(await test.gateway.reload()).to.equal(true);
    expect(await checks()).to.contain('list prices apply (accounts in brackets): <code>partner (1)</code>');
    const { text } = await operator.get(path());
    expect(text).to.contain('<code>partner</code> (<strong>not in the catalog: list prices apply</strong>)');
    expect((await owner.get('/account/models?lang=en')).text).to.contain('₽1,000.00');
    expect((await change('none')).status).to.equal(303);
    expect((await operator.get(path())).text).not.to.contain('price_list');
    expect(await checks()).not.to.contain('Not in the catalog, so list prices apply');
  });
});
