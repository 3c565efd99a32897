// While too many passwords are being checked, further ones are refused at once: nothing is counted, and no link is used
// up.
import { expect } from 'chai';
import { verifyPassword } from '../../lib/users/password.ts';
import { createPeople } from '../../lib/users/people.ts';
import { scrape } from '../../testkit/exposition.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { createVisitor, PASSWORD, setUpOwner } from '../../testkit/pages.ts';

const AT_ONCE = 2;
const WAITING_MAX = 100;

const stored = (cost: string) => `$argon2id$v=19$${cost},p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const SLOW = stored('m=65536,t=3');
const QUICK = stored('m=8,t=1');

describe('while too many passwords are being checked', () => {
  let test: TestGateway;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] }, env: { METRICS_PORT: '0' } });
  });
  after(() => test.stop());

  /** Sends a request while all slots are taken by others. */
  async function whileFull<T>(ask: () => Promise<T>, { isKnown = false } = {}): Promise<T> {
    const others = Array.from({ length: AT_ONCE + WAITING_MAX }, (_, number) =>
      verifyPassword(number < AT_ONCE ? SLOW : QUICK, 'a rather long one', { name: `somebody ${number}`, isKnown }),
    );
    try {
      return await ask();
    } finally {
      await Promise.all(others);
    }
  }

  const owner = async () => setUpOwner(test, (await test.account()).id);

  it('refuses a sign-in as busy, on a page, without counting it', async () => {
    const { email } = await owner();
    const visitor = createVisitor(test.url);
    await visitor.get('/login');
    const reply = await whileFull(() => visitor.submit('/login', { email, password: PASSWORD, code: '' }));
    expect([reply.status, reply.headers['retry-after']]).to.deep.equal([503, '5']);
    expect(reply.headers['content-type']).to.match(/^text\/html/);
    expect(reply.text)
      .to.contain('Too many people are signing in at the moment. Try again in 5 s.')
      .and.to.contain('Слишком много одновременных входов. Повторите через 5\u00a0с.');
    for (const name of [`mail:${email}`, 'address:127.0.0.1']) {
      expect(await test.store.sessions.attempts(name), name).to.equal(undefined);
    }
    const metrics = await scrape(test.gateway.facts.metricsUrl ?? '');
    expect(metrics.sum('tollgate_sign_ins_total', { factor: 'password', result: 'busy' })).to.equal(1);
    const log = await test.store.auditLog.page({ limit: 10 });
    expect(log.filter(({ action }) => action.startsWith('sign_in.'))).to.deep.equal([]);
    expect((await visitor.submit('/login', { email, password: PASSWORD, code: '' })).status).to.equal(303);
  });

  it('lets in users who have signed in on the device before', async () => {
    const { email } = await owner();
    const visitor = createVisitor(test.url);
    const signIn = () => visitor.submit('/login', { email, password: PASSWORD, code: '' });
    await signIn();
    expect((await whileFull(signIn)).status).to.equal(303);
  });

  for (const purpose of longer([], ['reset', 'invite'] as const)) {
    it(`a link is as good as before: ${purpose}`, async () => {
      const { email } = await owner();
      const user = await test.store.users.find(email);
      const whose = purpose === 'reset' ? { user: user?.id ?? '', email } : { email: `new-${email}` };
      const account = (await test.account()).id;
      const path = `/setup?token=${await createPeople(test).makeLink({ purpose, account, ...whose })}`;
      const visitor = createVisitor(test.url);
      const use = () => visitor.submit(path, { password: PASSWORD, again: PASSWORD, code: '' });
      expect((await whileFull(use, { isKnown: true })).status).to.equal(503);
      const reply = await use();
      expect([reply.status, reply.headers.location]).to.deep.equal([303, '/account']);
      expect((await visitor.get(path)).status).to.equal(404);
    });
  }
});
