// What the scripts of the pages add in a real browser: copied texts, a question before what cannot be undone, the bar under
// the pointer. The playground and what reloads by itself have tests of their own.
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { findBrowser, openBrowser } from '../../testkit/browser.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { type Busy, makeBusy } from '../../testkit/page-tour.ts';
import { applied, charge, RUB } from '../contract/store/context.ts';

describe('the scripts of the pages in a browser', function () {
  this.timeout(60_000);
  const path = findBrowser();
  let browser: Browser;
  let test: TestGateway;
  let busy: Busy;
  let page: Page;

  before(async function () {
    if (path === undefined) return this.skip();
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', VIDEO_POLL_MS: '1000' } });
    busy = await makeBusy(test, 'anna@example.com');
    browser = await openBrowser(path);
    const context = await browser.newContext({ locale: 'en-GB', permissions: ['clipboard-read', 'clipboard-write'] });
    const value = busy.owner.cookies.get('session') ?? '';
    await context.addCookies([{ name: 'session', value, url: test.url }]);
    page = await context.newPage();
    page.on('pageerror', (error) => {
      throw error;
    });
  });
  after(async () => {
    await browser?.close();
    await test?.stop();
  });

  it('copy a key as it is', async () => {
    await page.goto(`${test.url}/account/keys`);
    await page.fill('#name', 'copied');
    await page.click('button:text-is("Issue")');
    await page.click('.message.done + .copy, .message.done .copy');
    const key = await page.textContent('code.key');
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(key);
    expect(await page.textContent('.message.done')).to.contain('Copied');
  });

  it('ask before a card is removed, and do nothing without a yes', async () => {
    const cards = async () =>
      (await test.store.payments.methods(busy.account.id)).filter((one) => one.removedAt === null);
    expect(await cards()).to.have.length(1);
    const asked: string[] = [];
    let isMeant = false;
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void (isMeant ? dialog.accept() : dialog.dismiss());
    });
    await page.goto(`${test.url}/account/wallet`);
    const button = page.locator('form[data-confirm] button:has-text("Remove")');
    await button.click();
    expect(asked.join()).to.match(/^Remove .*\? A removed card is never charged again\./);
    expect([page.url(), (await cards()).length]).to.deep.equal([`${test.url}/account/wallet`, 1]);
    isMeant = true;
    await button.click();
    await page.waitForURL('**/account/wallet?done=removed');
    expect(await cards()).to.deep.equal([]);
  });

  it('name the bar under the pointer, and give the caption back', async () => {
    const day = 86_400_000;
    for (const before of [0, 1, 2]) {
      await applied(test.store, charge(busy.account.id, { at: Date.now() - before * day, amount: RUB }));
    }
    await page.goto(`${test.url}/account/usage`);
    const caption = () => page.textContent('.chart figcaption');
    const plain = await caption();
    const bars = page.locator('.chart rect');
    expect(await bars.count()).to.equal(3);
    for (const at of [0, 1, 2]) {
      const { x = 0, width = 0 } = (await bars.nth(at).boundingBox()) ?? {};
      const { y = 0 } = (await page.locator('.chart svg').boundingBox()) ?? {};
      // Above the bar, where there is nothing but the chart.
      await page.mouse.move(x + width / 2, y + 2);
      expect(await caption()).to.equal(await bars.nth(at).textContent());
      expect(await page.locator('.chart .here').count()).to.equal(1);
    }
    await page.mouse.move(1, 1);
    expect([await caption(), await page.locator('.chart .here').count()]).to.deep.equal([plain, 0]);
  });
});
