// A form that is on its way while its sender loses the right to send it.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createManagementKeys } from '../../lib/accounts/management-keys.ts';
import { createUserRemoval } from '../../lib/users/user-removal.ts';
import { readHead } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { createVisitor, setUpOwner, type Visitor } from '../../testkit/pages.ts';

describe('a form that arrives slowly', () => {
  let test: TestGateway;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
  });
  after(() => test.stop());

  /** Sends the beginning, then, after `change`, the rest. Resolves to the status. */
  async function sendSlowly(
    path: string,
    { headers, body, change }: { headers: Record<string, string>; body: string; change: () => Promise<unknown> },
  ): Promise<number | undefined> {
    const sent = request(`${test.url}${path}`, {
      method: 'POST',
      agent: false,
      headers: { 'content-length': Buffer.byteLength(body), ...headers },
    });
    const reply = readHead(sent);
    sent.write(body.slice(0, 10));
    // Time to be admitted.
    await sleep(200);
    await change();
    sent.end(body.slice(10));
    const response = await reply;
    response.resume();
    return response.statusCode;
  }

  async function submitSlowly(visitor: Visitor, path: string, fields: object, change: () => Promise<unknown>) {
    const csrf = /name="csrf" value="([^"]+)"/.exec((await visitor.get('/account/settings')).text)?.[1] ?? '';
    const cookie = `session=${visitor.cookies.get('session')}`;
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    return sendSlowly(path, { headers, body: new URLSearchParams({ csrf, ...fields }).toString(), change });
  }

  /** The second owner of an account. */
  async function setUpSecondOwner() {
    const { id: account } = await test.account();
    await setUpOwner(test, account);
    const email = `second-${account}@example.com`;
    const { cookies } = await setUpOwner(test, account, email);
    const user = (await test.store.users.find(email))?.id ?? '';
    return { account, user, visitor: createVisitor(test.url, { session: cookies.get('session') ?? '' }) };
  }
  type Owner = Awaited<ReturnType<typeof setUpSecondOwner>>;

  const losses: Readonly<Record<string, readonly [number, (owner: Owner) => Promise<unknown>]>> = {
    'has another role': [
      403,
      ({ user, account }) => test.store.users.setMembership({ user, account, role: 'member' }, 1),
    ],
    'has been removed from the account': [404, ({ user, account }) => test.store.users.leave({ user, account, at: 1 })],
    'is suspended': [303, ({ user }) => createUserRemoval({ store: test.store }).suspend(user)],
    'has signed out': [303, ({ user }) => test.store.sessions.removeUserSessions(user)],
  };
  for (const [what, [status, lose]] of Object.entries(losses)) {
    it(`changes nothing when its sender ${what} meanwhile`, async () => {
      const owner = await setUpSecondOwner();
      const invited = { email: 'friend@example.com', role: 'owner' };
      const answered = await submitSlowly(owner.visitor, '/account/people', invited, () => lose(owner));
      const invitations = await test.store.sessions.listInvitations(owner.account);
      expect([answered, invitations.length]).to.deep.equal([status, 0]);
    });
  }

  const endings: Readonly<Record<string, readonly [number, (id: string, account: string) => Promise<unknown>]>> = {
    'that is revoked': [401, (id) => managementKeys().revoke(id)],
    'whose account is suspended': [403, (_, account) => test.store.accounts.setStatus(account, 'suspended')],
  };
  const managementKeys = () => createManagementKeys({ store: test.store, keyPrefix: 'tg-' });
  for (const [what, [wanted, end]] of Object.entries(endings)) {
    it(`changes nothing through a management key ${what} meanwhile`, async () => {
      const { id: account } = await test.account();
      const { id, key } = await managementKeys().create({ name: 'billing', account, createdBy: 'usr_a' });
      const headers = { 'x-api-key': key, 'idempotency-key': 'k-1', 'content-type': 'application/json' };
      const body = JSON.stringify({ name: 'late key' });
      const status = await sendSlowly('/api/v1/account/keys', { headers, body, change: () => end(id, account) });
      const names = (await test.store.keys.list(account)).map(({ name }) => name);
      expect([status, names]).to.deep.equal([wanted, ['test key']]);
    });
  }
});
