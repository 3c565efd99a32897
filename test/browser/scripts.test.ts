// What scripts add in a real browser: copy buttons, a question before changes that cannot be undone, the bar under the
// pointer. The playground and refreshing parts have tests of their own.
import { expect } from 'chai';
import { useBusyPage } from '../../testkit/busy-page.ts';
import { until } from '../../testkit/client.ts';
import { describeLong } from '../../testkit/long.ts';
import { applied, charge, RUB } from '../contract/store/context.ts';

describeLong('the scripts of the pages in a browser', function () {
  this.timeout(60_000);
  const permissions = ['clipboard-read', 'clipboard-write'];
  const stage = useBusyPage({ locale: 'en-GB', permissions }, 'owner');

  it('copy a key', async () => {
    const { test, page } = stage;
    await page.goto(`${test.url}/account/keys`);
    await page.fill('#name', 'copied');
    await page.click('button:text-is("Create")');
    await page.click('.message.done + .copy, .message.done .copy');
    await page.waitForSelector('.message.done :text("Copied")');
    const key = await page.textContent('code.key');
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(key);
  });

  it('copy an address where browsers have no clipboard, as over plain http', async () => {
    const { test, page } = stage;
    await page.goto(`${test.url}/account/connect`);
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    const address = page.locator('main code[data-copy]').first();
    await page.locator('main button.copy').first().click();
    await page.waitForSelector('main :text("Copied")');
    await page.click('summary:text-is("New key")');
    await page.focus('#name');
    await page.keyboard.press('Control+V');
    expect(await page.inputValue('#name')).to.equal(await address.textContent());
  });

  it('ask before a card is removed, and do nothing on cancel', async () => {
    const { test, busy, page } = stage;
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
    expect(asked.join()).to.match(/^Remove .*\? A removed card is never charged again/);
    expect([page.url(), (await cards()).length]).to.deep.equal([`${test.url}/account/wallet`, 1]);
    isMeant = true;
    await button.click();
    await page.waitForURL('**/account/wallet?done=removed');
    expect(await cards()).to.deep.equal([]);
  });

  it('show the bar under the pointer or with the focus, and restore the caption', async () => {
    const { test, busy, page } = stage;
    const day = 86_400_000;
    for (const before of [0, 1, 2]) {
      await applied(test.store, charge(busy.account.id, { at: Date.now() - before * day, amount: RUB }));
    }
    await page.goto(`${test.url}/account/usage`);
    const caption = () => page.textContent('.chart figcaption');
    const plain = await caption();
    const bars = page.locator('.chart svg > a');
    expect(await bars.count()).to.equal(3);
    for (const at of [0, 1, 2]) {
      const { x = 0, y = 0, width = 0 } = (await bars.nth(at).boundingBox()) ?? {};
      // Above the bar, on its empty place.
      await page.mouse.move(x + width / 2, y + 3);
      const bar = await bars.nth(at).getAttribute('aria-label');
      await until(async () => (await caption()) === bar);
    }
    await page.mouse.move(1, 1);
    await until(async () => (await caption()) === plain);
    await bars.nth(1).focus();
    const focused = await bars.nth(1).getAttribute('aria-label');
    await until(async () => (await caption()) === focused);
  });
});
