// Operator pages while the catalog cannot be reloaded: they never call it fine.
import { expect } from 'chai';
import { chatCatalog, startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpOperator, type Visitor } from '../../../testkit/pages.ts';
import { variable } from '../../catalog/folder.ts';

const PAGES = ['/admin', '/admin/catalog', '/admin/checks'];
const SAYS = { en: 'The catalog was not reloaded', ru: 'Каталог не обновлён' } as const;
const FINE = { en: 'within a second', ru: 'в течение секунды' } as const;

describe('a catalog that failed to load', () => {
  let test: TestGateway;
  let operator: Visitor;
  const { models, ...others } = chatCatalog('http://127.0.0.1:1') as { models: readonly { type: string }[] };
  const good = { ...others, models: models.filter(({ type }) => type === 'text') };

  before(async () => {
    test = await startGateway({ catalog: good });
    operator = await setUpOperator(test);
  });
  after(() => test.stop());

  const readPage = async (path: string, language: string) => (await operator.get(`${path}?lang=${language}`)).text;
  const warningsCheck = async (language: string) =>
    /<td>[^<]*(?:no warnings|предупреждений нет)<\/td><td>(.*?)<\/td>/s.exec(
      await readPage('/admin/checks', language),
    )?.[1];

  for (const language of ['en', 'ru'] as const) {
    it(`is reported with its error and time until it loads, in ${language}`, async () => {
      test.writeCatalog({ ...good, models: [{ id: 'broken', type: 'text' }] });
      expect(await test.gateway.reload()).to.equal(false);
      for (const path of PAGES) {
        const text = await readPage(path, language);
        expect(text, path).to.contain(SAYS[language]).and.to.contain('models[0]');
        expect(text).to.match(/\(\d+\u00a0\S+(?:\u00a0\S+)*, \d\d:\d\d:\d\d\)/);
        expect(text).not.to.contain(FINE[language]);
      }
      expect(await warningsCheck(language)).to.contain(SAYS[language]);
      test.writeCatalog(good);
      expect(await test.gateway.reload()).to.equal(true);
      for (const path of PAGES) expect(await readPage(path, language), path).not.to.contain(SAYS[language]);
      expect(await readPage('/admin/catalog', language)).to.contain(FINE[language]);
      expect(await warningsCheck(language)).to.equal(language === 'en' ? 'ok' : 'в порядке');
    });
  }
});

describe('the catalog page', () => {
  it('shows the rates that were used, the latest first', async () => {
    const catalog = chatCatalog('http://127.0.0.1:1');
    const at = (rub: string) => ({ ...catalog, rates: { USD: { rub, from: '2026-01-01' } } });
    const test = await startGateway({ catalog: at('80.5') });
    try {
      const operator = await setUpOperator(test);
      test.writeCatalog(at('82'));
      expect(await test.gateway.reload()).to.equal(true);
      const { text } = await operator.get('/admin/catalog?lang=en');
      const rates = [...text.matchAll(/<td[^>]*>USD<\/td><td[^>]*>([^<]+)<\/td><td[^>]*>([^<]+)<\/td>/g)];
      expect(rates.map(([, rate, from]) => [rate, from])).to.deep.equal([
        ['₽82.00', '1\u00a0Jan\u00a02026'],
        ['₽80.50', '1\u00a0Jan\u00a02026'],
      ]);
    } finally {
      await test.stop();
    }
  });

  it('shows the cost of the dearest route, from which a markup counts', async () => {
    const { upstreams, models } = chatCatalog('http://127.0.0.1:1') as Record<'upstreams' | 'models', object>;
    const route = (input: string, output: string) => {
      return { upstream: 'up', model: `m-${input}`, cost: { currency: 'RUB', input, output } };
    };
    const routes = [route('100', '500'), route('200', '400')];
    const both = { id: 'both', type: 'text', provider: 'Test', routes, price: { markup: '1.5' } };
    const test = await startGateway({ catalog: { upstreams, models: [both, ...(models as object[])] } });
    try {
      const operator = await setUpOperator(test);
      const { text } = await operator.get('/admin/catalog?lang=en');
      const row = /<td[^>]*><a[^>]*><code>both<\/code>.*?<\/tr>/s.exec(text)?.[0] ?? '';
      expect(row).to.contain('₽200.00 input, ₽500.00 output').and.to.contain('>50%<');
    } finally {
      await test.stop();
    }
  });

  it('shows no table of rates without any', async () => {
    const test = await startGateway({ catalog: chatCatalog('http://127.0.0.1:1') });
    try {
      const operator = await setUpOperator(test);
      expect((await operator.get('/admin/catalog?lang=en')).text).not.to.contain('In use since');
    } finally {
      await test.stop();
    }
  });

  it('folds away what no upstream serves: upstreams without their key, and their models', async () => {
    const { upstreams, models } = chatCatalog('http://127.0.0.1:1') as Record<'upstreams' | 'models', object>;
    const off = { plugin: 'openai-compatible', settings: { baseUrl: 'http://x/v1', apiKey: variable('GROQ_API_KEY') } };
    const route = { upstream: 'idle', model: 'x' };
    const idle = { id: 'idle-model', type: 'image', provider: 'Test', routes: [route], price: { request: '10' } };
    const catalog = { upstreams: { idle: off, ...upstreams }, models: [idle, ...(models as object[])] };
    const test = await startGateway({ catalog });
    try {
      const operator = await setUpOperator(test);
      const split = async (path: string) => (await operator.get(path)).text.split('<details><summary>');
      const [sold = '', ...folded] = await split('/admin/catalog?lang=en');
      expect(sold).to.contain('>model-a<').and.not.to.contain('idle-model');
      expect(folded[0])
        .to.match(/^Not available without an upstream: \d</)
        .and.to.contain('idle-model');
      const [used = '', rest = ''] = await split('/admin/upstreams?lang=en');
      expect(used).to.contain('href="/admin/upstreams/up"').and.not.to.contain('GROQ_API_KEY');
      expect(rest)
        .to.match(/^Switched off: 1</)
        .and.to.contain('href="/admin/upstreams/idle"');
    } finally {
      await test.stop();
    }
  });
});
