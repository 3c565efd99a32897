// Behind a proxy, clients are counted and recorded by the address that a trusted proxy names.
import { expect } from 'chai';
import { TILLS } from '../../testkit/bank.ts';
import { send, until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { createVisitor, PASSWORD, setUpOwner } from '../../testkit/pages.ts';
import { startMailServer } from '../../testkit/smtp.ts';

const payments = { till: { plugin: 'till', settings: { baseUrl: 'http://127.0.0.1:1' } } };
const CATALOG = { upstreams: {}, models: [], payments };
const EVIL = '203.0.113.9';
const WARNING = 'a proxy that TRUSTED_PROXIES does not name sends X-Forwarded-For';

/** A proxy's header for a client at this address that claims to be somebody else. */
const from = (address: string) => ({ headers: { 'x-forwarded-for': `${EVIL}, ${address}` } });

describe('behind a trusted proxy', () => {
  let smtp: Awaited<ReturnType<typeof startMailServer>>;
  let test: TestGateway;

  before(async () => {
    smtp = await startMailServer();
    const env = { TRUSTED_PROXIES: '127.0.0.1', PAYMENTS_PATH: TILLS, SMTP_URL: smtp.url, REGISTRATION: 'open' };
    test = await startGateway({ catalog: CATALOG, env });
  });
  after(async () => {
    await test?.stop();
    await smtp.stop();
  });

  const owner = async () => setUpOwner(test, (await test.account()).id);
  const signIn = (email: string, address: string, password = PASSWORD) =>
    createVisitor(test.url).submit('/login', { email, password, code: '' }, from(address));

  it("counts and logs sign-ins by the client's address, whatever the client claims", async () => {
    const { email } = await owner();
    const guesses: number[] = [];
    for (let time = 0; time < 24; time += 1) {
      guesses.push((await signIn(`nobody-${time}@example.com`, '192.0.2.1', 'not the password')).status);
    }
    expect(guesses.slice(0, 20)).to.deep.equal(new Array(20).fill(401));
    expect(guesses.slice(20)).to.include(429);
    expect((await signIn(email, '192.0.2.1')).status).to.equal(429);
    expect((await signIn(email, '2001:DB8:0:1::2')).status).to.equal(303);

    const user = await test.store.users.find(email);
    const sessions = await test.store.sessions.list(user?.id ?? '');
    expect(sessions.map(({ address }) => address)).to.include('2001:db8:0:1::2');
    const [line] = await test.store.auditLog.page({ limit: 1 });
    expect(line).to.include({ action: 'sign_in.password', user: user?.id, address: '2001:db8:0:1::2' });
    await until(() =>
      readLogLines(test).some(({ address, status }) => address === '2001:db8:0:1::2' && status === 303),
    );
    expect(readLogLines(test).some(({ address }) => address === EVIL)).to.equal(false);
    expect(readLogLines(test).some(({ msg }) => msg === WARNING)).to.equal(false);
  });

  for (const path of ['/reset', '/register']) {
    it(`counts the emails of ${path} by the client's address`, async () => {
      const ask = (number: number, address: string) =>
        createVisitor(test.url).submit(path, { email: `asks-${path.slice(1)}-${number}@example.com` }, from(address));
      for (let number = 0; number < 20; number += 1) expect((await ask(number, '192.0.2.2')).status).to.equal(200);
      expect((await ask(20, '192.0.2.2')).status).to.equal(429);
      expect((await ask(21, '192.0.2.3')).status).to.equal(200);
    });
  }

  it('stores webhooks with their sender, and counts them by its network', async () => {
    const post = (address: string) =>
      send(`${test.url}/payments/till/notice`, { method: 'POST', body: '{}', ...from(address) });
    expect((await post('192.0.2.4')).status).to.equal(400);
    expect((await test.store.payments.webhooks({ limit: 1 }))[0]?.address).to.equal('192.0.2.4');
    const statuses: number[] = [];
    // More than one minute's, in case a new one begins.
    for (let times = 0; times < 610 && statuses.at(-1) !== 429; times += 1) {
      statuses.push((await post(`2001:db8:0:2::${times.toString(16)}`)).status);
    }
    expect(statuses.at(-1)).to.equal(429);
    expect((await post('2001:db8:0:3::1')).status).to.equal(400);
  });
});

describe('behind a number of hops', () => {
  it('takes the address that the outermost proxy names', async () => {
    const test = await startGateway({ catalog: CATALOG, env: { TRUSTED_PROXIES: '2', PAYMENTS_PATH: TILLS } });
    const { email } = await setUpOwner(test, (await test.account()).id);
    const headers = { 'x-forwarded-for': `${EVIL}, 192.0.2.6, 198.51.100.1` };
    await createVisitor(test.url).submit('/login', { email, password: PASSWORD, code: '' }, { headers });
    expect((await test.store.auditLog.page({ limit: 1 }))[0]?.address).to.equal('192.0.2.6');
    await test.stop();
  });
});

describe('behind a proxy that is not trusted', () => {
  it('takes the proxy’s address, and logs that once', async () => {
    const env = { TRUSTED_PROXIES: '10.0.0.0/8', PAYMENTS_PATH: TILLS };
    const test = await startGateway({ catalog: CATALOG, env });
    const { email } = await setUpOwner(test, (await test.account()).id);
    await send(`${test.url}/api/v1/models`, from('192.0.2.7'));
    for (let time = 0; time < 3; time += 1) {
      await createVisitor(test.url).submit('/login', { email, password: PASSWORD, code: '' }, from('192.0.2.7'));
    }
    expect((await test.store.auditLog.page({ limit: 1 }))[0]?.address).to.equal('127.0.0.1');
    await until(() => readLogLines(test).filter(({ status }) => status === 303).length === 3);
    const warnings = readLogLines(test).filter(({ msg }) => msg === WARNING);
    expect(warnings.map(({ proxy }) => proxy)).to.deep.equal(['127.0.0.1']);
    await test.stop();
  });
});
