// From the setup link to the first paid call with one's own key, guided only by the pages.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useBrowser } from '../../testkit/browser.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { makeCode, PASSWORD } from '../../testkit/pages.ts';

describe('the first call in a browser', function () {
  this.timeout(60_000);
  const guest = useBrowser();
  let test: TestGateway;

  beforeEach(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
  });
  afterEach(async () => {
    await test?.checkMoney();
    await test?.stop();
  });

  itLong('needs no documentation', () => walk(true));
  itLong('needs no script', () => walk(false));

  async function walk(javaScriptEnabled: boolean): Promise<void> {
    const page = await guest.openPage(test.url, undefined, { locale: 'en-US', javaScriptEnabled });
    await page.goto(test.gateway.facts.links.setup ?? '');
    expect(page.url()).to.match(/\/setup\?link=[0-9a-f]{12}$/);
    await page.reload();
    expect(await page.evaluate('document.referrer')).not.to.contain('token');
    const secret = (await page.getAttribute('input[name=secret]', 'value')) ?? '';
    const fields = { email: 'me@example.com', password: PASSWORD, again: PASSWORD, code: makeCode(secret) };
    for (const [name, value] of Object.entries(fields)) await page.fill(`#${name}`, value);
    await page.click('main button');
    await page.click('main a:text-is("Continue")');
    await page.click('text=My account');
    await page.waitForURL('**/admin');
    await page.click('button:text-is("Create my account")');
    await page.waitForURL('**/account');
    await page.click('ol a:text-is("Top up the wallet")');
    await page.fill('#amount', '1000');
    await page.click('button:text-is("Pay")');
    await page.click('a:text-is("Go to the payment page")');
    await page.click('button[value=paid]');
    const next = page.locator('a:text-is("Next: connect a program")');
    await next.waitFor();
    await page.click('nav a:text-is("Overview")');
    await page.waitForURL('**/account');
    expect(await page.textContent('ol li')).to.contain('done');
    await page.goBack();
    await next.click();
    await page.waitForURL('**/account/connect');
    await page.click('a:text-is("Keys and their limits")');
    await page.waitForURL('**/account/keys');
    await page.fill('#name', 'first');
    await page.click('button:text-is("Create")');
    const answers = (await page.locator('pre code').allTextContents()).map(async (command) => {
      const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('curl ', 'curl -sS ')]);
      return JSON.parse(stdout);
    });
    const [chat, response] = await Promise.all(answers);
    expect(chat.choices[0].message.content).to.contain('You wrote: “Hello!”');
    expect(response.output[0].content[0].text).to.contain('You wrote: “Hello!”');
    await page.click('nav a:text-is("Overview")');
    await page.waitForURL('**/account');
    await page.click('table a[href^="/account/calls/"]');
    await page.waitForURL('**/account/calls/*');
    expect(await page.textContent('main')).to.contain('answered in full');
    const [account] = (await test.store.accounts.list()).filter(({ name }) => name === 'me@example.com');
    const [charge] = await test.store.ledger.charges(account?.id ?? '', { limit: 5 });
    expect(charge).to.include({ state: 'settled', kind: 'text' });
  }
});
