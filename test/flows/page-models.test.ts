// What an operator says on pages of a model: its costs, sizes and abilities, when it is added and later.
import { expect } from 'chai';
import { CHAT, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { formFields, hiddenFields, setUpOperator, type Visitor } from '../../testkit/pages.ts';
import { chatAnswer, startUpstream } from '../../testkit/upstream.ts';
import { variable } from '../catalog/folder.ts';

const VENDOR = '/admin/upstreams/vendor-one';
const CATALOG = '/admin/catalog';

describe('models of the pages', () => {
  const bands = [{ above: 1000, input: '4', output: '12', cacheRead: '0.4' }];
  let test: TestGateway;
  let operator: Visitor;
  let account: TestAccount;

  before(async () => {
    // Nobody asks the upstream.
    const url = 'http://127.0.0.1:9';
    const costs = { up: { 'gpt-y': { currency: 'USD', input: '2', output: '8', cacheRead: '0.2', bands } } };
    const catalog = chatCatalog(url, { costs, rates: { USD: { rub: '100', from: '2026-01-01' } } });
    test = await startGateway({ catalog, env: { SECRETS_KEY: 'ab'.repeat(32) } });
    operator = await setUpOperator(test);
    account = await test.account('1000');
    const added = { vendor: 'chat', name: 'vendor-one', url: `${url}/v1`, key: 'sk-vendor-1' };
    expect((await operator.submit('/admin/upstreams', added)).status).to.equal(303);
  });
  after(() => test.stop());

  const plain = (text: string) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');
  const go = (page: string, path: string, fields: Readonly<Record<string, string>>) =>
    operator.post(path, { ...hiddenFields(page, path), ...fields });

  it('fills in and keeps what is known of the cache and of long prompts', async () => {
    const path = `${VENDOR}/models`;
    const listed = await go((await operator.get(VENDOR)).text, path, { more: 'gpt-y' });
    const costs = await go(listed.text, path, { type: 'text', model: 'gpt-y' });
    expect(costs.text).to.match(/name="cacheRead-0"[^>]*value="0.2"/);
    expect(costs.text)
      .to.match(/name="above-0-0"[^>]*value="1000"/)
      .and.to.match(/name="cacheRead-0-0"[^>]*value="0.4"/);
    const typed = { 'input-0': '2', 'output-0': '8', 'cacheRead-0': '0,2', 'audio-0': '6' };
    const sizes = { 'context-0': '200,000', 'maxOutput-0': '8 192' };
    const wish = {
      ...typed,
      'id-0': 'sold-y',
      currency: 'USD',
      markup: '2',
      maker: 'Acme',
      'can-audio': 'yes',
      ...sizes,
    };
    const wrong = await go(costs.text, path, { ...wish, 'cacheWrite-0': '-1', step: 'preview' });
    expect([wrong.status, plain(wrong.text).includes('Enter a number from 0 to')]).to.deep.equal([400, true]);
    for (const size of ['0', '1.5', '12,00', '1e3', 'x']) {
      const { status, text } = await go(costs.text, path, { ...wish, 'maxOutput-0': size, step: 'preview' });
      expect([status, plain(text).includes('a whole number of tokens')], size).to.deep.equal([400, true]);
    }
    const known = { ...formFields(costs.text, path), maker: 'Acme', step: 'preview' };
    expect(plain((await operator.post(path, known)).text)).to.contain(
      'models.gpt-y.routes.0.cost.bands.0.above none 1000',
    );
    const preview = await go(costs.text, path, { ...wish, step: 'preview' });
    expect(preview.text).to.match(/<input(?=[^>]*name="can-audio")[^>]*checked/);
    expect((await go(preview.text, path, { ...wish, step: 'save' })).status).to.equal(303);
    const listing = async () => {
      const { data } = (await send(`${test.url}/api/v1/models`, { key: account.key })).json;
      const model = data.find(({ id }: { id: string }) => id === 'sold-y');
      expect([model.context_length, model.max_output_tokens]).to.deep.equal([200_000, 8192]);
      return [model.input_price_rub, model.cache_read_price_rub, model.audio_price_rub, model.price_bands?.length];
    };
    expect(await listing()).to.deep.equal([400, 40, 1200, 1]);

    const page = `${CATALOG}/model?id=sold-y`;
    const written = { kind: 'written', input: '900', output: '2500', cacheRead: '90', audio: '2000', aliases: '' };
    const shown = await go((await operator.get(page)).text, page, { ...written, step: 'preview' });
    expect((await go(shown.text, page, { ...written, step: 'save' })).status, plain(shown.text)).to.equal(303);
    expect(await listing()).to.deep.equal([900, 90, 2000, undefined]);
    expect((await operator.get(page)).text).to.match(/name="cacheRead"[^>]*value="90.00"/);
  });

  it('calls a known model as the catalog says that its vendor wants', async () => {
    const sent: Record<string, unknown>[] = [];
    const vendor = await startUpstream((call) => {
      if (call.request.method === 'POST') sent.push(call.body);
      void chatAnswer('Hello.')(call);
    });
    const host = `${vendor.url}/v1`;
    const options = { maxTokensParam: 'max_completion_tokens' };
    test.writeCatalog({
      ...(chatCatalog('http://127.0.0.1:9') as { upstreams: object; models: object[] }),
      rates: { USD: { rub: '100', from: '2026-01-01' } },
      upstreams: {
        up: { plugin: 'openai-compatible', settings: { baseUrl: host, apiKey: variable('UNSET_API_KEY') } },
      },
      models: [
        {
          id: 'gpt-z',
          type: 'text',
          provider: 'Acme',
          price: { input: '1', output: '1' },
          routes: [{ upstream: 'up', model: 'gpt-z', options }],
        },
      ],
    });
    try {
      expect(await test.gateway.reload()).to.equal(true);
      const added = { vendor: 'mistral', name: 'vendor-two', url: host, key: 'sk-vendor-2' };
      expect((await operator.submit('/admin/upstreams', added)).status).to.equal(303);
      const upstream = '/admin/upstreams/vendor-two';
      const path = `${upstream}/models`;
      const listed = await go((await operator.get(upstream)).text, path, { more: 'gpt-z' });
      const costs = await go(listed.text, path, { type: 'text', model: 'gpt-z' });
      const wish = { 'id-0': 'sold-z', 'input-0': '2', 'output-0': '8', currency: 'USD', markup: '2', maker: 'Acme' };
      const preview = await go(costs.text, path, { ...wish, step: 'preview' });
      expect((await go(preview.text, path, { ...wish, step: 'save' })).status, plain(preview.text)).to.equal(303);
      const messages = [{ role: 'user', content: 'Hi' }];
      await send(test.url + CHAT, { key: account.key, body: { model: 'sold-z', messages, max_tokens: 10 } });
      await operator.submit(upstream, { change: 'test', model: 'gpt-z' });
      expect(sent).to.have.length(2);
      for (const body of sent)
        expect(body).to.include.keys('max_completion_tokens').and.to.not.have.any.keys('max_tokens', 'stream_options');
    } finally {
      await vendor.close();
    }
  });

  it('changes what a model of the pages costs and can do, and no one’s of a file', async () => {
    const page = `${CATALOG}/model?id=sold-y`;
    const change = async (wish: Readonly<Record<string, string>>) => {
      const preview = await go((await operator.get(page)).text, page, { ...wish, step: 'preview' });
      if (preview.status !== 200) return preview;
      return go(preview.text, page, { ...wish, step: 'save' });
    };
    const own = async () => {
      const part = JSON.parse((await test.store.catalogVersions.page({ limit: 1 }))[0]?.text ?? '');
      return part.models.find(({ id }: { id: string }) => id === 'sold-y');
    };
    const { text } = await operator.get(page);
    expect(text).to.contain('name="audio"');
    expect(text)
      .to.match(/name="audio-0"[^>]*value="6.00"/)
      .and.to.match(/name="maxOutput-0"[^>]*value="8192"/);
    expect(text)
      .to.match(/name="can-audio"[^>]*checked/)
      .and.to.match(/value="USD" selected/);
    const wish = {
      kind: 'written',
      input: '900',
      output: '2500',
      aliases: '',
      'currency-0': 'USD',
      'can-tools': 'yes',
    };
    const loss = await change({ ...wish, 'input-0': '9.01', 'output-0': '8' });
    expect([loss.status, plain(loss.text)].join()).to.match(/^400.*Not saved.*below/s);
    expect((await change({ ...wish, 'input-0': '', 'output-0': '8' })).status).to.equal(400);
    const changed = await change({ ...wish, 'input-0': '3', 'output-0': '9', 'maxOutput-0': '16384' });
    expect(changed.status, plain(changed.text)).to.equal(303);
    const cost = { currency: 'USD', input: '3.00', output: '9.00', bands };
    expect(await own()).to.deep.equal({
      id: 'sold-y',
      type: 'text',
      provider: 'Acme',
      routes: [{ upstream: 'vendor-one', model: 'gpt-y', cost }],
      price: { input: '900.00', output: '2500.00' },
      maxOutput: 16_384,
      tools: true,
    });
    expect((await operator.get(page)).text, 'a model without audio').to.not.contain('name="audio"');
    expect((await operator.get(`${CATALOG}/model?id=model-a`)).text).to.not.contain('name="currency-0"');
  });

  it('asks of a model of embeddings only what it costs', async () => {
    const path = `${VENDOR}/models`;
    const listed = await go((await operator.get(VENDOR)).text, path, { more: 'vectors' });
    const costs = await go(listed.text, path, { type: 'embedding', model: 'vectors' });
    const wish = { 'id-0': 'vectors', 'input-0': '2', currency: 'USD', markup: '2', maker: 'Acme' };
    const preview = await go(costs.text, path, { ...wish, step: 'preview' });
    expect((await go(preview.text, path, { ...wish, step: 'save' })).status, plain(preview.text)).to.equal(303);
    const page = (await operator.get(`${CATALOG}/model?id=vectors`)).text;
    for (const text of [costs.text, page])
      expect(text)
        .to.contain('name="input-0"')
        .and.to.not.match(/name="(output-0|context-0|can-tools)"/);
  });

  it('gives an older upstream what its vendor needs when its settings are saved', async () => {
    const path = '/admin/upstreams/older';
    const url = 'https://api.mistral.ai/v1';
    expect(
      (await operator.submit('/admin/upstreams', { vendor: 'chat', name: 'older', url, key: 'sk-vendor-3' })).status,
    ).to.equal(303);
    const settings = async () => {
      const [latest] = await test.store.catalogVersions.page({ limit: 1 });
      return JSON.parse(latest?.text ?? '').upstreams.older.settings;
    };
    expect(await settings()).to.have.all.keys('baseUrl', 'apiKey');
    const change = async (fields: Readonly<Record<string, string>>) => {
      const seen = `${await test.store.catalogVersions.last()}`;
      return (await operator.submit(path, { ...fields, seen })).status;
    };
    expect(await change({ change: 'settings', url, key: '' })).to.equal(303);
    expect(await settings())
      .to.include({ baseUrl: url, usage: 'none', history: 'mistral' })
      .and.to.have.property('apiKey');
    expect(await change({ change: 'remove' })).to.equal(303);
  });

  it('changes what long prompts cost a model of the pages', async () => {
    const page = `${CATALOG}/model?id=sold-y`;
    const wish = { kind: 'markup', factor: '2', aliases: '', 'currency-0': 'USD', 'input-0': '2', 'output-0': '8' };
    const preview = async (long: Readonly<Record<string, string>>) =>
      go((await operator.get(page)).text, page, { ...wish, ...long, step: 'preview' });
    const change = async (long: Readonly<Record<string, string>>) => {
      const saved = await go((await preview(long)).text, page, { ...wish, ...long, step: 'save' });
      expect(saved.status, plain(saved.text)).to.equal(303);
      const part = JSON.parse((await test.store.catalogVersions.page({ limit: 1 }))[0]?.text ?? '');
      return part.models.find(({ id }: { id: string }) => id === 'sold-y').routes[0].cost.bands;
    };
    const longer = { 'above-0-0': '200 000', 'input-0-0': '6', 'output-0-0': '20' };
    const second = { 'above-0-1': '1,000', 'input-0-1': '4', 'output-0-1': '12', 'cacheRead-0-1': '0,4' };
    const mistakes: readonly Readonly<Record<string, string>>[] = [
      { 'above-0-0': '' },
      { 'above-0-0': '0' },
      { 'output-0-0': '' },
      { 'audio-0-0': '-1' },
      { 'above-0-1': '200000' },
    ];
    for (const wrong of mistakes) {
      const { status, text } = await preview({ ...longer, ...second, ...wrong });
      expect([status, plain(text).includes('For long prompts, enter')], JSON.stringify(wrong)).to.deep.equal([
        400,
        true,
      ]);
      expect(text, 'what was typed').to.contain('value="0,4"');
    }
    expect(await change({ ...longer, ...second })).to.deep.equal([
      { above: 1000, input: '4.00', output: '12.00', cacheRead: '0.40' },
      { above: 200_000, input: '6.00', output: '20.00' },
    ]);
    const { data } = (await send(`${test.url}/api/v1/models`, { key: account.key })).json;
    const listed = data.find(({ id }: { id: string }) => id === 'sold-y').price_bands;
    expect(listed.map(({ input_price_rub }: { input_price_rub: number }) => input_price_rub)).to.deep.equal([
      800, 1200,
    ]);
    expect((await operator.get(page)).text).to.match(/name="above-0-2"[^>]*value=""/);
    const unchanged = async () => {
      const shown = formFields((await operator.get(page)).text, page);
      return plain((await operator.post(page, { ...shown, step: 'preview' })).text);
    };
    expect(await unchanged(), 'with long prompts').to.contain('Nothing changes.');
    expect(await change({ 'above-0-0': '', 'input-0-0': '' })).to.equal(undefined);
    expect(await unchanged(), 'without').to.contain('Nothing changes.');
  });
});

describe('a model of the pages beside a dearer one that answers to images in its place', () => {
  it('is added once this loss is allowed, which its page keeps and takes back', async () => {
    const sees = { id: 'sees', type: 'text', provider: 'Test', price: { input: '1000', output: '5000' }, vision: true };
    const cost = { currency: 'RUB', input: '900', output: '900' };
    const catalog = chatCatalog('http://127.0.0.1:9') as { models: object[] };
    const models = [...catalog.models, { ...sees, routes: [{ upstream: 'up', model: 'sees', cost }] }];
    const test = await startGateway({ catalog: { ...catalog, models, vision: ['sees'] } });
    try {
      const operator = await setUpOperator(test);
      const go = async (page: { text: string }, path: string, fields: Readonly<Record<string, string>>) =>
        operator.post(path, { ...hiddenFields(page.text, path), ...fields });
      const path = '/admin/upstreams/up/models';
      const listed = await go(await operator.get('/admin/upstreams/up'), path, { more: 'cheap' });
      const costs = await go(listed, path, { type: 'text', model: 'cheap' });
      const wish = { 'id-0': 'cheap', 'input-0': '1', 'output-0': '2', currency: 'RUB', markup: '2', maker: 'Acme' };
      const refused = await go(costs, path, { ...wish, step: 'preview' });
      expect([refused.status, refused.text].join()).to.match(/^400.*This is the cost of sees.*You can allow that/s);
      const preview = await go(costs, path, { ...wish, 'image-loss': 'yes', step: 'preview' });
      expect((await go(preview, path, { ...wish, 'image-loss': 'yes', step: 'save' })).status).to.equal(303);
      const page = `${CATALOG}/model?id=cheap`;
      const shown = await operator.get(page);
      expect(shown.text).to.match(/name="image-loss"[^>]*checked/);
      const change = { kind: 'markup', factor: '3', aliases: '', 'input-0': '1', 'output-0': '2', 'currency-0': 'RUB' };
      expect((await go(shown, page, { ...change, step: 'preview' })).status).to.equal(400);
      expect((await go(shown, page, { ...change, 'image-loss': 'yes', step: 'preview' })).status).to.equal(200);
    } finally {
      await test.stop();
    }
  });
});
