// Invitations of existing users: they become owners only by accepting.
import { expect } from 'chai';
import type { User } from '../../../lib/store/ports/users.ts';
import { createUserRemoval } from '../../../lib/users/user-removal.ts';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { createVisitor, PASSWORD, setUpOperator, setUpOwner } from '../../../testkit/pages.ts';

describe('an invitation of an existing user', () => {
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    operator = await setUpOperator(test);
  });
  after(() => test.stop());

  /** An owner of another account, and the path of a link that invites to this one. */
  async function invited() {
    const owner = await setUpOwner(test, (await test.account('0')).id);
    const { id } = await test.account('0');
    const { text } = await operator.submit(`/admin/accounts/${id}`, { change: 'invite', email: owner.email });
    const [, token = ''] = /\/setup\?token=([\w-]+)/.exec(text) ?? [];
    const user = (await test.store.users.find(owner.email)) as User;
    return { ...owner, user, account: id, link: `/setup?token=${token}`, path: `/account/join?token=${token}` };
  }
  const isOwner = async (email: string, account: string) => {
    const user = await test.store.users.find(email);
    return (await test.store.users.listAccountMembers(account)).some((member) => member.user === user?.id);
  };

  it('is accepted after signing in, once', async () => {
    const { email, user, account, link, path, get, submit } = await invited();
    expect((await get(link)).headers.location).to.equal(path);
    expect((await get(`/account?account=${account}`)).status).to.equal(404);
    const page = await get(path);
    expect(page.text).to.contain('You are invited').and.to.contain(email);
    expect(await isOwner(email, account)).to.equal(false);
    expect((await submit(path, {})).headers.location).to.equal(`/account?account=${account}`);
    expect((await get(`/account?account=${account}`)).status).to.equal(200);
    const [deed] = await test.store.auditLog.page({ limit: 1 });
    expect(deed).to.include({ action: 'owner.accept', user: user.id, target: user.id, account });
    expect([(await get(path)).status, (await get(path)).text.includes('used or expired')]).to.deep.equal([404, true]);
  });

  it('sends visitors without a session to sign in, and back', async () => {
    const { email, account, link, path } = await invited();
    const stranger = createVisitor(test.url);
    expect((await stranger.get(link)).headers.location).to.equal(path);
    const login = String((await stranger.get(path)).headers.location);
    expect(login).to.match(/^\/login\?next=/);
    const back = await stranger.submit(login, { email, password: PASSWORD, code: '' });
    expect(back.headers.location).to.equal(path);
    expect((await stranger.submit(path, {})).status).to.equal(303);
    expect(await isOwner(email, account)).to.equal(true);
  });

  it('is refused for other users, and sets no password', async () => {
    const { email, account, link, path } = await invited();
    const other = await setUpOwner(test, (await test.account('0')).id);
    const page = await other.get(path);
    expect([page.status, page.text.includes('was sent to another address')]).to.deep.equal([403, true]);
    const { csrf = '' } = { csrf: /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] };
    expect((await other.post(path, { csrf })).status).to.equal(403);
    const stolen = { csrf, password: 'another tulip in rain', again: 'another tulip in rain' };
    expect((await other.post(link, stolen)).headers.location).to.equal(path);
    expect((await test.store.users.listAccountMembers(account)).length).to.equal(0);
    const login = await createVisitor(test.url).submit('/login', { email, password: PASSWORD, code: '' });
    expect(login.status).to.equal(303);
  });

  it('is refused if the link is missing or unknown', async () => {
    const { get } = await invited();
    for (const token of ['', 'x', 'x'.repeat(43)])
      expect((await get(`/account/join?token=${token}`)).status).to.equal(404);
  });

  it('is void once the user or the ownership is removed', async () => {
    const { user, account, path, get } = await invited();
    await createUserRemoval({ store: test.store }).leaveAccount(user, account, { isForced: true });
    expect((await get(path)).status).to.equal(404);
    const other = await invited();
    await createUserRemoval({ store: test.store }).remove(other.user.id);
    expect((await createVisitor(test.url).get(other.link)).status).to.equal(404);
  });

  it('is shown in Russian too', async () => {
    const { path, get } = await invited();
    expect((await get(`${path}&lang=ru`)).text).to.contain('Вас приглашают стать владельцем');
    expect((await get('/account/join?lang=ru')).text).to.contain('Приглашение не найдено');
  });
});
