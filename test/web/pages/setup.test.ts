// Links that work once: what keeps them whole, who gets one by mail, and what remains of somebody who resets a password.
import { expect } from 'chai';
import { createPeople, type LinkRequest } from '../../../lib/users/people.ts';
import { makeSecret } from '../../../lib/users/totp.ts';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import {
  codeOf,
  comeIn,
  createVisitor,
  hiddenFields,
  PASSWORD,
  setUpOperator,
  setUpOwner,
} from '../../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../../testkit/smtp.ts';

const HOUR_MS = 3_600_000;

describe('links that work once', () => {
  let smtp: MailServer;
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;

  before(async () => {
    smtp = await startMailServer();
    const env = { SMTP_URL: smtp.url, REGISTRATION: 'open' };
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, env });
    operator = await setUpOperator(test);
  });
  beforeEach(async () => {
    const names = ['letters-from:127.0.0.1', 'address:127.0.0.1'];
    for (const name of names) await test.store.sessions.forget(name);
  });
  after(async () => {
    await test?.stop();
    await smtp.stop();
  });

  const visitor = () => createVisitor(test.url);
  const owner = async () => setUpOwner(test, (await test.account()).id);
  const signIn = (email: string, password: string, code = '') => visitor().submit('/login', { email, password, code });
  async function pathOf(request: LinkRequest): Promise<string> {
    return `/setup?token=${await createPeople({ store: test.store }).makeLink(request)}`;
  }
  const use = (path: string, fields: Readonly<Record<string, string>>) =>
    visitor().submit(path, { password: PASSWORD, again: PASSWORD, code: '', ...fields });
  const linkIn = (text: string) => /http\S+token=[\w-]+/.exec(text)?.[0] ?? '';

  describe('opened in a browser', () => {
    const navigating = { headers: { 'sec-fetch-mode': 'navigate' } };
    const open = async (person: ReturnType<typeof visitor>, link: string) => {
      const { status, headers } = await person.get(link, navigating);
      expect([status, headers.location?.replace(/[0-9a-f]{12}$/, 'NAME')]).to.deep.equal([303, '/setup?link=NAME']);
      return {
        path: headers.location ?? '',
        cookie: headers['set-cookie']?.find((line) => line.includes('link-')) ?? '',
      };
    };

    it('leave its address bar, and stay good until they are used, also elsewhere', async () => {
      const link = await pathOf({ purpose: 'operator' });
      const token = link.split('=')[1] ?? '';
      const person = visitor();
      const { path, cookie } = await open(person, `${link}&lang=ru`);
      expect(cookie).to.match(/^link-[0-9a-f]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/);
      expect((await open(person, link)).path).to.equal(path);
      const page = await person.get(path, navigating);
      expect([page.status, page.text.includes(token), page.text.includes('lang="ru"')]).to.deep.equal([
        200,
        false,
        true,
      ]);
      expect((await visitor().get(path, navigating)).status, 'without its cookie').to.equal(404);
      const { secret = '' } = hiddenFields((await visitor().get(link)).text, link);
      const fields = { password: PASSWORD, again: PASSWORD, secret, code: codeOf(secret) };
      const wrong = await person.submit(path, { ...fields, email: 'none' });
      expect([wrong.status, Object.keys(hiddenFields(wrong.text, path))]).to.deep.equal([400, ['csrf', 'secret']]);
      const sent = await person.submit(path, { ...fields, email: `op-${Date.now()}@example.com` });
      expect([sent.status, person.cookies.has('session')]).to.deep.equal([200, true]);
      for (const again of [path, link]) expect((await person.get(again, navigating)).status, again).to.equal(404);
    });

    it('are each their own in two tabs', async () => {
      const { id } = await test.account();
      const mails = [1, 2].map((tab) => `tab-${tab}-${Date.now()}@example.com`);
      const links = await Promise.all(mails.map((email) => pathOf({ purpose: 'invite', account: id, email })));
      const person = visitor();
      const paths: string[] = [];
      for (const link of links) paths.push((await open(person, link)).path);
      for (const [at, path] of paths.entries()) expect((await person.get(path)).text).to.contain(mails[at]);
      for (const path of paths) {
        const { status, headers } = await person.submit(path, { password: PASSWORD, again: PASSWORD, code: '' });
        expect([status, headers.location]).to.deep.equal([303, '/account']);
      }
      for (const email of mails) expect((await signIn(email, PASSWORD)).status, email).to.equal(303);
    });

    it('are shown as they are to whoever may keep no cookies, and to nobody if they are unknown', async () => {
      const link = await pathOf({ purpose: 'operator' });
      for (const mode of ['cors', 'no-cors']) {
        const { status, headers } = await visitor().get(link, { headers: { 'sec-fetch-mode': mode } });
        expect([status, `${headers['set-cookie']}`.includes('link-')]).to.deep.equal([200, false]);
      }
      for (const path of [
        `/setup?token=${'x'.repeat(43)}`,
        '/setup?token=x',
        '/reset?token=',
        '/setup?link=__proto__',
      ]) {
        const { status, headers } = await visitor().get(path, navigating);
        expect([status, `${headers['set-cookie']}`.includes('link-')], path).to.deep.equal([404, false]);
      }
    });

    it('keep a cookie that only https carries where the service has https', async () => {
      const env = { PUBLIC_URL: 'https://gate.example.com', SANDBOX: 'on' };
      const other = await startGateway({ catalog: { upstreams: {}, models: [] }, env });
      const link = new URL(other.gateway.facts.links.setup ?? '');
      const person = createVisitor(other.url);
      const { cookie, path } = await open(person, link.pathname + link.search);
      expect(cookie).to.match(
        /^__Host-link-[0-9a-f]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600; Secure$/,
      );
      expect((await person.get(path, navigating)).status).to.equal(200);
      await other.stop();
    });
  });

  it('are whole after an address that somebody has, or that is none', async () => {
    const { email } = await owner();
    const path = await pathOf({ purpose: 'operator' });
    const { secret = '' } = hiddenFields((await visitor().get(path)).text, path);
    for (const [typed, words] of [
      [email, 'already in use'],
      ['no address', 'not an email address'],
    ] as const) {
      const reply = await use(path, { email: typed, secret, code: codeOf(secret) });
      expect(reply.status, reply.text).to.equal(400);
      expect(reply.text.toLowerCase()).to.contain(words);
      // The app that was set up for it stays good.
      expect(hiddenFields(reply.text, path)).to.include({ secret });
    }
    const reply = await use(path, { email: ' Two@Example.com', secret, code: codeOf(secret) });
    expect(reply.status).to.equal(200);
    expect(await test.store.users.find('two@example.com')).to.include({ operator: true, totpSecret: secret });
  });

  it('are no use with the address as the password', async () => {
    const email = 'ann.of.the.lamps@example.com';
    const path = await pathOf({ purpose: 'invite', account: (await test.account()).id, email });
    const reply = await use(path, { password: email, again: email });
    expect([reply.status, reply.text.includes('easy to guess')]).to.deep.equal([400, true]);
    expect((await use(path, {})).headers.location).to.equal('/account');
    expect((await signIn(email, PASSWORD)).status).to.equal(303);
  });

  it('set up an app for an owner who shows a code of it', async () => {
    const email = 'careful@example.com';
    const path = await pathOf({ purpose: 'invite', account: (await test.account()).id, email });
    const { secret = '' } = hiddenFields((await visitor().get(path)).text, path);
    expect((await use(path, { secret, code: '000000' })).status).to.equal(400);
    const done = await use(path, { secret, code: codeOf(secret) });
    expect(done.text).to.contain('href="/account"');
    const [, recovery = ''] = /<code>([0-9a-z]{5}-[0-9a-z]{5})</.exec(done.text) ?? [];
    expect((await signIn(email, PASSWORD)).status).to.equal(401);
    expect((await signIn(email, PASSWORD, recovery)).status).to.equal(303);
  });

  it('from an operator open an account also where everybody may register', async () => {
    const reply = await operator.submit('/admin/accounts', { change: 'invite', email: 'bob@example.com' });
    const person = await comeIn(test, linkIn(reply.text), { code: '' });
    expect((await person.get('/account')).status).to.equal(200);
    const user = await test.store.users.find('bob@example.com');
    expect(await test.store.users.membershipsOf(user?.id ?? '')).to.have.length(1);
  });

  it('to a new password leave the app as it is', async () => {
    const { email } = await owner();
    const user = await test.store.users.find(email);
    const secret = makeSecret();
    if (user) await test.store.users.change({ ...user, totpSecret: secret });
    const path = (await pathOf({ purpose: 'reset', user: user?.id ?? '', email })).replace('/setup', '/reset');
    const fresh = 'another rain of tulips';
    const person = visitor();
    expect((await person.get(path)).text)
      .not.to.contain('name="secret"')
      .and.not.to.contain('name="code"');
    const reply = await person.submit(path, { password: fresh, again: fresh });
    expect([reply.status, reply.headers.location]).to.deep.equal([303, '/account']);
    expect((await signIn(email, fresh)).status).to.equal(401);
    expect((await signIn(email, fresh, codeOf(secret))).status).to.equal(303);
  });

  describe('by mail', () => {
    const ask = (path: string, email: string) => visitor().submit(path, { email });

    it('go to nobody who is suspended, and none to register goes to who has access', async () => {
      const [gone, known, other] = [await owner(), await owner(), await owner()];
      const user = await test.store.users.find(gone.email);
      if (user) await test.store.users.change({ ...user, status: 'suspended' });
      for (const [path, { email }] of [
        ['/reset', gone],
        ['/register', known],
      ] as const) {
        const reply = await ask(path, email);
        expect([reply.status, reply.text.includes('on its way')]).to.deep.equal([200, true]);
      }
      // Asked for after the others, so they would be there.
      await ask('/reset', other.email);
      await smtp.letterTo(other.email);
      const letters = smtp.letters.filter(({ to }) => to === gone.email || to === known.email);
      expect(letters).to.deep.equal([]);
    });

    it('are twenty an hour at most for one network', async () => {
      for (let number = 1; number <= 20; number += 1) {
        expect((await ask('/reset', `nobody-${number}@example.com`)).status).to.equal(200);
      }
      const reply = await ask('/reset', 'nobody-21@example.com');
      expect([reply.status, reply.text.includes('Too many letters')]).to.deep.equal([429, true]);
      expect(reply.text).to.contain('value="nobody-21@example.com"');
    });

    it('are counted for an hour', async () => {
      const email = 'asked-long-ago@example.com';
      const at = Date.now() - HOUR_MS - 60_000;
      for (let time = 0; time < 9; time += 1) {
        await test.store.sessions.fail(`letters:${email}`, { now: at, since: at - HOUR_MS });
      }
      expect((await ask('/reset', email)).status).to.equal(200);
    });
  });
});
