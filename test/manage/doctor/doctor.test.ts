// What `tollgate doctor` finds in a real installation: a gateway, its store, an upstream and a mail server on loopback.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAccounts } from '../../../lib/accounts/accounts.ts';
import { readConfig } from '../../../lib/config.ts';
import { buildBundle } from '../../../lib/manage/doctor/bundle.ts';
import type { Finding } from '../../../lib/manage/doctor/check.ts';
import { examine } from '../../../lib/manage/doctor/doctor.ts';
import { checkClock } from '../../../lib/manage/doctor/machine.ts';
import { checkPublicAddress, checkTelegram } from '../../../lib/manage/doctor/network.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { type MailServer, startMailServer } from '../../../testkit/smtp.ts';
import { BOT_TOKEN, startTelegram } from '../../../testkit/telegram.ts';
import { answerStatus, chatAnswer, startUpstream, type TestUpstream } from '../../../testkit/upstream.ts';

describe('doctor', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let mail: MailServer;
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
    mail = await startMailServer();
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
    await mail.stop();
  });
  beforeEach(() => upstream.behave(chatAnswer('OK')));

  const configure = (env: Readonly<Record<string, string>> = {}) =>
    readConfig({
      PUBLIC_URL: gateway.url,
      DATABASE_URL: gateway.databaseUrl,
      DATA_DIR: gateway.folder,
      CATALOG_DIR: join(gateway.folder, 'catalog'),
      SMTP_URL: mail.url,
      ...env,
    });
  const run = async (env: Readonly<Record<string, string>> = {}, calls = false) => {
    const findings = await examine(configure(env), { calls });
    return (name: string) => findings.filter((finding) => finding.name === name);
  };
  const state = ([finding]: readonly Finding[]) => finding?.state;

  it('finds an installation in order, and names what is still to do', async () => {
    const find = await run({}, true);
    for (const name of ['PUBLIC_URL', 'store', 'gateways', 'ledger', 'public address', 'mail', 'upstream up']) {
      expect([name, state(find(name))]).to.deep.equal([name, 'ok']);
    }
    expect(find('upstream up')[0]?.detail).to.match(/^up-model answered in \d+ ms, 7 \+ 3 tokens$/);
    expect(find('gateways')[0]).to.include({ detail: '1 process runs on this store' });
    expect(find('operators')[0]).to.include({ state: 'warning', detail: 'none' });
    expect(upstream.calls.length).to.equal(1);
  });

  it('asks an upstream for nothing that costs money unless it is told to', async () => {
    const before = upstream.calls.length;
    const find = await run();
    expect(find('upstream up')[0]).to.include({ state: 'ok' }).and.to.have.property('detail').that.includes('--calls');
    expect(upstream.calls.slice(before).filter(({ request }) => request.url?.includes('completions'))).to.deep.equal(
      [],
    );
  });

  it('says why an upstream does not answer, without its key', async () => {
    upstream.behave(answerStatus(401, { error: { message: 'Incorrect API key provided: up-secret-key-1' } }));
    const [found] = (await run({}, true))('upstream up');
    expect(found?.state).to.equal('failed');
    expect(found?.detail).to.include('auth').and.to.not.include('up-secret-key-1');
  });

  it('finds what is wrong, and goes on', async () => {
    const find = await run({
      PUBLIC_URL: 'http://127.0.0.1:9',
      DATABASE_URL: `sqlite:${join(gateway.folder, 'none.db')}`,
      CATALOG_DIR: join(gateway.folder, 'no-catalog'),
      SMTP_URL: mail.url.replace('p%40ss', 'wrong'),
      RATE_LIMIT_PER_MINUT: '5',
      DATA_DIR: join(gateway.folder, 'no-data'),
    });
    const names = ['public address', 'store', 'catalog', 'mail', `disk of ${join(gateway.folder, 'no-data')}`];
    for (const name of names) expect([name, state(find(name))]).to.deep.equal([name, 'failed']);
    expect(find('settings')[0]?.detail).to.equal('the variable RATE_LIMIT_PER_MINUT is not read');
  });

  it('warns of a public address without TLS or with a path, and of secrets that are not encrypted', async () => {
    const find = await run({ PUBLIC_URL: 'http://ai.example.invalid' });
    expect(find('PUBLIC_URL')[0]).to.include({ state: 'warning' });
    expect(state((await run({ PUBLIC_URL: `${gateway.url}/ai` }))('PUBLIC_URL'))).to.equal('warning');
    expect(find('SECRETS_KEY')[0]).to.include({ state: 'warning' });
    expect(state((await run({ HOST: '0.0.0.0', PUBLIC_URL: '' }))('PUBLIC_URL'))).to.equal('failed');
  });

  it('compares the clock with what others say', () => {
    const now = Date.now();
    expect(checkClock([]).state).to.equal('warning');
    expect(checkClock([[now + 2000, now]]).state).to.equal('ok');
    // One that is wrong does not decide.
    expect(
      checkClock([
        [now, now],
        [now + 90_000, now],
        [now + 1000, now],
      ]).state,
    ).to.equal('ok');
    expect(
      checkClock([
        [now + 90_000, now],
        [now + 91_000, now],
      ]),
    ).to.include({ state: 'failed' });
  });

  it('warns of a proxy that no setting trusts', async () => {
    const proxy: Server = createServer((_, response) => {
      response.writeHead(200, { via: '1.1 Caddy', 'content-type': 'application/json' }).end('{"status":"ok"}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => proxy.once('listening', resolve));
    const PUBLIC_URL = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const names = async (TRUSTED_PROXIES: string) =>
        (await checkPublicAddress(readConfig({ PUBLIC_URL, TRUSTED_PROXIES }))).map(({ name }) => name);
      expect(await names('0')).to.deep.equal(['public address', 'proxy headers']);
      expect(await names('1')).to.deep.equal(['public address']);
    } finally {
      proxy.close();
    }
  });

  it('tries the webhooks of accounts', async () => {
    const { id } = await createAccounts({ store: gateway.store, keyPrefix: 'tg-' }).create('hooked');
    const settings = { account: id, balanceBelow: null, budgets: false, version: 0 };
    await gateway.store.alerts.change({ ...settings, webhook: { url: `${upstream.url}/hook`, secret: 'whsec' } });
    expect(state((await run())(`webhook of ${id}`))).to.equal('failed');
    const trusted = { WEBHOOK_TRUSTED_ORIGINS: upstream.url };
    expect(state((await run(trusted))(`webhook of ${id}`))).to.equal('ok');
  });

  it('asks a Telegram bot who it is, and whether another program reads its messages', async () => {
    const telegram = await startTelegram();
    const env = { TELEGRAM_BOT_TOKEN: BOT_TOKEN, TELEGRAM_API: telegram.url };
    const look = async (more = {}) => (await checkTelegram(configure({ ...env, ...more })))[0];
    try {
      expect(await look()).to.include({ state: 'ok', detail: '@tollgate_test_bot accepts our token' });
      telegram.webhook = 'https://elsewhere.example';
      expect((await look())?.detail).to.contain('has a webhook');
      const wrong = await look({ TELEGRAM_BOT_TOKEN: BOT_TOKEN.replace('1', '9') });
      expect(wrong).to.include({ state: 'failed', advice: 'Check TELEGRAM_BOT_TOKEN.' });
    } finally {
      await telegram.stop();
    }
    expect((await look())?.detail).to.match(/^Telegram does not answer/);
    expect(await checkTelegram(configure())).to.deep.equal([]);
  });

  it('is part of a bundle without secrets', async () => {
    const env = {
      SECRETS_KEY: 'ab'.repeat(32),
      ACME_API_KEY: 'acme-secret-1',
      METRICS_PORT: '9',
      TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    };
    const text = await buildBundle(configure(env));
    const bundle = JSON.parse(text);
    expect(bundle.settings).to.include({ SECRETS_KEY: 'set', SMTP_URL: 'set', DATABASE_URL: 'set', METRICS_PORT: '9' });
    expect(bundle.findings.map(({ name }: Finding) => name)).to.include.members(['store', 'mail', 'upstream up']);
    expect(bundle.catalog.models[0]).to.include({ id: 'model-a', type: 'text' });
    for (const secret of [
      'ab'.repeat(32),
      'acme-secret-1',
      'up-secret-key-1',
      'p@ss',
      'p%40ss',
      'hooked',
      'whsec',
      BOT_TOKEN,
    ]) {
      expect(text).to.not.include(secret);
    }
  });

  it('adds the metrics of a running gateway to a bundle, and says what it could not read', async () => {
    const build = async (env: Readonly<Record<string, string>>) => JSON.parse(await buildBundle(configure(env)));
    const metrics = createServer((_, response) => response.end('tollgate_up 1')).listen(0, '127.0.0.1');
    await new Promise((resolve) => metrics.once('listening', resolve));
    const METRICS_PORT = String((metrics.address() as AddressInfo).port);
    try {
      const bundle = await build({ METRICS_HOST: '0.0.0.0', METRICS_PORT, CATALOG_DIR: join(gateway.folder, 'none') });
      expect(bundle.metrics).to.equal('tollgate_up 1');
      expect(Object.keys(bundle.catalog)).to.deep.equal(['problem']);
    } finally {
      metrics.close();
    }
    expect((await build({ METRICS_PORT })).metrics).to.include('ECONNREFUSED');
    const { metrics: none, machine } = await build({});
    expect(none).to.equal(null);
    expect(machine.memory_mb).to.be.closeTo(totalmem() / 1024 ** 2, 1);
  });
});
