// The playground in a real browser: streamed text, a price that follows the form, and everything without scripts too.
import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { findViolations, SCREENS, useBrowser } from '../../testkit/browser.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { setUpOwner } from '../../testkit/pages.ts';
import { png } from '../media/sample-images.ts';

/** The folder for screenshots, if set. */
const SCREENSHOTS = process.env.PAGE_SCREENSHOTS;
/** What `npm test` looks at for accessibility: axe takes longer than the page. */
const LOOKED_AT = ['text-live'];

describe('the playground in a browser', function () {
  this.timeout(60_000);
  const guest = useBrowser();
  let test: TestGateway;
  let account: TestAccount;
  let session = '';

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', VIDEO_POLL_MS: '1000' } });
    account = await test.account();
    session = (await setUpOwner(test, account.id)).cookies.get('session') ?? '';
  });
  after(async () => {
    await test?.checkMoney();
    await test?.stop();
  });

  async function visit(kind: string, { wide = false, ...options }: { wide?: boolean } & BrowserContextOptions = {}) {
    const { name: _, ...size } = SCREENS[wide ? 1 : 0] as (typeof SCREENS)[number];
    const page = await guest.openPage(test.url, session, { ...size, ...options });
    await page.goto(`${test.url}/account/playground?kind=${kind}&lang=${wide ? 'en' : 'ru'}`);
    return page;
  }

  async function check(page: Page, name: string): Promise<void> {
    if (longer(LOOKED_AT.includes(name), true)) expect(await findViolations(page), name).to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    if (!SCREENSHOTS) return;
    mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: `${SCREENSHOTS}/playground-${name}.png`, fullPage: true });
  }

  const charges = () => test.store.ledger.charges(account.id, { limit: 50 });

  itLong('shows text as it arrives, with its cost below', async () => {
    const page = await visit('text', { wide: true });
    await page.fill('#prompt', 'Hello [[slow]]');
    await page.click('button[value=send]');
    const lengths = new Set<number>();
    await page.waitForSelector('#answer[aria-busy=true]');
    while (await page.isVisible('#answer[aria-busy=true]')) {
      lengths.add((await page.textContent('#reply'))?.length ?? 0);
    }
    expect(lengths.size).to.be.above(3);
    expect(await page.textContent('#reply'))
      .to.contain('You wrote: “Hello”.')
      .and.to.match(/real model\.$/);
    expect(await page.textContent('#outcome')).to.contain('₽0.50');
    expect(page.url()).to.contain('/account/playground?kind=text');
    expect(await page.isEnabled('button[value=send]')).to.equal(true);
    await check(page, 'text-live');
  });

  it('shows the image of an answer as it arrives', async () => {
    const page = await visit('text', { wide: true });
    await page.fill('#prompt', 'A red square [[draw]]');
    await page.click('button[value=send]');
    await page.waitForSelector('#outcome dl');
    const width = 'document.querySelector(\'#reply img[alt^="A red square"]\').naturalWidth';
    expect(await page.evaluate(width)).to.equal(256);
    expect(await page.textContent('#reply')).to.contain('You wrote');
    await check(page, 'text-drawn');
  });

  it('makes an embedding without a length of the vector', async () => {
    const page = await visit('embedding');
    await page.fill('#prompt', 'A red square');
    await page.click('button[value=send]');
    await page.waitForSelector('#outcome dl');
    expect(await page.textContent('#outcome')).to.contain('256');
  });

  itLong('ends the call when stopped, and is ready for another', async () => {
    const page = await visit('text');
    await page.fill('#prompt', '[[stall]]');
    await page.click('button[value=send]');
    await until(async () => (await test.wallet(account)).held > 0n);
    await page.click('#stop');
    await page.locator('#outcome', { hasText: 'Остановлено' }).waitFor();
    await until(async () => (await test.wallet(account)).held === 0n);
    await page.fill('#prompt', 'Ещё раз');
    await page.click('button[value=send]');
    await page.waitForSelector('#outcome dl');
    expect(await page.textContent('#reply')).to.contain('Вы написали: «Ещё раз».');
  });

  itLong('goes on with a conversation, which a reload of the page keeps and a new one ends', async () => {
    const page = await visit('text', { wide: true });
    const say = async (text: string) => {
      await page.fill('#prompt', text);
      await page.click('button[value=send]');
      await page.locator('#reply', { hasText: text }).waitFor();
      await page.waitForSelector('#outcome dl');
    };
    await page.click('details:has(#system) summary');
    await page.fill('#system', 'Be brief');
    await say('First');
    expect([await page.inputValue('#prompt'), await page.textContent('#asked')]).to.deep.equal(['', 'First']);
    await say('Second');
    expect(await page.locator('.turns li').count()).to.equal(1);
    expect(await page.textContent('#outcome')).to.contain('₽1.00');
    await page.reload();
    await page.waitForSelector('.turns li:nth-child(2)');
    expect(await page.inputValue('#system')).to.equal('Be brief');
    await check(page, 'conversation');
    await page.click('#anew');
    await page.waitForURL('**/account/playground');
    expect(await page.isVisible('#conversation')).to.equal(false);
    expect([await page.inputValue('[name=turns]'), await page.inputValue('#system')]).to.deep.equal(['', '']);
  });

  itLong('shows a refusal in the language of the page', async () => {
    const page = await visit('text');
    await page.fill('#prompt', '[[fail]]');
    await page.click('button[value=send]');
    await page.waitForSelector('#answer .message.error');
    expect(await page.textContent('#outcome .message')).to.equal(
      'Модель не ответила: сбой у провайдера. Деньги возвращены.',
    );
    expect(await page.isVisible('#stop')).to.equal(false);
    await page.fill('#max_tokens', '0');
    await page.click('button[value=send]');
    await until(async () => (await page.textContent('#reply')) === 'Лимит ответа — целое число больше нуля.');
    await check(page, 'refusal');
    await page.evaluate('document.querySelector("#play [name=csrf]").value = "old"');
    await page.fill('#max_tokens', '100');
    await page.click('button[value=send]');
    await until(async () => (await page.textContent('#reply'))?.includes('Форма устарела.') === true);
  });

  itLong('lets the price and the samples follow the form without sending anything', async () => {
    const before = await charges();
    const page = await visit('video', { wide: true });
    await page.selectOption('#resolution', '480p');
    await page.selectOption('#seconds', '10');
    await until(async () => (await page.textContent('#price .big')) === '₽40.00');
    await page.fill('#prompt', "It's raining");
    await until(async () => (await page.textContent('#samples'))?.includes("It'\\''s raining") === true);
    expect(await page.locator('#samples button.copy').count()).to.equal(3);
    await page.press('#prompt', 'Tab');
    await page.press('#seconds', 'Enter');
    expect(await charges()).to.deep.equal(before);
    expect(page.url()).to.contain('/account/playground?kind=video');
  });

  itLong('generates an image, and a video whose progress refreshes by itself', async () => {
    const image = await visit('image');
    await image.click('button[value=send]');
    await image.waitForSelector('#reply img');
    await until(async () => (await image.evaluate('document.querySelector("#reply img").naturalWidth')) === 1024);
    await check(image, 'image');
    const video = await visit('video');
    await video.click('button[value=send]');
    await video.waitForSelector('#video[data-again]');
    await check(video, 'video-waits');
    await video.waitForSelector('#video video', { timeout: 20_000 });
    await until(async () => (await video.evaluate('document.querySelector("#video video").videoWidth')) !== 0);
    await check(video, 'video');
  });

  // `test/console/playground-images.test.ts` sends such forms.
  itLong('takes images: price and samples follow, and the call includes them', async () => {
    const page = await visit('text', { wide: true });
    const price = () => page.textContent('#price .big');
    await page.selectOption('#model', 'sandbox-heavy');
    await until(async () => (await price()) !== '₽0.50');
    const before = await price();
    const images = [40, 50].map((width, at) => ({
      name: `cat ${at}.png`,
      mimeType: 'image/png',
      buffer: png({ width, height: 30 }),
    }));
    await page.setInputFiles('#image', images);
    await until(async () => (await price()) !== before);
    expect(await page.textContent('#price')).to.contain('sandbox-vision');
    expect(await page.textContent('#samples')).to.contain('image-2.png');
    await page.click('button[value=send]');
    await page.waitForSelector('#outcome dl');
    expect(await page.textContent('#reply')).to.contain('2. PNG, 50x30 pixels');
    await check(page, 'images');
    // They are sent again with the next message, as long as the page is open.
    await page.fill('#prompt', 'Поздоровайся на трёх языках.');
    await page.click('button[value=price]');
    await until(async () => (await page.textContent('#price'))?.includes('sandbox-vision') === true);
    expect(await page.isVisible('#again')).to.equal(false);
    await page.click('button[value=send]');
    await page.locator('#conversation', { hasText: 'sent again with each message' }).waitFor();
    await page.waitForSelector('#answer[aria-busy=false]');
    await check(page, 'images-kept');
    await page.reload();
    await page.locator('#conversation', { hasText: 'no longer sent' }).waitFor();
    const edit = await visit('image');
    await edit.setInputFiles('#image', images.slice(0, 1));
    await edit.click('button[value=send]');
    await edit.waitForSelector('#reply img');
    expect((await charges())[0]?.kind).to.equal('edit');
    expect(await edit.isVisible('#again')).to.equal(true);
    await check(edit, 'edited');
  });

  describe('without JavaScript', () => {
    itLong('takes images, and asks for them again after the page was shown again', async () => {
      const page = await visit('image', { wide: true, javaScriptEnabled: false });
      const image = { name: 'cat.png', mimeType: 'image/png', buffer: png({ width: 40, height: 30 }) };
      await page.setInputFiles('#image', image);
      await page.click('button[value=price]');
      expect(await page.locator('#again').textContent()).to.contain('Choose them again');
      const before = (await charges()).length;
      await page.click('button[value=send]');
      await page.locator('#reply', { hasText: 'choose them again' }).waitFor();
      expect((await charges()).length).to.equal(before);
      await page.setInputFiles('#image', image);
      await page.click('button[value=send]');
      await page.waitForSelector('#reply img');
      expect((await charges())[0]?.kind).to.equal('edit');
    });

    itLong('answers a text on a page', async () => {
      const page = await visit('text', { wide: true, javaScriptEnabled: false });
      await page.fill('#prompt', 'Plain');
      await page.click('button[value=price]');
      await page.waitForURL((url) => !url.search.includes('kind='));
      expect(await page.inputValue('#prompt')).to.equal('Plain');
      const before = (await charges()).length;
      await page.click('button[value=send]');
      await page.locator('#reply', { hasText: 'You wrote: “Plain”.' }).waitFor();
      expect(await page.locator('#outcome').textContent()).to.contain('₽0.50');
      expect((await charges()).length).to.equal(before + 1);
    });

    itLong('does not send by the Enter key', async () => {
      const page = await visit('text', { javaScriptEnabled: false });
      const before = (await charges()).length;
      await page.press('#max_tokens', 'Enter');
      await page.waitForURL(`${test.url}/account/playground`);
      expect(await page.locator('#answer').isVisible()).to.equal(false);
      expect((await charges()).length).to.equal(before);
    });

    itLong('links an image, and a video with a link to refresh', async () => {
      const page = await visit('image', { javaScriptEnabled: false });
      await page.click('button[value=send]');
      await page.waitForSelector('#reply img');
      expect(await page.locator('#reply a[href^="/media/"]').count()).to.equal(2);
      const video = await visit('video', { wide: true, javaScriptEnabled: false });
      await video.click('button[value=send]');
      await until(async () => {
        await video.click('text=Refresh', { timeout: 1000 }).catch(() => undefined);
        return (await video.locator('#video video').count()) === 1;
      }, 20_000);
    });
  });
});
