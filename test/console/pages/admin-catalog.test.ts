// Operator pages while the catalog cannot be reloaded: they never call it fine.
import { expect } from 'chai';
import { chatCatalog, startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpOperator, type Visitor } from '../../../testkit/pages.ts';

const PAGES = ['/admin', '/admin/catalog', '/admin/checks'];
const SAYS = { en: 'The catalog was not reloaded', ru: 'Каталог не обновлён' } as const;
const FINE = { en: 'within a second', ru: 'в течение секунды' } as const;

describe('a catalog that failed to load', () => {
  let test: TestGateway;
  let operator: Visitor;
  const good = chatCatalog('http://127.0.0.1:1');

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
