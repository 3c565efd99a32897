// The settings of a user: password, sessions, language, time zone, and the export of their data.
import { expect } from 'chai';
import { moveResets } from '../../lib/accounts/zone.ts';
import { getFormat } from '../../lib/console/language.ts';
import { StoreError } from '../../lib/store/store.ts';
import { listOwners } from '../../lib/users/owners.ts';
import { makeTotpSecret } from '../../lib/users/totp.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { createVisitor, hiddenFields, makeCode, PASSWORD, setUpMember, setUpOwner } from '../../testkit/pages.ts';
import { itTimed } from '../../testkit/timed.ts';

const PATH = '/account/settings';

describe('settings of a user', () => {
  let test: TestGateway;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
  });
  after(() => test.stop());

  async function comeIn() {
    const { id } = await test.account();
    return { ...(await setUpOwner(test, id)), account: id };
  }
  /** The first form of the page that has this hidden field. */
  async function change(owner: Awaited<ReturnType<typeof comeIn>>, name: string, fields: Record<string, string>) {
    const { csrf = '' } = hiddenFields((await owner.get(PATH)).text, PATH);
    return owner.post(PATH, { csrf, change: name, ...fields });
  }
  /** The email of the owner whose time zone is the account's. */
  async function readZoneOwner(account: string) {
    const owners = await listOwners(test.store.users, account);
    const users = await Promise.all(owners.map(({ user }) => test.store.users.get(user)));
    const [first] = users.toSorted((one, other) => (one?.createdAt ?? 0) - (other?.createdAt ?? 0));
    return first?.email;
  }
  const signIn = (email: string, password: string) =>
    createVisitor(test.url).submit('/login', { email, password, code: '' });

  it('rename the account for its owners only, with a line in the audit log', async () => {
    const owner = await comeIn();
    const renamed = await change(owner, 'rename', { name: ' Пекарня «Сдоба» ' });
    expect([renamed.status, renamed.headers.location]).to.deep.equal([303, `${PATH}?done=saved`]);
    const [line] = await test.store.auditLog.page({ limit: 1 });
    const detail = JSON.stringify({ name: 'Пекарня «Сдоба»', before: 'test' });
    expect(line).to.include({ action: 'account.rename', account: owner.account, detail });
    const bad = await change(owner, 'rename', { name: 'x'.repeat(101) });
    expect([bad.status, bad.text.includes('1 to 100 characters')]).to.deep.equal([400, true]);
    expect((await test.store.accounts.get(owner.account))?.name).to.equal('Пекарня «Сдоба»');
    const russian = (await owner.get(`${PATH}?lang=ru`)).text;
    expect(russian).to.contain('<h2>Название аккаунта</h2>').and.to.contain('value="Пекарня «Сдоба»"');
    const member = await setUpMember(test, { account: owner.account, role: 'member' });
    const page = (await member.get(PATH)).text;
    expect(page).to.not.contain('value="rename"');
    const refused = await member.post(PATH, { ...hiddenFields(page, PATH), change: 'rename', name: 'mine' });
    expect(refused.status).to.equal(403);
  });

  it('change the password and end all other sessions', async () => {
    const owner = await comeIn();
    const other = createVisitor(test.url);
    await other.submit('/login', { email: owner.email, password: PASSWORD, code: '' });
    const fresh = 'another tulip in rain';
    for (const [fields, words] of [
      [{ old: 'wrong password', password: fresh, again: fresh }, 'The current password is wrong'],
      [{ old: PASSWORD, password: 'short', again: 'short' }, 'shorter than'],
      [{ old: PASSWORD, password: fresh, again: 'something else here' }, 'do not match'],
    ] as const) {
      const reply = await change(owner, 'password', { ...fields });
      expect([reply.status, reply.text.includes(words)], words).to.deep.equal([400, true]);
    }
    expect((await change(owner, 'password', { old: PASSWORD, password: fresh, again: fresh })).status).to.equal(303);
    expect((await test.store.auditLog.page({ limit: 1 }))[0]?.action).to.equal('user.password');
    expect((await owner.get('/account')).status).to.equal(200);
    expect((await other.get('/account')).status).to.equal(303);
    expect((await signIn(owner.email, PASSWORD)).status).to.equal(401);
    expect((await signIn(owner.email, fresh)).status).to.equal(303);
  });

  it('end also copies of the own session with a new password or app', async () => {
    const owner = await comeIn();
    const fresh = 'another tulip in rain';
    const secret = makeTotpSecret();
    for (const [name, fields] of [
      ['password', { old: PASSWORD, password: fresh, again: fresh }],
      ['app', { secret, code: makeCode(secret), old: fresh }],
    ] as const) {
      const copy = createVisitor(test.url, { session: owner.cookies.get('session') ?? '' });
      const reply = await change(owner, name, fields);
      expect(reply.status, name).to.be.oneOf([200, 303]);
      expect([(await owner.get('/account')).status, (await copy.get('/account')).status], name).to.deep.equal([
        200, 303,
      ]);
      // The page of recovery codes has the form that signs out.
      if (reply.status === 200)
        expect((await owner.post('/logout', hiddenFields(reply.text, '/logout'))).status).to.equal(303);
    }
  });

  itTimed('throttle guesses of the password like signing in', async () => {
    const owner = await comeIn();
    const fields = { password: 'another tulip in rain', again: 'another tulip in rain' };
    const statuses: number[] = [];
    for (let guess = 0; guess < 6; guess += 1)
      statuses.push((await change(owner, 'password', { ...fields, old: `guess ${guess}` })).status);
    expect(statuses).to.deep.equal([400, 400, 400, 400, 400, 429]);
    const reply = await change(owner, 'password', { ...fields, old: PASSWORD });
    expect([reply.status, reply.text.includes('Too many attempts')]).to.deep.equal([429, true]);
    // The counters are shared by all pages.
    expect((await signIn(owner.email, PASSWORD)).status).to.equal(429);
    const log = await test.store.auditLog.page({ limit: 5 });
    const wrong = log.filter(({ action, detail }) => action === 'sign_in.password' && detail.includes(PATH));
    expect(wrong).to.have.length(5);
    await test.store.sessions.forget(`mail:${owner.email}`);
    await test.store.sessions.forget('address:127.0.0.1');
  });

  it('ignore a form without a known change', async () => {
    const owner = await comeIn();
    expect((await change(owner, 'everything', {})).status).to.equal(403);
  });

  it('end all other sessions', async () => {
    const owner = await comeIn();
    const other = createVisitor(test.url);
    await other.submit('/login', { email: owner.email, password: PASSWORD, code: '' });
    expect((await change(owner, 'sessions', {})).status).to.equal(303);
    expect([(await owner.get('/account')).status, (await other.get('/account')).status]).to.deep.equal([200, 303]);
  });

  it('show the user and the account', async () => {
    const owner = await comeIn();
    expect((await owner.get(PATH)).text)
      .to.contain(`<dd>${owner.email}</dd>`)
      .and.to.contain(`<code>${owner.account}</code>`);
  });

  it('move the resets of budgets and caps to the time zone of the first owner, and of nobody else', async () => {
    const owner = await comeIn();
    const { account } = owner;
    const { id: member } = await setUpMember(test, {
      account,
      role: 'member',
      cap: { limit: 5n, reset: 'day', zone: 'UTC' },
    });
    const { store } = test;
    const [key] = await store.keys.list(account);
    await store.keys.limit(key?.id ?? '', { budget: 7n, reset: 'week', zone: 'UTC' }, Date.now());
    const second = await setUpOwner(test, account, `zz-${account}@example.com`);
    const zones = async () => {
      const [{ limits } = { limits: undefined }] = await store.keys.list(account);
      const found = (await store.users.listAccountMembers(account)).find(({ user }) => user === member);
      return [limits, found?.cap];
    };
    const first = await readZoneOwner(account);
    const [one, other] = first === owner.email ? [owner, second] : [second, owner];
    await change({ ...other, account }, 'profile', { language: 'ru', timeZone: 'Asia/Tokyo' });
    await change({ ...one, account }, 'profile', { language: 'ru', timeZone: 'Asia/Omsk' });
    const [limits, cap] = await zones();
    expect(limits).to.deep.include({ budget: 7n, reset: 'week', zone: 'Asia/Omsk' });
    expect(cap).to.deep.equal({ limit: 5n, reset: 'day', zone: 'Asia/Omsk' });
    await change({ ...other, account }, 'profile', { language: 'ru', timeZone: 'UTC' });
    expect((await zones()).map((each) => each?.zone)).to.deep.equal(['Asia/Omsk', 'Asia/Omsk']);
  });

  it('move the rest of the resets when they are saved again after the store has failed', async () => {
    const owner = await comeIn();
    const { store } = test;
    const now = Date.now();
    const cap = { limit: 5n, reset: 'day', zone: 'UTC' } as const;
    const { id: member } = await setUpMember(test, { account: owner.account, role: 'member', cap });
    const user = (await store.users.find(owner.email))?.id ?? '';
    const findMember = async () =>
      (await store.users.listAccountMembers(owner.account)).find((each) => each.user === member);
    const lose = () => Promise.reject(new StoreError('lost', 'unknown'));
    const [key] = await store.keys.list(owner.account);
    await store.keys.limit(key?.id ?? '', { zone: 'UTC' }, now);
    const keys = { list: (account: string) => store.keys.list(account), limit: lose };
    expect(await moveResets({ ...store, keys }, user, now).catch((error) => error)).to.be.instanceOf(StoreError);
    expect((await findMember())?.cap?.zone).to.equal('UTC');
    await moveResets(store, user, now);
    expect((await findMember())?.cap?.zone).to.equal('Europe/Moscow');
    expect((await store.keys.list(owner.account))[0]?.limits.zone).to.equal('Europe/Moscow');
  });

  it('change language and time zone, and refuse an unknown zone', async () => {
    const owner = await comeIn();
    for (const timeZone of ['', 'Mars/Olympus', 'x'.repeat(100)]) {
      const refused = await change(owner, 'profile', { language: 'ru', timeZone });
      expect(refused.status).to.equal(400);
      expect(refused.text).to.contain('<option value="ru" selected>').and.to.contain('Unknown time zone.');
    }
    expect((await change(owner, 'profile', { language: 'ru', timeZone: 'Asia/Omsk' })).status).to.equal(303);
    expect(await test.store.users.find(owner.email)).to.include({ language: 'ru', timeZone: 'Asia/Omsk' });
    expect((await owner.get('/account')).text).to.contain('<html lang="ru">');
    const user = await test.store.users.find(owner.email);
    const [session] = await test.store.sessions.list(user?.id ?? '');
    const began = (zone: string) => getFormat('ru', zone).time(session?.createdAt ?? 0);
    expect((await owner.get(PATH)).text)
      .to.contain(began('Asia/Omsk'))
      .and.not.to.contain(began('Europe/Moscow'));
    // The language is preselected: saving a time zone does not change it.
    expect((await owner.get(`${PATH}?lang=en`)).text).to.contain('<option value="en" selected>');
    await change(owner, 'profile', { language: 'tlh', timeZone: 'UTC' });
    expect(await test.store.users.find(owner.email)).to.include({ language: 'ru', timeZone: 'UTC' });
  });

  it('export the stored data without secrets', async () => {
    const owner = await comeIn();
    const { json, headers, text } = await owner.get(`${PATH}/export`);
    expect(headers['content-disposition']).to.match(/^attachment/);
    expect(json.user.email).to.equal(owner.email);
    expect(json.account).to.deep.include({ id: owner.account, status: 'active' });
    expect(json.keys).to.have.length(1);
    expect(text).not.to.match(/argon2|hash|[0-9a-f]{64}/);
  });
});
