// Signing in and out: setup links, passwords and codes, and what strangers try.
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import {
  comeIn,
  createVisitor,
  hiddenFields,
  makeCode,
  PASSWORD,
  setUpOperator,
  setUpOwner,
} from '../../testkit/pages.ts';

const EMPTY = { upstreams: {}, models: [] };

describe('signing in', () => {
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let ownerEmail: string;
  let account: string;

  before(async () => {
    test = await startGateway({ catalog: EMPTY });
    operator = await setUpOperator(test);
    account = (await test.account()).id;
    ownerEmail = (await setUpOwner(test, account)).email;
  });
  after(() => test.stop());

  const visitor = () => createVisitor(test.url);
  const signIn = (email: string, more: Record<string, string> = {}) =>
    visitor().submit('/login', { email, password: PASSWORD, code: '', ...more });

  describe('with the first setup link', () => {
    it('creates and signs in the operator, and shows recovery codes', async () => {
      expect((await operator.get('/admin')).status).to.equal(200);
      const user = await test.store.users.find('op@example.com');
      expect(user).to.include({ operator: true, status: 'active', totpSecret: operator.secret });
      expect(user?.recovery).to.have.length(10);
    });

    it('works once', async () => {
      const link = test.gateway.facts.links.setup ?? '';
      const again = await visitor().get(link.slice(test.url.length));
      expect(again.status).to.equal(404);
      expect(again.text).to.contain('unknown, used or expired');
    });

    it('is not used up by opening it, and shows what was wrong', async () => {
      const { createPeople } = await import('../../lib/users/people.ts');
      const token = await createPeople({ store: test.store }).makeLink({
        purpose: 'operator',
        email: 'two@example.com',
      });
      const path = `/setup?token=${token}`;
      const person = visitor();
      await person.get(path);
      const sent = async (fields: Record<string, string>) =>
        person.submit(path, { password: PASSWORD, again: PASSWORD, ...fields });
      for (const [fields, words] of [
        [{ code: '000000' }, 'wrong or has already been used'],
        [{ code: '' }, 'wrong or has already been used'],
        [{ password: 'short', again: 'short' }, 'shorter than 10'],
        [{ password: 'password123', again: 'password123' }, 'easy to guess'],
        [{ again: 'another one entirely' }, 'passwords do not match'],
      ] as const) {
        const reply = await sent({ ...fields });
        expect(reply.status, words).to.equal(400);
        expect(reply.text).to.contain(words);
      }
      expect(await test.store.users.find('two@example.com')).to.equal(undefined);
      const two = await comeIn(test, `${test.url}${path}`);
      expect((await two.get('/admin')).status).to.equal(200);
    });

    it('is no longer printed once there is an operator', async () => {
      expect(await test.store.users.operators()).to.be.at.least(1);
      const other = await startGateway({ catalog: EMPTY, folder: test.folder });
      expect(other.gateway.facts.links).to.deep.equal({});
      await other.stop();
    });

    it('explains where to find it when it is missing', async () => {
      const reply = await visitor().get('/setup');
      expect([reply.status, reply.text]).to.satisfy(
        ([status, text]: [number, string]) => status === 200 && /first link is printed when it starts/.test(text),
      );
      // Without a token, no link can be unknown.
      expect(reply.text).not.to.contain('This link is unknown');
      expect((await visitor().get('/setup?token=x')).text).to.contain('This link is unknown');
    });
  });

  describe('with a password', () => {
    it('leads an owner to the account, with a cookie hidden from scripts', async () => {
      const reply = await signIn(ownerEmail);
      expect([reply.status, reply.headers.location]).to.deep.equal([303, '/account']);
      const [cookie = ''] = reply.headers['set-cookie'] ?? [];
      expect(cookie).to.match(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    });

    it('asks an operator for a code, which works once', async () => {
      expect((await signIn('op@example.com')).status).to.equal(401);
      // Earlier codes were used during setup.
      const code = makeCode(operator.secret, 1);
      expect((await signIn('op@example.com', { code })).headers.location).to.equal('/admin');
      expect((await signIn('op@example.com', { code })).status).to.equal(401);
    });

    it('knows an address by its domain in letters, on sign-in and in the searches of operators', async () => {
      const { id } = await test.account();
      await setUpOwner(test, id, 'ivan@xn--80a1acny.xn--p1ai');
      const reply = await visitor().submit('/login', { email: 'ivan@почта.рф', password: PASSWORD, code: '' });
      expect([reply.status, reply.headers.location]).to.deep.equal([303, '/account']);
      const search = async (path: string) =>
        (await operator.get(`${path}?q=${encodeURIComponent('ivan@почта.рф')}`)).text;
      expect(await search('/admin/people')).to.contain('ivan@xn--80a1acny.xn--p1ai');
      expect(await search('/admin/accounts')).to.contain(id);
    });

    it('answers an unknown address as it does a wrong password', async () => {
      const unknown = await visitor().submit('/login', { email: 'x@example.com', password: PASSWORD, code: '' });
      const wrong = await visitor().submit('/login', { email: ownerEmail, password: 'not the password', code: '' });
      expect([unknown.status, wrong.status]).to.deep.equal([401, 401]);
      const bare = (text: string) => text.replaceAll(/value="[^"]*"/g, '');
      expect(bare(unknown.text)).to.equal(bare(wrong.text));
    });

    it('throttles guesses, also for an unknown address', async () => {
      const guesser = visitor();
      const statuses: number[] = [];
      for (let guess = 0; guess < 7; guess += 1) {
        const reply = await guesser.submit('/login', {
          email: 'guessed@example.com',
          password: `guess ${guess}`,
          code: '',
        });
        statuses.push(reply.status);
      }
      expect(statuses.slice(0, 5)).to.deep.equal([401, 401, 401, 401, 401]);
      expect(statuses.at(-1)).to.equal(429);
    });

    it('never locks out a known device, whatever strangers guess', async () => {
      const person = visitor();
      const comeBack = () => person.submit('/login', { email: ownerEmail, password: PASSWORD, code: '' });
      expect((await comeBack()).status).to.equal(303);
      const rule = { now: Date.now(), since: 0, waitsMs: [0] };
      const names = [`mail:${ownerEmail}`, 'address:127.0.0.1'];
      for (let guess = 0; guess < 30; guess += 1) {
        for (const name of names) await test.store.sessions.count(name, rule);
      }
      const before = await Promise.all(names.map((name) => test.store.sessions.attempts(name)));
      const refused = await signIn(ownerEmail);
      expect(refused.status).to.equal(429);
      expect(Number(refused.headers['retry-after'])).to.be.above(0);
      expect((await comeBack()).status).to.equal(303);
      // Neither attempt extends the wait.
      expect(await Promise.all(names.map((name) => test.store.sessions.attempts(name)))).to.deep.equal(before);
      for (const name of names) await test.store.sessions.forget(name);
    });

    for (const [next, place] of [
      ['/account/keys', '/account/keys'],
      ['/account/keys?lang=ru', '/account/keys?lang=ru'],
      ['https://evil.example/account', '/account'],
      ['//evil.example/account', '/account'],
      ['/account//evil.example', '/account'],
      ['/\\evil.example', '/account'],
      ['/account/../api/v1/models', '/account'],
      ['/account\r\nset-cookie: a=b', '/account'],
      ['javascript:alert(1)', '/account'],
      ['/api/v1/models', '/account'],
    ] as const) {
      it(`redirects to ${place} for next=${JSON.stringify(next)}`, async () => {
        const path = `/login?next=${encodeURIComponent(next)}`;
        const reply = await visitor().submit(path, { email: ownerEmail, password: PASSWORD, code: '' });
        expect([reply.status, reply.headers.location]).to.deep.equal([303, place]);
      });
    }

    it('ends with sign-out, and with the suspension of the user', async () => {
      const person = visitor();
      await person.submit('/login', { email: ownerEmail, password: PASSWORD, code: '' });
      const stolen = person.cookies.get('session') ?? '';
      expect((await person.submit('/account', {}, { action: '/logout' })).headers.location).to.equal('/login');
      const reply = await visitor().get('/account', { headers: { cookie: `session=${stolen}` } });
      expect([reply.status, reply.headers.location]).to.deep.equal([303, '/login?next=%2Faccount']);

      await person.submit('/login', { email: ownerEmail, password: PASSWORD, code: '' });
      const user = await test.store.users.find(ownerEmail);
      if (!user) throw new Error('there is no owner');
      await test.store.users.change({ ...user, status: 'suspended' });
      expect((await person.get('/account')).status).to.equal(303);
      expect((await signIn(ownerEmail)).status).to.equal(401);
      await test.store.users.change({ ...user, version: user.version + 1 });
    });

    it('sends visitors without a session to the login, and back', async () => {
      const reply = await visitor().get('/account/keys?lang=ru');
      expect(reply.headers.location).to.equal('/login?next=%2Faccount%2Fkeys%3Flang%3Dru');
    });
  });

  describe('for strangers', () => {
    it('refuses a form without a token, or with the token of another session', async () => {
      const person = visitor();
      const fields = { email: ownerEmail, password: PASSWORD, code: '' };
      expect((await person.post('/login', fields)).status).to.equal(403);
      await person.get('/login');
      const { csrf = '' } = hiddenFields((await visitor().get('/login')).text, '/login');
      expect((await person.post('/login', { ...fields, csrf })).status).to.equal(403);
      expect((await person.post('/login', { ...fields, csrf: '' })).status).to.equal(403);
    });

    const foreign: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      it(`refuses a form with ${JSON.stringify(headers)}`, async () => {
        const reply = await visitor().submit(
          '/login',
          { email: ownerEmail, password: PASSWORD, code: '' },
          { headers },
        );
        expect(reply.status).to.equal(403);
        expect(reply.text).to.contain('another site');
      });
    }

    const hidden: readonly Record<string, string>[] = [
      { origin: 'https://gate.example', host: '127.0.0.1:8080' },
      { origin: 'null' },
    ];
    for (const headers of hidden) {
      it(`takes a form of its own page from a proxy, with ${JSON.stringify(headers)}`, async () => {
        const reply = await visitor().submit(
          '/login',
          { email: ownerEmail, password: PASSWORD, code: '' },
          { headers: { ...headers, 'sec-fetch-site': 'same-origin' } },
        );
        expect(reply.status).to.equal(303);
      });
    }

    it('refuses forms of another type, and forms that are too long', async () => {
      const person = visitor();
      await person.get('/login');
      const json = await person.post('/login', {}, { headers: { 'content-type': 'application/json' } });
      expect(json.status).to.equal(415);
      expect((await person.submit('/login', { email: 'x'.repeat(70_000) })).status).to.equal(413);
    });

    for (const cookie of [
      'session=',
      'session=x',
      `session=${'A'.repeat(43)}`,
      `session=a; session=b`,
      `session=${'x'.repeat(9000)}`,
    ]) {
      it(`ignores the cookie ${cookie.slice(0, 30)}`, async () => {
        const reply = await visitor().get('/account', { headers: { cookie } });
        expect(reply.status).to.equal(303);
      });
    }

    it('shows operator pages to operators only', async () => {
      const person = visitor();
      await person.submit('/login', { email: ownerEmail, password: PASSWORD, code: '' });
      for (const path of ['/admin', '/admin/accounts']) expect((await person.get(path)).status).to.equal(404);
    });

    it('answers unknown paths with a page, and other methods with 404 or 405', async () => {
      const page = await visitor().get('/account/nothing');
      expect([page.status, page.headers['content-type']]).to.deep.equal([404, 'text/html; charset=utf-8']);
      expect(page.text).to.contain('Страница не найдена. <a href="/account">Перейти в аккаунт</a>');
      const put = await visitor().get('/login', { method: 'PUT' });
      expect(put.status).to.be.oneOf([404, 405]);
    });
  });

  it('sends every page with a content policy and no caching', async () => {
    const reply = await visitor().get('/login');
    expect(reply.headers['content-security-policy']).to.match(
      /^default-src 'none';.*form-action 'self';.*frame-ancestors 'none'$/,
    );
    expect(reply.headers).to.include({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    });
    expect(reply.headers['access-control-allow-origin']).to.equal(undefined);
    expect(reply.text).not.to.match(/<script(?! type="module" src="\/static\/)|style="|onclick/);
  });

  it('serves its style and scripts, and no other files', async () => {
    const style = await visitor().get('/static/style.css');
    expect([style.status, style.headers['cache-control']]).to.deep.equal([200, 'public, max-age=3600']);
    expect(style.headers['content-type']).to.match(/^text\/css/);
    const load = (headers: Record<string, string>) => fetch(`${test.url}/static/style.css`, { headers });
    const small = await load({ 'accept-encoding': 'br, gzip' });
    expect([small.headers.get('content-encoding'), await small.text()]).to.deep.equal(['gzip', style.text]);
    expect((await load({ 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding')).to.equal(null);
    const tag = small.headers.get('etag') ?? '';
    expect((await load({ 'accept-encoding': 'gzip', 'if-none-match': tag })).status).to.equal(304);
    for (const path of [
      '/static/',
      '/static/..%2fface.ts',
      '/static/%2e%2e/face.ts',
      '/static/.hidden',
      '/static/none.js',
    ]) {
      expect((await visitor().get(path)).status, path).to.be.oneOf([400, 403, 404]);
    }
  });
});
