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
  async function pathOf(request: LinkRequest): Promise<string> {
    return `/setup?token=${await createPeople({ store: test.store }).makeLink(request)}`;
  }
  const use = (path: string, fields: Readonly<Record<string, string>>) =>
    visitor().submit(path, { password: PASSWORD, again: PASSWORD, code: '', ...fields });
  const linkIn = (text: string) => /http\S+token=[\w-]+/.exec(text)?.[0] ?? '';

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
      const at = Date.now() - HOUR_MS;
      const name = `letters:reset:${email}:${Math.floor(at / HOUR_MS)}`;
      for (let time = 0; time < 9; time += 1) {
        await test.store.sessions.count(name, { now: at, since: 0, waitsMs: [0] });
      }
      expect((await ask('/reset', email)).status).to.equal(200);
    });
  });
});
