// The pages by keyboard alone: every control is reachable by Tab with a visible focus, and an owner needs no mouse.
import { expect } from 'chai';
import { useBusyPage } from '../../testkit/busy-page.ts';
import { send } from '../../testkit/client.ts';
import { describeLong } from '../../testkit/long.ts';
import { PASSWORD } from '../../testkit/pages.ts';

const PAGES = [
  '',
  '/wallet',
  '/playground',
  '/keys',
  '/usage',
  '/calls',
  '/models',
  '/settings',
  '/settings/alerts',
].map((path) => `/account${path}`);

/** Runs in the page: the controls that the keyboard must reach. */
const USABLE = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((each) => each.type !== 'hidden' && !each.disabled && each.checkVisibility())`;
/** Which control has the focus, and whether it shows: date fields mark the part themselves, bars of charts their place. */
const FOCUSED = `(() => {
  const each = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(each);
  const place = each.querySelector(':scope > .place');
  const { stroke, strokeWidth } = place ? getComputedStyle(place) : {};
  const shows = each.type === 'date' || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2)
    || (place && stroke !== 'none' && parseFloat(strokeWidth) >= 2);
  return { at: ${USABLE}.indexOf(each), shows: Boolean(shows) };
})()`;

const STEPS_MAX = 250;

describeLong('the pages by keyboard', function () {
  this.timeout(120_000);
  const stage = useBusyPage({ locale: 'en-GB' }, 'stranger');

  /** Presses Tab from the current focus. */
  async function tabTo(selector: string): Promise<void> {
    const { page } = stage;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`the tab key does not reach ${selector}`);
  }

  async function typeInto(selector: string, text: string): Promise<void> {
    const { page } = stage;
    await tabTo(selector);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  }

  /** The focused link or button. */
  async function use(selector: string, key = 'Enter'): Promise<void> {
    await tabTo(selector);
    await stage.page.keyboard.press(key);
  }

  it('let an owner sign in', async () => {
    const { test, busy, page } = stage;
    await page.goto(`${test.url}/login`);
    // The page sets the focus shortly after loading.
    await page.waitForSelector('#email:focus');
    await page.keyboard.type(busy.owner.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account');
  });

  for (const place of PAGES) {
    it(`reach everything on ${place} with a visible focus`, async () => {
      const { test, page } = stage;
      await page.goto(test.url + place);
      const count = (await page.evaluate(`${USABLE}.length`)) as number;
      const reached = new Set<number>();
      for (let step = 0; step < STEPS_MAX && reached.size < count; step += 1) {
        await page.keyboard.press('Tab');
        const { at, shows } = (await page.evaluate(FOCUSED)) as { at: number; shows: boolean };
        if (at >= 0) reached.add(at);
        if (at >= 0) expect(shows, `the focus at ${at}`).to.equal(true);
      }
      expect(reached.size).to.equal(count);
    });
  }

  it('skip the navigation when asked', async () => {
    const { test, page } = stage;
    await page.goto(`${test.url}/account`);
    await page.keyboard.press('Tab');
    await page.waitForSelector('.skip:focus');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#content:focus');
    await page.keyboard.press('Tab');
    await page.waitForSelector('#content :focus', { state: 'attached' });
  });

  it('pay', async () => {
    const { test, page } = stage;
    await page.goto(`${test.url}/account/wallet`);
    await typeInto('#amount', '1200');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account/wallet?order=*');
    await use('a.button');
    await page.waitForURL('**/payments/**');
    await use('button[value=paid]');
    await page.waitForURL('**/account/wallet?order=*');
    await page.waitForSelector('text=1,200.00');
  });

  it('create a key and revoke it', async () => {
    const { test, busy, page } = stage;
    await page.goto(`${test.url}/account/keys`);
    await typeInto('#name', 'by keyboard');
    await page.keyboard.press('Enter');
    const key = (await page.textContent('code.key')) ?? '';
    expect((await send(`${test.url}/api/v1/models`, { key })).status).to.equal(200);
    const [{ id } = { id: '' }] = (await test.store.keys.list(busy.account.id)).filter(
      ({ name }) => name === 'by keyboard',
    );
    await use(`a[href="/account/keys/${id}"]`);
    await page.waitForURL(`**/account/keys/${id}`);
    await typeInto('#name', 'by keyboard');
    await use('main form button', 'Space');
    await page.waitForURL('**/account/keys?done=revoked');
    expect((await test.store.keys.get(id))?.revokedAt).to.be.a('number');
  });

  it('make a playground call', async () => {
    const { test, page } = stage;
    await page.goto(`${test.url}/account/playground`);
    await typeInto('#prompt', 'Hello from the keyboard');
    await use('button[value=send]', 'Space');
    await page.locator('#reply', { hasText: 'Hello from the keyboard' }).waitFor();
  });

  it('choose another language, and sign out', async () => {
    const { test, busy, page } = stage;
    await page.goto(`${test.url}/account/settings`);
    await tabTo('#language');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await use('form:has(#language) button');
    await page.waitForURL('**/account/settings?done=saved**');
    expect((await test.store.users.find(busy.owner.email))?.language).to.equal('ru');
    await use('header form[action="/logout"] button');
    await page.waitForURL('**/login');
  });
});
