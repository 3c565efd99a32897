// One-time links: what keeps them valid, who gets one by email, and what a password reset leaves in place.
import { expect } from 'chai';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import type { User } from '../../../lib/store/ports/users.ts';
import { createPeople, type LinkRequest } from '../../../lib/users/people.ts';
import { hashRecoveryCode, makeTotpSecret } from '../../../lib/users/totp.ts';
import { createUserRemoval } from '../../../lib/users/user-removal.ts';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { longer } from '../../../testkit/long.ts';
import {
  comeIn,
  createVisitor,
  hiddenFields,
  makeCode,
  PASSWORD,
  setUpOperator,
  setUpOwner,
} from '../../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../../testkit/smtp.ts';
import { SQLITE, STORES } from '../../../testkit/stores.ts';
import { itTimed } from '../../../testkit/timed.ts';

describe('one-time links', () => {
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
    const hour = Math.floor(Date.now() / HOUR_MS);
    const names = ['address:127.0.0.1', ...['reset', 'verify'].map((kind) => `letters:${kind}:127.0.0.1:${hour}`)];
    for (const name of names) await test.store.sessions.forget(name);
  });
  after(async () => {
    await test?.stop();
    await smtp.stop();
  });

  const visitor = () => createVisitor(test.url);
  const owner = async () => setUpOwner(test, (await test.account()).id);
  const signIn = (email: string, password: string, code = '') => visitor().submit('/login', { email, password, code });
  async function makeLinkPath(request: LinkRequest): Promise<string> {
    return `/setup?token=${await createPeople({ store: test.store }).makeLink(request)}`;
  }
  const use = (path: string, fields: Readonly<Record<string, string>>) =>
    visitor().submit(path, { password: PASSWORD, again: PASSWORD, code: '', ...fields });
  const linkIn = (text: string) => /http\S+token=[\w-]+/.exec(text)?.[0] ?? '';

  it('that no longer work lead to where a new one is requested', async () => {
    const pages = {
      '/setup': ['/register', 'whoever invited you'],
      '/reset': ['/reset', 'Send me a new link'],
    } as const;
    for (const [path, [where, words]] of Object.entries(pages)) {
      const used = `${path}?token=${'a'.repeat(43)}`;
      const { status, text } = await visitor().get(used);
      expect([status, text.includes(`<a href="${where}">`), text.includes(words)], path).to.deep.equal([
        404,
        true,
        true,
      ]);
      expect(text.includes('operator create'), path).to.equal(path === '/setup');
    }
  });

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

    it('leave the address bar, and stay valid until they are used', async () => {
      const link = await makeLinkPath({ purpose: 'operator' });
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
      const fields = { password: PASSWORD, again: PASSWORD, secret, code: makeCode(secret) };
      const wrong = await person.submit(path, { ...fields, email: 'none' });
      expect([wrong.status, Object.keys(hiddenFields(wrong.text, path))]).to.deep.equal([400, ['csrf', 'secret']]);
      const sent = await person.submit(path, { ...fields, email: `op-${Date.now()}@example.com` });
      expect([sent.status, person.cookies.has('session')]).to.deep.equal([200, true]);
      for (const again of [path, link]) expect((await person.get(again, navigating)).status, again).to.equal(404);
    });

    it('do not mix in two tabs', async () => {
      const { id } = await test.account();
      const mails = [1, 2].map((tab) => `tab-${tab}-${Date.now()}@example.com`);
      const links = await Promise.all(mails.map((email) => makeLinkPath({ purpose: 'invite', account: id, email })));
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

    it('stay in the URL for clients without cookies, and are refused if unknown', async () => {
      const link = await makeLinkPath({ purpose: 'operator' });
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

    it('set a secure cookie over https', async () => {
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

  it('stay valid after a taken or invalid address', async () => {
    const { email } = await owner();
    const path = await makeLinkPath({ purpose: 'operator' });
    const { secret = '' } = hiddenFields((await visitor().get(path)).text, path);
    for (const [typed, words] of [
      [email, 'already in use'],
      ['no address', 'enter a valid email address'],
    ] as const) {
      const reply = await use(path, { email: typed, secret, code: makeCode(secret) });
      expect(reply.status, reply.text).to.equal(400);
      expect(reply.text.toLowerCase()).to.contain(words);
      // The secret stays the same.
      expect(hiddenFields(reply.text, path)).to.include({ secret });
    }
    const reply = await use(path, { email: ' Two@Example.com', secret, code: makeCode(secret) });
    expect(reply.status).to.equal(200);
    expect(await test.store.users.find('two@example.com')).to.include({ operator: true, totpSecret: secret });
  });

  it('refuse the address as the password', async () => {
    const email = 'ann.of.the.lamps@example.com';
    const path = await makeLinkPath({ purpose: 'invite', account: (await test.account()).id, email });
    const reply = await use(path, { password: email, again: email });
    expect([reply.status, reply.text.includes('easy to guess')]).to.deep.equal([400, true]);
    expect((await use(path, {})).headers.location).to.equal('/account');
    expect((await signIn(email, PASSWORD)).status).to.equal(303);
  });

  it('set up an app for an owner who enters a code of it', async () => {
    const email = 'careful@example.com';
    const path = await makeLinkPath({ purpose: 'invite', account: (await test.account()).id, email });
    const { secret = '' } = hiddenFields((await visitor().get(path)).text, path);
    expect((await use(path, { secret, code: '000000' })).status).to.equal(400);
    const done = await use(path, { secret, code: makeCode(secret) });
    expect(done.text).to.contain('href="/account"');
    const [, recovery = ''] = /<code>([0-9a-z]{5}-[0-9a-z]{5})</.exec(done.text) ?? [];
    expect((await signIn(email, PASSWORD)).status).to.equal(401);
    expect((await signIn(email, PASSWORD, recovery)).status).to.equal(303);
  });

  it('from an operator open an account also with open registration', async () => {
    const reply = await operator.submit('/admin/accounts', { change: 'invite', email: 'bob@example.com' });
    const person = await comeIn(test, linkIn(reply.text), { code: '' });
    expect((await person.get('/account')).status).to.equal(200);
    const user = await test.store.users.find('bob@example.com');
    expect(await test.store.users.listUserMemberships(user?.id ?? '')).to.have.length(1);
  });

  const FRESH = 'another rain of tulips';

  /** An owner with an app and one recovery code, and a link to reset the password as it is mailed. */
  async function forgetful() {
    const { email, ...person } = await owner();
    const found = (await test.store.users.find(email)) as User;
    const secret = makeTotpSecret();
    const recovery = 'abcde-12345';
    const fields = { totpSecret: secret, recovery: [hashRecoveryCode(recovery)] };
    await test.store.users.change({ ...found, ...fields });
    const token = (await makeLinkPath({ purpose: 'reset', user: found.id, email })).replace('/setup', '/reset');
    return { ...person, email, id: found.id, secret, recovery, path: token };
  }
  const reset = (path: string, code: string, more: Readonly<Record<string, string>> = {}) =>
    visitor().submit(path, { password: FRESH, again: FRESH, code, ...more });

  it('to reset a password ask for a code of the app, and keep the app', async () => {
    const { email, id, secret, path } = await forgetful();
    expect((await visitor().get(path)).text)
      .to.contain('name="code"')
      .and.not.to.contain('name="secret"');
    for (const code of ['', '000000', 'zzzzz-zzzzz']) {
      const reply = await reset(path, code);
      expect([reply.status, reply.text.includes('The code is wrong')], code).to.deep.equal([401, true]);
      expect(reply.headers['set-cookie']?.join() ?? '').not.to.contain('session=');
    }
    expect((await signIn(email, FRESH, makeCode(secret, -1))).status).to.equal(401);
    const reply = await reset(path, makeCode(secret));
    expect([reply.status, reply.headers.location]).to.deep.equal([303, '/account']);
    expect(await test.store.users.get(id)).to.include({ totpSecret: secret });
    expect((await signIn(email, FRESH)).status).to.equal(401);
    expect((await signIn(email, FRESH, makeCode(secret, 1))).status).to.equal(303);
    const letter = await smtp.letterTo(email);
    expect(letter.text).to.contain('was changed').and.to.contain('IP address: 127.0.0.1');
  });

  it('to reset a password accept a recovery code once', async () => {
    const { id, email, secret, recovery, path } = await forgetful();
    expect((await reset(path, recovery)).status).to.equal(303);
    expect(await test.store.users.get(id)).to.deep.include({ totpSecret: secret, recovery: [] });
    expect((await signIn(email, FRESH, recovery)).status).to.equal(401);
  });

  it('to reset a password set up no app', async () => {
    const [mine, { email }] = [makeTotpSecret(), await owner()];
    const user = await test.store.users.find(email);
    const path = await makeLinkPath({ purpose: 'reset', user: user?.id ?? '', email });
    expect((await visitor().get(path)).text).not.to.contain('name="code"');
    expect((await reset(path, makeCode(mine), { secret: mine })).status).to.equal(303);
    expect(await test.store.users.find(email)).to.include({ totpSecret: null });
    const other = await forgetful();
    expect((await reset(other.path, makeCode(mine), { secret: mine })).status).to.equal(401);
    expect(await test.store.users.get(other.id)).to.include({ totpSecret: other.secret });
  });

  itTimed('to reset a password throttle guesses of codes', async () => {
    const { secret, path } = await forgetful();
    const statuses: number[] = [];
    for (let guess = 0; guess < 6; guess += 1) statuses.push((await reset(path, `00000${guess}`)).status);
    expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429]);
    const reply = await reset(path, makeCode(secret));
    expect([reply.status, reply.text.includes('Too many attempts')]).to.deep.equal([429, true]);
  });

  it('to recover from a lost app set a new password and remove the app', async () => {
    const { id, email, get } = await forgetful();
    const path = await makeLinkPath({ purpose: 'restore', user: id, email });
    expect((await visitor().get(path)).text)
      .to.contain('Your current authenticator app and recovery codes will stop working')
      .and.to.contain('name="secret"');
    expect((await use(path, { password: FRESH, again: FRESH })).headers.location).to.equal('/account');
    expect(await test.store.users.get(id)).to.deep.include({ totpSecret: null, totpStep: -1, recovery: [] });
    expect((await get('/account')).status).to.equal(303);
    expect((await signIn(email, FRESH)).status).to.equal(303);
    expect((await smtp.letterTo(email)).text).to.contain('with a link from the operator');
    const again = await makeLinkPath({ purpose: 'restore', user: id, email });
    const { secret = '' } = hiddenFields((await visitor().get(again)).text, again);
    expect((await use(again, { secret, code: makeCode(secret) })).text).to.contain('Recovery codes');
    expect(await test.store.users.get(id)).to.include({ totpSecret: secret });
  });

  it('are void for suspended or removed users, also if created later', async () => {
    for (const change of ['suspend', 'remove'] as const) {
      const { id, email, path } = await forgetful();
      const departures = createUserRemoval({ store: test.store });
      expect(await departures[change](id)).to.equal('done');
      const later = await makeLinkPath({ purpose: 'operator', user: id, email });
      for (const link of [path, later]) expect((await visitor().get(link)).status, change).to.equal(404);
      const { csrf = '' } = hiddenFields((await visitor().get('/login')).text, '/login');
      expect((await visitor().post(later, { csrf, password: FRESH, again: FRESH })).status).to.equal(403);
      const stranger = visitor();
      const form = hiddenFields((await stranger.get('/login')).text, '/login');
      expect((await stranger.post(later, { ...form, password: FRESH, again: FRESH })).status).to.equal(404);
      expect(await test.store.users.operators()).to.equal(2);
    }
  });

  it('for the first setup are void once there is an operator', async () => {
    const path = await makeLinkPath({ purpose: 'setup' });
    expect((await visitor().get(path)).status).to.equal(404);
  });

  it('to the demo account never sign in an owner with a password', async () => {
    const account = (await test.account()).id;
    const { email } = await setUpOwner(test, account, 'aaa@example.com');
    const user = await test.store.users.find(email);
    const open = async () => visitor().submit(await makeLinkPath({ purpose: 'demo', account }), {});
    expect((await open()).status).to.equal(303);
    expect(await test.store.sessions.list(user?.id ?? '')).to.have.length(1);
    const guest = (await test.store.users.find(`${account}@sandbox.invalid`)) as User;
    expect(guest).to.include({ password: null, operator: false });
    expect((await open()).status).to.equal(303);
    expect(await test.store.sessions.list(guest.id)).to.have.length(2);
    for (const change of [{ password: user?.password ?? '' }, { totpSecret: makeTotpSecret() }]) {
      const now = (await test.store.users.get(guest.id)) as User;
      await test.store.users.change({ ...now, password: null, totpSecret: null, ...change });
      expect((await open()).status, JSON.stringify(Object.keys(change))).to.equal(404);
    }
  });

  describe('by mail', () => {
    const ask = (path: string, email: string) => visitor().submit(path, { email });

    it('are not sent to suspended users, and registration links not to existing users', async () => {
      const gone = await owner();
      const known = await owner();
      const other = await owner();
      const user = await test.store.users.find(gone.email);
      if (user) await test.store.users.change({ ...user, status: 'suspended' });
      for (const [path, { email }] of [
        ['/reset', gone],
        ['/register', known],
      ] as const) {
        const reply = await ask(path, email);
        expect([reply.status, reply.text.includes('on its way')]).to.deep.equal([200, true]);
      }
      // Requested last: the other emails would have arrived before it.
      await ask('/reset', other.email);
      await smtp.letterTo(other.email);
      const letters = smtp.letters.filter(({ to }) => to === gone.email || to === known.email);
      expect(letters).to.deep.equal([]);
    });

    it('are limited to twenty an hour per network', async () => {
      for (let number = 1; number <= 20; number += 1) {
        expect((await ask('/reset', `nobody-${number}@example.com`)).status).to.equal(200);
      }
      const reply = await ask('/reset', 'nobody-21@example.com');
      expect([reply.status, reply.text.includes('Too many emails')]).to.deep.equal([429, true]);
      expect(reply.text).to.contain('value="nobody-21@example.com"');
    });

    it('are counted for an hour', async () => {
      const email = 'asked-long-ago@example.com';
      const at = Date.now() - HOUR_MS;
      const name = `letters:reset:${email}:${Math.floor(at / HOUR_MS)}`;
      for (let time = 0; time < 9; time += 1) {
        await test.store.sessions.count(name, { now: at, since: 0, waitsMs: [0] });
      }
      expect((await ask('/reset', email)).status).to.equal(200);
    });
  });
});

describe('two first setup links at once', () => {
  for (const kind of longer([SQLITE], STORES)) {
    it(`create one operator (${kind.name})`, async () => {
      const database = await kind.create();
      const test = await startGateway({ catalog: { upstreams: {}, models: [] }, database: database.url });
      try {
        const people = createPeople({ store: test.store });
        const tokens = await Promise.all(
          [1, 2].map((number) => people.makeLink({ purpose: 'setup', email: `op${number}@example.com` })),
        );
        const first = test.gateway.facts.links.setup ?? '';
        const visits = await Promise.all(
          [first, ...tokens.map((token) => `${test.url}/setup?token=${token}`)].map(async (link, at) => {
            const path = link.slice(test.url.length);
            const visitor = createVisitor(test.url);
            const hidden = hiddenFields((await visitor.get(path)).text, path);
            const code = makeCode(hidden.secret ?? '');
            const fields = { ...hidden, email: `op${at}@example.com`, password: PASSWORD, again: PASSWORD, code };
            return () => visitor.post(path, fields);
          }),
        );
        const statuses = (await Promise.all(visits.map((send) => send()))).map(({ status }) => status);
        expect(statuses.toSorted()).to.deep.equal([200, 404, 404]);
        expect(await test.store.users.operators()).to.equal(1);
      } finally {
        await test.stop();
        await database.remove();
      }
    });
  }
});
