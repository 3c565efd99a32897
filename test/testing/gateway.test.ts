// `tollgate/testing`, as an application's tests use it.
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import { createTestClock, createTestGateway, OperatorError, type TestGateway } from '../../lib/testing.ts';
import { CHAT, send, until } from '../../testkit/client.ts';
import { longer } from '../../testkit/long.ts';
import { MONGODB, SQLITE } from '../../testkit/stores.ts';

const ask = (content: string, more: object = {}) => ({
  model: 'sandbox-lite',
  messages: [{ role: 'user', content }],
  ...more,
});
const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('it did not reject'),
    (error: unknown) => error as Error,
  );
const listFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('tollgate-testing-'));

describe('a test gateway', () => {
  let tollgate: TestGateway;
  before(async () => {
    tollgate = await createTestGateway();
  });
  after(() => tollgate.close());

  it('answers without a network, and tells what was asked and charged', async () => {
    const body = ask('Hello [[words:20]]');
    const reply = await send(`${tollgate.url}${CHAT}?from=test`, { key: tollgate.key, body });
    expect(reply.status, reply.text).to.equal(200);
    const request = (await tollgate.requests()).at(-1) ?? expect.fail('there is none');
    const { charge, ...rest } = request;
    const id = reply.headers['x-request-id'];
    const path = `${CHAT}?from=test`;
    expect(rest).to.deep.equal({ id, method: 'POST', path, body, status: 200, model: 'sandbox-lite' });
    const [account] = tollgate.accounts;
    expect(charge).to.include({ account: account.id, key: account.keys[0]?.id, state: 'settled' });
    expect(Number(charge?.charged)).to.be.above(0);
    const { available, held } = await tollgate.wallet();
    expect(held).to.equal('0.00');
    expect(Number(available)).to.be.closeTo(1000 - Number(charge?.charged), 1e-9);
  });

  it('follows the markers of the sandbox', async () => {
    const before = await tollgate.wallet();
    const reply = await send(tollgate.url + CHAT, { key: tollgate.key, body: ask('[[fail]]') });
    expect(reply.status).to.be.within(500, 599);
    const request = (await tollgate.requests()).at(-1);
    expect(request).to.deep.include({ status: reply.status, model: 'sandbox-lite' });
    expect(request?.charge).to.deep.include({ state: 'released', charged: '0.00' });
    expect(await tollgate.wallet()).to.deep.equal(before);
  });

  it('keeps requests that cost nothing, and refused ones', async () => {
    const seen = (await tollgate.requests()).length;
    await send(`${tollgate.url}/healthz`);
    await send(tollgate.url + CHAT, { key: 'tg-sk-unknown', body: ask('hi') });
    await send(tollgate.url + CHAT, { key: tollgate.key, body: '{"model":' as unknown as object });
    const requests = (await tollgate.requests()).slice(seen);
    expect(requests.map(({ method, status }) => [method, status])).to.deep.equal([
      ['GET', 200],
      ['POST', 401],
      ['POST', 400],
    ]);
    expect(requests.map(({ charge, model }) => charge ?? model)).to.deep.equal([undefined, undefined, undefined]);
    expect([requests[0]?.body, requests[2]?.body]).to.deep.equal([undefined, '{"model":']);
  });

  it('keeps bodies of any length and an open stream', async () => {
    const content = `[[slow]] ${'я'.repeat(400_000)}`;
    const abort = new AbortController();
    const reply = await fetch(tollgate.url + CHAT, {
      method: 'POST',
      headers: { 'x-api-key': tollgate.key, 'content-type': 'application/json' },
      body: JSON.stringify(ask(content, { stream: true, max_tokens: 1000 })),
      signal: abort.signal,
    });
    const { status, body } = (await tollgate.requests()).at(-1) ?? expect.fail('there is none');
    expect([reply.status, status]).to.deep.equal([200, undefined]);
    expect(body).to.deep.equal(ask(content, { stream: true, max_tokens: 1000 }));
    abort.abort();
    await until(async () => (await tollgate.requests()).at(-1)?.status === 200);
    expect((await tollgate.wallet()).held).to.equal('0.00');
  });

  it('adds accounts while it runs', async () => {
    const poor = await tollgate.addAccount({ name: 'poor', rub: '0' });
    expect((await send(tollgate.url + CHAT, { key: poor.key, body: ask('hi') })).status).to.equal(402);
    expect(await tollgate.wallet(poor.id)).to.deep.equal({ available: '0.00', held: '0.00' });
    expect((await rejection(tollgate.wallet('acc_none'))).message).to.equal('There is no account "acc_none".');
    const error = await rejection(tollgate.addAccount({ rub: '1e3' }));
    expect(error).to.be.instanceOf(OperatorError);
    expect(error.message).to.equal('rub: "1e3" is not a string with an amount in RUB, such as "12.5".');
  });
});

describe('the options of a test gateway', () => {
  it('seed accounts and keys', async () => {
    await using tollgate = await createTestGateway({
      accounts: [
        { name: 'first', rub: '2.5', keys: [{ models: ['sandbox-image'] }, { name: 'small', budget: '0.000001' }] },
        { name: 'second' },
      ],
    });
    const [first, second] = tollgate.accounts;
    expect([first.name, second?.name, tollgate.key]).to.deep.equal(['first', 'second', first.keys[0]?.key]);
    expect(await tollgate.wallet(first.id)).to.include({ available: '2.50' });
    expect(await tollgate.wallet(second?.id)).to.include({ available: '1000.00' });
    const statuses = await Promise.all(
      first.keys.map(async ({ key }) => (await send(tollgate.url + CHAT, { key, body: ask('hi') })).status),
    );
    expect(statuses).to.deep.equal([403, 402]);
    expect(tollgate.gateway.facts.demoKey).to.equal(undefined);
  });

  it('take a catalog and variables', async () => {
    await using tollgate = await createTestGateway({
      catalog: {
        models: [
          {
            id: 'mine',
            type: 'text',
            provider: 'Mine',
            routes: [{ upstream: 'sandbox', model: 'lite' }],
            price: { input: '1', output: '1' },
          },
        ],
      },
      env: { RATE_LIMIT_PER_MINUTE: '1' },
    });
    const body = ask('hi', { model: 'mine' });
    expect((await send(tollgate.url + CHAT, { key: tollgate.key, body })).status).to.equal(200);
    expect((await send(tollgate.url + CHAT, { key: tollgate.key, body })).status).to.equal(429);
  });

  it('take another store, and leave it as it is', async () => {
    const database = await longer(SQLITE, MONGODB).create();
    const options = { env: { DATABASE_URL: database.url } };
    const first = await createTestGateway(options);
    expect((await send(first.url + CHAT, { key: first.key, body: ask('hi') })).status).to.equal(200);
    expect((await first.requests())[0]?.charge?.state).to.equal('settled');
    await first.close();
    const second = await createTestGateway(options);
    expect((await send(second.url + CHAT, { key: first.key, body: ask('hi') })).status).to.equal(200);
    await second.close();
    await database.remove();
  });

  it('are refused with what is wrong, and nothing is left', async () => {
    const folders = listFolders();
    const { now } = Date;
    const wrong = [
      [{ accounts: [] }, /^accounts: there must be at least one account\.$/],
      [{ accounts: [{ keys: [] }] }, /^keys: there must be at least one key\.$/],
      [{ accounts: [{ name: '' }] }, /^The name is empty\.$/],
      [{ accounts: [{ rub: 12.5 }] }, /^rub: 12\.5 is not a string with an amount in RUB, such as "12\.5"\.$/],
      [{ accounts: [{ keys: [{ budget: 5n }] }] }, /^budget: 5 is not a string with an amount/],
      [{ acounts: [] }, /^options: there is no "acounts", only catalog, accounts, clock, env, transforms\.$/],
      [{ accounts: [{ roubles: '5' }] }, /^accounts: there is no "roubles", only name, rub, keys\.$/],
      [
        { accounts: [{ keys: [{ bugdet: '5' }] }] },
        /^keys: there is no "bugdet", only name, budget, expiresAt, models\.$/,
      ],
      [{ catalog: { models: [{ id: 'half' }] } }, /half|models/],
      [{ catalog: '/nowhere/at/all' }, /^CATALOG_DIR \/nowhere/],
      [{ env: { PORT: 'http' } }, /^Bad environment: PORT/],
      [{ clock: { now: () => Number.NaN } }, /^clock: its now\(\)/],
    ] as const;
    for (const [options, message] of wrong) {
      const given: object = { clock: createTestClock(), ...options };
      const error = await rejection(createTestGateway(given));
      expect(error, message.source).to.be.instanceOf(OperatorError);
      expect(error.message).to.match(message);
      expect(Date.now).to.equal(now);
    }
    expect(listFolders()).to.deep.equal(folders);
  });
});

describe('the clock of a test gateway', () => {
  const { now } = Date;
  const startAt = Date.UTC(2030, 0, 31, 12);

  it('moves only when told', () => {
    const clock = createTestClock(startAt);
    clock.advance(1500);
    expect(clock.now()).to.equal(startAt + 1500);
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) expect(() => clock.advance(ms)).to.throw(RangeError);
  });

  it('ends keys, opens the next window of rate limits, and is released', async () => {
    const clock = createTestClock(startAt);
    const accounts = [{ keys: [{ expiresAt: startAt + DAY_MS }, {}] }];
    await using tollgate = await createTestGateway({ clock, accounts, env: { RATE_LIMIT_PER_MINUTE: '2' } });
    const [ending, lasting] = tollgate.accounts[0].keys.map(({ key }) => key);
    const ask2 = async (key?: string) => (await send(tollgate.url + CHAT, { key, body: ask('hi') })).status;
    expect([await ask2(ending), await ask2(ending), await ask2(ending)]).to.deep.equal([200, 200, 429]);
    clock.advance(60_000);
    expect([await ask2(ending), await ask2(lasting)]).to.deep.equal([200, 200]);
    clock.advance(DAY_MS);
    expect([await ask2(ending), await ask2(lasting)]).to.deep.equal([401, 200]);
    const [first] = await tollgate.requests();
    expect(first?.id).to.include(startAt.toString(16));
    const second = await rejection(createTestGateway({ clock: createTestClock() }));
    expect(second.message).to.equal('clock: another test gateway of this process has one; close it first.');
    await tollgate.close();
    expect(Date.now).to.equal(now);
  });

  it('finishes videos, and ends their files', async () => {
    const clock = createTestClock(startAt);
    await using tollgate = await createTestGateway({ clock });
    const { key, url } = tollgate;
    const body = { model: 'sandbox-video', prompt: 'a square' };
    const started = await send(`${url}/api/v1/videos`, { key, body });
    expect(started.status, started.text).to.equal(200);
    const read = async () => (await send(`${url}/api/v1/videos?id=${started.json.id}`, { key })).json;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await read()).status).to.not.equal('completed');
    clock.advance(60_000);
    await until(async () => (await read()).status === 'completed', 20_000);
    const { url: link } = await read();
    const readFile = async () => (await fetch(link)).status;
    expect(await readFile()).to.equal(200);
    clock.advance(2 * DAY_MS);
    expect(await readFile()).to.equal(404);
    const { charge } = (await tollgate.requests())[0] ?? expect.fail('there is none');
    expect(charge).to.include({ state: 'settled' });
  });
});

describe('a closed test gateway', () => {
  it('leaves nothing, may be closed again, and says that it is closed', async () => {
    const folders = listFolders();
    const tollgate = await createTestGateway();
    const [folder = ''] = listFolders().filter((name) => !folders.includes(name));
    await Promise.all([tollgate.close(), tollgate.close()]);
    expect(existsSync(`${tmpdir()}/${folder}`)).to.equal(false);
    for (const asked of [tollgate.requests(), tollgate.wallet(), tollgate.addAccount()]) {
      expect((await rejection(asked)).message).to.equal('The test gateway is closed.');
    }
    await tollgate.close();
  });

  it('ends running calls at once, and two run beside each other', async () => {
    const [one, other] = await Promise.all([createTestGateway(), createTestGateway()]);
    const stalled = send(one.url + CHAT, { key: one.key, body: ask('[[stall]]') }).catch(() => undefined);
    await until(async () => (await one.wallet()).held !== '0.00');
    await one.close();
    await stalled;
    expect((await send(other.url + CHAT, { key: other.key, body: ask('hi') })).status).to.equal(200);
    expect((await send(other.url + CHAT, { key: one.key, body: ask('hi') })).status).to.equal(401);
    await other.close();
  });
});
