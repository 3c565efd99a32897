// An operator pauses an upstream: all gateways send new calls elsewhere, or refuse them as if it were switched off, until it is
// resumed; running videos finish, and pages say who did it.
import { expect } from 'chai';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { CHAT, send, until } from '../../testkit/client.ts';
import { type FilmUpstream, filmCatalog, finished, inState, startFilmUpstream } from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { createVisitor, hiddenFields, setUpOperator, type Visitor } from '../../testkit/pages.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { answerStatus, chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const PATH = '/admin/upstreams/first';

for (const kind of longer([SQLITE], STORES)) {
  describe(`a paused upstream: ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstreams: readonly TestUpstream[];
    let test: TestGateway;
    let other: TestGateway;
    let operator: Visitor;
    let account: TestAccount;

    const catalog = () => {
      const [first, second] = upstreams.map(({ url }) => ({
        plugin: 'openai-compatible',
        settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' },
      }));
      const text = { type: 'text', provider: 'Test' };
      const route = (upstream: string, input: string) => ({
        upstream,
        model: `${upstream}-model`,
        cost: { currency: 'RUB', input, output: input },
      });
      return {
        upstreams: { first, second },
        models: [
          { ...text, id: 'both', routes: [route('first', '200'), route('second', '100')], price: { markup: '2' } },
          { ...text, id: 'alone', routes: [route('first', '100')], price: { input: '200', output: '200' } },
        ],
        smart: { lite: 'alone', standard: 'both', heavy: 'both' },
        priceLists: { partner: { factor: '0.9' } },
      };
    };
    const start = () => startGateway({ catalog: catalog(), database: database.url, timings: { catalogPollMs: 20 } });

    before(async () => {
      database = await kind.create();
      upstreams = [await startUpstream(chatAnswer('First.')), await startUpstream(chatAnswer('Second.'))];
      test = await start();
      operator = await setUpOperator(test);
      other = await start();
      account = await test.account('1000');
    });
    after(async () => {
      await test.checkMoney();
      await other.stop();
      await test.stop();
      for (const upstream of upstreams) await upstream.close();
      await database.remove();
    });

    const call = async (gateway: TestGateway, model: string) => {
      const body = { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 };
      const { status, json } = await send(gateway.url + CHAT, { key: account.key, body });
      return status === 200 ? json.choices[0].message.content : `${status} ${json.error.message.slice(0, 13)}`;
    };
    const listed = async (gateway: TestGateway) => {
      const { json } = await send(`${gateway.url}/api/v1/models`, { key: account.key });
      return json.data.map(({ id, price_rub }: { id: string; price_rub: number }) => `${id} ${price_rub}`);
    };
    const change = (name: string) => operator.submit(PATH, { change: name });

    it('gets no calls at any gateway: they take the next route, or are refused', async () => {
      expect(await listed(test)).to.deep.equal(['both 400', 'alone 200', 'smart null']);
      expect(await call(test, 'both')).to.equal('First.');
      const page = await operator.get(PATH);
      expect(page.text).to.contain('served by it alone and become unavailable: alone.');
      expect((await change('pause')).status).to.equal(303);
      expect(await call(test, 'both')).to.equal('Second.');
      expect(await call(test, 'alone')).to.equal('400 Unknown model');
      await until(async () => (await call(other, 'both')) === 'Second.');
      expect(await call(other, 'alone')).to.equal('400 Unknown model');
      // A price that follows from the cost of a paused route stays, and smart takes another tier's model.
      expect(await listed(other)).to.deep.equal(['both 400', 'smart null']);
      expect(await call(test, 'smart')).to.equal('Second.');
    });

    it('is shown with who paused it, in both languages, and in the audit log', async () => {
      for (const path of [PATH, '/admin/upstreams', '/admin', '/admin/checks']) {
        const { text } = await operator.get(`${path}?lang=en`);
        expect(text, path).to.match(
          /class="message error"[^>]*>The upstream first has been paused since .+ \(by op@example\.com\)/,
        );
        const russian = (await operator.get(`${path}?lang=ru`)).text;
        expect(russian, path).to.match(/Провайдер first на паузе с .+ \(кто поставил: op@example\.com\)/);
      }
      const { text } = await operator.get('/admin?lang=en');
      expect(text).to.contain(`<strong>paused</strong> · <a href="${PATH}#pause">Resume</a>`);
      const [last] = await test.store.auditLog.page({ limit: 1 });
      expect(last).to.include({ action: 'upstream.pause', target: 'first' });
    });

    it('stays paused after a restart and while a file of the catalog is broken', async () => {
      await other.stop();
      other = await start();
      expect(await call(other, 'both')).to.equal('Second.');
      other.writeCatalog({ models: 'none' });
      const visitor = createVisitor(other.url, { session: operator.cookies.get('session') ?? '' });
      await until(async () => (await visitor.get('/admin/catalog')).text.includes('was not reloaded'));
      expect((await change('resume')).status).to.equal(303);
      await until(async () => (await call(other, 'both')) === 'First.');
      expect(await call(test, 'alone')).to.equal('First.');
      expect(await listed(test)).to.deep.equal(['both 400', 'alone 200', 'smart null']);
      expect((await operator.get('/admin?lang=en')).text).to.not.contain('has been paused since');
      expect((await test.store.auditLog.page({ limit: 1 }))[0]?.action).to.equal('upstream.resume');
    });

    it('can be paused again, with its last error in view', async () => {
      upstreams[0]?.behave(answerStatus(503, { error: { message: 'overloaded' } }));
      expect(await call(test, 'both')).to.equal('Second.');
      await foldUsage(test.store, account.id);
      for (const path of [PATH, '/admin/upstreams', '/admin']) {
        const { text } = await operator.get(path);
        expect(text.replaceAll(/\s+/g, ' '), path).to.match(/failed: 503[^<]*, <a href="\/admin\/ledger\?id=req_/);
      }
    });

    it('is not asked at the prices of a list either', async () => {
      await change('pause');
      await test.store.accounts.setPriceList(account.id, 'partner');
      await until(async () => (await listed(test))[0] === 'both 360');
      expect([await call(test, 'both'), await call(test, 'alone')]).to.deep.equal(['Second.', '400 Unknown model']);
      await change('resume');
    });

    it('stays paused when another one is paused or resumed at the same moment', async () => {
      const elsewhere = createVisitor(other.url, { session: operator.cookies.get('session') ?? '' });
      const second = '/admin/upstreams/second';
      for (const word of ['pause', 'resume']) {
        await Promise.all([change(word), elsewhere.submit(second, { change: word })]);
        for (const path of [PATH, second]) {
          const isPaused = (await operator.get(`${path}?lang=en`)).text.includes('has been paused since');
          expect(isPaused, `${word} ${path}`).to.equal(word === 'pause');
        }
      }
    });

    it('leaves the gateway ready even if there is no other', async () => {
      const pause = (name: string) => operator.submit(`/admin/upstreams/${name}`, { change: 'pause' });
      await pause('first');
      await pause('second');
      expect(await call(test, 'both')).to.equal('400 Unknown model');
      expect((await send(`${test.url}/readyz`)).status).to.equal(200);
      const nobody = { ...hiddenFields((await operator.get(PATH)).text, PATH), change: 'pause' };
      expect((await operator.post('/admin/upstreams/nobody', nobody)).status).to.equal(404);
    });
  });
}

describe('a paused upstream of videos', () => {
  it('finishes its videos and starts no more', async () => {
    const upstream: FilmUpstream = await startFilmUpstream();
    const test = await startGateway({ catalog: filmCatalog(upstream.url), env: { VIDEO_POLL_MS: '20' } });
    try {
      const operator = await setUpOperator(test);
      const { key } = await test.account();
      const post = () => send(`${test.url}/api/v1/videos`, { key, body: { model: 'film-a', prompt: 'A red square' } });
      upstream.behave({ look: inState('processing') });
      const { json } = await post();
      const names = /href="(\/admin\/upstreams\/[^"#]+)">/.exec((await operator.get('/admin/upstreams')).text);
      await operator.submit(names?.[1] ?? '', { change: 'pause' });
      expect((await post()).status).to.equal(503);
      upstream.behave({ look: finished });
      const look = () => send(`${test.url}/api/v1/videos?id=${json.id}`, { key });
      await until(async () => (await look()).json.status === 'completed', 10_000);
      await test.checkMoney();
    } finally {
      await test.stop();
      await upstream.close();
    }
  });
});
