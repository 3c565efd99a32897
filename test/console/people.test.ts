// The people of an account on its pages: invitations with a role, changes, removal, handing over, leaving.
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import {
  comeIn,
  createVisitor,
  formFields,
  PASSWORD,
  setUpMember,
  setUpOwner,
  type Visitor,
} from '../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';

const PEOPLE = '/account/people';
const INVITATION = `${PEOPLE}/invitation`;

describe('the people of an account', function () {
  this.timeout(30_000);
  let mail: MailServer;
  let test: TestGateway;
  let account: TestAccount;
  let owner: Visitor & { email: string };

  before(async () => {
    mail = await startMailServer();
    test = await startGateway({ catalog: {}, env: { SMTP_URL: mail.url } });
  });
  beforeEach(async () => {
    account = await test.account();
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.stop();
    await mail.stop();
  });

  /** The account that a page shows. */
  const selected = /(?<=<option value=")[^"]+(?=" selected)/;
  const members = () => test.store.users.listAccountMembers(account.id);
  const findId = async (email: string) => (await test.store.users.find(email))?.id ?? '';
  const invitations = () => test.store.sessions.listInvitations(account.id);
  const deeds = async () =>
    (await test.store.auditLog.page({ limit: 5, account: account.id })).map((row) => row.action);
  const mailedLink = async (email: string) =>
    /(http:\S*\/setup\?token=[\w-]+)/.exec((await mail.letterTo(email)).text)?.[1] ?? '';
  const newEmail = (name: string) => `${name}-${account.id}@example.com`;
  const issueKey = (user: string) =>
    createAccounts({ store: test.store, keyPrefix: 'tg-' }).issueKey(account.id, 'laptop', {}, user);

  it('are invited with a role and a cap, and join with them', async () => {
    const email = newEmail('bob');
    const page = await owner.submit(PEOPLE, { email, role: 'member', cap: '99,50', reset: 'week' });
    expect(page.status).to.equal(200);
    // Whoever has the link sets the password of a new person: the owner does not get it.
    expect(page.text).to.contain(`The invitation was emailed to ${email}.`).and.not.to.contain('token=');
    const { pathname, search } = new URL(await mailedLink(email));
    const offered = (await createVisitor(test.url).get(`${pathname}${search}`)).text;
    expect(offered)
      .to.contain('invited to become a member of this account')
      .and.to.contain('<dt>Account</dt><dd>test<');
    expect(offered).to.contain('<dt>Your cap</dt><dd>₽99.50 a week</dd>').and.to.contain(`<dd>${email}</dd>`);
    const bob = await comeIn(test, await mailedLink(email));
    const found = (await members()).find(({ role }) => role === 'member');
    expect(found).to.deep.equal({
      user: await findId(email),
      account: account.id,
      role: 'member',
      cap: { limit: 99_500_000n, reset: 'week', zone: 'Europe/Moscow' },
    });
    expect(await invitations()).to.deep.equal([]);
    expect((await bob.get('/account')).text).to.contain('Left of your cap');
    const list = (await owner.get(PEOPLE)).text;
    expect(list).to.contain('₽99.50 a week').and.to.contain('₽0.00');
    expect(await deeds()).to.include('member.invite');
  });

  it('who have access already accept on a page that says the role', async () => {
    const other = await setUpOwner(test, (await test.account()).id);
    await owner.submit(PEOPLE, { email: other.email, role: 'accountant' });
    const { search } = new URL(await mailedLink(other.email));
    const first = await other.get(`/account/join${search}`);
    const join = String(first.headers.location ?? `/account/join${search}`);
    expect((await other.get(join)).text).to.contain('become an accountant of this account');
    expect((await other.submit(join, {})).status).to.equal(303);
    expect((await members()).map(({ role }) => role).sort()).to.deep.equal(['accountant', 'owner']);
    const [row] = await test.store.auditLog.page({ limit: 1 });
    expect(row).to.include({ action: 'owner.accept', detail: '{"role":"accountant"}' });
  });

  it('are invited again with the same role, and not after the invitation is withdrawn', async () => {
    const email = newEmail('carl');
    await owner.submit(PEOPLE, { email, role: 'member', cap: '5' });
    const first = await mailedLink(email);
    expect((await owner.get(PEOPLE)).text)
      .to.contain('Send again')
      .and.not.to.contain('New link');
    const again = await owner.submit(PEOPLE, { email, change: 'again' }, { action: INVITATION });
    expect(again.text).to.contain(`emailed to ${email}`).and.not.to.contain('token=');
    const [waiting, ...more] = await invitations();
    expect([waiting?.email, waiting?.offer, more]).to.deep.equal([
      email,
      { role: 'member', cap: { limit: 5_000_000n, reset: 'month' } },
      [],
    ]);
    expect((await owner.get(new URL(first).pathname + new URL(first).search)).status).to.equal(404);
    const revoked = await owner.submit(PEOPLE, { email, change: 'revoke' }, { action: INVITATION });
    expect(revoked.headers.location).to.equal(`${PEOPLE}?done=revoked`);
    expect((await deeds())[0]).to.equal('member.withdraw');
    expect(await invitations()).to.deep.equal([]);
    const link = new URL(await mailedLink(email));
    expect((await owner.get(link.pathname + link.search)).status).to.equal(404);
  });

  it('are not invited by a wrong form, nor twice', async () => {
    const wrong: readonly Readonly<Record<string, string>>[] = [
      { email: 'nobody', role: 'member' },
      { email: newEmail('a'), role: 'boss' },
      { email: newEmail('a'), role: 'member', cap: '0' },
      { email: newEmail('a'), role: 'member', cap: 'much' },
      { email: newEmail('a'), role: 'member', cap: '5', reset: 'year' },
      { email: newEmail('a'), role: 'accountant', cap: '5' },
      { email: owner.email, role: 'member' },
    ];
    for (const fields of wrong) {
      const { status, text } = await owner.submit(PEOPLE, fields);
      expect(
        [status, text.includes('class="message error"') || text.includes('class="error"')],
        JSON.stringify(fields),
      ).to.deep.equal([400, true]);
    }
    expect(await invitations()).to.deep.equal([]);
    const csrf = /name="csrf" value="([^"]+)"/.exec((await owner.get(PEOPLE)).text)?.[1] ?? '';
    expect((await owner.post(INVITATION, { csrf, email: 'x@example.com', change: 'again' })).status).to.equal(400);
  });

  it('are shown no link either when the letter cannot be sent, and are invited again later', async () => {
    const email = newEmail('far');
    mail.refuse(email);
    const { status, text } = await owner.submit(PEOPLE, { email, role: 'member' });
    expect([status, text.includes(`could not be emailed to ${email}`), text.includes('token=')]).to.deep.equal([
      503,
      true,
      false,
    ]);
    mail.refuse();
    expect((await owner.submit(PEOPLE, { email, change: 'again' }, { action: INVITATION })).status).to.equal(200);
    expect(await mailedLink(email)).to.contain('token=');
  });

  async function countInvitations(whose: string, times: number): Promise<void> {
    const now = Date.now();
    const hour = 3_600_000;
    const counted = (at: number) => `letters:member:${whose}:${Math.floor(at / hour)}`;
    // Also those of the next hour, if it is about to begin.
    for (const name of new Set([counted(now), counted(now + 60_000)])) {
      const rule = { now, since: now - hour, waitsMs: [0] };
      for (let count = 0; count < times; count += 1) await test.store.sessions.count(name, rule);
    }
  }

  it('get three emails an hour at most, which keep nobody else from theirs', async () => {
    const email = newEmail('often');
    await countInvitations(`${account.id}:${email}`, 2);
    expect((await owner.submit(PEOPLE, { email, role: 'member' })).status).to.equal(200);
    const again = () => owner.submit(PEOPLE, { email, change: 'again' }, { action: INVITATION });
    expect([(await again()).status, (await again()).status]).to.deep.equal([429, 429]);
    expect((await owner.submit(PEOPLE, { email: newEmail('other'), role: 'member' })).status).to.equal(200);
  });

  it('get ten emails an hour at most of all accounts', async () => {
    const email = newEmail('wanted');
    await countInvitations(email, 10);
    expect((await owner.submit(PEOPLE, { email, role: 'member' })).status).to.equal(429);
    expect(mail.letters.filter(({ to }) => to === email)).to.have.length(0);
    expect((await owner.submit(PEOPLE, { email: newEmail('unwanted'), role: 'member' })).status).to.equal(200);
  });

  it('are invited twenty times an hour at most', async () => {
    await countInvitations(account.id, 20);
    const { status, text } = await owner.submit(PEOPLE, { email: newEmail('late'), role: 'member' });
    expect([status, text.includes('Too many invitations')]).to.deep.equal([429, true]);
    expect(await invitations()).to.deep.equal([]);
  });

  it('get another role and cap', async () => {
    const bob = await setUpMember(test, { account: account.id, role: 'member' });
    const { id: key } = await issueKey(bob.id);
    const path = `${PEOPLE}/${bob.id}`;
    expect((await owner.submit(path, { role: 'member', cap: '10', reset: 'day' })).status).to.equal(303);
    expect((await members()).find(({ user }) => user === bob.id)?.cap).to.include({ limit: 10_000_000n, reset: 'day' });
    expect((await owner.submit(path, { role: 'member', cap: '-1' })).status).to.equal(400);
    // A form that was opened before keeps what it has not changed.
    const opened = formFields((await owner.get(path)).text, path);
    expect((await owner.submit(path, { role: 'member', cap: '7', reset: 'day' })).status).to.equal(303);
    expect((await owner.post(path, { ...opened, reset: 'week' })).status).to.equal(303);
    expect((await members()).find(({ user }) => user === bob.id)?.cap).to.include({ limit: 7_000_000n, reset: 'week' });
    expect((await owner.submit(path, { role: 'accountant' })).status).to.equal(303);
    expect((await test.store.keys.get(key))?.revokedAt).to.be.a('number');
    expect((await bob.get('/account/keys')).status).to.equal(403);
    expect((await owner.get(`${PEOPLE}/usr_none`)).status).to.equal(404);
    expect(await deeds()).to.include('member.change');
  });

  it('always include an owner', async () => {
    const self = `${PEOPLE}/${await findId(owner.email)}`;
    const name = (await test.store.accounts.get(account.id))?.name ?? '';
    for (const reply of [
      await owner.submit(self, { role: 'member' }),
      await owner.submit(`${self}/remove`, {}),
      await owner.submit('/account/leave', { name }),
    ]) {
      expect([reply.status, reply.text.includes('The account needs an owner')]).to.deep.equal([400, true]);
    }
    expect(await members()).to.have.length(1);
  });

  it('are removed together with their keys, which the page names', async () => {
    const bob = await setUpMember(test, { account: account.id, role: 'member' });
    const { id: key } = await issueKey(bob.id);
    const path = `${PEOPLE}/${bob.id}/remove`;
    expect((await owner.get(path)).text).to.contain('their keys (laptop) are revoked');
    expect((await owner.submit(path, {})).headers.location).to.equal(`${PEOPLE}?done=removed`);
    expect((await test.store.keys.get(key))?.revokedAt).to.be.a('number');
    // Whose keys they were is still to be seen.
    expect((await owner.get('/account/keys')).text).to.contain(`laptop<br><span class="hint">${bob.email}</span>`);
    const { status, text } = await bob.get('/account/keys?lang=en');
    expect([status, /<nav/.test(text), /action="\/logout"/.test(text)]).to.deep.equal([404, false, true]);
    expect(text).to.contain('You do not belong to any account').and.to.contain(`signed in as ${bob.email}`);
    const [csrf] = /(?<=name="csrf" value=")[^"]+/.exec(text) ?? [''];
    expect((await bob.post('/account/keys', { csrf, name: 'late' })).status).to.equal(404);
  });

  it('of several accounts see their own first, and a page of another where only that has it', async () => {
    const bob = await setUpMember(test, { account: account.id, role: 'accountant' });
    const mine = await test.account();
    await test.store.users.join({ user: bob.id, account: mine.id, role: 'owner' });
    for (const page of ['/account', '/account/keys', '/account/wallet'])
      expect(selected.exec((await bob.get(page)).text)?.[0], page).to.equal(mine.id);
    await setUpOwner(test, mine.id, newEmail('x'));
    await test.store.users.setMembership({ user: bob.id, account: mine.id, role: 'member' }, Date.now());
    expect(selected.exec((await bob.get('/account')).text)?.[0]).to.equal(mine.id);
    const { status, headers } = await bob.get('/account/statement?month=2026-10');
    expect([status, headers.location]).to.deep.equal([303, `/account/statement?month=2026-10&account=${account.id}`]);
    expect((await bob.get('/account/people')).status).to.equal(403);
    expect((await bob.get(`/account/wallet?account=${mine.id}`)).status).to.equal(403);
  });

  it('of several accounts stay in that of the page when another becomes the first', async () => {
    const bob = await setUpMember(test, { account: account.id, role: 'member' });
    const joined = await test.account();
    await test.store.users.join({ user: bob.id, account: joined.id, role: 'member' });
    const page = (await bob.get('/account/keys')).text;
    const shown = selected.exec(page)?.[0];
    const [action = ''] = /(?<=<form method="post" action=")\/account\/keys(?:\?[^"]*)?(?=")/.exec(page) ?? [];
    const other = shown === joined.id ? account.id : joined.id;
    await test.store.users.setMembership({ user: bob.id, account: other, role: 'owner' }, Date.now());
    expect(selected.exec((await bob.get('/account/keys')).text)?.[0]).to.equal(other);
    expect((await bob.post(action, { ...formFields(page, action), name: 'mine' })).status).to.equal(200);
    expect((await test.store.keys.list(`${shown}`)).map(({ name }) => name)).to.include('mine');
  });

  it('leave by typing the name of the account; members lose their keys, owners leave theirs', async () => {
    const name = (await test.store.accounts.get(account.id))?.name ?? '';
    const bob = await setUpMember(test, { account: account.id, role: 'member' });
    const { id: key } = await issueKey(bob.id);
    expect((await bob.get('/account/leave')).text).to.contain('your keys (laptop) are revoked');
    expect((await bob.submit('/account/leave', { name: 'x' })).status).to.equal(400);
    expect((await bob.submit('/account/leave', { name })).text).to.contain('You have left the account.');
    expect((await test.store.keys.get(key))?.revokedAt).to.be.a('number');
    const second = await setUpOwner(test, account.id, newEmail('second'));
    const { id: kept } = await issueKey(await findId(second.email));
    expect((await second.submit('/account/leave', { name })).status).to.equal(200);
    expect((await test.store.keys.get(kept))?.revokedAt).to.equal(null);
    expect((await deeds()).slice(0, 2)).to.deep.equal(['member.leave', 'member.leave']);
  });

  it('hand the account over with the password', async () => {
    const bob = await setUpMember(test, { account: account.id, role: 'member' });
    const path = `${PEOPLE}/${bob.id}/hand-over`;
    expect((await owner.submit(path, { old: 'wrong' })).status).to.equal(400);
    const { location = '' } = (await owner.submit(path, { old: PASSWORD })).headers;
    expect((await owner.get(location)).text).to.contain(
      'You have handed over the account, and are a member of it now.',
    );
    const roles = Object.fromEntries((await members()).map(({ user, role }) => [user, role]));
    expect(roles).to.deep.equal({ [bob.id]: 'owner', [await findId(owner.email)]: 'member' });
    expect((await bob.get(PEOPLE)).status).to.equal(200);
    expect((await owner.get(PEOPLE)).status).to.equal(403);
    expect((await deeds())[0]).to.equal('member.hand_over');
  });

  it('are told, if they leave or hand over an account, that automatic top-ups go on charging the card', async () => {
    const bob = await setUpMember(test, { account: account.id, role: 'member' });
    const second = await setUpOwner(test, account.id, newEmail('second'));
    const told = async () => {
      const pages = ['/account/leave', `${PEOPLE}/${bob.id}/hand-over`].map((path) => second.get(path));
      const texts = (await Promise.all([...pages, bob.get('/account/leave')])).map(({ text }) => text);
      return texts.map((text) => text.includes('go on charging the saved card'));
    };
    expect(await told()).to.deep.equal([false, false, false]);
    const card = newMethod(account.id);
    await test.store.payments.saveMethod(card);
    await test.store.payments.changeAutoTopup(newAuto(account.id, { method: card.id }));
    expect(await told(), 'owners, not members').to.deep.equal([true, true, false]);
  });

  it('are shown in Russian too', async () => {
    const bob = await setUpMember(test, { account: account.id, role: 'member' });
    for (const [path, text] of [
      [PEOPLE, 'Пригласить'],
      [`${PEOPLE}/${bob.id}`, 'Передать аккаунт'],
      [`${PEOPLE}/${bob.id}/remove`, 'Доступ прекратится сразу.'],
      ['/account/leave', 'Покинуть аккаунт'],
    ] as const) {
      expect((await owner.get(`${path}?lang=ru`)).text, path).to.contain(text);
    }
  });
});
