// An operator whose requests go to several gateways in turn, as the shipped proxy sends them: each page shows what was saved at
// another gateway a moment ago, and no save undoes another that its author has not seen.
import { expect } from 'chai';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { createVisitor, formFields, hiddenFields, setUpOperator, type Visitor } from '../../testkit/pages.ts';

const UPSTREAM = '/admin/upstreams/vendor-one';
const MODELS = `${UPSTREAM}/models`;
const CATALOG = '/admin/catalog';
const MODEL = `${CATALOG}/model?id=sold-x`;
/** Nobody asks the upstream. */
const URL = 'http://127.0.0.1:9/v1';

describe('the catalog on pages of two gateways', () => {
  let first: TestGateway;
  let second: TestGateway;
  let one: Visitor;
  let other: Visitor;

  before(async () => {
    const catalog = chatCatalog('http://127.0.0.1:9', { rates: { USD: { rub: '100', from: '2026-01-01' } } });
    // Neither looks for a new version by itself.
    const options = { catalog, env: { SECRETS_KEY: 'ab'.repeat(32) }, timings: { catalogPollMs: 3_600_000 } };
    first = await startGateway(options);
    one = await setUpOperator(first);
    second = await startGateway({ ...options, database: first.databaseUrl });
    other = createVisitor(second.url, { session: one.cookies.get('session') ?? '' });
  });
  after(async () => {
    await second.stop();
    await first.stop();
  });

  const go = (visitor: Visitor, page: string, path: string, fields: Readonly<Record<string, string>>) =>
    visitor.post(path, { ...hiddenFields(page, path), ...fields });

  it('show an upstream that was added at the other, and add models to it', async () => {
    const wish = { vendor: 'chat', name: 'vendor-one', url: URL, key: 'sk-vendor-1' };
    const added = await one.submit('/admin/upstreams', wish);
    const shown = await other.get(added.headers.location ?? '');
    expect([added.status, shown.status, shown.text.includes('Saved.')]).to.deep.equal([303, 200, true]);
    const again = await other.submit('/admin/upstreams', wish);
    expect(again.text).to.contain('An upstream with this name already exists.');

    const costs = await go(other, shown.text, MODELS, { step: 'prices', type: 'text', more: 'gpt-x' });
    const typed = { 'id-0': 'sold-x', 'input-0': '1', 'output-0': '2', currency: 'USD', markup: '2', maker: 'Acme' };
    const preview = await go(one, costs.text, MODELS, { ...typed, step: 'preview' });
    const saved = await go(other, preview.text, MODELS, { ...typed, step: 'save' });
    expect([costs.status, preview.status, saved.status]).to.deep.equal([200, 200, 303]);
    expect((await one.get(saved.headers.location ?? '')).text).to.contain('sold-x');
  });

  it('show the price and the aliases that were saved at the other, so that a later save keeps them', async () => {
    const save = async (visitor: Visitor, at: Visitor, change: Readonly<Record<string, string>>) => {
      const fields = { ...formFields((await visitor.get(MODEL)).text, MODEL), ...change };
      const preview = await at.post(MODEL, { ...fields, step: 'preview' });
      return visitor.post(MODEL, { ...formFields(preview.text, MODEL), step: 'save' });
    };
    expect((await save(one, other, { factor: '3', aliases: 'sold' })).status).to.equal(303);
    expect((await save(other, one, { 'maxOutput-0': '4096' })).status).to.equal(303);
    const [latest] = await first.store.catalogVersions.page({ limit: 1 });
    const [model] = JSON.parse(latest?.text ?? '').models;
    expect(model).to.include({ id: 'sold-x', maxOutput: 4096 });
    expect([model.price, model.aliases]).to.deep.equal([{ markup: '3.00' }, ['sold']]);
  });

  it('offer a discount that was saved at the other to an account', async () => {
    const { id } = await first.account('0');
    const path = `/admin/accounts/${id}`;
    const add = (list: string) => one.submit(CATALOG, { change: 'discount', list, percent: '5' });
    expect((await add('partner')).status).to.equal(303);
    expect((await other.get(CATALOG)).text).to.contain('<code>partner</code>');
    expect((await add('guest')).status).to.equal(303);
    expect((await other.get(path)).text).to.contain('<option value="guest"');
    expect((await add('friend')).status).to.equal(303);
    const given = await other.post(path, {
      ...hiddenFields((await one.get(path)).text, path),
      change: 'price_list',
      price_list: 'friend',
    });
    expect([given.status, (await first.store.accounts.get(id))?.priceList]).to.deep.equal([303, 'friend']);
  });

  it('name the models that go with an upstream, and know that it is gone', async () => {
    const { text } = await other.get(UPSTREAM);
    expect(text).to.contain('go with it: sold-x');
    const [, seen = ''] = /name="seen" value="(\d+)"/.exec(text) ?? [];
    expect((await other.post(UPSTREAM, { ...hiddenFields(text, UPSTREAM), change: 'remove', seen })).status).to.equal(
      303,
    );
    expect((await one.get(UPSTREAM)).status).to.equal(404);
    expect((await one.get(MODEL)).status).to.equal(404);
  });
});
