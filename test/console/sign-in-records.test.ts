// Each sign-in attempt leaves one line in the audit log and one count; a throttled one leaves only the count.
import { expect } from 'chai';
import { createPeople } from '../../lib/users/people.ts';
import { hashRecoveryCode, makeTotpSecret } from '../../lib/users/totp.ts';
import { type Exposition, scrape } from '../../testkit/exposition.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { comeIn, createVisitor, makeCode, PASSWORD, setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { startMailServer } from '../../testkit/smtp.ts';

describe('the audit log of sign-ins', () => {
  let smtp: Awaited<ReturnType<typeof startMailServer>>;
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let earlier: Exposition;
  let seq: number;

  before(async () => {
    smtp = await startMailServer();
    const env = { SMTP_URL: smtp.url, REGISTRATION: 'open', METRICS_PORT: '0' };
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, env });
    operator = await setUpOperator(test);
  });
  beforeEach(async () => {
    await test.store.sessions.forget('address:127.0.0.1');
    earlier = await scrape(test.gateway.facts.metricsUrl ?? '');
    seq = (await test.store.auditLog.page({ limit: 1 }))[0]?.seq ?? 0;
  });
  after(async () => {
    await test?.stop();
    await smtp.stop();
  });

  const owner = async () => setUpOwner(test, (await test.account()).id);
  const findUserId = async (email: string) => (await test.store.users.find(email))?.id ?? '';
  const signIn = (email: string, password = PASSWORD, code = '') =>
    createVisitor(test.url).submit('/login', { email, password, code });

  /** The log lines of the test, oldest first. */
  async function lines(): Promise<readonly object[]> {
    const found = (await test.store.auditLog.page({ limit: 100 })).filter((row) => row.seq > seq).reverse();
    return found
      .filter(({ action }) => action.startsWith('sign_in.'))
      .map(({ user, action, target, detail, address }) => {
        expect([target, address]).to.deep.equal([user === '-' ? '' : user, '127.0.0.1']);
        return { user, action, ...JSON.parse(detail) };
      });
  }

  async function counted(factor: string, result: string): Promise<number> {
    const now = await scrape(test.gateway.facts.metricsUrl ?? '');
    const labels = { factor, result };
    return now.sum('tollgate_sign_ins_total', labels) - earlier.sum('tollgate_sign_ins_total', labels);
  }

  it('records right and wrong passwords of known and unknown users, without the passwords', async () => {
    const { email } = await owner();
    const user = await findUserId(email);
    await signIn(email);
    await signIn(email, 'not the password');
    await signIn('nobody@example.com');
    await signIn('my password, typed too early');
    const page = '/login';
    expect(await lines()).to.deep.equal([
      { user, action: 'sign_in.password', result: 'ok', page, email },
      { user, action: 'sign_in.password', result: 'wrong', page, email },
      { user: '-', action: 'sign_in.password', result: 'wrong', page, email: 'nobody@example.com' },
      { user: '-', action: 'sign_in.password', result: 'wrong', page },
    ]);
    expect([await counted('password', 'ok'), await counted('password', 'wrong')]).to.deep.equal([1, 3]);
  });

  it('records codes and recovery codes', async () => {
    const { email } = await owner();
    const user = await test.store.users.find(email);
    if (!user) throw new Error('there is no owner');
    const secret = makeTotpSecret();
    await test.store.users.change({ ...user, totpSecret: secret, recovery: [hashRecoveryCode('abcde-fghjk')] });
    await signIn(email, PASSWORD, '000000');
    await signIn(email, PASSWORD, makeCode(secret));
    await signIn(email, PASSWORD, 'abcde-fghjk');
    const of = user.id;
    const page = '/login';
    expect(await lines()).to.deep.equal([
      { user: of, action: 'sign_in.code', result: 'wrong', page, email },
      { user: of, action: 'sign_in.code', result: 'ok', page, email },
      { user: of, action: 'sign_in.recovery', result: 'ok', page, email },
    ]);
    expect([
      await counted('code', 'wrong'),
      await counted('code', 'ok'),
      await counted('recovery', 'ok'),
    ]).to.deep.equal([...[1, 1, 1]]);
  });

  it('records the codes that confirm changes of operators', async () => {
    const at = Date.now() - 11 * 60_000;
    const user = await test.store.users.find('op@example.com');
    for (const { hash } of await test.store.sessions.list(user?.id ?? '')) {
      await test.store.sessions.touch(hash, { seenAt: Date.now(), provenAt: at });
    }
    const change = (code: string) => operator.submit('/admin/accounts', { name: 'new one', code });
    expect((await change('000000')).status).to.equal(403);
    expect((await change('')).status).to.equal(403);
    expect((await change(makeCode(operator.secret, 1))).status).to.equal(303);
    const line = { user: user?.id, action: 'sign_in.code', page: '/admin/accounts' };
    expect(await lines()).to.deep.equal([
      { ...line, result: 'wrong' },
      { ...line, result: 'wrong' },
      { ...line, result: 'ok' },
    ]);
  });

  it('records requested emails and used links', async () => {
    const { email } = await owner();
    const user = await findUserId(email);
    const [fresh, stranger] = ['fresh@example.com', createVisitor(test.url)];
    await stranger.submit('/reset', { email });
    await stranger.submit('/register', { email: fresh });
    await stranger.submit('/register', { email: 'not one' });
    const linkTo = async (address: string) =>
      /http\S+token=[\w-]+/.exec((await smtp.letterTo(address)).text)?.[0] ?? '';
    await comeIn(test, await linkTo(email));
    await comeIn(test, await linkTo(fresh), { code: '' });
    expect(await lines()).to.deep.equal([
      { user, action: 'sign_in.reset', result: 'ok', page: '/reset', email },
      { user: '-', action: 'sign_in.register', result: 'ok', page: '/register', email: fresh },
      { user, action: 'sign_in.link', result: 'ok', page: '/reset', purpose: 'reset' },
      { user: await findUserId(fresh), action: 'sign_in.link', result: 'ok', page: '/setup', purpose: 'verify' },
    ]);
    expect([await counted('reset', 'ok'), await counted('register', 'ok'), await counted('link', 'ok')]).to.deep.equal([
      ...[1, 1, 2],
    ]);
  });

  it('records the first twenty unknown links of a network', async () => {
    const visitor = createVisitor(test.url);
    const path = `/setup?token=${await createPeople(test).makeLink({ purpose: 'invite', email: 'a@example.com' })}`;
    const page = await visitor.get(path);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    for (let time = 0; time < 25; time += 1) {
      const reply = await visitor.post(`/setup?token=${'A'.repeat(43)}`, { csrf });
      expect([reply.status, reply.text.includes('unknown')]).to.deep.equal([404, true]);
    }
    const line = { user: '-', action: 'sign_in.link', result: 'wrong', page: '/setup' };
    expect(await lines()).to.deep.equal(new Array(20).fill(line));
    expect([await counted('link', 'wrong'), await counted('link', 'wait')]).to.deep.equal([20, 5]);
  });

  it('only counts throttled attempts', async () => {
    const { email } = await owner();
    const ends = await Promise.all(Array.from({ length: 12 }, () => signIn(email, 'not the password')));
    expect(ends.filter(({ status }) => status === 401)).to.have.length(5);
    expect(await lines()).to.have.length(5);
    expect([await counted('password', 'wrong'), await counted('password', 'wait')]).to.deep.equal([5, 7]);
    const stranger = createVisitor(test.url);
    for (let time = 0; time < 5; time += 1) await stranger.submit('/reset', { email });
    expect((await lines()).slice(5)).to.have.length(3);
    expect(await counted('reset', 'wait')).to.equal(2);
  });

  it('is shown as text in both languages', async () => {
    await signIn('nobody-else@example.com');
    for (const [language, words] of [
      ['en', ['signed in with a password', 'result: refused, page: /login, email: nobody-else@example.com']],
      ['ru', ['вход по паролю', 'результат: отказано, страница: /login, почта: nobody-else@example.com']],
    ] as const) {
      const { text } = await operator.get(`/admin/audit?lang=${language}`);
      for (const word of words) expect(text).to.contain(word);
    }
  });
});
