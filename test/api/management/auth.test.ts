// Authentication by management key: when its use is noted, and how long a throttled one waits.
import Hapi from '@hapi/hapi';
import { expect } from 'chai';
import { MANAGEMENT_AUTH, registerManagementAuth } from '../../../lib/api/management/auth.ts';
import { getRequestState } from '../../../lib/http/request-state.ts';
import type { ManagementKey } from '../../../lib/store/ports/management.ts';

const WAIT_MS = 60;

describe('authentication by management key', () => {
  /** The ids of keys whose use the store was told. */
  const used: string[] = [];
  let isDown: boolean;
  let waitMs: number;
  let cooldown: unknown;
  let server: Hapi.Server;

  beforeEach(() => {
    used.length = 0;
    isDown = false;
    waitMs = 0;
    server = Hapi.server();
    const key = { account: null, expiresAt: null, addresses: null, scopes: ['usage'] };
    const management = {
      async useKey(id: string) {
        used.push(id);
        if (isDown) throw new Error('the store is away');
      },
    };
    registerManagementAuth(server, {
      store: { management, accounts: {} } as never,
      keys: { find: async (id) => ({ ...key, id }) as unknown as ManagementKey },
      limiter: { hit: () => ({ allowed: true, retryAfterS: 1 }) },
      throttle: { computeWaitMs: () => waitMs },
      rule: { name: 'management', perMinute: 1 },
    });
    server.route({
      method: 'GET',
      path: '/',
      options: { auth: MANAGEMENT_AUTH, plugins: { scope: 'usage' } },
      handler: (request) => {
        cooldown = getRequestState(request).notes.cooldown_ms;
        return 'ok';
      },
    });
  });

  async function ask(key: string): Promise<void> {
    const { statusCode } = await server.inject({ url: '/', headers: { 'x-api-key': key } });
    expect(statusCode).to.equal(200);
  }

  it('notes the use of each key once a minute', async () => {
    for (const key of ['one', 'one', 'other', 'one', 'other']) await ask(key);
    expect(used).to.deep.equal(['one', 'other']);
  });

  it('notes the next use if the store did not take this one', async () => {
    isDown = true;
    await ask('one');
    isDown = false;
    for (const key of ['one', 'one']) await ask(key);
    expect(used).to.deep.equal(['one', 'one']);
  });

  it('lets a throttled key wait, and notes for how long', async () => {
    await ask('one');
    expect(cooldown).to.equal(undefined);
    waitMs = WAIT_MS;
    const from = performance.now();
    await ask('one');
    expect(performance.now() - from).to.be.at.least(WAIT_MS / 2);
    expect(cooldown).to.equal(WAIT_MS);
  });
});
