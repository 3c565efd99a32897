// `tollgate operator` and `tollgate user`: working links, and refusals.
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { comeIn } from '../../testkit/pages.ts';
import { createRig, type Rig } from './command.ts';

describe('cli people', () => {
  let rig: Rig;
  let test: TestGateway;

  before(async () => {
    rig = await createRig();
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, database: rig.databaseUrl });
  });
  after(async () => {
    await test.stop();
    await rig.close();
  });

  /** The same path on the gateway of the test. */
  const here = (url: unknown) => `${test.url}${new URL(String(url)).pathname}${new URL(String(url)).search}`;

  it('creates an operator, who chooses a password and an app', async () => {
    const { url, ...more } = await rig.json('operator', 'create', 'Ann@Example.com');
    expect(more).to.deep.equal({});
    const ann = await comeIn(test, here(url));
    expect((await ann.get('/admin')).status).to.equal(200);
    expect(await rig.refused(1, 'operator', 'create', 'ann@example.com')).to.match(/ann@example.com is already in use/);
  });

  it('resets an operator, which ends all sessions', async () => {
    const { url } = await rig.json('operator', 'create', 'lost@example.com');
    const before = await comeIn(test, here(url));
    const reset = await rig.json('operator', 'reset', 'lost@example.com');
    const after = await comeIn(test, here(reset.url));
    expect(after.secret).not.to.equal(before.secret);
    expect((await after.get('/admin')).status).to.equal(200);
    expect((await before.get('/admin')).status).to.equal(303);
    expect(await rig.refused(1, 'operator', 'reset', 'nobody@example.com')).to.match(/There is no operator/);
  });

  it('refuses to reset a suspended operator', async () => {
    const { url } = await rig.json('operator', 'create', 'asleep@example.com');
    await comeIn(test, here(url));
    await rig.json('user', 'suspend', 'asleep@example.com');
    expect(await rig.refused(1, 'operator', 'reset', 'asleep@example.com')).to.include('is suspended');
  });

  it('invites an owner by account id or name; a known user accepts after signing in', async () => {
    const account = String((await rig.json('account', 'create', '--name', 'Acme')).account_id);
    const other = String((await rig.json('account', 'create', '--name', 'Other')).account_id);
    const { url } = await rig.json('user', 'invite', 'Acme', 'bob@example.com');
    expect((await test.store.sessions.listInvitations(account)).map(({ offer }) => offer)).to.deep.equal([
      { role: 'owner' },
    ]);
    expect((await test.store.auditLog.page({ limit: 1 }))[0]).to.include({ action: 'owner.invite', account });
    const bob = await comeIn(test, here(url), { code: '' });
    expect((await bob.get('/account')).status).to.equal(200);
    expect((await bob.get(`/account?account=${other}`)).status).to.equal(404);
    const text = await rig.text('user', 'invite', other, 'bob@example.com');
    expect(text).to.contain('has access already, and accepts after signing in');
    expect((await bob.get(`/account?account=${other}`)).status).to.equal(404);
    const [, link = ''] = /(http\S+)/.exec(text) ?? [];
    const join = String((await bob.get(here(link).slice(test.url.length))).headers.location);
    expect((await bob.submit(join, {})).status).to.equal(303);
    expect((await bob.get(`/account?account=${other}`)).status).to.equal(200);
    expect((await bob.get(`/account?account=${account}`)).status).to.equal(200);
    expect(await rig.refused(1, 'user', 'invite', other, 'bob@example.com')).to.include(
      'is already an owner of the account',
    );
    expect((await bob.get('/admin')).status).to.equal(404);
    // An owner is no operator, and does not become one.
    expect(await rig.refused(1, 'operator', 'reset', 'bob@example.com')).to.include('There is no operator');
    expect(await rig.refused(1, 'operator', 'create', 'bob@example.com')).to.include('is already in use');
    await rig.json('user', 'suspend', 'bob@example.com');
    expect(await rig.refused(1, 'user', 'invite', other, 'bob@example.com')).to.include('is suspended');
  });

  it('refuses invalid addresses and unknown accounts', async () => {
    for (const text of [
      'bob',
      'bob@',
      '@example.com',
      'bob@localhost',
      'b b@example.com',
      `${'x'.repeat(65)}@example.com`,
    ]) {
      expect(await rig.refused(1, 'operator', 'create', text)).to.match(/is not an email address/);
    }
    expect(await rig.refused(1, 'user', 'invite', 'acc_none', 'bob@example.com')).to.match(/There is no account/);
  });
});
