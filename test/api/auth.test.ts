// Authentication: who may call and how often; all waits of a request for the store share one time limit.
import Hapi from '@hapi/hapi';
import { expect } from 'chai';
import { type Accounts, createAccounts } from '../../lib/accounts/accounts.ts';
import type { Holders } from '../../lib/accounts/holders.ts';
import type { Limiter } from '../../lib/accounts/rate-limiter.ts';
import { type AuthOptions, confirmHolder, registerAuth } from '../../lib/api/auth.ts';
import { EVERY_MS, REFUSALS_MAX, WAIT_MAX_MS } from '../../lib/api/throttle.ts';
import { createRequestState, getRequestState } from '../../lib/http/request-state.ts';
import { type KeyLimits, NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { KeyHolder } from '../../lib/store/ports/keys.ts';
import { MESSAGES, open, send, until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { itLong } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';

const MIB = 1024 * 1024;
const ADDRESS = '192.0.2.1';

const KEY_MS = 120;
const LIMIT_MS = 80;
/** On a busy machine part of a wait is over before its clock starts. */
const SEEN = 0.5;

const holder = { id: 'key', account: 'account', accountStatus: 'active', limits: NO_LIMITS } as KeyHolder;
const later = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(resolve, ms, value));

function serverOf({
  holders,
  ...more
}: { holders: Pick<Holders, 'find' | 'countUse'> } & Partial<Omit<AuthOptions, 'holders'>>) {
  const server = Hapi.server();
  const limiter = { hit: () => ({ allowed: true, retryAfterS: 1 }) };
  registerAuth(server, { limiter, throttle: { computeWaitMs: () => 0 }, ...more, holders: holders as Holders });
  return server;
}

describe('authentication that waits for the store', () => {
  it('passes the wait for the key to the limiter, and both waits to the call', async () => {
    let atLimit: number | undefined;
    let atCall: number | undefined;
    const limiter: Pick<Limiter, 'hit'> = {
      hit(_rule, _keyId, waitedMs) {
        atLimit = waitedMs;
        return later(LIMIT_MS, { allowed: true, retryAfterS: 1 });
      },
    };
    const server = serverOf({ holders: { find: () => later(KEY_MS, holder), countUse: () => undefined }, limiter });
    server.route({
      method: 'GET',
      path: '/',
      options: { plugins: { limit: { name: 'generate', perMinute: 1 } } },
      handler(request) {
        atCall = getRequestState(request).waitedMs;
        return 'ok';
      },
    });
    const { statusCode } = await server.inject({ url: '/', headers: { 'x-api-key': 'text' } });
    expect(statusCode).to.equal(200);
    expect(atLimit).to.be.at.least(SEEN * KEY_MS);
    expect(atCall).to.be.at.least(LIMIT_MS + SEEN * KEY_MS);
  });
});

describe('authentication of a key whose account has a limit', () => {
  for (const isAway of [false, true]) {
    it(`is refused with the account, by a limiter that answers ${isAway ? 'later' : 'at once'}`, async () => {
      const hits: (readonly [string, string, number])[] = [];
      const limiter: Pick<Limiter, 'hit'> = {
        hit({ name, perMinute }, id) {
          hits.push([name, id, perMinute]);
          const answer = { allowed: id !== holder.account, retryAfterS: 7 };
          return isAway ? later(1, answer) : answer;
        },
      };
      const limited = { ...holder, accountRequests: { perMinute: 30 } } as KeyHolder;
      const server = serverOf({ holders: { find: () => limited, countUse: () => undefined }, limiter });
      const plugins = { limit: { name: 'generate', perMinute: 20 } };
      const handler = () => {
        throw new Error('it was admitted');
      };
      server.route({ method: 'GET', path: '/', options: { plugins }, handler });
      const { statusCode } = await server.inject({ url: '/', headers: { 'x-api-key': 'text' } });
      expect(statusCode).to.equal(429);
      expect(hits).to.deep.equal([
        ['generate', 'key', 30],
        ['generate-account', 'account', 30],
      ]);
    });
  }
});

describe('authentication of a throttled key', () => {
  const WAIT_MS = 150;
  const heard: string[] = [];
  const throttle = {
    computeWaitMs(key: string) {
      heard.push(key);
      return WAIT_MS;
    },
  };
  const holders = { find: () => holder, countUse: () => undefined };
  const headers = { 'x-api-key': 'text' };
  beforeEach(() => {
    heard.length = 0;
  });

  function serve(plugins: object) {
    const order: string[] = [];
    const limiter = {
      hit() {
        order.push('limit');
        return { allowed: true, retryAfterS: 1 };
      },
    };
    const server = serverOf({ holders, limiter, throttle });
    const handler: Hapi.Lifecycle.Method = (request) => {
      order.push('handler');
      return `${getRequestState(request).notes.cooldown_ms}`;
    };
    server.route({ method: 'GET', path: '/', options: { plugins }, handler });
    return { server, order };
  }

  it('waits before the rate limit counts, and logs the wait', async () => {
    const { server, order } = serve({ limit: { name: 'generate', perMinute: 1 } });
    const from = performance.now();
    const reply = server.inject({ url: '/', headers });
    await later(WAIT_MS / 3, undefined);
    expect([heard, order]).to.deep.equal([['key'], []]);
    expect((await reply).payload).to.equal(`${WAIT_MS}`);
    expect(performance.now() - from).to.be.at.least(SEEN * WAIT_MS);
    expect(order).to.deep.equal(['limit', 'handler']);
  });

  it('does not wait on unlimited routes', async () => {
    const { server } = serve({});
    expect((await server.inject({ url: '/', headers })).payload).to.equal('undefined');
    expect(heard).to.deep.equal([]);
  });

  it('stops waiting if the client leaves', async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const limiter = {
      hit() {
        ended.resolve();
        return { allowed: true, retryAfterS: 1 };
      },
    };
    const computeWaitMs = () => {
      begun.resolve();
      return 60_000;
    };
    const server = serverOf({ holders, limiter, throttle: { computeWaitMs } });
    const plugins = { limit: { name: 'generate', perMinute: 1 } };
    server.route({ method: 'GET', path: '/', options: { plugins }, handler: () => 'ok' });
    await server.start();
    try {
      const request = open(server.info.uri, { headers }).on('error', () => undefined);
      await begun.promise;
      request.destroy();
      await ended.promise;
    } finally {
      await server.stop({ timeout: 1 });
    }
  });
});

describe('the second check of a key, right before money moves', () => {
  const limited = (limits: Partial<KeyLimits>) => ({ ...holder, limits: { ...NO_LIMITS, ...limits } });

  /** What a request comes to whose key has become this. */
  async function lookAgain(now: KeyHolder | undefined | Promise<KeyHolder>) {
    const state = { ...createRequestState(), waitedMs: 1, address: ADDRESS };
    const holders = { findAgain: () => now } as unknown as Holders;
    const outcome = await confirmHolder({ state, holder }, holders).then(
      (confirmed) => ({ code: undefined, hint: undefined, holder: confirmed }),
      (error) => ({ code: error.data?.code, hint: error.data?.detail.hint, holder: undefined }),
    );
    return { ...outcome, waitedMs: state.waitedMs };
  }

  it('takes over the current state of the key, and counts the wait for it', async () => {
    const changed = limited({ budget: 5n, models: ['newest'], requests: { addresses: [ADDRESS] } });
    expect(await lookAgain(changed)).to.deep.equal({ code: undefined, hint: undefined, holder: changed, waitedMs: 1 });
    const waited = await lookAgain(later(KEY_MS, changed));
    expect(waited).to.include({ code: undefined, holder: changed });
    expect(waited.waitedMs).to.be.at.least(SEEN * KEY_MS);
  });

  const refusals: Readonly<Record<string, KeyHolder | undefined>> = {
    invalid_key: undefined,
    expired_key: limited({ expiresAt: Date.now() }),
    address_not_allowed: limited({ requests: { addresses: ['10.0.0.0/8'] } }),
    account_suspended: { ...holder, accountStatus: 'suspended' },
    member_suspended: { ...holder, member: { user: 'usr_1', status: 'suspended' } },
  };
  for (const [code, now] of Object.entries(refusals)) {
    it(`refuses with ${code}`, async () => {
      expect((await lookAgain(now)).code).to.equal(code);
    });
  }

  it('says until when an expired key was valid', async () => {
    const until = Date.now() - 1000;
    expect((await lookAgain(limited({ expiresAt: until }))).hint).to.equal(new Date(until).toISOString());
  });
});

describe('authentication', () => {
  const limit = 2;
  let gateway: TestGateway;
  let accounts: Accounts;
  before(async () => {
    const env = { BALANCE_RATE_LIMIT_PER_MINUTE: String(limit) };
    gateway = await startGateway({ catalog: { models: [] }, env });
    accounts = createAccounts({ store: gateway.store, keyPrefix: 'tg-' });
  });
  after(() => gateway.stop());

  const logged = () => readLogLines(gateway);

  const statusOf = async (key: string) => (await send(`${gateway.url}/api/v1/balance`, { key })).status;

  it('limits each key separately, also keys of one account', async () => {
    const { id, key } = await gateway.account();
    const second = await accounts.issueKey(id, 'second');
    for (const each of [key, second.key]) {
      for (let call = 0; call < limit; call += 1) expect(await statusOf(each)).to.equal(200);
    }
    for (const each of [key, second.key]) expect(await statusOf(each)).to.equal(429);
  });

  itTimed('throttles a key after many refusals while another key calls', async () => {
    const bad = await gateway.account();
    const good = await gateway.account();
    const ask = (key: string) => send(`${gateway.url}${MESSAGES}`, { key, body: { model: 'none' } });
    await Promise.all(Array.from({ length: REFUSALS_MAX }, () => ask(bad.key)));
    const waited = (id: string) => logged().filter(({ key, cooldown_ms: ms }) => key === id && ms > 0).length;
    await until(() => logged().filter(({ key }) => key === bad.keyId).length === REFUSALS_MAX);
    expect(waited(bad.keyId)).to.equal(0);
    await ask(good.key);
    const from = performance.now();
    expect((await ask(bad.key)).status).to.equal(400);
    expect(performance.now() - from).to.be.at.least(EVERY_MS * SEEN);
    await until(() => waited(bad.keyId) === 1);
    expect(waited(good.keyId)).to.equal(0);
  });

  itLong('throttles a key after a few long refused bodies, by their length', async () => {
    const bad = await gateway.account();
    const good = await gateway.account();
    const url = `${gateway.url}${MESSAGES}`;
    const ask = (key: string, bytes = 0) => send(url, { key, body: { model: 'none', text: 'x'.repeat(bytes) } });
    const from = performance.now();
    for (const mib of [45, 45, 9]) expect((await ask(bad.key, mib * MIB)).status).to.equal(400);
    const waits = () => logged().flatMap(({ key, cooldown_ms: ms }) => (key === bad.keyId && ms > 0 ? [ms] : []));
    await until(() => logged().filter(({ key }) => key === bad.keyId).length === 3);
    expect(waits()).to.deep.equal([]);
    await ask(good.key);
    const sinceMs = performance.now() - from;
    const waiting = open(url, { key: bad.key, body: { model: 'none' } }).on('error', () => undefined);
    setTimeout(() => waiting.destroy(), 300);
    await until(() => waits().length === 1);
    expect(waits()[0]).to.be.within(99 * EVERY_MS - sinceMs - 1000, WAIT_MAX_MS);
  });

  it('accepts a key after any number of spaces, in either header', async () => {
    const { key } = await gateway.account();
    const url = `${gateway.url}/api/v1/models`;
    for (const authorization of [`Bearer ${key}`, `bearer   ${key}`, `BEARER ${key}  `]) {
      expect((await send(url, { headers: { authorization } })).status, authorization).to.equal(200);
    }
    expect((await send(url, { headers: { 'x-api-key': `  ${key} ` } })).status).to.equal(200);
    for (const authorization of [`Basic ${key}`, `Bearer${key}`, key, 'Bearer ']) {
      expect((await send(url, { headers: { authorization } })).status, authorization).to.equal(401);
    }
  });

  it('uses x-api-key if both headers have a key', async () => {
    const { key } = await gateway.account();
    const url = `${gateway.url}/api/v1/models`;
    expect((await send(url, { key, headers: { authorization: 'Bearer tg-nothing' } })).status).to.equal(200);
    const headers = { authorization: `Bearer ${key}` };
    expect((await send(url, { key: 'tg-nothing', headers })).status).to.equal(401);
  });

  it('uses the header with a key if the other is empty or blank', async () => {
    const { key } = await gateway.account();
    const url = `${gateway.url}/api/v1/models`;
    for (const blank of ['', ' ', '\t ']) {
      const bearer = { authorization: `Bearer ${key}`, 'x-api-key': blank };
      expect((await send(url, { headers: bearer })).status, `x-api-key: ${blank}`).to.equal(200);
      for (const authorization of [blank, `Bearer${blank}`, `bearer ${blank}`]) {
        expect((await send(url, { key, headers: { authorization } })).status, authorization).to.equal(200);
        const { status, text } = await send(url, { headers: { authorization, 'x-api-key': blank } });
        expect(status, authorization).to.equal(401);
        expect(text).to.contain('No API key was sent');
      }
    }
    const wrong = { authorization: 'Bearer tg-nothing', 'x-api-key': '' };
    expect((await send(url, { headers: wrong })).status).to.equal(401);
  });

  it('counts calls of a suspended account as uses of its key, but not against its limit', async () => {
    const { id, keyId, key } = await gateway.account();
    await accounts.suspend(id);
    for (let call = 0; call <= limit; call += 1) expect(await statusOf(key)).to.equal(403);
    await until(async () => {
      const row = (await gateway.store.keys.list(id)).find((each) => each.id === keyId);
      return row?.requestsCount === limit + 1;
    }, 15_000);
  });
});
