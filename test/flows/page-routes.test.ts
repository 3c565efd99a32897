// An operator makes upstreams from pages further routes of models that the catalog has already: of a file, and of the pages.
import { expect } from 'chai';
import { CHAT, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { hiddenFields, setUpOperator, type Visitor } from '../../testkit/pages.ts';
import { answerStatus, chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { variable } from '../catalog/folder.ts';

const CATALOG = '/admin/catalog';
const COSTS = { 'input-0': '2', 'output-0': '8', currency: 'USD', markup: '1.3', maker: 'Acme' };

describe('routes of models that the catalog has', () => {
  let first: TestUpstream;
  let second: TestUpstream;
  let test: TestGateway;
  let operator: Visitor;
  let account: TestAccount;

  before(async () => {
    [first, second] = [await startUpstream(), await startUpstream()];
    const known = { id: 'gpt-z', type: 'text', provider: 'Acme', price: { markup: '2' }, tools: true };
    const catalog = chatCatalog(first.url, { rates: { USD: { rub: '100', from: '2026-01-01' } } }) as {
      upstreams: object;
      models: object[];
    };
    const cost = { currency: 'USD', input: '9', output: '9' };
    const off = { plugin: 'openai-compatible', settings: { baseUrl: first.url, apiKey: variable('UNSET_API_KEY') } };
    const upstreams = { ...catalog.upstreams, off };
    const models = [...catalog.models, { ...known, routes: [{ upstream: 'off', model: 'gpt-z', cost }] }];
    test = await startGateway({ catalog: { ...catalog, upstreams, models }, env: { SECRETS_KEY: 'ab'.repeat(32) } });
    operator = await setUpOperator(test);
    account = await test.account('1000');
    for (const [name, { url }] of [
      ['vendor-one', first],
      ['vendor-two', second],
    ] as const) {
      const added = await operator.submit('/admin/upstreams', { vendor: 'chat', name, url: `${url}/v1`, key: name });
      expect(added.status).to.equal(303);
    }
  });
  after(async () => {
    await test.stop();
    await first.close();
    await second.close();
  });

  const plain = (text: string) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');
  const go = (page: string, path: string, fields: Readonly<Record<string, string>>) =>
    operator.post(path, { ...hiddenFields(page, path), ...fields });
  const call = (model: string, content = 'Hi') =>
    send(test.url + CHAT, {
      key: account.key,
      body: { model, messages: [{ role: 'user', content }], max_tokens: 1000 },
    });
  const part = async () => JSON.parse((await test.store.catalogVersions.page({ limit: 1 }))[0]?.text ?? '');
  const choose = async (upstream: string, model: string, type = 'text') => {
    const path = `/admin/upstreams/${upstream}/models`;
    const listed = await go((await operator.get(`/admin/upstreams/${upstream}`)).text, path, { more: model });
    return go(listed.text, path, { type, model });
  };
  const add = async (upstream: string, model: string, wish: Readonly<Record<string, string>>) => {
    const path = `/admin/upstreams/${upstream}/models`;
    const all = { ...COSTS, 'id-0': model, ...wish };
    const preview = await go((await choose(upstream, model)).text, path, { ...all, step: 'preview' });
    return preview.status === 200 ? go(preview.text, path, { ...all, step: 'save' }) : preview;
  };
  const change = async (id: string, wish: Readonly<Record<string, string>>) => {
    const path = `${CATALOG}/model?id=${id}`;
    const preview = await go((await operator.get(path)).text, path, { aliases: '', ...wish, step: 'preview' });
    return preview.status === 200 ? go(preview.text, path, { aliases: '', ...wish, step: 'save' }) : preview;
  };

  it('offer it only where a name is taken, and ask', async () => {
    expect((await choose('vendor-one', 'gpt-new')).text).to.not.contain('name="join"');
    expect((await choose('vendor-one', 'gpt-z')).text).to.match(/<input name="join"[^>]*value="yes">/);
    const refused = await add('vendor-one', 'gpt-z', {});
    expect([refused.status, plain(refused.text)].join()).to.match(/^400.*The name gpt-z is taken by another model/);
    expect(refused.text).to.contain('name="join"');
    expect((await call('gpt-z')).status).to.not.equal(200);
  });

  it('are not those of a model of another type', async () => {
    const path = '/admin/upstreams/vendor-one/models';
    const costs = await choose('vendor-one', 'gpt-z', 'embedding');
    expect(costs.text).to.not.contain('name="join"');
    const refused = await go(costs.text, path, { ...COSTS, 'id-0': 'gpt-z', join: 'yes', step: 'preview' });
    expect([refused.status, plain(refused.text)].join()).to.match(/^400.*The name gpt-z is taken by another model/);
  });

  it('can be of any type while nothing tells what the upstream serves', async () => {
    const open = (await operator.get('/admin/upstreams/vendor-one')).text;
    const fields = hiddenFields(open, '/admin/upstreams/vendor-one/models');
    const listed = await operator.post('/admin/upstreams/off/models', fields);
    for (const type of ['text', 'embedding', 'image']) expect(listed.text).to.contain(`<option value="${type}"`);
  });

  it('sell a model of a file, at its own markup and with its own abilities', async () => {
    const saved = await add('vendor-one', 'gpt-z', { join: 'yes' });
    expect(saved.status, plain(saved.text)).to.equal(303);
    const cost = { currency: 'USD', input: '2.00', output: '8.00' };
    const routes = [{ upstream: 'vendor-one', model: 'gpt-z', cost }];
    expect((await part()).overrides).to.deep.equal({ 'gpt-z': { routes } });
    first.behave(chatAnswer('Hello.', { input: 1000, output: 1000 }));
    const paid = await call('gpt-z');
    expect([paid.status, paid.json.billing?.charged_rub]).to.deep.equal([200, 2]);
    const [entry] = await test.store.auditLog.page({ limit: 1 });
    expect(entry).to.include({ action: 'route.add', target: 'vendor-one', detail: '{"routes":["gpt-z"]}' });
    const again = await add('vendor-one', 'gpt-z', { join: 'yes' });
    expect([again.status, plain(again.text)].join()).to.match(/^400.*already serves one of these models/);
  });

  it('back each other, and each has its cost', async () => {
    expect((await add('vendor-two', 'gpt-z', { join: 'yes', 'input-0': '3' })).status).to.equal(303);
    first.behave(answerStatus(503));
    second.behave(chatAnswer('Hello.', { input: 1000, output: 1000 }));
    const paid = await call('gpt-z');
    expect([paid.status, paid.json.billing?.charged_rub]).to.deep.equal([200, 2.2]);
    for (const content of ['How are you?', 'Who are you?']) await call('gpt-z', content);
    const state = plain((await operator.get('/admin/upstreams/vendor-one')).text);
    expect(state).to.match(/Routes paused after failures: 1 of 1\. .* gpt-z: overloaded, since \d/);
    const dear = {
      'input-0': '2',
      'output-0': '8',
      'currency-0': 'USD',
      'input-1': '300',
      'output-1': '20',
      'currency-1': 'RUB',
    };
    const wrong = await change('gpt-z', { kind: 'own', ...dear, 'output-1': 'x' });
    expect(wrong.status).to.equal(400);
    expect(wrong.text, 'the currency that was chosen').to.match(
      /name="currency-1">(<option value="\w+">\w+<\/option>)*<option value="RUB" selected/,
    );
    expect((await change('gpt-z', { kind: 'own', ...dear })).status).to.equal(303);
    const [one, two] = (await part()).overrides['gpt-z'].routes;
    expect([one.cost, two.cost]).to.deep.equal([
      { currency: 'USD', input: '2.00', output: '8.00' },
      { currency: 'RUB', input: '300.00', output: '20.00' },
    ]);
    const fixed = await change('gpt-z', { kind: 'written', input: '250', output: '900', ...dear });
    expect([fixed.status, plain(fixed.text)].join()).to.match(/^400.*gpt-z, input: the price of 250.00 RUB is below/);
  });

  it('go one by one, with their upstream, or with all that pages say of the model', async () => {
    const wish = { kind: 'markup', factor: '3', 'input-0': '2', 'output-0': '8', 'currency-0': 'USD', 'drop-1': 'yes' };
    expect((await change('gpt-z', wish)).status).to.equal(303);
    expect((await part()).overrides['gpt-z']).to.deep.equal({
      routes: [{ upstream: 'vendor-one', model: 'gpt-z', cost: { currency: 'USD', input: '2.00', output: '8.00' } }],
      price: { markup: '3.00' },
    });
    const seen = `${await test.store.catalogVersions.last()}`;
    expect((await operator.submit('/admin/upstreams/vendor-one', { change: 'remove', seen })).status).to.equal(303);
    expect((await part()).overrides).to.deep.equal({ 'gpt-z': { price: { markup: '3.00' } } });
    expect((await add('vendor-two', 'gpt-z', { join: 'yes' })).status).to.equal(303);
    // A model of a file needs none of the pages.
    expect((await operator.get(`${CATALOG}/model?id=gpt-z`)).text).to.contain('name="drop-0"');
    const dropped = await change('gpt-z', { ...wish, 'drop-0': 'yes' });
    expect(dropped.status, plain(dropped.text)).to.equal(303);
    expect((await part()).overrides).to.deep.equal({ 'gpt-z': { price: { markup: '3.00' } } });
    const page = await operator.get(`${CATALOG}/model?id=gpt-z`);
    expect((await go(page.text, `${CATALOG}/model?id=gpt-z`, { step: 'reset' })).status).to.equal(303);
    expect(await part()).to.not.have.property('overrides');
  });

  it('are added to a model of the pages, which keeps one', async () => {
    expect((await add('vendor-two', 'gpt-own', {})).status).to.equal(303);
    const only = await operator.get(`${CATALOG}/model?id=gpt-own`);
    expect(only.text).to.not.contain('name="drop-0"');
    const other = await add('vendor-two', 'other-name', { 'id-0': 'gpt-own', join: 'yes', 'input-0': '5' });
    expect(other.status, plain(other.text)).to.equal(303);
    const [model] = (await part()).models;
    expect(model.routes.map(({ model: name }: { model: string }) => name)).to.deep.equal(['gpt-own', 'other-name']);
    const wish = {
      kind: 'markup',
      factor: '2',
      'currency-0': 'USD',
      'currency-1': 'USD',
      'drop-0': 'yes',
      'drop-1': 'yes',
    };
    const none = await change('gpt-own', wish);
    expect([none.status, plain(none.text)].join()).to.match(/^400.*A model needs a route/);
    expect(none.text, 'what was ticked').to.match(/<input(?=[^>]*name="drop-1")[^>]*checked/);
    await test.checkMoney();
  });
});
