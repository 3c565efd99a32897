// Users on operator pages: found, suspended, removed, taken off an account, signed out and let back in; each with a
// code.
import { expect } from 'chai';
import { MINUTE_MS } from '../../../lib/base/durations.ts';
import type { User } from '../../../lib/store/ports/users.ts';
import { createPeople } from '../../../lib/users/people.ts';
import { makeTotpSecret } from '../../../lib/users/totp.ts';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import {
  comeIn,
  createVisitor,
  hiddenFields,
  makeCode,
  PASSWORD,
  setUpOperator,
  setUpOwner,
} from '../../../testkit/pages.ts';

const LIST = '/admin/people';

describe('the pages of users', () => {
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let boss: User;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    operator = await setUpOperator(test);
    boss = (await test.store.users.find('op@example.com')) as User;
  });
  after(() => test.stop());

  async function owner() {
    const { id } = await test.account('0');
    const made = await setUpOwner(test, id);
    const user = (await test.store.users.find(made.email)) as User;
    return { ...made, user, account: id, path: `${LIST}/${user.id}` };
  }
  const lastDeed = async () => (await test.store.auditLog.page({ limit: 1 }))[0];
  const linkIn = (text: string) => /http[^\s<"]+\/setup\?token=[\w-]+/.exec(text)?.[0] ?? '';
  /** The hidden fields of the form with this button. */
  const submit = async (path: string, change: string, fields: Readonly<Record<string, string>> = {}) => {
    const { csrf = '' } = hiddenFields((await operator.get(path)).text, path);
    return operator.post(path, { csrf, change, ...fields });
  };

  it('find users by part of the address or id', async () => {
    const { email, user } = await owner();
    const found = async (wanted: string) => {
      const { text } = await operator.get(`${LIST}?q=${encodeURIComponent(wanted)}`);
      return [...text.matchAll(/href="\/admin\/people\/(usr_\w+)"/g)].map(([, id]) => id);
    };
    expect(await found(email.toUpperCase())).to.deep.equal([user.id]);
    expect(await found(user.id.slice(4, 20))).to.deep.equal([user.id]);
    expect(await found('')).to.include.members([user.id, boss.id]);
    expect((await operator.get(`${LIST}?q=%25`)).text).to.contain('No users found.');
    expect((await operator.get(`${LIST}?lang=ru`)).text).to.contain('<h1>Пользователи</h1>');
    await operator.get(`${LIST}?lang=en`);
  });

  it('suspend a user, whose sessions end at once, and lift the suspension', async () => {
    const { email, user, path, get } = await owner();
    const signIn = () => createVisitor(test.url).submit('/login', { email, password: PASSWORD, code: '' });
    expect((await get('/account')).status).to.equal(200);
    expect((await submit(path, 'suspend')).headers.location).to.equal(`${path}?done=done`);
    expect(await lastDeed()).to.include({ action: 'user.suspend', user: boss.id, target: user.id });
    expect([(await get('/account')).status, (await signIn()).status]).to.deep.equal([303, 401]);
    expect((await operator.get(path)).text)
      .to.contain('<dd>suspended</dd>')
      .and.not.to.contain('value="restore"');
    await submit(path, 'resume');
    expect(await lastDeed()).to.include({ action: 'user.resume', target: user.id });
    expect((await signIn()).status).to.equal(303);
    expect((await submit(path, 'forgive')).status).to.equal(403);
  });

  it('end the sessions of a user, who may sign in again', async () => {
    const { email, user, path, get } = await owner();
    expect((await operator.get(path)).text).to.contain('End all sessions');
    expect((await submit(path, 'sessions')).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'user.sessions', target: user.id });
    expect((await get('/account')).status).to.equal(303);
    expect((await operator.get(path)).text).to.contain('No active sessions.');
    const again = await createVisitor(test.url).submit('/login', { email, password: PASSWORD, code: '' });
    expect(again.status).to.equal(303);
  });

  it('remove a user whose address is typed, and keep the name in the audit log', async () => {
    const { email, user, account, path, get, submit: send } = await owner();
    await send('/account/keys', { name: 'laptop' });
    const token = await createPeople({ store: test.store }).makeLink({ purpose: 'reset', user: user.id, email });
    for (const typed of ['', 'someone@example.com']) {
      const reply = await submit(path, 'remove', { email: typed });
      expect([reply.status, reply.text.includes('not the email of this user')]).to.deep.equal([400, true]);
    }
    expect((await submit(path, 'remove', { email: email.toUpperCase() })).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'user.remove', target: user.id });
    expect([(await get('/account')).status, (await operator.get(path)).status]).to.deep.equal([303, 200]);
    expect((await operator.get(path)).text)
      .to.contain('<dd>removed</dd>')
      .and.not.to.contain('value="suspend"');
    expect((await createVisitor(test.url).get(`/reset?token=${token}`)).status).to.equal(404);
    expect(await test.store.users.listAccountMembers(account)).to.deep.equal([]);
    expect((await test.store.keys.list(account)).every(({ revokedAt }) => revokedAt === null)).to.equal(true);
    expect((await operator.get('/admin/audit')).text).to.contain(
      `<td role="cell" data-title="Who" class="main">${email}</td>`,
    );
    // An old link does not work; the address may be invited again.
    const { text } = await operator.submit(`/admin/accounts/${account}`, { change: 'invite', email });
    const back = await comeIn(test, linkIn(text), { code: '' });
    expect((await back.get('/account')).status).to.equal(200);
    expect((await test.store.users.find(email))?.id).not.to.equal(user.id);
  });

  it('remove an owner from an account, and warn about the only one', async () => {
    const { email, user, account, path, get } = await owner();
    expect((await operator.get(path)).text).to.contain('The only owner: nobody else can sign in');
    const second = await setUpOwner(test, account, `second-${email}`);
    expect((await operator.get(path)).text).not.to.contain('The only owner');
    expect((await submit(path, 'leave', { account })).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'owner.remove', target: user.id, account });
    expect((await get(`/account?account=${account}`)).status).to.equal(404);
    expect((await second.get('/account')).status).to.equal(200);
    const again = await submit(path, 'leave', { account });
    expect([again.status, again.text.includes('does not belong to that account')]).to.deep.equal([400, true]);
    const last = (await test.store.users.find(second.email)) as User;
    expect((await submit(`${LIST}/${last.id}`, 'leave', { account })).status).to.equal(303);
    expect(await test.store.users.listAccountMembers(account)).to.deep.equal([]);
  });

  it('create a recovery link for an owner, but not for an operator', async () => {
    const { email, user, path } = await owner();
    await test.store.users.change({ ...user, totpSecret: makeTotpSecret() });
    const { text } = await submit(path, 'restore');
    expect(await lastDeed()).to.include({ action: 'user.reset', target: user.id });
    const back = await comeIn(test, linkIn(text), { code: '', secret: '' });
    expect((await back.get('/account')).status).to.equal(200);
    expect(await test.store.users.find(email)).to.include({ totpSecret: null });
    expect((await operator.get(`${LIST}/${boss.id}`)).text).not.to.contain('value="restore"');
    expect((await submit(`${LIST}/${boss.id}`, 'restore')).status).to.equal(403);
    const links = await createVisitor(test.url).get('/setup');
    expect(links.status).to.equal(200);
  });

  it('keep the last active operator, but remove others', async () => {
    const path = `${LIST}/${boss.id}`;
    for (const [change, fields] of [
      ['suspend', {}],
      ['remove', { email: boss.email }],
    ] as const) {
      const reply = await submit(path, change, fields);
      expect([reply.status, reply.text.includes('the last active operator')]).to.deep.equal([400, true]);
    }
    expect((await operator.get('/admin')).status).to.equal(200);
    const token = await createPeople({ store: test.store }).makeLink({ purpose: 'operator', email: 'two@example.com' });
    const two = await comeIn(test, `${test.url}/setup?token=${token}`);
    const second = (await test.store.users.find('two@example.com')) as User;
    expect((await submit(`${LIST}/${second.id}`, 'remove', { email: second.email })).status).to.equal(303);
    expect((await two.get('/admin')).status).to.equal(303);
    expect(await test.store.users.operators()).to.equal(1);
  });

  it('ask for a code when the last one is old', async () => {
    const { user, path } = await owner();
    const [session] = await test.store.sessions.list(boss.id);
    const { hash = '', seenAt = 0 } = session ?? {};
    await test.store.sessions.touch(hash, { seenAt, provenAt: seenAt - 11 * MINUTE_MS });
    for (const change of ['suspend', 'remove', 'sessions', 'restore', 'leave']) {
      const reply = await submit(path, change, { email: user.email });
      expect(reply.status, change).to.equal(403);
    }
    expect(await test.store.users.get(user.id)).to.deep.equal(user);
    expect((await submit(path, 'suspend', { code: makeCode(operator.secret, 1) })).status).to.equal(303);
    expect(await test.store.users.get(user.id)).to.include({ status: 'suspended' });
  });

  it('answer 404 for an unknown user', async () => {
    expect((await operator.get(`${LIST}/usr_none`)).status).to.equal(404);
    const { csrf = '' } = hiddenFields((await operator.get('/admin')).text, '/logout');
    expect((await operator.post(`${LIST}/usr_none`, { csrf, change: 'suspend' })).status).to.equal(404);
  });
});
