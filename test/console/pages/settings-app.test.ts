// Two-step sign-in in the settings: a session alone cannot set it up, replace or remove it, and the user is notified.
import { expect } from 'chai';
import { MINUTE_MS } from '../../../lib/base/durations.ts';
import type { User } from '../../../lib/store/ports/users.ts';
import { makeTotpSecret } from '../../../lib/users/totp.ts';
import { until } from '../../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { createVisitor, hiddenFields, makeCode, PASSWORD, setUpOperator, setUpOwner } from '../../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../../testkit/smtp.ts';

const PATH = '/account/settings';

describe('the authenticator app in the settings', () => {
  let smtp: MailServer;
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;

  before(async () => {
    smtp = await startMailServer();
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, env: { SMTP_URL: smtp.url } });
    operator = await setUpOperator(test);
  });
  beforeEach(() => test.store.sessions.forget('address:127.0.0.1'));
  after(async () => {
    await test?.stop();
    await smtp.stop();
  });

  type Person = Pick<typeof operator, 'get' | 'post'>;
  const comeIn = async () => setUpOwner(test, (await test.account()).id);
  const findUser = async (email: string) => (await test.store.users.find(email)) as User;
  const signIn = async (email: string, code: string) =>
    (await createVisitor(test.url).submit('/login', { email, password: PASSWORD, code })).status;

  async function change(person: Person, name: string, fields: Record<string, string>) {
    const { csrf = '' } = hiddenFields((await person.get(PATH)).text, PATH);
    return person.post(PATH, { csrf, change: name, ...fields });
  }
  /** Emails are sent while the page is answered. */
  const told = (email: string, subject: string) =>
    until(() => smtp.letters.some(({ to, head }) => to === email && head.includes(`Subject: ${subject}`)));
  const recoveryCodes = (text: string) =>
    [...text.matchAll(/<code>([0-9a-z]{5}-[0-9a-z]{5})</g)].map(([, code]) => code ?? '');

  async function withApp() {
    const owner = await comeIn();
    const secret = makeTotpSecret();
    const reply = await change(owner, 'app', { secret, code: makeCode(secret), old: PASSWORD });
    expect(reply.status, reply.text).to.equal(200);
    return { ...owner, secret, codes: recoveryCodes(reply.text) };
  }

  it('is set up with the password; then sign-in needs a code or recovery code, each valid once', async () => {
    const owner = await comeIn();
    const page = (await owner.get(PATH)).text;
    expect(page)
      .to.contain('<legend>Two-step sign-in</legend>')
      .and.to.match(/<input id="code"[^>]* required/);
    const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(page) ?? [];
    for (const [fields, words] of [
      [{ secret, code: '000000', old: PASSWORD }, 'The code is wrong'],
      [{ secret: 'x', code: makeCode(secret), old: PASSWORD }, 'The code is wrong'],
      [{ secret, code: makeCode(secret) }, 'The current password is wrong'],
      [{ secret, code: makeCode(secret), old: 'not the password' }, 'The current password is wrong'],
    ] as const) {
      const reply = await change(owner, 'app', { ...fields });
      expect([reply.status, reply.text.includes(words)], words).to.deep.equal([400, true]);
      // The scanned secret stays valid for another try.
      if (fields.secret === secret) expect(reply.text).to.contain(`name="secret" value="${secret}"`);
      expect(await findUser(owner.email)).to.include({ totpSecret: null });
    }
    const code = makeCode(secret);
    const done = await change(owner, 'app', { secret, code, old: PASSWORD });
    const [recovery = ''] = recoveryCodes(done.text);
    expect(await signIn(owner.email, '')).to.equal(401);
    expect(await signIn(owner.email, code), 'the code of the set-up').to.equal(401);
    expect(await signIn(owner.email, makeCode(secret, 1))).to.equal(303);
    expect(await signIn(owner.email, recovery)).to.equal(303);
    expect(await signIn(owner.email, recovery)).to.equal(401);
    expect((await owner.get(PATH)).text).to.contain('Recovery codes left: 9');
    await told(owner.email, 'Two-step sign-in was turned on');
  });

  it('is replaced only with a code of the current one', async () => {
    const owner = await withApp();
    const secret = makeTotpSecret();
    const ways: readonly (readonly [fields: Readonly<Record<string, string>>, words: string])[] = [
      [{}, 'The current password is wrong'],
      [{ old: PASSWORD }, 'The code is wrong'],
      [{ old: PASSWORD, present: makeCode(secret) }, 'The code is wrong'],
      [{ present: makeCode(owner.secret, 1) }, 'The current password is wrong'],
    ];
    for (const [fields, words] of ways) {
      const reply = await change(owner, 'app', { secret, code: makeCode(secret), ...fields });
      expect([reply.status, reply.text.includes(words)], JSON.stringify(fields)).to.deep.equal([400, true]);
      expect(await findUser(owner.email)).to.include({ totpSecret: owner.secret });
    }
    const other = createVisitor(test.url);
    await other.submit('/login', { email: owner.email, password: PASSWORD, code: owner.codes[0] ?? '' });
    const given = { old: PASSWORD, present: makeCode(owner.secret, 1) };
    expect((await change(owner, 'app', { secret, code: makeCode(secret), ...given })).status).to.equal(200);
    expect(await findUser(owner.email)).to.include({ totpSecret: secret });
    expect([(await owner.get('/account')).status, (await other.get('/account')).status]).to.deep.equal([200, 303]);
    expect(await signIn(owner.email, owner.codes[1] ?? ''), 'a recovery code of before').to.equal(401);
    await told(owner.email, 'Your authenticator app was replaced');
    const again = makeTotpSecret();
    const byRecovery = { old: PASSWORD, present: owner.codes[2] ?? '' };
    expect((await change(owner, 'app', { secret: again, code: makeCode(again), ...byRecovery })).status).to.equal(400);
  });

  it('is replaced with a recovery code as well', async () => {
    const owner = await withApp();
    const secret = makeTotpSecret();
    const given = { old: PASSWORD, present: owner.codes[0] ?? '' };
    expect((await change(owner, 'app', { secret, code: makeCode(secret), ...given })).status).to.equal(200);
    expect(await findUser(owner.email)).to.include({ totpSecret: secret });
  });

  it('of an operator cannot be replaced by a session that was left open', async () => {
    const user = await findUser('op@example.com');
    const account = await test.account('0');
    await test.store.users.join({ user: user.id, account: account.id, role: 'owner' });
    const [session] = await test.store.sessions.list(user.id);
    const { hash = '', seenAt = 0 } = session ?? {};
    await test.store.sessions.touch(hash, { seenAt, provenAt: seenAt - 11 * MINUTE_MS });
    const secret = makeTotpSecret();
    const refused: readonly Record<string, string>[] = [
      {},
      { old: 'not the password' },
      { old: PASSWORD, present: makeCode(secret) },
    ];
    for (const fields of refused) {
      expect((await change(operator, 'app', { secret, code: makeCode(secret), ...fields })).status).to.equal(400);
    }
    const topup = { change: 'topup', amount: '100000', payment: 'invented', code: makeCode(secret, 1) };
    expect((await operator.submit(`/admin/accounts/${account.id}`, topup)).status).to.equal(403);
    expect(await test.wallet(account)).to.include({ topped: 0n });
    expect(await findUser('op@example.com')).to.include({ totpSecret: operator.secret });
    // Operators always have an app.
    expect((await operator.get(PATH)).text)
      .to.contain('value="codes"')
      .and.not.to.contain('value="app_off"');
    const off = { old: PASSWORD, present: makeCode(operator.secret, 1) };
    expect((await change(operator, 'app_off', off)).status).to.equal(400);
    expect(await findUser('op@example.com')).to.include({ totpSecret: operator.secret });
  });

  it('gets new recovery codes, which replace the old ones', async () => {
    const owner = await withApp();
    const [before = '', present = ''] = owner.codes;
    const refused: readonly Record<string, string>[] = [{}, { old: PASSWORD }, { present }];
    for (const fields of refused) {
      expect((await change(owner, 'codes', fields)).status).to.equal(400);
    }
    const reply = await change(owner, 'codes', { old: PASSWORD, present });
    const codes = recoveryCodes(reply.text);
    expect([reply.status, codes.length]).to.deep.equal([200, 10]);
    expect([await signIn(owner.email, before), await signIn(owner.email, codes[0] ?? '')]).to.deep.equal([401, 303]);
    await told(owner.email, 'Your recovery codes were replaced');
  });

  it('is removed with the password and a code; then the password is enough', async () => {
    const owner = await withApp();
    const present = owner.codes[0] ?? '';
    const refused: readonly Record<string, string>[] = [{}, { old: PASSWORD }, { present }];
    for (const fields of refused) {
      expect((await change(owner, 'app_off', fields)).status).to.equal(400);
    }
    const reply = await change(owner, 'app_off', { old: PASSWORD, present });
    expect([reply.status, reply.headers.location]).to.deep.equal([303, `${PATH}?done=app_off`]);
    expect((await owner.get(`${PATH}?done=app_off`)).text).to.contain('Two-step sign-in is off.');
    expect(await findUser(owner.email)).to.deep.include({ totpSecret: null, totpStep: -1, recovery: [] });
    expect(await signIn(owner.email, '')).to.equal(303);
    await told(owner.email, 'Two-step sign-in was turned off');
    expect((await change(owner, 'app_off', { old: PASSWORD })).status).to.equal(400);
    const actions = (await test.store.auditLog.page({ limit: 30 })).map(({ action }) => action);
    expect(actions).to.include.members(['user.app', 'user.app_off', 'user.codes', 'sign_in.recovery']);
  });

  it('throttles guesses of its codes', async () => {
    const owner = await withApp();
    const secret = makeTotpSecret();
    const guess = () => change(owner, 'app', { secret, code: makeCode(secret), old: PASSWORD, present: '000000' });
    const statuses: number[] = [];
    while (statuses.length < 12 && statuses.at(-1) !== 429) statuses.push((await guess()).status);
    expect(statuses.at(-1)).to.equal(429);
    expect((await guess()).text).to.contain('Too many attempts');
    await test.store.sessions.forget(`mail:${owner.email}`);
  });

  it('is not offered to a guest without a password', async () => {
    const owner = await comeIn();
    await test.store.users.change({ ...(await findUser(owner.email)), password: null });
    expect((await owner.get(PATH)).text).not.to.contain('name="secret"');
    const secret = makeTotpSecret();
    const reply = await change(owner, 'app', { secret, code: makeCode(secret), old: '' });
    expect(reply.status).to.equal(400);
    expect(await findUser(owner.email)).to.include({ totpSecret: null });
  });

  it("is mailed about in the user's language", async () => {
    const owner = await comeIn();
    await test.store.users.change({ ...(await findUser(owner.email)), language: 'ru' });
    const secret = makeTotpSecret();
    expect((await owner.get(`${PATH}?lang=ru`)).text).to.contain('Текущий пароль');
    await change(owner, 'app', { secret, code: makeCode(secret), old: PASSWORD });
    const { text } = await smtp.letterTo(owner.email);
    expect(text).to.contain('Настроено приложение-аутентификатор').and.to.contain(`${test.url}/reset`);
  });
});
