// The whole service in one process: its settings, its metrics, and what it leaves behind.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HOUR_MS } from '../lib/base/durations.ts';
import { readConfig } from '../lib/config.ts';
import { createGateway } from '../lib/gateway.ts';
import { createLog } from '../lib/http/log.ts';
import { openStore } from '../lib/store/open.ts';
import { send } from '../testkit/client.ts';
import { scrape } from '../testkit/exposition.ts';
import { startGateway, type TestAccount, type TestGateway } from '../testkit/gateway.ts';
import { GENERATIONS, imageCatalog } from '../testkit/images.ts';
import { changed, newSucceeded } from './contract/store/payments.ts';

describe('a gateway', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-whole-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  describe('while running', () => {
    let gateway: TestGateway;
    let account: TestAccount;

    before(async () => {
      const env = { METRICS_PORT: '0', MEDIA_TTL_HOURS: '2' };
      gateway = await startGateway({ catalog: imageCatalog('http://127.0.0.1:9'), env });
      account = await gateway.account();
    });
    after(() => gateway.stop());

    const metric = async (name: string) => (await scrape(gateway.gateway.facts.metricsUrl ?? '')).sum(name);

    it('keeps images for the configured time and counts them', async () => {
      const body = { model: 'sketch', prompt: 'a red square' };
      expect((await send(gateway.url + GENERATIONS, { key: account.key, body })).status).to.equal(200);
      const [media, ...more] = await gateway.store.media.page({ limit: 10 });
      expect((media?.expiresAt ?? 0) - (media?.createdAt ?? 0)).to.equal(2 * HOUR_MS);
      expect([more.length, await metric('tollgate_media_files_stored_total')]).to.deep.equal([0, 1]);
    });

    it('counts started videos', async () => {
      const body = { model: 'film', prompt: 'a red square moves' };
      expect((await send(`${gateway.url}/api/v1/videos`, { key: account.key, body })).status).to.equal(200);
      expect(await metric('tollgate_open_videos')).to.equal(1);
    });

    it('counts payments in review', async () => {
      const payment = await newSucceeded(gateway.store, account.id);
      await changed(gateway.store, payment, { kind: 'review', reason: 'the sum is another' });
      expect(await metric('tollgate_payments_in_review')).to.equal(1);
    });
  });

  it('writes its counters, leaves the store and closes its ports when it stops', async () => {
    const env = { METRICS_PORT: '0' };
    const gateway = await startGateway({ folder, catalog: imageCatalog('http://127.0.0.1:9'), env });
    const { key, keyId } = await gateway.account();
    const { metricsUrl = '' } = gateway.gateway.facts;
    for (let count = 0; count < 2; count += 1) await send(`${gateway.url}/api/v1/balance`, { key });
    expect(await gateway.store.gateways()).to.have.length(1);
    await gateway.stop();
    expect(existsSync(join(folder, 'tollgate.db-wal'))).to.equal(false);
    const store = await openStore(gateway.databaseUrl, { existing: true, inProcess: true });
    expect((await store.keys.get(keyId))?.requestsCount).to.equal(2);
    expect(await store.gateways()).to.deep.equal([]);
    await store.close();
    for (const url of [metricsUrl, `${gateway.url}/healthz`]) {
      const failed = await send(url).catch((error: NodeJS.ErrnoException) => error.code);
      expect(failed).to.equal('ECONNREFUSED');
    }
  });

  it('stops once, however often it is told to', async () => {
    const env = { DATABASE_URL: `sqlite:${join(folder, 'tollgate.db')}`, DATA_DIR: folder, SANDBOX: 'on' };
    const file = join(folder, 'log');
    const log = createLog({ level: 'info', keyPrefix: 'tg-', destination: file });
    const gateway = await createGateway(readConfig({ PORT: '0', ...env }), log);
    await gateway.start();
    await Promise.all([gateway.stop(), gateway.stop()]);
    await gateway.stop();
    await log.written();
    expect(
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => /"level":"(warn|error)"/.test(line)),
    ).to.deep.equal([]);
  });

  it('closes the store if it cannot be created', async () => {
    const database = join(folder, 'tollgate.db');
    writeFileSync(join(folder, 'models.json'), '{"models": 5}');
    const env = { DATABASE_URL: `sqlite:${database}`, DATA_DIR: folder, CATALOG_DIR: folder, SANDBOX: 'off' };
    const log = createLog({ level: 'silent', keyPrefix: 'tg-' });
    const failed = await createGateway(readConfig({ PORT: '0', ...env }), log).catch((error: Error) => error);
    expect(failed).to.be.instanceOf(Error);
    // The last connection to close takes the log of the database with it.
    expect([existsSync(database), existsSync(`${database}-wal`)]).to.deep.equal([true, false]);
  });
});
