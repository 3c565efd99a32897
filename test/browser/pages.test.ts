// Ways of an operator and of a new owner through the pages in a real browser.
import { expect } from 'chai';
import { MICRO_PER_RUB } from '../../lib/money/money.ts';
import { SCREENS, useBrowser } from '../../testkit/browser.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { hiddenFields, makeCode, PASSWORD, setUpOperator } from '../../testkit/pages.ts';

describe('pages in a browser', function () {
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

  itLong('let an operator create an account, top it up and invite its owner', async () => {
    const page = await openAs(operator.cookies.get('session'), SCREENS[1] as (typeof SCREENS)[number]);
    await page.goto(`${test.url}/admin/accounts`);
    await page.fill('#name', 'Браузер & Co');
    await page.click('button:text-is("Create")');
    await page.waitForURL('**/admin/accounts/acc_*');
    await page.fill('#topup-amount', '1500.5');
    await page.fill('#payment', 'bank-1');
    await page.click('button:text-is("Record")');
    await page.waitForSelector('.message.done');
    const id = page.url().replace(/^.*\/(acc_\w+).*$/, '$1');
    expect((await test.store.ledger.wallet(id))?.avail).to.equal(1500n * MICRO_PER_RUB + MICRO_PER_RUB / 2n);
    await page.fill('#email', 'new-owner@example.com');
    await page.click('button:text-is("Create a link")');
    const link = (await page.textContent('code.key')) ?? '';

    const newcomer = await openAs(undefined, SCREENS[0] as (typeof SCREENS)[number]);
    await newcomer.goto(link);
    await newcomer.fill('#password', PASSWORD);
    await newcomer.fill('#again', PASSWORD);
    await newcomer.click('main button');
    await newcomer.waitForURL('**/account');
    expect(await newcomer.textContent('main')).to.contain('1,500.50');
  });

  it('ask an operator for a code when the last one is old', async () => {
    const { session } = Object.fromEntries(operator.cookies) as { session: string };
    const { hashToken } = await import('../../lib/users/token.ts');
    const now = Date.now();
    await test.store.sessions.touch(hashToken(session), { seenAt: now, provenAt: now - 11 * 60_000 });
    const path = '/admin/accounts';
    const { csrf = '' } = hiddenFields((await operator.get(path)).text, path);
    expect((await operator.post(path, { csrf, name: 'no code' })).status).to.equal(403);
    expect((await operator.post(path, { csrf, name: 'bad code', code: '000000' })).status).to.equal(403);
    const proved = await operator.post(path, { csrf, name: 'with a code', code: makeCode(operator.secret, 1) });
    expect(proved.status).to.equal(303);
    expect((await operator.post(path, { csrf, name: 'right after' })).status).to.equal(303);
    const names = (await test.store.accounts.list()).map(({ name }) => name);
    expect(names).to.include.members(['with a code', 'right after']);
    expect(names).not.to.include.members(['no code', 'bad code']);
  });
});
