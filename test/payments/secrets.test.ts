// Goes through everything payments can do with secrets that are easy to search for, then searches all pages, mails,
// logs, exports and responses for them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { listRoutes } from '../../lib/http/late-routes.ts';
import { CHAT, send, until } from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { hiddenFields, makeCode, setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';
import { isSigned, type Receiver, startReceiver } from '../../testkit/webhook.ts';
import { type Mishap, startYooKassa, type YooKassa } from '../../testkit/yookassa.ts';
import { refusal } from '../../testkit/yookassa-rules.ts';
import { runCommand } from '../cli/command.ts';

const SHOP_SECRET = 'test_ShopSecretThatNobodyMaySee_0123456789';
const SHOP_ID = '506751';
const METHOD = '2fa7c0de-5a7e-4d00-8000-';
const CARD = { first6: '427613', last4: '9137', expiry_month: '07', expiry_year: '2031', card_type: 'Mir' };
const CARD_NUMBER = '4276138806009137';
const UNKNOWN = '2b0d1c7e-0000-4d00-8000-000000000000';
const WALLET = '/account/wallet';

describe('secrets of payments', function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'));
  /** All that was shown, by place. */
  const seen: { readonly where: string; readonly text: string }[] = [];
  let [vendor, mail, receiver]: [YooKassa?, MailServer?, Receiver?] = [];
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let webhookSecret = '';

  const see = (where: string, text: string) => void seen.push({ where, text });
  const parts = () => ({ vendor: vendor as YooKassa, mail: mail as MailServer, receiver: receiver as Receiver });

  before(async () => {
    let methods = 0;
    const methodIdOf = () => {
      methods += 1;
      return METHOD + String(methods).padStart(12, '0');
    };
    vendor = await startYooKassa({ shopId: SHOP_ID, secret: SHOP_SECRET, findMethodId: methodIdOf });
    mail = await startMailServer();
    receiver = await startReceiver();
    const settings = { baseUrl: vendor.baseUrl, shopId: SHOP_ID, secret: SHOP_SECRET, autopayments: true, senders: [] };
    const catalog = { payments: { yookassa: { plugin: 'yookassa', settings } } };
    const env = { SANDBOX: 'on', LOG_LEVEL: 'trace', METRICS_PORT: '0', SMTP_URL: mail.url };
    test = await startGateway({
      catalog,
      folder,
      env: { ...env, WEBHOOK_TRUSTED_ORIGINS: receiver.origin, LEASE_MS: '1000' },
      timings: { alertsEveryMs: 100 },
    });
    account = await test.account('0');
    owner = await setUpOwner(test, account.id);
    operator = await setUpOperator(test);
  });
  after(async () => {
    await test?.stop();
    await Promise.all([vendor?.close(), mail?.stop(), receiver?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const webhookUrl = () => `${test.url}/payments/yookassa/notice`;
  const payments = () => test.store.payments.list({ wallet: account.id, limit: 50 });

  /** Like the visitor's own, but records the responses. */
  async function submit(
    visitor: typeof owner | typeof operator,
    path: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<Awaited<ReturnType<typeof owner.submit>>> {
    const proof: Record<string, string> = visitor === operator ? { code: makeCode(operator.secret) } : {};
    const reply = await visitor.submit(path, { ...proof, ...fields });
    see(`POST ${path}`, reply.text);
    return reply;
  }

  async function ordered(amount: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const reply = await submit(owner, WALLET, { amount, ...more });
    return String(reply.headers.location).replace(/^.*order=/, '');
  }

  async function paid(amount: string, more: Readonly<Record<string, string>> = {}, spoiled = {}): Promise<string> {
    const id = await ordered(amount, more);
    const ref = (await test.store.payments.get(id))?.ref ?? '';
    parts().vendor.shop.spoil(ref, spoiled);
    parts().vendor.shop.pay(ref, CARD);
    await parts().vendor.webhooks.send(webhookUrl(), parts().vendor.webhooks.all.at(-1));
    return id;
  }

  async function phaseOf(id: string): Promise<string | undefined> {
    return (await test.store.payments.get(id))?.phase;
  }

  /** The vendor may repeat what it was sent. It may be asked about earlier payments at any time. */
  const echo = (status: number, sent = ''): Mishap => {
    const words = `the shop ${SHOP_SECRET} sent ${sent}`;
    return { method: 'POST', done: false, answer: { status, body: refusal(status, 'invalid_request', words) } };
  };

  it('appear nowhere in logs, pages, mails, exports and responses', async () => {
    const { vendor: bank, mail: post, receiver: hook } = parts();
    // The owner's webhook, whose secret is shown once.
    const wishes = await owner.submit('/account/settings/alerts', { webhook: `${hook.origin}/hook`, balance: '100' });
    webhookSecret = /data-copy>([^<]+)</.exec(wishes.text)?.[1] ?? '';
    expect(webhookSecret.length, 'a secret of the webhook').to.be.above(16);

    // A card is saved; real and forged webhooks arrive.
    const first = await paid('2000', { save: 'yes' });
    expect(await phaseOf(first)).to.equal('credited');
    const object = {
      id: UNKNOWN,
      payment_method: { id: METHOD, card: { ...CARD, number: CARD_NUMBER } },
    };
    for (const forged of [
      { type: 'notification', event: 'payment.succeeded', object },
      {
        type: 'notification',
        event: 'payment.succeeded',
        object: { ...object, id: bank.webhooks.all.at(-1)?.object.id },
      },
      `{"card": "${CARD_NUMBER}"`,
    ])
      await bank.webhooks.send(webhookUrl(), forged, {
        authorization: `Bearer ${SHOP_SECRET}`,
        cookie: `s=${METHOD}9`,
      });

    // The card is charged at once, then declined in words that reveal too much, then declined by the bank.
    const [card] = await test.store.payments.methods(account.id);
    expect(card?.ref).to.equal(`${METHOD}000000000001`);
    const auto = { change: 'auto', amount: '1000', cap: '50000', card: card?.id ?? '', consent: 'yes', confirm: 'yes' };
    await submit(owner, WALLET, { ...auto, threshold: '2500' });
    await until(async () => (await payments()).some(({ origin, phase }) => origin === 'auto' && phase === 'credited'));
    await until(() => hook.posts.length > 0 && post.letters.length > 0);
    expect(isSigned(hook.posts[0] as never, webhookSecret)).to.equal(true);
    bank.go(echo(400, card?.ref));
    await submit(owner, WALLET, { ...auto, threshold: '100000' });
    await until(async () => (await payments()).some(({ phase }) => phase === 'failed'));
    bank.shop.methodGoes(card?.ref ?? '', 'card_expired');
    await paid('1000');
    await until(async () => (await payments()).some(({ phase }) => phase === 'canceled'));

    // The operator decides a review, refunds, and records a dispute.
    const other = await paid('1000', {}, { amount: { value: '999.00', currency: 'RUB' } });
    expect(await phaseOf(other)).to.equal('review');
    await submit(operator, `/admin/payments/${other}`, { change: 'credit', amount: '999', reason: 'seen' });
    bank.go(echo(400));
    await submit(operator, `/admin/payments/${first}`, { change: 'refund', amount: '5', reason: 'refused' });
    await until(async () => (await test.store.payments.get(first))?.refunds.includes('"asked"') === false);
    await submit(operator, `/admin/payments/${first}`, { change: 'refund', amount: '300', reason: 'wish' });
    await until(async () => (await phaseOf(first)) === 'partly_refunded');
    await submit(operator, `/admin/payments/${other}`, { change: 'dispute', dispute: 'CB-1', reason: 'letter' });
    await submit(operator, `/admin/payments/${other}`, { change: 'lost' });
    bank.go(echo(500), echo(401), {
      method: 'POST',
      done: true,
      answer: { status: 200, body: `<html>${SHOP_SECRET}` },
    });
    for (let order = 0; order < 3; order += 1) await ordered('1000');
    const [forgeries, rest] = [true, false].map(async (isCut) =>
      (await test.store.payments.webhooks({ limit: 50 })).filter(({ headers }) => (headers === '') === isCut),
    );
    expect((await forgeries)?.length).to.equal(2);
    for (const { id } of (await rest) ?? []) await submit(operator, `/admin/notices/${id}`, {});

    await seePages();
    await seeApi();
    await seeCommands();
    see('metrics', await scrape(test.gateway.facts.metricsUrl ?? '').then((found) => JSON.stringify(found)));
    for (const { head, text } of post.letters) see('letter', head + text);
    for (const { headers, body } of hook.posts) see('webhook', JSON.stringify(headers) + body);
    await test.stop();
    await new Promise((resolve) => setTimeout(resolve, 400));
    see('log', readFileSync(join(folder, 'log'), 'utf8'));
    expect(seen.find(({ where }) => where === 'log')?.text).to.contain(
      '"detail":"the answer is not JSON: <html>[secret]"',
    );
    expect(seen.length).to.be.above(60);

    const hidden = [SHOP_SECRET, Buffer.from(`${SHOP_ID}:${SHOP_SECRET}`).toString('base64'), METHOD, webhookSecret];
    const found = seen.flatMap(({ where, text }) => {
      const secrets = [...hidden, CARD_NUMBER].filter((secret) => text.includes(secret));
      // So short that an id may contain it by chance.
      return [...secrets, ...(/(?<![\w-])427613(?![\w-])/.test(text) ? ['first6'] : [])].map(
        (what) => `${where}: ${what}`,
      );
    });
    expect(found).to.deep.equal([]);
    expect(
      seen.some(({ text }) => text.includes(CARD.last4)),
      'the last four digits',
    ).to.equal(true);
  });

  async function seePages(): Promise<void> {
    const ids = (await payments()).map(({ id }) => id);
    const webhooks = (await test.store.payments.webhooks({ limit: 50 })).map(({ id }) => id);
    const ofOwner = listRoutes(test.gateway.server)
      .map(({ method, path }) => (method === 'get' ? path : ''))
      .filter((path) => path.startsWith('/account') && !path.includes('{'));
    const ofOperator = listRoutes(test.gateway.server)
      .map(({ method, path }) => (method === 'get' ? path : ''))
      .filter((path) => path.startsWith('/admin') && !path.includes('{'));
    const orders = ids.flatMap((id) => [`${WALLET}?order=${id}`, `${WALLET}/receipt?order=${id}`]);
    for (const lang of longer(['en'], ['en', 'ru'])) {
      for (const path of [...ofOwner, ...orders]) {
        see(path, (await owner.get(`${path}${path.includes('?') ? '&' : '?'}lang=${lang}`)).text);
      }
      for (const path of [
        ...ofOperator,
        ...ids.map((id) => `/admin/payments/${id}`),
        ...webhooks.map((id) => `/admin/notices/${id}`),
        `/admin/accounts/${account.id}`,
      ])
        see(path, (await operator.get(`${path}?lang=${lang}`)).text);
    }
    const exported = await owner.get('/account/settings/export');
    expect([exported.status, exported.text.includes(account.id)]).to.deep.equal([200, true]);
    expect(Object.keys(hiddenFields((await owner.get(WALLET)).text, WALLET))).to.include('csrf');
  }

  async function seeApi(): Promise<void> {
    const { key } = account;
    const ask = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'hello' }] };
    for (const [path, body] of [
      [CHAT, ask],
      [CHAT, { ...ask, model: 'nobody' }],
      ['/api/v1/balance', undefined],
      ['/api/v1/nothing', undefined],
      ['/openapi.json', undefined],
      ['/readyz?verbose', undefined],
    ] as const) {
      const reply = await send(`${test.url}${path}`, { key, ...(body && { body }) });
      see(`${path} ${reply.status}`, JSON.stringify(reply.headers) + reply.text);
    }
    for (const [path, body] of [
      ['/payments/yookassa/notice', `{"a":"${METHOD}`],
      ['/payments/nobody/notice', '{}'],
      ['/payments/yookassa/page/1', ''],
    ] as const) {
      const reply = await fetch(`${test.url}${path}`, { method: 'POST', body });
      see(`${path} ${reply.status}`, await reply.text());
    }
  }

  async function seeCommands(): Promise<void> {
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: test.databaseUrl,
      DATA_DIR: folder,
      CATALOG_DIR: join(folder, 'catalog'),
    };
    const commands = [
      ...(await payments()).map(({ id }) => `payment show ${id}`),
      ...['payment list', 'account list', 'ledger verify', 'catalog check', `account show ${account.id}`],
      ...[
        `wallet show ${account.id}`,
        `ledger list ${account.id}`,
        `charge list ${account.id}`,
        'payment show pay_none',
      ],
    ];
    for (const command of commands) {
      for (const more of longer([['--json']], [[], ['--json']])) {
        const { stdout, stderr } = await runCommand([...command.split(' '), ...more], env);
        see(command, stdout + stderr);
      }
    }
  }
});
