// Several workers of one start: one port, one limit, one ledger; what becomes of calls when a worker, the primary or all end.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { expect } from 'chai';
import {
  ask,
  DIALECTS,
  findBilling,
  joinText,
  MESSAGES,
  open,
  parseEvents,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { chatCatalog, type TestAccount } from '../../testkit/gateway.ts';
import { describeLong } from '../../testkit/long.ts';
import { type Books, makeHome, openBooks, type Service, spawnService, startService } from '../../testkit/process.ts';
import { openRig, type Rig } from '../../testkit/rig.ts';
import { STORES } from '../../testkit/stores.ts';
import { chatAnswer, chatHeld, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase, StoreKind } from '../contract/store/context.ts';

/** Those who go on have to renew theirs in time, on a busy machine too. */
const LEASE_MS = 3000;
const LIMIT = 10;
const WATCHED = { METRICS_PORT: '0' };
/** Of the catalog's model, for `ask`. */
const HOLD = 5_005_000n;

// It takes several processes.
for (const kind of STORES) describeLong(`two workers on ${kind.name}`, () => twoWorkers(kind));

function twoWorkers(kind: StoreKind): void {
  let database: StoreDatabase;
  let upstream: TestUpstream;
  let rig: Rig;
  let books: Books;
  let service: Service;
  let running: object | undefined;

  before(async () => {
    database = await kind.create();
    rig = await openRig(undefined, database.url);
    ({ upstream, books } = rig);
  });
  beforeEach(() => upstream.behave(chatAnswer('Hello.', { input: 7, output: 400 })));
  afterEach(async function () {
    if (this.currentTest?.isFailed()) await stop();
    await until(async () => (await books.held()) === 0n);
    await books.checkMoney();
  });
  after(async () => {
    await stop();
    await rig.close();
    await database.remove();
  });

  /** Or goes on with the one that an earlier test has left. */
  const start = async (env: Record<string, string> = WATCHED) => {
    if (running === env) return;
    await stop();
    service = await rig.start({ env: { WORKERS: '2', LEASE_MS: `${LEASE_MS}`, ...env } });
    running = env;
    void service.exit.then(() => {
      running = undefined;
    });
  };
  const stop = async () => void (await service?.stop());
  const call = async ({ key }: TestAccount, index = 0) =>
    (await send(service.url + DIALECTS[index % 2], { key, body: ask('hi') })).status;

  /** A stream that has brought its first word. */
  async function begin(account: TestAccount) {
    const sent = open(service.url + MESSAGES, { key: account.key, body: ask('hi', { stream: true }) });
    sent.on('error', () => undefined);
    const response = await readHead(sent);
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('error', () => undefined);
    const closed = new Promise((resolve) => response.once('close', resolve));
    await until(() => text.includes('first'));
    return { isClosed: () => response.closed, whole: closed.then(() => (response.complete ? text : undefined)) };
  }

  /** Streams on both workers, until each has one at least: the kernel gives connections to either. */
  async function beginOnBoth(account: TestAccount) {
    const { behaviour, finish } = chatHeld();
    upstream.behave(behaviour);
    const streams = [];
    const owners = new Set<string | null>();
    while (owners.size < 2) {
      streams.push(await begin(account));
      for (const { owner } of await books.store.ledger.charges(account.id, { limit: 1 })) owners.add(owner);
    }
    for (const owner of owners) expect(owner).to.match(/^own_[0-9a-f]{24}-[0-9a-f]{12}$/);
    return { streams, finish };
  }

  it('allow a key what one process would, when many calls race', async () => {
    await start({ RATE_LIMIT_PER_MINUTE: `${LIMIT}` });
    const accounts = [await books.account(), await books.account()];
    const calls = Array.from({ length: 80 }, (_, index) => call(accounts[index % 4 < 2 ? 0 : 1] as TestAccount, index));
    const statuses = await Promise.all(calls);
    expect(statuses.filter((status) => status === 200)).to.have.length(2 * LIMIT);
    expect(statuses.filter((status) => status === 429)).to.have.length(80 - 2 * LIMIT);
    for (const account of accounts) expect(await call(account)).to.equal(429);
  });

  it('hold no more than a wallet has, when twenty calls race for three', async () => {
    await start();
    const account = await books.account();
    const amount = 3n * HOLD - 1_000_000_000n;
    await books.apply({
      kind: 'adjust',
      wallet: account.id,
      at: Date.now(),
      amount,
      reason: 'three calls',
      adjustId: 'less',
    });
    const { behaviour, finish } = chatHeld();
    upstream.behave(behaviour);
    const replies: number[] = [];
    const calls = Array.from({ length: 20 }, async (_, index) => void replies.push(await call(account, index)));
    await until(() => replies.length === 17);
    expect(new Set(replies)).to.deep.equal(new Set([402]));
    expect(await books.wallet(account)).to.include({ avail: 0n, held: 3n * HOLD });
    finish();
    await Promise.all(calls);
    expect(replies.filter((status) => status === 200)).to.have.length(3);
  });

  it('go on when one is killed in mid-stream: holds go back, another takes its place, counts go on', async () => {
    await start();
    const metricsUrl = /^Metrics: (\S+)$/m.exec(service.stdout())?.[1] ?? '';
    const account = await books.account();
    const all = async () => (await scrape(metricsUrl)).sum('tollgate_requests_total', { status: '200', outcome: 'ok' });
    const ready = await send(`${metricsUrl.replace('/metrics', '/readyz')}?verbose`);
    expect([ready.status, ready.json.status, Object.keys(ready.json.upstreams)]).to.deep.equal([200, 'ok', ['up']]);
    const before = await all();
    const answered = async () => (await all()) - before;
    for (let index = 0; index < 6; index += 1) expect(await call(account, index)).to.equal(200);
    await until(async () => (await answered()) >= 6);
    const { streams, finish } = await beginOnBoth(account);
    const [killed = 0] = listChildren(service);
    process.kill(killed, 'SIGKILL');
    expect(await Promise.race(streams.map(({ whole }) => whole))).to.equal(undefined);
    const alive = () => streams.filter(({ isClosed }) => !isClosed());
    await until(() => alive().length < streams.length);
    await until(async () => (await books.wallet(account)).held === HOLD * BigInt(alive().length));
    const left = alive();
    expect(left).not.to.have.length(0);
    finish();
    for (const { whole } of left) {
      const events = parseEvents((await whole) ?? '');
      expect(joinText(events)).to.equal('first last.');
      expect(findBilling(events)).to.include({ charged_rub: 2.007 });
    }
    upstream.behave(chatAnswer('Hello.', { input: 7, output: 400 }));
    for (let index = 0; index < 6; index += 1) expect(await call(account, index)).to.equal(200);
    await until(() => listChildren(service).length === 2);
    await until(async () => (await scrape(metricsUrl)).sum('tollgate_workers') === 2);
    await until(async () => (await answered()) >= 12 + left.length);
    expect((await scrape(metricsUrl)).sum('tollgate_workers_replaced_total')).to.equal(1);
    await beginOnBoth(account).then(async (next) => {
      next.finish();
      await Promise.all(next.streams.map(({ whole }) => whole));
    });
  });

  it('read the catalog again on SIGHUP to the primary', async () => {
    await start();
    const account = await books.account();
    const { models, ...rest } = chatCatalog(upstream.url) as { models: { price: object }[] };
    rig.home.writeCatalog({
      ...rest,
      models: models.map((model, at) => (at ? model : { ...model, price: { input: '1000', output: '9000' } })),
    });
    service.kill('SIGHUP');
    const price = async () =>
      (await send(`${service.url}/api/v1/models`, { key: account.key })).json.data[0].output_price_rub;
    await until(async () => (await price()) === 9000 && (await price()) === 9000);
    rig.home.writeCatalog(chatCatalog(upstream.url));
    service.kill('SIGHUP');
    await until(async () => (await price()) === 5000 && (await price()) === 5000);
  });

  it('let streams of both end on SIGTERM, with their billing, and leave nobody behind', async () => {
    await start();
    const account = await books.account();
    const { streams, finish } = await beginOnBoth(account);
    const children = listChildren(service);
    service.kill('SIGTERM');
    await until(() =>
      send(`${service.url}/healthz`).then(
        () => false,
        ({ code }) => code === 'ECONNREFUSED',
      ),
    );
    finish();
    for (const { whole } of streams) {
      const events = parseEvents((await whole) ?? '');
      expect(joinText(events)).to.equal('first last.');
      expect(findBilling(events)).to.include({ charged_rub: 2.007 });
    }
    expect(await service.exit).to.include({ code: 0, stderr: '' });
    expect(children.filter(isAlive)).to.deep.equal([]);
    expect(await books.store.gateways()).to.deep.equal([]);
  });

  it('end their streams and leave when the primary is killed', async () => {
    await start();
    const account = await books.account();
    const { streams, finish } = await beginOnBoth(account);
    const children = listChildren(service);
    service.kill('SIGKILL');
    await until(() =>
      send(`${service.url}/healthz`).then(
        () => false,
        ({ code }) => code === 'ECONNREFUSED',
      ),
    );
    finish();
    for (const { whole } of streams) expect(joinText(parseEvents((await whole) ?? ''))).to.equal('first last.');
    await until(() => !children.some(isAlive));
    const charged = BigInt(streams.length) * 2_007_000n;
    expect(await books.wallet(account)).to.include({ held: 0n, charged });
  });
}

describeLong('a start with workers', () => {
  const children: Service[] = [];
  afterEach(() => Promise.all(children.splice(0).map((service) => service.stop())));

  it('makes one demo account, and shows one key and one link of each kind', async () => {
    const home = makeHome();
    const env = { CATALOG_DIR: '', SANDBOX: 'auto', WORKERS: '3' };
    const service = await startService(home, { env });
    children.push(service);
    await until(() => service.stdout().includes('There is no operator yet'));
    expect(new Set(service.stdout().match(/tg-sk-[0-9A-Za-z]{49}/g))).to.have.property('size', 1);
    expect(service.stdout().match(/setup\?token=/g)).to.have.length(2);
    // Of the port that was found, where none was asked for.
    const links = service.stdout().match(/\S+(?=\/setup\?token=)/g);
    expect(links).to.deep.equal([service.url, service.url]);
    const books = await openBooks(home);
    expect(await books.store.accounts.list()).to.have.length(1);
    await books.close();
  });

  it('says once why it cannot listen, and exits', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    const home = makeHome(chatCatalog('http://127.0.0.1:1'));
    const child = spawnService({ ...home.env, SANDBOX: 'off', WORKERS: '2', PORT: `${port}` });
    const { code, stderr } = await child.exit;
    taken.close();
    expect(code).to.equal(1);
    expect(stderr).to.match(/^tollgate: Cannot listen on \S+ \(PORT\): the port is in use\n$/);
  });
});

function listChildren({ process: { pid } }: Service): readonly number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return rows.filter(([, parent]) => parent === pid).map(([child]) => child as number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
