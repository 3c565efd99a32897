// Who may call, and how often; the waits of one request for the store share one time.
import Hapi from '@hapi/hapi';
import { expect } from 'chai';
import { type Accounts, createAccounts } from '../../lib/accounts/accounts.ts';
import type { Holders } from '../../lib/accounts/holders.ts';
import { confirmHolder, holderOf, registerAuth } from '../../lib/api/auth.ts';
import type { Limiter } from '../../lib/api/limiter.ts';
import { stateOf } from '../../lib/http/context.ts';
import { type KeyLimits, NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { KeyHolder } from '../../lib/store/ports/keys.ts';
import { send, until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';

const KEY_MS = 120;
const LIMIT_MS = 80;
/** On a busy machine part of a wait is over before its clock starts. */
const SEEN = 0.5;

const holder = { id: 'key', account: 'account', accountStatus: 'active', limits: NO_LIMITS } as KeyHolder;
const later = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(resolve, ms, value));

describe('authentication that waits for the store', () => {
  it('tells the limiter what the key took, and the call what both took', async () => {
    let atLimit: number | undefined;
    let atCall: number | undefined;
    const limiter: Pick<Limiter, 'hit'> = {
      hit(_rule, _keyId, waitedMs) {
        atLimit = waitedMs;
        return later(LIMIT_MS, { allowed: true, retryAfterS: 1 });
      },
    };
    const server = Hapi.server();
    const holders: Pick<Holders, 'find' | 'used'> = { find: () => later(KEY_MS, holder), used: () => undefined };
    registerAuth(server, { holders: holders as Holders, limiter: limiter as Limiter });
    server.route({
      method: 'GET',
      path: '/',
      options: { plugins: { limit: { name: 'generate', perMinute: 1 } } },
      handler(request) {
        atCall = stateOf(request).waitedMs;
        return 'ok';
      },
    });
    const { statusCode } = await server.inject({ url: '/', headers: { 'x-api-key': 'text' } });
    expect(statusCode).to.equal(200);
    expect(atLimit).to.be.at.least(SEEN * KEY_MS);
    expect(atCall).to.be.at.least(LIMIT_MS + SEEN * KEY_MS);
  });
});

describe('the second look at a key, right before money moves', () => {
  const model = { id: 'sonnet', aliases: ['newest'] };
  const limited = (limits: Partial<KeyLimits>) => ({ ...holder, limits: { ...NO_LIMITS, ...limits } });

  /** What a request comes to whose key has become this. */
  async function lookAgain(now: KeyHolder | undefined | Promise<KeyHolder>) {
    const state = { waitedMs: 1 };
    const request = { app: { tollgate: state }, auth: { credentials: { holder } } } as unknown as Hapi.Request;
    const holders = { again: () => now } as unknown as Holders;
    const code = await confirmHolder(request, holders, model).then(
      () => undefined,
      (error) => error.data?.code,
    );
    return { code, holder: holderOf(request), waitedMs: state.waitedMs };
  }

  it('takes over what the key has become, and counts how long that took', async () => {
    const changed = limited({ budget: 5n, models: ['newest'] });
    expect(await lookAgain(changed)).to.deep.equal({ code: undefined, holder: changed, waitedMs: 1 });
    const waited = await lookAgain(later(KEY_MS, changed));
    expect(waited).to.include({ code: undefined, holder: changed });
    expect(waited.waitedMs).to.be.at.least(SEEN * KEY_MS);
  });

  const refusals: Readonly<Record<string, KeyHolder | undefined>> = {
    invalid_key: undefined,
    expired_key: limited({ expiresAt: Date.now() }),
    account_suspended: { ...holder, accountStatus: 'suspended' },
    model_not_allowed: limited({ models: ['opus'] }),
  };
  for (const [code, now] of Object.entries(refusals)) {
    it(`refuses with ${code}`, async () => {
      expect((await lookAgain(now)).code).to.equal(code);
    });
  }
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

  const statusOf = async (key: string) => (await send(`${gateway.url}/api/v1/balance`, { key })).status;

  it('limits every key by itself, also those of one account', async () => {
    const { id, key } = await gateway.account();
    const second = await accounts.issueKey(id, 'second');
    for (const each of [key, second.key]) {
      for (let call = 0; call < limit; call += 1) expect(await statusOf(each)).to.equal(200);
    }
    for (const each of [key, second.key]) expect(await statusOf(each)).to.equal(429);
  });

  it('takes a key after any number of spaces, in either header', async () => {
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

  it('believes x-api-key when both headers are there', async () => {
    const { key } = await gateway.account();
    const url = `${gateway.url}/api/v1/models`;
    expect((await send(url, { key, headers: { authorization: 'Bearer tg-nothing' } })).status).to.equal(200);
    const headers = { authorization: `Bearer ${key}` };
    expect((await send(url, { key: 'tg-nothing', headers })).status).to.equal(401);
  });

  it('counts the calls of a suspended account among the uses of its key, not against its limit', async () => {
    const { id, keyId, key } = await gateway.account();
    await accounts.suspend(id);
    for (let call = 0; call <= limit; call += 1) expect(await statusOf(key)).to.equal(403);
    await until(async () => {
      const row = (await gateway.store.keys.list(id)).find((each) => each.id === keyId);
      return row?.requestsCount === limit + 1;
    }, 15_000);
  });
});
