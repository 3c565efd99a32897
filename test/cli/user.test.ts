// `tollgate user`: list, suspend, remove, take off accounts, sign out and restore people, beside a server.
import { expect } from 'chai';
import type { User } from '../../lib/store/ports/users.ts';
import { createSessions } from '../../lib/users/sessions.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { comeIn, createVisitor, PASSWORD, setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { createRig, type Rig } from './command.ts';

describe('cli user', () => {
  let rig: Rig;
  let test: TestGateway;
  let boss: Awaited<ReturnType<typeof setUpOperator>>;

  before(async () => {
    rig = await createRig();
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, database: rig.databaseUrl });
    boss = await setUpOperator(test);
  });
  after(async () => {
    await test.stop();
    await rig.close();
  });

  async function owner() {
    const { id } = await test.account('0');
    const made = await setUpOwner(test, id);
    const user = (await test.store.users.find(made.email)) as User;
    return { ...made, user, account: id };
  }
  const lastDeed = async () => (await test.store.auditLog.page({ limit: 1 }))[0];
  const signIn = async (email: string) =>
    (await createVisitor(test.url).submit('/login', { email, password: PASSWORD, code: '' })).status;

  it('lists all people with their accounts', async () => {
    const { user, account } = await owner();
    const { users, ...more } = (await rig.json('user', 'list')) as { users: Record<string, unknown>[] };
    expect(more).to.deep.equal({});
    expect(users[0]).to.include({
      email: 'op@example.com',
      role: 'operator',
      status: 'active',
      authenticator_app: true,
    });
    expect(users.find(({ user_id: id }) => id === user.id)).to.deep.equal({
      user_id: user.id,
      email: user.email,
      role: 'owner',
      status: 'active',
      authenticator_app: false,
      created_at: new Date(user.createdAt).toISOString(),
      accounts: [account],
    });
    const text = await rig.text('user', 'list');
    expect(text).to.match(/^email +role +status +app +created +accounts\n/);
    expect(text).to.contain(account);
  });

  it('suspends and resumes a person by address or id, repeatedly', async () => {
    const { email, user, account, get } = await owner();
    const suspended = await rig.json('user', 'suspend', email.toUpperCase());
    expect(suspended).to.include({ user_id: user.id, email, status: 'suspended' });
    expect(suspended.accounts).to.deep.equal([account]);
    expect([(await get('/account')).status, await signIn(email)]).to.deep.equal([303, 401]);
    expect(await lastDeed()).to.include({ action: 'sign_in.password' });
    const [, deed] = await test.store.auditLog.page({ limit: 2 });
    expect(deed).to.include({ action: 'user.suspend', user: 'command line', target: user.id, address: '' });
    expect(await rig.json('user', 'suspend', email)).to.include({ status: 'suspended' });
    expect(await rig.json('user', 'resume', user.id)).to.include({ status: 'active' });
    expect(await signIn(email)).to.equal(303);
    expect(await rig.text('user', 'resume', email)).to.match(/status +active/);
  });

  it('removes a person for good', async () => {
    const { email, user, get } = await owner();
    expect(await rig.json('user', 'remove', email)).to.deep.equal({ user_id: user.id, email, status: 'removed' });
    expect((await get('/account')).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'user.remove', target: user.id });
    expect(await rig.refused(1, 'user', 'remove', email)).to.include('There is nobody');
    expect((await boss.get('/admin/audit')).text).to.contain('command line');
    expect((await boss.get('/admin/audit?lang=ru')).text).to.contain('командная строка');
  });

  it('keeps the last active operator', async () => {
    expect(await rig.refused(1, 'user', 'remove', 'op@example.com')).to.include('is the last active operator');
    expect(await rig.refused(1, 'user', 'suspend', 'op@example.com')).to.include('is the last active operator');
    expect((await boss.get('/admin')).status).to.equal(200);
  });

  it('removes an owner from an account, and says if it was the last one', async () => {
    const { email, user, account, get } = await owner();
    const second = await setUpOwner(test, account, `second-${email}`);
    const left = await rig.json('user', 'remove-owner', account, email);
    expect(left).to.deep.equal({ user_id: user.id, account_id: account, owners_left: 1 });
    expect((await get(`/account?account=${account}`)).status).to.equal(404);
    expect(await lastDeed()).to.include({ action: 'owner.remove', account });
    expect(await rig.refused(1, 'user', 'remove-owner', account, email)).to.include('is not an owner of the account');
    expect(await rig.text('user', 'remove-owner', account, second.email)).to.contain('It was the last owner');
  });

  it('lists and ends the sessions of a person', async () => {
    const { email, user, get } = await owner();
    const { sessions } = (await rig.json('user', 'sessions', 'list', email)) as { sessions: object[] };
    expect(sessions).to.have.length(1);
    expect(sessions[0]).to.include({ address: '127.0.0.1' });
    expect(await rig.text('user', 'sessions', 'list', email)).to.match(/^created +seen +address/);
    expect(await rig.json('user', 'sessions', 'end', email)).to.deep.equal({ user_id: user.id, ended: 1 });
    expect((await get('/account')).status).to.equal(303);
    expect(await rig.text('user', 'sessions', 'list', email)).to.equal('None.\n');
    // A header may have bytes above ASCII, among which are control characters of terminals.
    await createSessions(test).open(user, { address: '127.0.0.1', agent: 'Browser \u009b31m' });
    expect(await rig.text('user', 'sessions', 'list', email)).to.contain('Browser \ufffd31m');
    expect(await rig.json('user', 'sessions', 'end', email)).to.include({ ended: 1 });
    expect(await rig.json('user', 'sessions', 'end', email)).to.include({ ended: 0 });
  });

  it('restores an owner without password and app, but not an operator', async () => {
    const { email, user } = await owner();
    await test.store.users.change({ ...user, totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' });
    const { url } = await rig.json('user', 'reset', email);
    const { pathname, search } = new URL(String(url));
    const back = await comeIn(test, `${test.url}${pathname}${search}`, { code: '' });
    expect((await back.get('/account')).status).to.equal(200);
    expect(await test.store.users.find(email)).to.include({ totpSecret: null });
    expect(await rig.refused(1, 'user', 'reset', 'op@example.com')).to.include('tollgate operator reset');
    await rig.json('user', 'suspend', email);
    expect(await rig.refused(1, 'user', 'reset', email)).to.include('is suspended');
  });

  it('leaves a line in the audit log for each deed, with the address', async () => {
    const { email, user, account } = await owner();
    for (const [words, action, where] of [
      [['suspend', email], 'user.suspend', ''],
      [['resume', email], 'user.resume', ''],
      [['reset', email], 'user.reset', ''],
      [['sessions', 'end', email], 'user.sessions', ''],
      [['remove-owner', account, email], 'owner.remove', account],
      [['remove', email], 'user.remove', ''],
    ] as const) {
      await rig.json('user', ...words);
      const line = await lastDeed();
      expect([line?.action, line?.target, line?.account ?? '', JSON.parse(line?.detail ?? '')], action).to.deep.equal([
        action,
        user.id,
        where,
        { email },
      ]);
    }
  });

  it('shows who a person is, one fact a line', async () => {
    const { email, user, account } = await owner();
    const lines = (await rig.text('user', 'resume', email)).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ +/))).to.deep.equal([
      ['user', user.id],
      ['email', email],
      ['role', 'owner'],
      ['status', 'active'],
      ['app', 'no'],
      ['created', new Date(user.createdAt).toISOString()],
      ['accounts', account],
    ]);
    const { users } = (await rig.json('user', 'list')) as { users: { created_at: string }[] };
    const made = users.map(({ created_at }) => created_at);
    expect(made, 'oldest first').to.deep.equal(made.toSorted());
  });

  it('refuses unknown people and incomplete commands', async () => {
    for (const command of ['suspend', 'resume', 'remove', 'reset'])
      expect(await rig.refused(1, 'user', command, 'nobody@example.com'), command).to.include('There is nobody');
    expect(await rig.refused(2, 'user', 'suspend')).to.include('missing required argument');
    expect(await rig.refused(2, 'user', 'sessions')).to.include('which command?');
    const account = (await test.account('0')).id;
    expect(await rig.refused(1, 'user', 'remove-owner', account, 'x')).to.include('There is nobody');
  });
});
