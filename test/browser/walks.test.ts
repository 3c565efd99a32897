// Three people do what they came for, by what is on the pages only: an owner who is no programmer, an operator who opens no
// file and no shell, a member. The clicks are in docs/console-walks.md; the test fails if they become others.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { DAY_MS } from '../../lib/base/durations.ts';
import { useBrowser } from '../../testkit/browser.ts';
import { CHAT, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { describeLong } from '../../testkit/long.ts';
import { makeCode, PASSWORD, setUpMember, setUpOwner } from '../../testkit/pages.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { createWalk, type Walk } from '../../testkit/walk.ts';
import { applied, newId, RUB, reserve, settle } from '../contract/store/context.ts';

const DOC = readFileSync(new URL('../../docs/console-walks.md', import.meta.url), 'utf8');
const SCREEN = { viewport: { width: 1280, height: 900 }, locale: 'ru-RU' };
const CODE = 'Код из приложения';

/** What a document says of a walk; ids and keys differ each time. */
function expectInDocument(title: string, { lines, clicks }: Walk): void {
  const text = lines.join('\n');
  const count = clicks() === 1 ? '1 click' : `${clicks()} clicks`;
  expect(DOC, `docs/console-walks.md, ${title}`).to.contain(`### ${title} (${count})\n\n\`\`\`text\n${text}\n\`\`\``);
}

describeLong('walks of three people', function () {
  this.timeout(120_000);
  const guest = useBrowser({ pagesLast: 'all' });
  let vendor: TestUpstream;
  let test: TestGateway;
  let isDown = false;

  before(async () => {
    vendor = await startUpstream((call) => {
      if (call.request.method === 'GET') {
        call.response.writeHead(200, { 'content-type': 'application/json' });
        const names = ['gpt-small', 'gpt-large', 'gpt-vision', 'tts'];
        call.response.end(JSON.stringify({ data: names.map((id) => ({ id })) }));
      } else if (isDown) {
        call.response.writeHead(503, { 'content-type': 'application/json' });
        call.response.end(JSON.stringify({ error: { message: 'overloaded' } }));
      } else return chatAnswer('Здравствуйте!')(call);
    });
    test = await startGateway({
      catalog: chatCatalog(vendor.url),
      env: { SECRETS_KEY: 'ab'.repeat(32) },
      timings: { catalogPollMs: 20 },
    });
  });
  after(async () => {
    await test?.stop();
    await vendor?.close();
  });

  const chat = (key: string, model: string) =>
    send(test.url + CHAT, { key, body: { model, messages: [{ role: 'user', content: 'Привет' }], max_tokens: 10 } });
  const openAs = async (session: string | undefined, path: string): Promise<Page> => {
    const page = await guest.openPage(test.url, session, SCREEN);
    await page.goto(`${test.url}${path}`);
    return page;
  };

  describe('an owner', () => {
    let account: TestAccount;
    let page: Page;

    before(async () => {
      account = await test.account('3000');
      const owner = await setUpOwner(test, account.id, 'anna@example.com');
      const at = Date.now() - DAY_MS;
      for (let number = 0; number < 30; number += 1) {
        const chargeId = newId('req');
        const [model, amount] = number < 5 ? ['image-a', 2n * RUB] : ['model-a', 11_600_000n];
        const start = { ...reserve(account.id, { chargeId, at, key: account.keyId, amount: 90n * RUB }), model };
        await applied(test.store, start as never, settle(account.id, chargeId, { at, amount: amount as bigint }));
      }
      page = await openAs(owner.cookies.get('session'), '/account?lang=ru');
    });

    it('connects a chat program', async () => {
      const walk = createWalk(page);
      await walk.click('Подключить программу');
      await walk.click('Новый ключ', { role: 'summary' });
      await walk.type('Название', 'Cherry Studio');
      await walk.click('Создать ключ', { role: 'button' });
      const key = (await page.locator('code.key').textContent()) ?? '';
      await walk.click('Cherry Studio', { role: 'summary' });
      const settings = await page.locator('#cherry-studio').textContent();
      expect(settings).to.contain('/api').and.to.contain(key);
      expect((await chat(key, 'model-a')).status).to.equal(200);
      await walk.see(/Первый запрос/);
      expectInDocument('Connect a chat program', walk);
    });

    it('explains yesterday’s 300 roubles', async () => {
      await page.goto(`${test.url}/account?lang=ru`);
      const walk = createWalk(page);
      await walk.click(/300,00/);
      await walk.see(/290,00/);
      await walk.click('model-a');
      await walk.click(/test key/, { as: 'ключ' });
      await walk.click(/\d\d:\d\d/, { within: 'main', as: 'время запроса' });
      await walk.see('Расчёт цены');
      expectInDocument("Explain yesterday's 300 roubles", walk);
    });
  });

  describe('an operator', () => {
    let page: Page;
    let customer: TestAccount;

    before(async () => {
      page = await openAs(undefined, new URL(test.gateway.facts.links.setup ?? '').pathname);
    });

    it('signs in with the link of the first start', async () => {
      const link = new URL(test.gateway.facts.links.setup ?? '');
      await page.goto(`${test.url}${link.pathname}${link.search}&lang=ru`);
      const walk = createWalk(page);
      await walk.type('Почта', 'op@example.com');
      await walk.type('Пароль', PASSWORD);
      await walk.type('Повторите пароль', PASSWORD);
      const secret = await page.locator('[name=secret]').getAttribute('value');
      await walk.type(CODE, makeCode(secret ?? ''), { as: 'шесть цифр' });
      await walk.click('Сохранить', { role: 'button' });
      await page.goto(`${test.url}/admin?lang=ru`);
      expectInDocument('Sign in with the link of the first start', walk);
    });

    it('connects a vendor', async () => {
      const walk = createWalk(page);
      await walk.click('Провайдеры', { within: 'header' });
      await walk.choose('Тип провайдера', 'Свой или другой сервер: chat completions');
      await walk.type('Имя', 'vendor');
      await walk.type('Базовый адрес (base URL)', `${vendor.url}/v1`, { as: 'адрес провайдера' });
      await walk.type('Ключ', 'sk-vendor-1');
      await walk.click('Добавить', { role: 'button' });
      await walk.type('Модель, как её называет провайдер', 'gpt-small');
      await walk.click('Проверить', { role: 'button' });
      await walk.see(/Ответ получен/);
      expectInDocument('Connect a vendor', walk);
    });

    it('sells three of its models at 30 % above cost, bought in dollars', async () => {
      const walk = createWalk(page);
      await walk.click('Каталог', { within: 'header' });
      await walk.click('Задать курс валюты', { role: 'summary' });
      await walk.type('Валюта', 'USD');
      await walk.type('Рублей за единицу', '80');
      await walk.click('Сохранить курс', { role: 'button' });
      await walk.click('Провайдеры', { within: 'header' });
      await walk.click('vendor', { within: 'main' });
      await walk.click('Показать модели', { role: 'button' });
      for (const name of ['gpt-small', 'gpt-large', 'gpt-vision']) await walk.click(name, { role: 'checkbox' });
      await walk.click('К ценам', { role: 'button' });
      const costs = [
        ['0.1', '0.4'],
        ['2', '8'],
        ['1', '4'],
      ] as const;
      for (const [at, [input, output]] of costs.entries()) {
        await walk.type('Закупка, вход', input, { at });
        await walk.type('Закупка, выход', output, { at });
      }
      await walk.type('Коэффициент', '1,3');
      await walk.type('Разработчик', 'Vendor');
      await walk.click('Предпросмотр', { role: 'button' });
      await walk.see(/10,40/);
      await walk.click('Сохранить', { role: 'button' });
      await walk.see(/Сохранено/);
      expect(await page.locator('main').textContent()).to.contain('gpt-vision');
      expectInDocument('Sell three models at 30 % above cost', walk);
    });

    it('gives a customer a discount', async () => {
      customer = await test.account('1000');
      const walk = createWalk(page);
      await walk.click('Каталог', { within: 'header' });
      await walk.click('Добавить или изменить скидку', { role: 'summary' });
      await walk.type('Название прайс-листа', 'partner');
      await walk.type('Скидка, %', '10');
      await walk.click('Сохранить скидку', { role: 'button' });
      await walk.click('Клиенты', { within: 'header' });
      await walk.click('test', { within: 'main' });
      await walk.choose('Прайс-лист', 'partner');
      await walk.click('Сменить прайс-лист', { role: 'button' });
      await walk.see(/Готово/);
      expectInDocument('Give a discount', walk);
    });

    it('makes a promo code', async () => {
      const walk = createWalk(page);
      await walk.click('Промокоды', { within: 'header' });
      await walk.type('Промокод', 'SPRING');
      await walk.type('Сумма для каждого аккаунта, ₽', '300');
      await walk.type('Сколько аккаунтов могут его применить', '100');
      await walk.type('Причина', 'Весенняя акция');
      await walk.click('Создать', { role: 'button' });
      await walk.see('SPRING');
      expectInDocument('Make a promo code', walk);
    });

    it('finds a failed call with its cause and route', async () => {
      expect((await chat(customer.key, 'gpt-small')).status).to.equal(200);
      isDown = true;
      expect((await chat(customer.key, 'gpt-small')).status).to.be.at.least(500);
      isDown = false;
      await until(async () => (await test.store.ledger.wallet(customer.id))?.held === 0n);
      const walk = createWalk(page);
      await page.goto(`${test.url}/admin/calls?faults=yes`);
      await until(async () => {
        await page.goto(`${test.url}/admin?lang=ru`);
        return (await page.locator('.headlines a', { hasText: /^1$/ }).count()) > 0;
      });
      await walk.click('1', { within: '.headlines', as: 'число ошибок' });
      await walk.click(/\d\d:\d\d/, { within: 'main', as: 'время запроса' });
      await walk.see(/503/);
      expect(await page.locator('main').textContent()).to.contain('vendor');
      expectInDocument('Find a failed call', walk);
    });
  });

  describe('a member', () => {
    it('sees only their own', async () => {
      const account = await test.account('1000');
      const owner = await setUpOwner(test, account.id, 'head@example.com');
      const member = await setUpMember(test, { account: account.id, role: 'member' }, 'ira@example.com');
      expect((await chat(account.key, 'model-a')).status).to.equal(200);
      const page = await openAs(member.cookies.get('session'), '/account?lang=ru');
      const walk = createWalk(page);
      expect(await page.locator('nav').textContent()).not.to.match(/Кошелёк|Участники/);
      await walk.click('Ключи', { within: 'header' });
      await walk.type('Название', 'мой ноутбук');
      await walk.click('Создать', { role: 'button' });
      const key = (await page.locator('code.key').textContent()) ?? '';
      expect((await chat(key, 'model-a')).status).to.equal(200);
      await walk.click('Запросы', { within: 'header' });
      const calls = await page.locator('main tbody tr').count();
      expect(calls).to.equal(1);
      await walk.click('Расходы', { within: 'header' });
      expect(await page.locator('main').textContent()).not.to.contain('test key');
      for (const path of ['/account/wallet', '/account/people', '/account/statement', '/admin']) {
        expect((await page.goto(`${test.url}${path}`))?.status(), path).to.be.oneOf([403, 404]);
      }
      expect((await owner.get('/account/calls')).text)
        .to.contain('test key')
        .and.to.contain('мой ноутбук');
      expectInDocument('See only their own', walk);
    });
  });
});
