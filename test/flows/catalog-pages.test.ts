// An operator who opens no file: adds an upstream and models on pages, a customer pays for a call, the price changes, and it is
// undone; every gateway of the store follows, and the vendor's key is nowhere in clear.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CHAT, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { createVisitor, hiddenFields, setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { variable } from '../catalog/folder.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const KEY = 'sk-vendor-very-secret-1';
const UPSTREAMS = '/admin/upstreams';
const CATALOG = '/admin/catalog';
const ENV = { SECRETS_KEY: 'ab'.repeat(32) };

for (const kind of longer([SQLITE], STORES)) {
  describe(`the catalog on pages: ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstream: TestUpstream;
    let test: TestGateway;
    let other: TestGateway;
    let operator: Visitor;
    let account: TestAccount;

    before(async () => {
      database = await kind.create();
      upstream = await startUpstream(answerVendor);
      const catalog = chatCatalog(upstream.url, { rates: { USD: { rub: '100', from: '2026-01-01' } } });
      test = await startGateway({ catalog, database: database.url, env: ENV, timings: { catalogPollMs: 20 } });
      operator = await setUpOperator(test);
      other = await startGateway({ catalog, database: database.url, env: ENV, timings: { catalogPollMs: 20 } });
      account = await test.account('1000');
    });
    after(async () => {
      await other.stop();
      await test.stop();
      await upstream.close();
      await database.remove();
    });

    const answerVendor: Parameters<TestUpstream['behave']>[0] = (call) => {
      if (call.request.method !== 'GET') return chatAnswer('Hello.')(call);
      call.response.writeHead(200, { 'content-type': 'application/json' });
      call.response.end(JSON.stringify({ data: [{ id: 'gpt-x' }, { id: 'gpt-y' }, { id: 'tts' }] }));
    };
    const call = (gateway: TestGateway, model: string) =>
      send(gateway.url + CHAT, {
        key: account.key,
        body: { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 },
      });
    const plain = (text: string) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');
    /** Sends the form of a page that an earlier form has led to. */
    const go = (page: string, path: string, fields: Readonly<Record<string, string>>) =>
      operator.post(path, { ...hiddenFields(page, path), ...fields });
    const deeds = async () => (await test.store.auditLog.page({ limit: 30 })).map(({ action }) => action);

    it('takes an upstream, refuses what it must, and tries it by a small call', async () => {
      const wish = { vendor: 'chat', name: 'vendor-one', url: `${upstream.url}/v1`, key: KEY };
      const problems = [
        { name: 'Vendor One' },
        { name: 'up' },
        { vendor: 'nobody' },
        { url: '' },
        { url: 'ftp://x' },
        { url: `${upstream.url}/${variable('OPENAI_API_KEY')}` },
        { key: variable('OPENAI_API_KEY') },
      ];
      for (const wrong of problems) {
        const { status, text } = await operator.submit(UPSTREAMS, { ...wish, ...wrong });
        expect(
          [status, /class="(?:message )?error"/.test(text), text.includes(KEY)],
          JSON.stringify(wrong),
        ).to.deep.equal([400, true, false]);
      }
      const unnamed = await operator.submit(UPSTREAMS, { ...wish, name: 'Vendor One' });
      expect(unnamed.text, 'a key that was typed').to.contain('Enter the key again');
      const keyless = await operator.submit(UPSTREAMS, { ...wish, name: 'Vendor One', key: '' });
      expect(keyless.text).to.not.contain('Enter the key again');
      const added = await operator.submit(UPSTREAMS, wish);
      expect([added.status, added.headers.location]).to.deep.equal([303, `${UPSTREAMS}/vendor-one?done=saved`]);
      const shown = await operator.get(`${UPSTREAMS}/vendor-one?done=saved`);
      expect(shown.text).to.contain('Saved.').and.to.not.contain(KEY);
      const path = `${UPSTREAMS}/vendor-one`;
      const tried = await operator.submit(path, { change: 'test', model: 'gpt-x' });
      expect(plain(tried.text)).to.match(/Answered in [\d,]+ ms; 7 input and 3 output tokens; cost unknown\./);
      expect(upstream.calls.at(-1)?.request.headers.authorization).to.equal(`Bearer ${KEY}`);
      upstream.behave(({ response }) => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: `bad key ${KEY}` } }));
      });
      const failed = await operator.submit(path, { change: 'test', model: 'gpt-x' });
      upstream.behave(answerVendor);
      expect(failed.text).to.contain('The test failed').and.to.not.contain(KEY);
      const refused = (await operator.get(`${path}?lang=ru`)).text;
      expect(refused).to.contain('Ключей на паузе: 1 из 1. Провайдер их не принимает');
      const paused = await operator.get(`${path}?lang=en`);
      expect(plain(paused.text)).to.contain('Keys paused: 1 of 1. The vendor does not accept them');
      const moved = await operator.submit(path, { change: 'settings', url: 'https://elsewhere.example/v1', key: '' });
      expect([moved.status, plain(moved.text)].join())
        .to.contain('400')
        .and.to.contain('needs the key again');
      expect(await deeds()).to.include.members(['upstream.add', 'upstream.test']);
    });

    it('takes no secret in an address, and shows none again', async () => {
      const wish = { vendor: 'chat', name: 'leaky', key: '' };
      const path = `${UPSTREAMS}/vendor-one`;
      const spelled = [
        'https://me:hunter2@vendor.example/v1',
        'https://hunter2@vendor.example/v1',
        'https://me:hunter2@vendor.example:x/v1',
        'https://vendor.example/v1?key=hunter2',
        'https://vendor.example/v1?version=1&subscription-key=hunter2',
        'https://vendor.example/v1?access_token=hunter2&access_token=hunter2',
        'https://vendor.example/v1#key=hunter2',
        'ftp://me:hunter2@vendor.example/v1',
      ];
      for (const url of spelled) {
        const added = await operator.submit(UPSTREAMS, { ...wish, url });
        const changed = await operator.submit(path, { change: 'settings', url, key: KEY });
        for (const { status, text } of [added, changed])
          expect([status, text.includes('hunter2')], url).to.deep.equal([400, false]);
      }
      const refused = await operator.submit(UPSTREAMS, { ...wish, url: 'https://vendor.example/v1?a=b&key=hunter2' });
      expect(plain(refused.text)).to.contain('must not contain a password or a key: the key goes in the field “Key”');
      expect(refused.text).to.contain('value="https://vendor.example/v1?a=b&amp;key=***"');
      const log = JSON.stringify(await test.store.auditLog.page({ limit: 100 }));
      expect(log).to.contain('upstream.add').and.to.not.contain('hunter2');
    });

    it('lists the models of the vendor, and sells those that are chosen after a preview', async () => {
      const path = `${UPSTREAMS}/vendor-one/models`;
      const listed = await go((await operator.get(`${UPSTREAMS}/vendor-one`)).text, path, { filter: 'gpt' });
      expect(plain(listed.text)).to.contain('Shown: 2 of 2').and.to.contain('gpt-y').and.to.not.contain('tts');
      expect((await go(listed.text, path, { type: 'text' })).status).to.equal(400);
      const long = 'x'.repeat(201);
      expect(listed.text, 'what its plugin serves').to.contain('value="embedding"').and.to.not.contain('value="image"');
      const unserved = await go(listed.text, path, { type: 'image', model: 'gpt-y' });
      expect([unserved.status, unserved.text.includes('Choose a type')]).to.deep.equal([400, true]);
      const kept = (await go(listed.text, path, { type: 'embedding', model: 'gpt-y', more: long })).text;
      expect(kept, 'what was chosen').to.contain('value="gpt-y" checked').and.to.contain('value="embedding" selected');
      expect(kept).to.contain(`${long}</textarea>`);
      const prices = await go(listed.text, path, { type: 'text', model: 'gpt-x' });
      const wish = { 'id-0': 'sold-x', 'input-0': '1', 'output-0': '5', currency: 'USD', markup: '1.3', maker: 'Acme' };
      for (const [wrong, field] of [
        [{ 'input-0': 'x' }, 'input-0'],
        [{ 'output-0': '1,500' }, 'output-0'],
        [{ 'cacheRead-0': '-1' }, 'cacheRead-0'],
        [{ 'context-0': 'x' }, 'context-0'],
        [{ 'id-0': long }, 'id-0'],
        [{ markup: '0' }, 'markup'],
        [{ maker: '' }, 'maker'],
        [{ markup: '0.5' }, undefined],
        [{ 'id-0': 'model-a' }, undefined],
        [{ currency: 'EUR' }, undefined],
      ] as const) {
        const { status, text } = await go(prices.text, path, { ...wish, ...wrong, step: 'preview' });
        const at = /name="([^"]+)"[^>]*aria-invalid/.exec(text)?.[1];
        const isAbove = text.includes('class="message error"');
        expect([status, at, isAbove], JSON.stringify(wrong)).to.deep.equal([400, field, field === undefined]);
      }
      const unseen = await go(prices.text, path, { ...wish, step: 'save' });
      expect(plain(unseen.text)).to.contain('Nothing has been saved yet');
      const preview = await go(prices.text, path, { ...wish, 'can-tools': 'yes', step: 'preview' });
      expect(plain(preview.text)).to.contain('₽130.00 input, ₽650.00 output').and.to.contain('30%');
      expect((await call(test, 'sold-x')).status).to.equal(400);
      const saved = await go(preview.text, path, { ...wish, 'can-tools': 'yes', step: 'save' });
      expect([saved.status, saved.headers.location]).to.deep.equal([303, `${CATALOG}?done=saved`]);
      const paid = await call(test, 'sold-x');
      expect([paid.status, paid.json.billing.charged_rub]).to.deep.equal([200, 0.5]);
      await until(async () => (await call(other, 'sold-x')).status === 200);
      const known = await operator.submit(`${UPSTREAMS}/vendor-one`, { change: 'test', model: 'gpt-x' });
      expect(plain(known.text)).to.contain('cost 0.000022 USD');
    });

    it('changes a price, takes a model of a file off sale, and goes back', async () => {
      const path = `${CATALOG}/model?id=sold-x`;
      const dear = { kind: 'written', input: '200', output: '900', aliases: 'x, newest' };
      const change = async (at: string, wish: Readonly<Record<string, string>>) => {
        const preview = await go((await operator.get(at)).text, at, { ...wish, step: 'preview' });
        expect(preview.status, plain(preview.text)).to.equal(200);
        return go(preview.text, at, { ...wish, step: 'save' });
      };
      const loss = await go((await operator.get(path)).text, path, { ...dear, input: '99', step: 'preview' });
      expect([loss.status, plain(loss.text)].join()).to.match(/^400.*Not saved.*below/s);
      const preview = await go((await operator.get(path)).text, path, { ...dear, step: 'preview' });
      const late = await go(preview.text, path, { ...dear, step: 'save', seen: '0' });
      expect([late.status, plain(late.text)].join()).to.match(/^400.*Somebody else has changed the catalog/s);
      expect(late.text, 'what was typed').to.contain('value="900"').and.to.contain('value="x, newest"');
      expect((await change(path, dear)).status).to.equal(303);
      expect((await operator.get(`${path}&lang=ru`)).text).to.contain('value="200,00"');
      await operator.get(`${path}&lang=en`);
      const models = await send(`${test.url}/api/v1/models`, { key: account.key });
      const listing = models.json.data.find(({ id }: { id: string }) => id === 'sold-x');
      expect([listing.input_price_rub, listing.aliases]).to.deep.equal([200, ['x', 'newest']]);
      expect((await change(`${CATALOG}/model?id=model-a`, { kind: 'own', aliases: 'a', off: 'yes' })).status).to.equal(
        303,
      );
      expect((await call(test, 'model-a')).status).to.not.equal(200);
      await until(async () => (await call(other, 'model-a')).status !== 200);

      const page = (await operator.get(CATALOG)).text;
      expect(plain(page)).to.contain('changed a model model-a').and.to.contain('added models sold-x');
      expect(plain(page), 'what a save changed').to.contain('models.sold-x.price.markup : 1.30 → none');
      const latest = (await test.store.catalogVersions.page({ limit: 1 }))[0]?.seq ?? 0;
      const back = { change: 'restore', version: `${latest - 2}`, seen: `${latest}` };
      expect((await operator.submit(CATALOG, { ...back, seen: `${latest - 1}` })).status).to.equal(400);
      expect((await operator.submit(CATALOG, { ...back, version: '99' })).status).to.equal(400);
      expect((await operator.submit(CATALOG, back)).status).to.equal(303);
      expect((await call(test, 'model-a')).status).to.equal(200);
      const again = await send(`${test.url}/api/v1/models`, { key: account.key });
      expect(again.json.data.find(({ id }: { id: string }) => id === 'sold-x').input_price_rub).to.equal(130);
      await until(async () => (await call(other, 'model-a')).status === 200);
      expect(await deeds()).to.include.members(['model.add', 'model.change', 'catalog.restore']);
    });

    it('warns before it saves a cost above a fixed price, and until the price is raised', async () => {
      const path = `${CATALOG}/model?id=sold-x`;
      const warning = 'sold-x, input: the price of 200.00 RUB stays as it was, below the cost of 300.00 RUB. Raise it.';
      const change = async (wish: Readonly<Record<string, string>>) => {
        const preview = await go((await operator.get(path)).text, path, {
          ...wish,
          'currency-0': 'USD',
          step: 'preview',
        });
        await go(preview.text, path, { ...wish, 'currency-0': 'USD', step: 'save' });
        return plain(preview.text);
      };
      const fixed = { kind: 'written', input: '200', output: '900', 'output-0': '5' };
      expect(await change({ ...fixed, 'input-0': '1' })).to.not.contain('below the cost');
      expect(await change({ ...fixed, 'input-0': '3' })).to.contain(warning);
      expect(plain((await operator.get(path)).text)).to.contain(warning);
      expect(plain((await operator.get(`${CATALOG}/model?id=model-a`)).text)).to.not.contain('below the cost');
      await change({ ...fixed, 'input-0': '3', input: '300' });
      expect(plain((await operator.get(path)).text)).to.not.contain('below the cost');
      for (const input of ['0', '1000000000,01', '0.0000001'])
        expect((await go((await operator.get(path)).text, path, { ...fixed, input, step: 'preview' })).text).to.match(
          /name="input"[^>]*aria-invalid[^>]*>\s*<span class="error"[^>]*>Enter a price in RUB: above 0/,
        );
      await change({ kind: 'markup', factor: '1.3', 'input-0': '1', 'output-0': '5', 'can-tools': 'yes' });
    });

    it('takes discounts and exchange rates, and says at a field what is wrong', async () => {
      const set = async (wish: Readonly<Record<string, string>>) => {
        const seen = `${await test.store.catalogVersions.last()}`;
        const { status, text } = await operator.submit(CATALOG, { ...wish, seen });
        const [, field] = /name="([^"]+)"[^>]*aria-invalid/.exec(text) ?? [];
        return [status, field];
      };
      const part = async () => JSON.parse((await test.store.catalogVersions.page({ limit: 1 }))[0]?.text ?? '');
      const discount = { change: 'discount', list: 'spring-10', percent: '10' };
      for (const list of ['', 'none', 'Spring', '-x', `a${'b'.repeat(40)}`])
        expect(await set({ ...discount, list }), list).to.deep.equal([400, 'list']);
      for (const percent of ['', '-1', '95,01', '96', '5.123', 'x'])
        expect(await set({ ...discount, percent }), percent).to.deep.equal([400, 'percent']);
      // Below the cost of a model, which no field can say.
      expect(await set({ ...discount, percent: '95' })).to.deep.equal([400, undefined]);
      for (const [percent, factor] of [
        ['20', '0.8'],
        ['12,5 %', '0.875'],
        ['0.01', '0.9999'],
      ] as const) {
        expect(await set({ ...discount, percent }), percent).to.deep.equal([303, undefined]);
        expect((await part()).priceLists).to.deep.equal({ 'spring-10': { factor } });
      }
      expect(await set({ ...discount, list: `a${'b'.repeat(39)}`, percent: '0' })).to.deep.equal([303, undefined]);
      expect(await set({ ...discount, percent: '0' })).to.deep.equal([303, undefined]);
      expect(await part()).to.not.have.property('priceLists');

      const rate = { change: 'rate', currency: 'CNY', rub: '11,5' };
      for (const currency of ['', 'us', 'USDT'])
        expect(await set({ ...rate, currency }), currency).to.deep.equal([400, 'currency']);
      for (const rub of ['', '0', '0,0', '-1', '1 000 000', '1.1234567', '1,500'])
        expect(await set({ ...rate, rub }), rub).to.deep.equal([400, 'rub']);
      for (const [rub, saved] of [
        ['11,5', '11.50'],
        ['123\u00a0456.123456', '123456.123456'],
        ['0,000001', '0.000001'],
      ] as const) {
        expect(await set({ ...rate, currency: 'cny', rub }), rub).to.deep.equal([303, undefined]);
        const from = /^\d{4}-\d\d-\d\d(?:T\d\d)?/;
        const [kept, ...more] = (await part()).rates.CNY;
        expect([kept.rub, more]).to.deep.equal([saved, []]);
        expect(kept.from).to.match(from);
      }
      expect(await deeds()).to.include.members(['price_list.change', 'rate.change']);
    });

    it('shows on every gateway that one of them cannot load a version', async () => {
      const version = { seq: (await test.store.catalogVersions.last()) + 1, at: Date.now(), user: '-', note: 'broken' };
      await test.store.catalogVersions.add({ ...version, text: '{ "overrides": { "model-a": { "price": {} } } }' });
      await until(async () => (await operator.get(UPSTREAMS)).text.includes('A gateway could not load version'));
      const back = { change: 'restore', version: `${version.seq - 1}`, seen: `${version.seq}` };
      expect((await operator.submit(CATALOG, back)).status).to.equal(303);
      expect((await operator.get(UPSTREAMS)).text).to.not.contain('could not load');
    });

    it('names who saved a version, also an operator who was removed since', async () => {
      const seq = (await test.store.catalogVersions.last()) + 1;
      const left = makeUser({ operator: true });
      await test.store.users.add(left);
      await test.store.catalogVersions.add({ seq, at: Date.now(), user: left.id, note: 'rate.change CNY', text: '{}' });
      expect(await test.store.users.remove(left, Date.now())).to.equal('done');
      expect((await operator.get(CATALOG)).text).to.contain(`data-title="Who">${left.email}</td>`);
      const back = { change: 'restore', version: `${seq - 1}`, seen: `${seq}` };
      expect((await operator.submit(CATALOG, back)).status).to.equal(303);
    });

    it('is for operators only, and never without the token of the form', async () => {
      const owner = await setUpOwner(test, account.id);
      for (const path of [`${UPSTREAMS}/vendor-one`, `${CATALOG}/model?id=sold-x`]) {
        expect((await owner.get(path)).status).to.equal(404);
        expect((await createVisitor(test.url).get(path)).status).to.equal(303);
        expect((await operator.post(path, { change: 'remove', step: 'remove' })).status).to.equal(403);
      }
      expect((await owner.post(UPSTREAMS, { name: 'x' })).status).to.equal(404);
      for (const path of [`${UPSTREAMS}/nothing`, `${CATALOG}/model?id=nothing`])
        expect((await operator.get(path)).status).to.equal(404);
    });

    it('keeps the key of the vendor from the store, a backup, the versions, the log and the audit', async () => {
      const settings = JSON.stringify(await test.store.settings.list());
      const versions = JSON.stringify(await test.store.catalogVersions.page({ limit: 100 }));
      const log = [test, other].map(({ folder }) => readFileSync(join(folder, 'log'), 'utf8')).join();
      const audit = JSON.stringify(await test.store.auditLog.page({ limit: 100 }));
      const backup = join(test.folder, 'backup.db');
      if (kind === SQLITE) await test.store.backup(backup);
      const copied = kind === SQLITE ? readFileSync(backup, 'latin1') : '';
      for (const text of [settings, versions, log, audit, copied]) expect(text).to.not.contain(KEY);
      expect(settings).to.match(/secret\/catalog\/CONSOLE_VENDOR_ONE_[0-9A-F]{8}_API_KEY.{0,20}enc:v1:/);
    });

    it('removes the upstream with the models that only it serves', async () => {
      const seen = `${await test.store.catalogVersions.last()}`;
      const warned = plain((await operator.get(`${UPSTREAMS}/vendor-one`)).text);
      expect(warned).to.contain('These models are served by it alone and go with it: sold-x.');
      const removed = await operator.submit(`${UPSTREAMS}/vendor-one`, { change: 'remove', seen });
      expect(removed.status).to.equal(303);
      expect((await operator.get(removed.headers.location ?? '')).text).to.contain('Saved.');
      expect((await operator.get(`${UPSTREAMS}/vendor-one`)).status).to.equal(404);
      expect((await call(test, 'sold-x')).status).to.equal(400);
      await test.checkMoney();
    });
  });
}

describe('the catalog on pages without SECRETS_KEY', () => {
  it('refuses a key, and says how to set one', async () => {
    const upstream = await startUpstream();
    const test = await startGateway({ catalog: chatCatalog(upstream.url) });
    try {
      const operator = await setUpOperator(test);
      const wish = { vendor: 'chat', name: 'own', url: `${upstream.url}/v1`, key: KEY };
      const refused = await operator.submit(UPSTREAMS, wish);
      expect([refused.status, refused.text.includes('openssl rand')]).to.deep.equal([400, true]);
      expect(JSON.stringify(await test.store.settings.list())).to.not.contain(KEY);
      expect((await operator.submit(UPSTREAMS, { ...wish, key: '' })).status).to.equal(303);
    } finally {
      await test.stop();
      await upstream.close();
    }
  });
});

describe('a sandbox to which pages have added a real upstream', () => {
  it('says that calls cost real money, on error pages too', async () => {
    const upstream = await startUpstream(chatAnswer('Hello.'));
    const test = await startGateway({ catalog: {}, env: { ...ENV, SANDBOX: 'on' }, timings: { catalogPollMs: 20 } });
    try {
      const operator = await setUpOperator(test);
      const bars = async () => {
        const pages = await Promise.all([CATALOG, '/admin/nothing'].map((path) => operator.get(path)));
        return pages.map(({ text }) => /<aside class="sandbox"[^>]*>([^<]*)</.exec(text)?.[1] ?? '');
      };
      for (const bar of await bars()) expect(bar).to.contain('no money is real');
      expect((await operator.get('/admin/checks')).text).to.contain('Add an upstream on its page');
      await operator.submit(UPSTREAMS, { vendor: 'chat', name: 'vendor', url: `${upstream.url}/v1`, key: KEY });
      await until(async () => (await bars()).every((bar) => bar.includes('cost real money')));
      expect((await operator.get('/admin/checks')).text, 'what to do').to.contain('restart the service');
    } finally {
      await test.stop();
      await upstream.close();
    }
  });
});
