// Paying in a real browser, in both languages and on both screens: form, link, the provider's page, back, credited. The
// content policy for forms can only be tested in a browser.
import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { findViolations, SCREENS, useBrowser } from '../../testkit/browser.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { setUpOperator, setUpOwner } from '../../testkit/pages.ts';

/** The folder for screenshots, if set. */
const SCREENSHOTS = process.env.PAGE_SCREENSHOTS;
/** What `npm test` looks at for accessibility: axe takes longer than the page. */
const LOOKED_AT = /-(refused|review)$/;
const RUB = 1_000_000n;

const WORDS = {
  en: { pay: 'Pay', go: 'Go to the payment page', paid: 'The money is in the wallet.', on: 'Turn on' },
  ru: { pay: 'Оплатить', go: 'Перейти к оплате', paid: 'Деньги зачислены в кошелёк.', on: 'Включить' },
} as const;

describe('payments in a browser', function () {
  this.timeout(120_000);
  const guest = useBrowser();
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
  });
  after(() => test?.stop());

  const openAs = (session: string | undefined, screen: (typeof SCREENS)[number]) =>
    guest.openPage(test.url, session, screen);

  /** Checks accessibility and width. */
  async function look(page: Page, name: string): Promise<void> {
    if (longer(LOOKED_AT.test(name), true)) expect(await findViolations(page), name).to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.be.at.most(0);
    if (!SCREENSHOTS) return;
    mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true });
  }

  for (const [at, language] of longer<readonly (keyof typeof WORDS)[]>(['ru'], ['ru', 'en']).entries()) {
    const screen = SCREENS[at] as (typeof SCREENS)[number];
    const words = WORDS[language];
    itLong(`lead to the credit and to an automatic top-up (${screen.name}, ${language})`, async () => {
      const account = await test.account('0');
      const owner = await setUpOwner(test, account.id);
      const page = await openAs(owner.cookies.get('session'), screen);
      const shot = (name: string) => look(page, `${screen.name}-${language}-payments-${name}`);
      await page.goto(`${test.url}/account/wallet?lang=${language}`);
      await shot('empty');
      await page.fill('#amount', '999');
      await page.click(`button:text-is("${words.pay}")`);
      await page.waitForSelector('#amount-error');
      await shot('refused');
      await page.fill('#amount', '1500,50');
      await page.check('input[name=save]');
      await page.click(`button:text-is("${words.pay}")`);
      await page.waitForURL('**/account/wallet?order=pay_*');
      await shot('order');
      await page.click(`a:text-is("${words.go}")`);
      await page.waitForURL('**/payments/sandbox/page/sb-*');
      await page.click('button[value=paid]');
      await page.waitForURL('**/account/wallet?order=pay_*');
      expect(await page.textContent('.message')).to.equal(words.paid);
      expect((await test.wallet(account)).avail).to.equal(1500n * RUB + RUB / 2n);
      await shot('paid');
      await page.click('a[href*="receipt"]');
      await page.waitForURL('**/receipt?order=*');
      await shot('receipt');

      await page.goto(`${test.url}/account/wallet`);
      for (const [field, sum] of Object.entries({ threshold: '2000', amount: '1000', cap: '3000' }))
        await page.fill(`#auto-${field}`, sum);
      await page.check('input[name=consent]');
      await page.click(`button:text-is("${words.on}")`);
      await page.waitForSelector('input[name=confirm]', { state: 'attached' });
      await shot('confirm');
      await page.click('main form button');
      await page.waitForURL('**/account/wallet?done=auto');
      await shot('wallet');
      expect((await test.store.payments.autoTopup(account.id))?.enabled).to.equal(true);
    });

    itLong(`show the outcome as soon as it is known (${screen.name}, ${language})`, async () => {
      const owner = await setUpOwner(test, (await test.account('0')).id);
      const order = String((await owner.submit('/account/wallet', { amount: '1000' })).headers.location);
      const link = /class="button" href="([^"]+)"/.exec((await owner.get(order)).text)?.[1] ?? '';
      const page = await openAs(owner.cookies.get('session'), screen);
      const problems: string[] = [];
      page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
      await page.goto(`${test.url}${order}&lang=${language}`);
      await page.waitForSelector('#payment[data-again] a.button');
      await page.focus('#payment a.button');
      await page.waitForResponse((response) => response.url().includes('order='));
      // Nothing has changed, so nothing was replaced.
      expect(await page.evaluate('document.activeElement.className')).to.equal('button');
      await owner.post(new URL(link).pathname, { button: 'paid' });
      await page.waitForSelector('#payment:not([data-again])', { timeout: 20_000 });
      expect(await page.textContent('.message')).to.equal(words.paid);
      expect([await page.$('#payment a.button'), problems]).to.deep.equal([null, []]);
      await look(page, `${screen.name}-${language}-payments-live`);
    });

    itLong(`are decided by an operator (${screen.name}, ${language})`, async () => {
      const account = await test.account('0');
      const owner = await setUpOwner(test, account.id);
      const ordered = await owner.submit('/account/wallet', { amount: '1000' });
      const order = String(ordered.headers.location);
      const link = /class="button" href="([^"]+)"/.exec((await owner.get(order)).text)?.[1] ?? '';
      await owner.post(new URL(link).pathname, { button: 'wrong-sum' });
      const page = await openAs(operator.cookies.get('session'), screen);
      const shot = (name: string) => look(page, `${screen.name}-${language}-admin-${name}`);
      await page.goto(`${test.url}/admin/payments?phase=review&lang=${language}`);
      await shot('payments');
      await page.click('table a[href^="/admin/payments/pay_"]');
      await page.waitForURL('**/admin/payments/pay_*');
      await shot('review');
      await page.fill('#amount', '999.99');
      await page.fill('#credit-reason', 'seen');
      await page.click('form:has(input[value=credit]) button');
      await page.waitForURL('**?done=done');
      await shot('credited');
      expect((await test.wallet(account)).avail).to.equal(999_990_000n);
      await page.goto(`${test.url}/admin/notices`);
      await shot('notices');
      await page.click('table a');
      await page.waitForURL('**/admin/notices/*');
      await shot('notice');
    });
  }
});
