// Emails that anybody can request: strangers who request them for others neither block the owner's nor void links.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { comeIn, createVisitor, PASSWORD, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { startMailServer } from '../../testkit/smtp.ts';

describe('requested emails', () => {
  let smtp: Awaited<ReturnType<typeof startMailServer>>;
  let test: TestGateway;

  before(async () => {
    smtp = await startMailServer();
    const env = { SMTP_URL: smtp.url, REGISTRATION: 'open', TRUSTED_PROXIES: '1' };
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, env });
  });
  after(async () => {
    await test?.stop();
    await smtp.stop();
  });

  const owner = async () => setUpOwner(test, (await test.account()).id);
  let places = 0;
  /** Each time from another network, so that only the requested address is counted. */
  const ask = (path: string, email: string, visitor: Visitor = createVisitor(test.url)) => {
    places += 1;
    const headers = { 'x-forwarded-for': `192.0.2.${places}` };
    return visitor.submit(path, { email }, { headers });
  };
  const lettersTo = (email: string) => smtp.letters.filter(({ to }) => to === email);
  const linksTo = (email: string) => lettersTo(email).map(({ text }) => /http\S+token=[\w-]+/.exec(text)?.[0] ?? '');
  const hourly = (email: string, kind = 'reset') => `letters:${kind}:${email}:${Math.floor(Date.now() / HOUR_MS)}`;

  it('are limited to three an hour per address, and retries do not extend the wait', async () => {
    const { email } = await owner();
    for (let time = 0; time < 3; time += 1) expect((await ask('/reset', email)).status).to.equal(200);
    const counted = await test.store.sessions.attempts(hourly(email));
    const replies = [await ask('/reset', email), await ask('/reset', email)];
    for (const { status, text } of replies) {
      expect([status, text.includes('The links already sent still work')]).to.deep.equal([429, true]);
    }
    const [, seconds = ''] = /another in (\d+) s/.exec(replies[0]?.text ?? '') ?? [];
    expect(Number(seconds)).to.be.within(1, 3600);
    expect(await test.store.sessions.attempts(hourly(email))).to.deep.equal(counted);
    expect(counted?.count).to.equal(3);
  });

  it('keep earlier links valid until one of them is used', async () => {
    const { email } = await owner();
    for (let time = 0; time < 2; time += 1) await ask('/reset', email);
    await until(() => lettersTo(email).length === 2);
    const [first = '', second = ''] = linksTo(email);
    expect(first).not.to.equal(second);
    const fresh = 'another rain of tulips';
    await comeIn(test, first, { password: fresh, again: fresh });
    const late = await createVisitor(test.url).get(second.slice(test.url.length));
    expect(late.status).to.equal(404);
  });

  it('to register keep earlier links valid until the user exists', async () => {
    const email = 'new-here@example.com';
    for (let time = 0; time < 2; time += 1) await ask('/register', email);
    await until(() => lettersTo(email).length === 2);
    const [first = '', second = ''] = linksTo(email);
    await comeIn(test, first, { code: '' });
    expect((await createVisitor(test.url).get(second.slice(test.url.length))).status).to.equal(404);
  });

  it('to reset are not limited by requests to register', async () => {
    const { email } = await owner();
    for (let time = 0; time < 4; time += 1) await ask('/register', email);
    expect((await ask('/reset', email)).status).to.equal(200);
    await smtp.letterTo(email);
  });

  it('reach a known device of the owner, whatever strangers have requested', async () => {
    const { email } = await owner();
    const home = createVisitor(test.url);
    await home.submit('/login', { email, password: PASSWORD, code: '' });
    for (let time = 0; time < 4; time += 1) await ask('/reset', email);
    expect((await ask('/reset', email)).status).to.equal(429);
    await until(() => lettersTo(email).length === 3);
    for (let time = 0; time < 3; time += 1) expect((await ask('/reset', email, home)).status).to.equal(200);
    expect((await ask('/reset', email, home)).status).to.equal(429);
    await until(() => lettersTo(email).length === 6);
  });

  it('are counted anew each hour, so that one an hour never waits', async () => {
    const { email } = await owner();
    const before = `letters:reset:${email}:${Math.floor(Date.now() / HOUR_MS) - 1}`;
    const rule = { now: Date.now(), since: 0, waitsMs: [0] };
    for (let time = 0; time < 9; time += 1) await test.store.sessions.count(before, rule);
    for (let time = 0; time < 2; time += 1) expect((await ask('/reset', email)).status).to.equal(200);
  });

  it('do not count if they could not be sent', async () => {
    const { email } = await owner();
    smtp.refuse(email);
    for (let time = 0; time < 5; time += 1) {
      expect((await ask('/reset', email)).status).to.equal(200);
      await until(async () => (await test.store.sessions.attempts(hourly(email))) === undefined);
    }
    smtp.refuse();
    expect((await ask('/reset', email)).status).to.equal(200);
    await smtp.letterTo(email);
  });

  it('count for known and unknown addresses alike while no mail server answers', async () => {
    const dead = await startMailServer();
    await dead.stop();
    const env = { SMTP_URL: dead.url, REGISTRATION: 'open', TRUSTED_PROXIES: '1' };
    const silent = await startGateway({ catalog: { upstreams: {}, models: [] }, env });
    try {
      const { email } = await setUpOwner(silent, (await silent.account()).id);
      for (const [path, address, kind] of [
        ['/reset', email, 'reset'],
        ['/reset', 'nobody@example.com', 'reset'],
        ['/register', email, 'verify'],
        ['/register', 'nobody@example.com', 'verify'],
      ] as const) {
        for (let time = 0; time < 4; time += 1) {
          const { status } = await ask(path, address, createVisitor(silent.url));
          expect([path, address, status]).to.deep.equal([path, address, 200]);
          await until(async () => (await silent.store.sessions.attempts(hourly(address, kind))) === undefined, 5000);
        }
      }
    } finally {
      await silent.stop();
    }
  });
});
