// What people set: password, authenticator app, sessions, language, and their data as a file.
import { expect } from 'chai';
import { formatOf } from '../../lib/web/language.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { codeOf, createVisitor, hiddenFields, PASSWORD, setUpOwner } from '../../testkit/pages.ts';

const PATH = '/account/settings';

describe('settings of a person', () => {
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
  const signIn = (email: string, password: string, code = '') =>
    createVisitor(test.url).submit('/login', { email, password, code });

  it('change the password, which ends all other sessions', async () => {
    const owner = await comeIn();
    const other = createVisitor(test.url);
    await other.submit('/login', { email: owner.email, password: PASSWORD, code: '' });
    const fresh = 'another tulip in rain';
    for (const [fields, words] of [
      [{ old: 'wrong password', password: fresh, again: fresh }, 'not your current password'],
      [{ old: PASSWORD, password: 'short', again: 'short' }, 'shorter than'],
      [{ old: PASSWORD, password: fresh, again: 'something else here' }, 'differ'],
    ] as const) {
      const reply = await change(owner, 'password', { ...fields });
      expect([reply.status, reply.text.includes(words)], words).to.deep.equal([400, true]);
    }
    expect((await change(owner, 'password', { old: PASSWORD, password: fresh, again: fresh })).status).to.equal(303);
    expect((await owner.get('/account')).status).to.equal(200);
    expect((await other.get('/account')).status).to.equal(303);
    expect((await signIn(owner.email, PASSWORD)).status).to.equal(401);
    expect((await signIn(owner.email, fresh)).status).to.equal(303);
  });

  it('set up an app, after which a code or a recovery code is asked for, each once', async () => {
    const owner = await comeIn();
    const { secret = '' } = appFields((await owner.get(PATH)).text);
    expect((await change(owner, 'app', { secret, code: '000000' })).status).to.equal(400);
    expect((await change(owner, 'app', { secret: 'x', code: codeOf(secret) })).status).to.equal(400);
    const code = codeOf(secret);
    const done = await change(owner, 'app', { secret, code });
    const [, recovery = ''] = /<code>([0-9a-z]{5}-[0-9a-z]{5})</.exec(done.text) ?? [];
    expect((await signIn(owner.email, PASSWORD)).status).to.equal(401);
    expect((await signIn(owner.email, PASSWORD, code)).status, 'the code of the set-up').to.equal(401);
    expect((await signIn(owner.email, PASSWORD, codeOf(secret, 1))).status).to.equal(303);
    expect((await signIn(owner.email, PASSWORD, recovery)).status).to.equal(303);
    expect((await signIn(owner.email, PASSWORD, recovery)).status).to.equal(401);
    expect((await owner.get(PATH)).text).to.contain('Recovery codes left: 9');
  });

  it('end all other sessions', async () => {
    const owner = await comeIn();
    const other = createVisitor(test.url);
    await other.submit('/login', { email: owner.email, password: PASSWORD, code: '' });
    expect((await change(owner, 'sessions', {})).status).to.equal(303);
    expect([(await owner.get('/account')).status, (await other.get('/account')).status]).to.deep.equal([200, 303]);
  });

  it('show who it is, and for which account', async () => {
    const owner = await comeIn();
    expect((await owner.get(PATH)).text)
      .to.contain(`<dd>${owner.email}</dd>`)
      .and.to.contain(`<code>${owner.account}</code>`);
  });

  it('choose language and time zone, and refuse a zone that is none', async () => {
    const owner = await comeIn();
    for (const timeZone of ['', 'Mars/Olympus', 'x'.repeat(100)]) {
      expect((await change(owner, 'profile', { language: 'ru', timeZone })).status).to.equal(400);
    }
    expect((await change(owner, 'profile', { language: 'ru', timeZone: 'Asia/Omsk' })).status).to.equal(303);
    expect(await test.store.users.find(owner.email)).to.include({ language: 'ru', timeZone: 'Asia/Omsk' });
    expect((await owner.get('/account')).text).to.contain('<html lang="ru">');
    const user = await test.store.users.find(owner.email);
    const [session] = await test.store.sessions.list(user?.id ?? '');
    const began = (zone: string) => formatOf('ru', zone).time(session?.createdAt ?? 0);
    expect((await owner.get(PATH)).text)
      .to.contain(began('Asia/Omsk'))
      .and.not.to.contain(began('Europe/Moscow'));
    // What is chosen there is what the page speaks: saving a time zone does not change the language.
    expect((await owner.get(`${PATH}?lang=en`)).text).to.contain('<option value="en" selected>');
    await change(owner, 'profile', { language: 'tlh', timeZone: 'UTC' });
    expect(await test.store.users.find(owner.email)).to.include({ language: 'ru', timeZone: 'UTC' });
  });

  it('hand out what is stored, without secrets', async () => {
    const owner = await comeIn();
    const { json, headers, text } = await owner.get(`${PATH}/export`);
    expect(headers['content-disposition']).to.match(/^attachment/);
    expect(json.user.email).to.equal(owner.email);
    expect(json.account).to.deep.include({ id: owner.account, status: 'active' });
    expect(json.keys).to.have.length(1);
    expect(text).not.to.match(/argon2|hash|[0-9a-f]{64}/);
  });
});

function appFields(text: string): Readonly<Record<string, string>> {
  const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(text) ?? [];
  return { secret };
}
