// The setup checks: each passes for its own reason, and gives advice otherwise.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, type Visitor } from '../../../testkit/pages.ts';
import { startMailServer } from '../../../testkit/smtp.ts';
import { makeUser } from '../../contract/store/people.ts';

/** Each check with whether it passes. */
async function readChecks(operator: Visitor): Promise<readonly (readonly [string, boolean])[]> {
  const { text } = await operator.get('/admin/checks');
  const rows = [...text.matchAll(/<tr><td>([^<]+)<\/td><td>(?:<strong>)?([^<:]+)/g)];
  return rows.map(([, name = '', state = '']) => [name.split(' ').slice(-2).join(' '), state === 'ok']);
}

describe('the setup checks', () => {
  let test: TestGateway | undefined;

  afterEach(async () => {
    await test?.stop();
    test = undefined;
  });

  it('pass one by one as the setup is completed', async () => {
    const env = { PUBLIC_URL: 'https://gate.example.com' };
    test = await startGateway({ catalog: chatCatalog('http://127.0.0.1:1'), env });
    const operator = await setUpOperator(test);
    const { id } = await test.account();
    // Its upstream makes no images and videos, of which the catalog warns.
    const all = [
      'over https',
      'the sandbox',
      'loses access',
      'their secrets',
      'below cost',
      'every account',
      'an operator',
      'an owner',
    ];
    const passing = async () => (await readChecks(operator)).filter(([, passes]) => passes).map(([name]) => name);
    expect(await readChecks(operator)).to.deep.include(['are available', false]);
    expect(await passing()).to.deep.equal(all.filter((name) => name !== 'loses access' && name !== 'an owner'));
    expect((await operator.get('/admin/checks')).text).to.contain(`beginning with <a href="/admin/accounts/${id}">`);
    await setUpOwner(test, id);
    expect(await passing()).to.deep.equal(all.filter((name) => name !== 'loses access'));
    await test.store.users.add(makeUser({ operator: true }));
    expect(await passing()).to.deep.equal(all);
  });

  it('ask the mail server whether it lets the service in', async () => {
    const mail = await startMailServer();
    try {
      for (const [smtp, passes, advice] of [
        [{ SMTP_URL: mail.url }, true, ''],
        [{ SMTP_URL: mail.url.replace('p%40ss', 'wrong') }, false, 'does not let the service in'],
        [{}, false, 'Set SMTP_URL.'],
      ] as const) {
        test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', ...smtp } });
        const operator = await setUpOperator(test);
        expect(await readChecks(operator)).to.deep.include(['be sent', passes]);
        expect((await operator.get('/admin/checks')).text).to.contain(advice);
        await test.stop();
      }
      expect(mail.letters).to.deep.equal([]);
    } finally {
      await mail.stop();
    }
  });

  it('name the missing secrets of payment providers', async () => {
    const settings = { shopId: '1', secret: `$${'{YOOKASSA_SECRET}'}` };
    const payments = { shop: { plugin: 'yookassa', settings } };
    test = await startGateway({
      catalog: { ...chatCatalog('http://127.0.0.1:1'), payments },
      env: { YOOKASSA_SECRET: '  ' },
    });
    const operator = await setUpOperator(test);
    expect(await readChecks(operator)).to.deep.include.members([
      ['their secrets', false],
      ['no warnings', false],
    ]);
    expect((await operator.get('/admin/checks')).text).to.contain('Not set or empty: <code>YOOKASSA_SECRET</code>');
    const log = join(test.folder, 'log');
    await until(() => readFileSync(log, 'utf8').includes('payments.shop is off: not set or empty: YOOKASSA_SECRET'));
  });

  it('tell of prices that a rate has moved below cost', async () => {
    const cost = { currency: 'USD', input: '1', output: '1' };
    const { models, ...catalog } = chatCatalog('http://127.0.0.1:1') as { models: { routes: object[] }[] };
    const [text] = models.map((model) => ({ ...model, routes: model.routes.map((route) => ({ ...route, cost })) }));
    const at = (rub: string) => ({ ...catalog, models: [text], rates: { USD: { rub, from: '2026-01-01' } } });
    test = await startGateway({ catalog: at('1') });
    const operator = await setUpOperator(test);
    expect(await readChecks(operator)).to.deep.include(['below cost', true]);
    test.writeCatalog(at('100000'));
    expect(await test.gateway.reload()).to.equal(true);
    expect(await readChecks(operator)).to.deep.include.members([
      ['below cost', false],
      ['no warnings', false],
    ]);
    const page = await operator.get('/admin/catalog');
    expect(page.text).to.contain('stays as it was, below the cost of 100000.00 RUB');
    const log = join(test.folder, 'log');
    await until(() => readFileSync(log, 'utf8').includes('"alert":"loss"'));
  });

  it('advise what to do on loopback and in a sandbox', async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    const operator = await setUpOperator(test);
    const checks = await readChecks(operator);
    expect(checks).to.deep.include.members([
      ['over https', false],
      ['the sandbox', false],
      ['are available', true],
      ['loses access', false],
    ]);
    expect((await operator.get('/admin/checks')).text)
      .to.contain('Put a TLS proxy in front')
      .and.to.contain('tollgate operator create EMAIL');
  });
});
