// How often an owner may open pages and files: more than any person does, but not without limit.
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { createVisitor, PASSWORD, setUpOperator, setUpOwner } from '../../testkit/pages.ts';

const PAGES = 30;
const FILES = 2;

describe('visits of one user', () => {
  let test: TestGateway;

  beforeEach(async () => {
    const env = { SANDBOX: 'on', PAGE_RATE_LIMIT_PER_MINUTE: String(PAGES) };
    test = await startGateway({ catalog: {}, env });
  });
  afterEach(() => test.stop());

  const statuses = async (ask: () => Promise<{ status: number }>, times: number) => {
    const all: number[] = [];
    for (let count = 0; count < times; count += 1) all.push((await ask()).status);
    return all;
  };

  it('beyond the limit are answered when to retry, on every page', async () => {
    const { id } = await test.account();
    const owner = await setUpOwner(test, id);
    const paths = ['/account', '/account/usage', '/account/calls', '/account/playground?kind=text&prompt=Hi'];
    const next = () => {
      paths.push(paths.shift() ?? '');
      return owner.get(paths[0] ?? '');
    };
    expect(new Set(await statuses(next, PAGES))).to.deep.equal(new Set([200]));
    const refused = await owner.get('/account');
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 59);
    expect(refused.headers['content-type']).to.contain('text/html');
    expect(refused.text).to.contain('Try again in').and.to.contain('Повторите через');
    expect((await owner.post('/account/playground', { do: 'price', kind: 'text' })).status).to.equal(429);
    expect((await owner.get('/login')).status, 'of everybody').not.to.equal(429);
  });

  it('have a smaller limit for files', async () => {
    const { id } = await test.account();
    const owner = await setUpOwner(test, id);
    expect(await statuses(() => owner.get('/account/calls.csv'), FILES)).to.deep.equal([200, 200]);
    for (const path of ['/account/calls.csv', '/account/usage.csv', '/account/settings/export']) {
      expect((await owner.get(path)).status, path).to.equal(429);
    }
    expect((await owner.get('/account/calls')).status).to.equal(200);
  });

  it('have the same smaller limit for searches of all calls, but not of a part', async () => {
    const { id } = await test.account();
    const owner = await setUpOwner(test, id);
    expect(await statuses(() => owner.get('/account/calls?model=none&whole=yes'), FILES + 1)).to.deep.equal([
      200, 200, 429,
    ]);
    expect((await owner.get('/account/calls?model=none')).status).to.equal(200);
  });

  it('start no more sessions than the smaller limit', async () => {
    const { id } = await test.account();
    const { email } = await setUpOwner(test, id);
    const signIn = () => createVisitor(test.url).submit('/login', { email, password: PASSWORD, code: '' });
    expect(await statuses(signIn, FILES + 1)).to.deep.equal([303, 303, 429]);
    const user = await test.store.users.find(email);
    expect(await test.store.sessions.list(user?.id ?? '')).to.have.length(1 + FILES);
    const other = (await setUpOwner(test, (await test.account()).id)).email;
    const reply = await createVisitor(test.url).submit('/login', { email: other, password: PASSWORD, code: '' });
    expect(reply.status).to.equal(303);
  });

  it('do not limit other users or operators', async () => {
    const one = await setUpOwner(test, (await test.account()).id);
    const other = await setUpOwner(test, (await test.account()).id);
    await statuses(() => one.get('/account/models'), PAGES + 1);
    expect((await one.get('/account/models')).status).to.equal(429);
    expect((await other.get('/account/models')).status).to.equal(200);
    const operator = await setUpOperator(test);
    expect(new Set(await statuses(() => operator.get('/admin'), PAGES + 1))).to.deep.equal(new Set([200]));
  });
});
