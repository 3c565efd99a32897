// Who may open an account, over HTTP: nobody, invited users, or everybody.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { comeIn, createVisitor, hiddenFields, setUpOperator } from '../../testkit/pages.ts';
import { startMailServer } from '../../testkit/smtp.ts';

const ACCOUNTS = '/admin/accounts';
const NO_MODELS = { upstreams: {}, models: [] };

const linkIn = (text: string) => /http[^\s<"]+\/setup\?token=[\w-]+/.exec(text)?.[0] ?? '';

type Operator = Awaited<ReturnType<typeof setUpOperator>>;

const invite = (operator: Operator, email: string) => operator.submit(ACCOUNTS, { change: 'invite', email });

describe('registration by invitation', () => {
  let test: TestGateway;
  let operator: Operator;

  before(async () => {
    test = await startGateway({ catalog: NO_MODELS, env: { REGISTRATION: 'invite' } });
    operator = await setUpOperator(test);
  });
  after(() => test?.stop());

  it('opens an account by a link, once', async () => {
    const before = (await test.store.accounts.list()).length;
    const { status, text } = await invite(operator, ' Bob@Example.com ');
    expect([status, text.includes('Send this link to bob@example.com')]).to.deep.equal([200, true]);
    const link = linkIn(text);
    const page = await createVisitor(test.url).get(link.slice(test.url.length));
    expect(page.text).to.contain('bob@example.com').and.not.to.contain('name="email"');
    // An unused invitation leaves nothing behind.
    expect(await test.store.accounts.list()).to.have.length(before);

    const person = await comeIn(test, link, { code: '', email: 'mallory@example.com' });
    expect((await person.get('/account')).status).to.equal(200);
    const user = await test.store.users.find('bob@example.com');
    expect(user).to.include({ operator: false });
    const [membership] = await test.store.users.listUserMemberships(user?.id ?? '');
    expect(membership).to.include({ role: 'owner' });
    const account = await test.store.accounts.get(membership?.account ?? '');
    expect(account).to.include({ name: 'bob@example.com', status: 'active' });
    expect(await test.store.ledger.wallet(account?.id ?? '')).to.include({ avail: 0n, topped: 0n });
    expect((await person.submit('/account/keys', { name: 'first' })).text).to.contain('tg-sk-');
    expect((await createVisitor(test.url).get(link.slice(test.url.length))).status).to.equal(404);
    expect(await test.store.users.find('mallory@example.com')).to.equal(undefined);
    const [entry] = await test.store.auditLog
      .page({ limit: 50 })
      .then((log) => log.filter(({ action }) => action === 'user.invite'));
    expect(entry).to.include({ target: 'bob@example.com', account: null });
  });

  it('refuses invalid and known addresses, and keeps only the newest link', async () => {
    for (const [email, words] of [
      ['bob', 'Enter a valid email address.'],
      ['op@example.com', 'already exists'],
    ] as const) {
      const { status, text } = await invite(operator, email);
      expect([status, text.includes(words), linkIn(text)], email).to.deep.equal([400, true, '']);
    }
    const links = [await invite(operator, 'eve@example.com'), await invite(operator, 'eve@example.com')];
    const statuses = links.map(async ({ text }) => {
      return (await createVisitor(test.url).get(linkIn(text).slice(test.url.length))).status;
    });
    expect(await Promise.all(statuses)).to.deep.equal([404, 200]);
  });

  it('tells others whom to ask, in both languages', async () => {
    const stranger = createVisitor(test.url);
    expect((await stranger.get('/login')).text)
      .to.contain('by invitation')
      .and.not.to.contain('href="/register"');
    expect((await stranger.get('/login?lang=ru')).text).to.contain('по приглашению');
    const page = await stranger.get('/register?lang=en');
    expect([page.status, page.text.includes('by invitation'), page.text.includes('name="email"')]).to.deep.equal([
      ...[200, true, false],
    ]);
    expect(page.text).to.contain('<a href="/login">Back to sign-in</a>');
    // A form opened before registration was restricted.
    const { csrf = '' } = hiddenFields((await stranger.get('/login')).text, '/login');
    const sent = await stranger.post('/register', { csrf, email: 'carol@example.com' });
    expect([sent.status, sent.text.includes('by invitation')]).to.deep.equal([200, true]);
  });

  it('is logged as an invitation to a new or an existing account', async () => {
    const { id } = await test.account();
    const path = `/admin/accounts/${id}`;
    await invite(operator, 'frank@example.com');
    const { text } = await operator.submit(path, { change: 'invite', email: 'grace@example.com' });
    await comeIn(test, linkIn(text), { code: '' });
    const other = `/admin/accounts/${(await test.account()).id}`;
    const again = await operator.submit(other, { change: 'invite', email: 'grace@example.com' });
    expect(linkIn(again.text)).to.contain('/setup?token=');
    const log = (await test.store.auditLog.page({ limit: 4 })).filter(({ action }) => action !== 'sign_in.link');
    expect(log.map(({ action, target }) => [action, target])).to.deep.equal([
      ['owner.invite', 'grace@example.com'],
      ['owner.invite', 'grace@example.com'],
      ['user.invite', 'frank@example.com'],
    ]);
    for (const [language, words] of Object.entries({
      en: ['invited an owner', 'invited an owner', 'invited a user'],
      ru: ['приглашение владельца', 'приглашение владельца', 'приглашение пользователя'],
    })) {
      const page = await operator.get(`/admin/audit?lang=${language}`);
      const shown = [...page.text.matchAll(/<span title="(?:owner|user)\.\w+">([^<]*)</g)].map(([, action]) => action);
      expect(shown.slice(0, 3)).to.deep.equal(words);
    }
    await operator.get('/admin?lang=en');
  });

  it('is for operators only', async () => {
    const link = linkIn((await invite(operator, 'dave@example.com')).text);
    const owner = await comeIn(test, link, { code: '' });
    expect((await owner.get(ACCOUNTS)).status).to.equal(404);
    const { csrf = '' } = hiddenFields((await owner.get('/account')).text, '/logout');
    expect((await owner.post(ACCOUNTS, { csrf, change: 'invite', email: 'x@example.com' })).status).to.equal(404);
  });
});

describe('registration by invitation with a mail server', () => {
  it('mails the link and shows it', async () => {
    const smtp = await startMailServer();
    const test = await startGateway({ catalog: NO_MODELS, env: { REGISTRATION: 'invite', SMTP_URL: smtp.url } });
    const { text } = await invite(await setUpOperator(test), 'bob@example.com');
    expect(text).to.contain('was sent to bob@example.com');
    const letter = await smtp.letterTo('bob@example.com');
    expect(linkIn(letter.text)).to.equal(linkIn(text));
    const person = await comeIn(test, linkIn(letter.text), { code: '' });
    expect((await person.get('/account')).status).to.equal(200);
    expect((await createVisitor(test.url).get('/login')).text)
      .to.contain('href="/reset"')
      .and.to.contain('by invitation');
    await test.stop();
    await smtp.stop();
  });
});

describe('closed registration', () => {
  it('has no page and no form, and refuses links created before', async () => {
    const inviting = await startGateway({ catalog: NO_MODELS, env: { REGISTRATION: 'invite' } });
    const operator = await setUpOperator(inviting);
    const link = linkIn((await invite(operator, 'bob@example.com')).text);
    const { folder, url } = inviting;
    await inviting.gateway.stop();
    const test = await startGateway({ catalog: NO_MODELS, folder });
    const stranger = createVisitor(test.url);
    expect((await stranger.get('/register')).status).to.equal(404);
    expect((await stranger.get('/login')).text).not.to.contain('by invitation');
    expect((await stranger.get(link.slice(url.length))).status).to.equal(404);
    const cookie = [...operator.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = await stranger.get(ACCOUNTS, { headers: { cookie } });
    expect(page.text).to.contain('New account').and.not.to.contain('Invite a user');
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const form = { csrf, change: 'invite', email: 'bob@example.com' };
    expect((await stranger.post(ACCOUNTS, form, { headers: { cookie } })).status).to.equal(403);
    await test.stop();
    await inviting.stop();
  });
});

describe('open registration without a mail server', () => {
  it('falls back to invitations, and logs why', async () => {
    const test = await startGateway({ catalog: NO_MODELS, env: { REGISTRATION: 'open' } });
    const stranger = createVisitor(test.url);
    expect((await stranger.get('/register')).text)
      .to.contain('by invitation')
      .and.not.to.contain('name="email"');
    expect((await stranger.get('/login')).text).to.contain('by invitation');
    expect((await stranger.get('/reset')).text)
      .to.contain('Ask the operator')
      .and.to.contain('<a href="/login">Back to sign-in</a>');
    await until(() => readFileSync(join(test.folder, 'log'), 'utf8').includes('REGISTRATION=open needs SMTP_URL'));
    expect(linkIn((await invite(await setUpOperator(test), 'bob@example.com')).text)).not.to.equal('');
    await test.stop();
  });
});
