// What an owner allows a key, and an operator an account, over real HTTP: requests a minute, calls at once, addresses.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import type { RequestLimits } from '../../lib/money/request-limits.ts';
import { ask, CHAT, DIALECTS, MESSAGES, type Reply, sayFor, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itTimed } from '../../testkit/timed.ts';

const CATALOG = {
  upstreams: { sandbox: { plugin: 'sandbox' } },
  models: [
    {
      id: 'write',
      type: 'text',
      provider: 'Test',
      price: { input: '1000', output: '5000' },
      routes: [{ upstream: 'sandbox', model: 'standard' }],
    },
  ],
};
const KEY_CACHE_MS = 50;
/** The sandbox says nothing until its client leaves. */
const STALL = ask('[[stall]]', { model: 'write' });
const HI = ask('hi', { model: 'write' });

describe('limits of requests', () => {
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    const env = { TRUSTED_PROXIES: '1', RATE_LIMIT_PER_MINUTE: '30' };
    gateway = await startGateway({ catalog: CATALOG, timings: { keyCacheMs: KEY_CACHE_MS }, env });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(async () => {
    await until(async () => (await countHeld()) === 0);
    await gateway.checkMoney();
  });
  after(() => gateway?.stop());

  const accounts = () => createAccounts({ store: gateway.store, keyPrefix: 'tg-' });
  const post = (key: string, body: object = HI, headers: Record<string, string> = {}, path = CHAT): Promise<Reply> =>
    send(gateway.url + path, { key, body, headers });
  const issue = async (requests: RequestLimits) => (await accounts().issueKey(account.id, 'little', { requests })).key;

  const countHeld = async () =>
    (await gateway.store.ledger.charges(account.id, { limit: 50, filter: { state: 'held' } })).length;

  /** Starts calls that stall; resolves once they all run. Ending them leaves nothing behind. */
  async function stall(key: string, count: number, path = CHAT) {
    const before = await countHeld();
    const body = JSON.stringify(sayFor(path, STALL));
    const calls = Array.from({ length: count }, () => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-api-key': key };
      const call = request(gateway.url + path, { method: 'POST', headers, agent: false });
      call.on('error', () => undefined);
      call.end(body);
      return call;
    });
    await until(async () => (await countHeld()) === before + count);
    return calls;
  }

  describe('a minute', () => {
    it('narrow those of the service for one key', async () => {
      const key = await issue({ perMinute: 2 });
      const statuses = [];
      for (let calls = 0; calls < 4; calls += 1) statuses.push((await post(key)).status);
      expect(statuses).to.deep.equal([200, 200, 429, 429]);
      const refused = await post(key);
      expect(refused.json.error.message).to.match(
        /^Too many requests on this key: the limit is 2 per minute\. Retry in \d+ s\.$/,
      );
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
      expect((await post(account.key)).status).to.equal(200);
      // Reading is limited by itself.
      for (let reads = 0; reads < 4; reads += 1)
        expect((await send(`${gateway.url}/api/v1/balance`, { key })).status).to.equal(200);
    });

    it('of an account count all its keys together, and may raise those of the service', async () => {
      await accounts().limit(account.id, { perMinute: 35 });
      const keys = [account.key, await issue({}), await issue({ perMinute: 1000 })];
      const replies = await Promise.all(Array.from({ length: 40 }, (_, at) => post(keys[at % 3] as string)));
      expect(replies.filter(({ status }) => status === 200)).to.have.length(35);
      const refused = replies.find(({ status }) => status === 429);
      expect(refused?.json.error.message).to.contain('the limit is 35 per minute for all keys of the account. Retry');
      const other = await gateway.account();
      const alone = await Promise.all(Array.from({ length: 35 }, () => post(other.key)));
      expect(alone.filter(({ status }) => status === 200)).to.have.length(30);
      account = await gateway.account();
      await accounts().limit(account.id, { perMinute: 35 });
      await sleep(3 * KEY_CACHE_MS);
      const raised = await Promise.all(Array.from({ length: 36 }, () => post(account.key)));
      expect(raised.filter(({ status }) => status === 200)).to.have.length(35);
    });
  });

  describe('at once', () => {
    for (const path of DIALECTS) {
      it(`refuse the next one with 429 if calls do not wait, on ${path}`, async () => {
        const key = await issue({ atOnce: 2 });
        const running = await stall(key, 2, path);
        const refused = await post(key, HI, {}, path);
        expect(refused.status, refused.text).to.equal(429);
        expect(refused.json.error.message).to.equal(
          'Too many calls at once: the limit is 2. Retry when one of them has ended.',
        );
        expect(refused.headers).to.include({ 'retry-after': '1' }).and.not.have.property('x-should-retry');
        expect((await post(account.key)).status).to.equal(200);
        running[0]?.destroy();
        await until(async () => (await post(key, HI, {}, path)).status === 200);
        running[1]?.destroy();
      });
    }

    it('let calls wait for their turn, and never run more', async () => {
      const key = await issue({ atOnce: 1, waitSeconds: 20 });
      const [first] = await stall(key, 1);
      const waiting = Promise.all(Array.from({ length: 5 }, () => post(key)));
      expect((await post(account.key)).status).to.equal(200);
      expect(await countHeld()).to.equal(1);
      first?.destroy();
      expect((await waiting).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    });

    itTimed('refuse a call whose turn does not come in time', async () => {
      const key = await issue({ atOnce: 1, waitSeconds: 1 });
      const [running] = await stall(key, 1);
      const start = performance.now();
      expect((await post(key)).status).to.equal(429);
      expect(performance.now() - start).to.be.within(900, 3000);
      running?.destroy();
      await until(async () => (await post(key)).status === 200);
    });

    it('give the place back after a refused body', async () => {
      const key = await issue({ atOnce: 1 });
      for (let calls = 0; calls < 3; calls += 1) {
        expect((await post(key, { model: 'unknown', messages: [] })).status).to.equal(400);
      }
      expect((await post(key)).status).to.equal(200);
    });

    it('of an account are those of all its keys, and count besides those of a key', async () => {
      await accounts().limit(account.id, { atOnce: 2 });
      await sleep(3 * KEY_CACHE_MS);
      const key = await issue({ atOnce: 1 });
      const running = [...(await stall(key, 1)), ...(await stall(account.key, 1))];
      expect((await post(await issue({}))).status).to.equal(429);
      running[1]?.destroy();
      await until(async () => (await post(account.key)).status === 200);
      expect((await post(key)).status).to.equal(429);
      running[0]?.destroy();
      await accounts().limit(account.id, undefined);
    });

    it('do not count requests that cost nothing', async () => {
      const key = await issue({ atOnce: 1 });
      const [running] = await stall(key, 1);
      expect((await post(key, HI, {}, `${MESSAGES}/count_tokens`)).status).to.equal(200);
      running?.destroy();
    });
  });

  describe('by address', () => {
    const from = (address: string) => ({ 'x-forwarded-for': address });

    it('refuse others before anything else, on every path', async () => {
      const key = await issue({ addresses: ['203.0.113.7', '10.0.0.0/8', '2001:db8::/32'] });
      for (const address of ['203.0.113.7', '10.9.8.7', '2001:db8:1::5', '::ffff:10.1.1.1']) {
        expect((await post(key, HI, from(address))).status, address).to.equal(200);
      }
      for (const address of ['203.0.113.8', '11.0.0.1', '2001:db9::1']) {
        const reply = await post(key, HI, from(address));
        expect(reply.status).to.equal(403);
        expect(reply.json.error).to.deep.equal({
          message: `This API key may not be used from the address ${address}.`,
          type: 'permission_error',
          code: 'address_not_allowed',
        });
        expect(reply.headers['x-should-retry']).to.equal('false');
        for (const path of ['/api/v1/models', '/api/v1/balance']) {
          expect((await send(gateway.url + path, { key, headers: from(address) })).status, path).to.equal(403);
        }
      }
      expect((await post(account.key, HI, from('11.0.0.1'))).status).to.equal(200);
    });

    it('of an account hold for each of its keys, and both have to allow it', async () => {
      await accounts().limit(account.id, { addresses: ['10.0.0.0/8'] });
      await sleep(3 * KEY_CACHE_MS);
      const key = await issue({ addresses: ['10.1.0.0/16', '192.0.2.1'] });
      expect((await post(account.key, HI, from('10.2.0.1'))).status).to.equal(200);
      for (const address of ['10.2.0.1', '192.0.2.1']) {
        expect((await post(key, HI, from(address))).status, address).to.equal(403);
      }
      expect((await post(key, HI, from('10.1.0.1'))).status).to.equal(200);
    });
  });

  it('that make no sense are refused by name', async () => {
    const wrong: readonly (readonly [RequestLimits, RegExp])[] = [
      [{ perMinute: 0 }, /Requests a minute/],
      [{ perMinute: 1.5 }, /Requests a minute/],
      [{ atOnce: -1 }, /Calls at once/],
      [{ atOnce: 1, waitSeconds: 61 }, /Calls may wait/],
      [{ waitSeconds: 5 }, /only where calls at once/],
      [{ addresses: [] }, /1 to 100 addresses/],
      [{ addresses: ['10.0.0.0/33'] }, /"10\.0\.0\.0\/33"/],
      [{ addresses: ['0.0.0.0/0'] }, /"0\.0\.0\.0\/0"/],
      [{ addresses: ['home'] }, /"home"/],
    ];
    for (const [limits, words] of wrong) {
      for (const set of [() => accounts().limit(account.id, limits), () => issue(limits)]) {
        const error = await set().then(
          () => undefined,
          (reason: Error) => reason,
        );
        expect(error?.message, JSON.stringify(limits)).to.match(words);
      }
    }
    expect((await gateway.store.accounts.get(account.id))?.requests).to.equal(undefined);
  });
});
