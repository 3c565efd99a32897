// Emails with links: password reset, registration and invitation, against a real mail server on loopback.
import { expect } from 'chai';
import { createMailer } from '../../lib/users/mail.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { comeIn, createVisitor, PASSWORD, setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

describe('emails with a link', () => {
  let smtp: MailServer;
  let test: TestGateway;

  before(async () => {
    smtp = await startMailServer();
    const SMTP_URL = smtp.url;
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, env: { SMTP_URL, REGISTRATION: 'open' } });
  });
  after(async () => {
    await test?.stop();
    await smtp.stop();
  });

  const visitor = () => createVisitor(test.url);

  const letterTo = async (address: string) => (await smtp.letterTo(address)).text;
  const linkIn = (text: string) => /http\S+token=\S+/.exec(text)?.[0] ?? '';

  it('reset the password of an owner and end all sessions', async () => {
    const owner = await setUpOwner(test, (await test.account()).id);
    expect((await visitor().get('/login')).text)
      .to.contain('href="/reset"')
      .and.to.contain('href="/register"');
    const sent = await visitor().submit('/reset', { email: owner.email.toUpperCase() });
    expect([sent.status, sent.text.includes('on its way')]).to.deep.equal([200, true]);
    const link = linkIn(await letterTo(owner.email));
    const fresh = 'a fresh one from mail';
    await comeIn(test, link, { password: fresh, again: fresh });
    expect((await owner.get('/account')).status).to.equal(303);
    const login = (password: string) => visitor().submit('/login', { email: owner.email, password, code: '' });
    expect([(await login(PASSWORD)).status, (await login(fresh)).status]).to.deep.equal([401, 303]);
    expect((await visitor().get(link.slice(test.url.length))).status).to.equal(404);
  });

  it('give every address the same answer, and are not sent to unknown users or operators', async () => {
    await setUpOperator(test);
    // Operators also get alerts, of a disk that fills for example.
    const countLinks = () => smtp.letters.filter(({ text }) => linkIn(text) !== '').length;
    const before = countLinks();
    const texts = await Promise.all(
      ['op@example.com', 'nobody@example.com'].map(async (email) => (await visitor().submit('/reset', { email })).text),
    );
    expect(texts[0]).to.contain('on its way');
    const bare = (text: string) => text.replaceAll(/value="[^"]*"/g, '');
    expect(bare(texts[0] ?? '')).to.equal(bare(texts[1] ?? ''));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(countLinks()).to.equal(before);
    expect((await visitor().submit('/reset', { email: 'x' })).status).to.equal(400);
  });

  it('are limited per address', async () => {
    const ask = () => visitor().submit('/reset', { email: 'flooded@example.com' });
    const statuses = [await ask(), await ask(), await ask(), await ask()].map(({ status }) => status);
    expect(statuses).to.deep.equal([200, 200, 200, 429]);
  });

  it('open an account for users who register', async () => {
    await visitor().submit('/register', { email: 'new@example.com' });
    const person = await comeIn(test, linkIn(await letterTo('new@example.com')), { code: '' });
    expect((await person.get('/account')).status).to.equal(200);
    const user = await test.store.users.find('new@example.com');
    const [membership] = await test.store.users.listUserMemberships(user?.id ?? '');
    expect(await test.store.accounts.get(membership?.account ?? '')).to.include({ name: 'new@example.com' });
    expect(await test.store.ledger.wallet(membership?.account ?? '')).to.include({ avail: 0n, topped: 0n });
  });

  it('contain links below PUBLIC_URL, whatever the host of the request', async () => {
    const owner = await setUpOwner(test, (await test.account()).id);
    const person = visitor();
    await person.get('/reset');
    await person.submit('/reset', { email: owner.email }, { headers: { host: 'evil.example' } });
    expect(linkIn(await letterTo(owner.email))).to.match(new RegExp(`^${test.url}/reset\\?token=`));
  });

  it('are explained on the page that asks for an address, with a link back to sign-in', async () => {
    const asking: readonly (readonly [path: string, words: string, back: string])[] = [
      ['/reset?lang=en', 'a link to set a new password', 'Back to sign-in'],
      ['/reset?lang=ru', 'чтобы задать новый пароль', 'Вернуться ко входу'],
      ['/register?lang=en', 'set a password and open your account', 'Back to sign-in'],
      ['/register?lang=ru', 'задать пароль и открыть аккаунт', 'Вернуться ко входу'],
    ];
    for (const [at, [path, words, back]] of asking.entries()) {
      const link = `<a href="/login">${back}</a>`;
      const person = visitor();
      expect((await person.get(path)).text, path)
        .to.contain(words)
        .and.to.contain(link);
      const [action = ''] = path.split('?');
      const sent = await person.submit(path, { email: `nobody-${at}@example.com` }, { action });
      expect(sent.status, path).to.equal(200);
      expect(sent.text, path).to.contain(link).and.not.to.contain(words);
      // Whoever has access already waits for no email.
      expect(sent.text.includes('<a href="/reset">'), path).to.equal(action === '/register');
    }
  });

  it('that the mail server refuses are only logged', async () => {
    const mailer = createMailer(`smtp://gate:wrong@127.0.0.1:${smtp.port}`, 'gate@example.com');
    const failure = await mailer.send({ to: 'a@example.com', subject: 's', text: 't' }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure).to.be.instanceOf(Error);
    mailer.close();
    for (const url of ['http://x', 'smtp://', 'mail.example.com']) {
      expect(() => createMailer(url, 'gate@example.com'), url).to.throw('SMTP_URL must be an smtp');
    }
  });
});
