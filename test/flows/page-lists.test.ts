// An operator chooses on the catalog page which models answer for `smart`, for images, and where a request names none.
import { expect } from 'chai';
import { CHAT, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { formFields, setUpOperator, type Visitor } from '../../testkit/pages.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const CATALOG = '/admin/catalog';
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('lists of models on the catalog page', () => {
  let upstream: TestUpstream;
  let test: TestGateway;
  let operator: Visitor;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(chatAnswer('Hello.'));
    const catalog = chatCatalog(upstream.url) as { upstreams: object; models: object[] };
    const text = (id: string, cost: string, more: object = {}) => ({
      ...{ id, type: 'text', provider: 'Test', price: { markup: '1.5' }, ...more },
      routes: [{ upstream: 'up', model: `up-${id}`, cost: { currency: 'RUB', input: cost, output: cost } }],
    });
    const models = [...catalog.models, text('cheap', '10'), text('seeing', '100', { vision: true, aliases: ['eye'] })];
    models.push(text('looking', '20', { vision: true }));
    const box = { plugin: 'sandbox', settings: {} };
    models.push({
      ...{ id: 'draw', type: 'image', provider: 'Test', price: { request: '3' } },
      routes: [{ upstream: 'box', model: 'draw' }],
    });
    models.push(...Array.from({ length: 18 }, (_, at) => text(`also-${at}`, '10')));
    const smart = { lite: 'model-a', standard: 'model-a', heavy: 'model-a' };
    const upstreams = { ...catalog.upstreams, box };
    test = await startGateway({
      catalog: { ...catalog, upstreams, models, smart },
      env: { SECRETS_KEY: 'ab'.repeat(32) },
    });
    operator = await setUpOperator(test);
    account = await test.account('1000');
  });
  after(async () => {
    await test.stop();
    await upstream.close();
  });

  const plain = (text: string) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');
  const part = async () => JSON.parse((await test.store.catalogVersions.page({ limit: 1 }))[0]?.text ?? '{}');
  const set = async (lists: Readonly<Record<string, string>>) => {
    const seen = `${await test.store.catalogVersions.last()}`;
    const { status, text } = await operator.submit(CATALOG, { change: 'lists', seen, ...lists });
    return { status, page: text, field: /<input id="([\w.]+)"[^>]*aria-invalid/.exec(text)?.[1], text: plain(text) };
  };
  const ask = async (model: string, content: unknown = 'Translate: hello') => {
    const body = { model, messages: [{ role: 'user', content }], max_tokens: 10 };
    const { status, json } = await send(test.url + CHAT, { key: account.key, body });
    return [status, json.model ?? json.error?.code];
  };

  it('have those of the files until they are set, and only what fits', async () => {
    expect(await ask('smart')).to.deep.equal([200, 'model-a']);
    const page = plain((await operator.get(CATALOG)).text);
    expect(page).to.contain('smart: simple tasks (lite) model-a model-a').and.to.contain('names no model none none');
    for (const [list, names, why] of [
      ['smart.lite', 'cheap, nobody', 'There is no model nobody.'],
      ['smart.heavy', 'image-a', 'image-a is not a text model.'],
      ['vision', 'cheap', 'cheap does not understand images.'],
      ['defaults.image', 'cheap', 'cheap does not make images.'],
      ['defaults.edit', 'image-a', 'image-a does not edit images.'],
    ] as const) {
      const refused = await set({ [list]: names });
      expect([refused.status, refused.field], list).to.deep.equal([400, list]);
      expect(refused.text).to.contain(why);
    }
    const names = Array.from({ length: 18 }, (_, at) => `also-${at}`);
    const many = await set({ 'smart.lite': ['model-a', 'cheap', 'seeing', ...names].join(', ') });
    expect(many.text).to.contain('A list has at most 20 models.');
    expect(await part()).to.deep.equal({});
  });

  it('take effect for the next call, in their order, by id', async () => {
    const wish = { 'smart.lite': 'cheap; model-a,cheap', 'defaults.image': 'draw' };
    expect((await set(wish)).status).to.equal(303);
    expect(await part()).to.deep.equal({ smart: { lite: ['cheap', 'model-a'] }, defaults: { image: ['draw'] } });
    expect(await ask('smart')).to.deep.equal([200, 'cheap']);
    const [entry] = await test.store.auditLog.page({ limit: 1 });
    expect(entry).to.include({ action: 'model_lists.change', target: '' });
    expect(plain((await operator.get('/admin/audit')).text)).to.contain('changed the models for smart');
    const page = (await operator.get(CATALOG)).text;
    expect(plain(page)).to.contain('smart.lite : none → cheap, model-a');
    expect(plain(page), 'what answers now')
      .to.contain('Images, if a request names no model draw draw')
      .and.to.contain('Edits of images, if a request names no model none none');
    // What the files have stays out of the form.
    expect(page)
      .to.match(/name="smart.lite"[^>]*value="cheap, model-a"/)
      .and.to.match(/name="smart.heavy"[^>]*value=""/);
  });

  it('are shown first where models would be sold below what answers to images cost', async () => {
    const image = [{ type: 'image_url', image_url: { url: PIXEL } }];
    const loss = await set({ 'smart.lite': 'cheap', vision: 'eye, looking' });
    expect(loss.status).to.equal(200);
    expect(loss.text).to.match(
      /Nothing has been saved yet.*cheap, input: the price of 15.00 RUB stays as it was, below/,
    );
    expect(loss.text).to.contain('This is the cost of seeing');
    expect(await part()).to.not.have.property('vision');
    expect(await ask('model-a', image)).to.deep.equal([502, 'upstream_error']);
    const button = formFields(loss.page, CATALOG);
    const edited = await operator.post(CATALOG, { ...button, 'smart.lite': 'model-a' });
    expect([edited.status, edited.text.includes('Save anyway')]).to.deep.equal([200, true]);
    expect((await operator.post(CATALOG, button)).status).to.equal(303);
    expect((await part()).vision).to.deep.equal(['seeing', 'looking']);
    expect(plain((await operator.get(CATALOG)).text)).to.contain('do not understand them seeing, looking seeing');
    expect(await ask('cheap', image)).to.deep.equal([200, 'seeing']);
    expect(upstream.calls.at(-1)?.body.model).to.equal('up-seeing');
  });

  it('go back to those of the files when they are emptied', async () => {
    expect((await set({})).status).to.equal(303);
    expect(await part()).to.deep.equal({});
    expect(await ask('smart')).to.deep.equal([200, 'model-a']);
    await test.checkMoney();
  });
});
