// The waits of one request for the store share one time: for its key, for the count of its limit, for its hold.
import Hapi from '@hapi/hapi';
import { expect } from 'chai';
import type { Holders } from '../../lib/accounts/holders.ts';
import { registerAuth } from '../../lib/api/auth.ts';
import type { Limiter } from '../../lib/api/limiter.ts';
import { stateOf } from '../../lib/http/context.ts';
import type { KeyHolder } from '../../lib/store/store.ts';

const KEY_MS = 120;
const LIMIT_MS = 80;
/** Timers may fire a little early. */
const EARLY_MS = 5;

const holder = { id: 'key', account: 'account', accountStatus: 'active' } as KeyHolder;
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
    expect(atLimit).to.be.at.least(KEY_MS - EARLY_MS);
    expect(atCall).to.be.at.least(KEY_MS + LIMIT_MS - 2 * EARLY_MS);
  });
});
