// Authorization: every page of an account, by the server's own routes, for each role, with the visitor's own objects and
// with those of others.
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { ACCESS, findSight } from '../../lib/console/access.ts';
import { ROLES, type Role } from '../../lib/store/ports/users.ts';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { listPageRoutes } from '../../testkit/page-tour.ts';
import { setUpMember, setUpOwner, type Visitor } from '../../testkit/pages.ts';

/** Pages of things that the account does not have: a payment, a management key, an invoice, an act. */
const MISSING = [
  '/account/wallet/receipt',
  '/account/keys/management/{id}',
  '/account/papers/invoices/{id}',
  '/account/papers/acts/{month}',
];

/** A key and what was done with it. */
interface Things {
  readonly key: string;
  readonly call: string;
  readonly job: string;
}

describe('roles in an account', function () {
  this.timeout(60_000);
  let test: TestGateway;
  let visitors: Record<Role, Visitor & { id: string }>;
  /** Of the member, and of somebody else in the account. */
  let own: Things;
  let other: Things;
  let account: string;

  async function makeThings(user: string): Promise<Things> {
    const accounts = createAccounts({ store: test.store, keyPrefix: 'tg-' });
    const { id, key } = await accounts.issueKey(account, `key of ${user}`, {}, user);
    const post = (path: string, body: object) => send(`${test.url}/api/v1${path}`, { key, body });
    const messages = [{ role: 'user', content: 'hi' }];
    const call = await post('/chat/completions', { model: 'sandbox-lite', messages, max_tokens: 10 });
    const film = await post('/videos', { model: 'sandbox-video', prompt: 'x', seconds: 4, resolution: '480p' });
    await accounts.limitKey(id, { endUsers: { cap: 5_000_000n, reset: 'day' } });
    return { key: id, call: String(call.headers['x-request-id']), job: String(film.json.id) };
  }

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', VIDEO_POLL_MS: '1000' } });
    account = (await test.account('5000')).id;
    const owner = await setUpOwner(test, account);
    const id = (await test.store.users.find(owner.email))?.id ?? '';
    const member = await setUpMember(test, { account, role: 'member' });
    const accountant = await setUpMember(test, { account, role: 'accountant' });
    visitors = { owner: { ...owner, id }, member, accountant };
    [own, other] = [await makeThings(member.id), await makeThings(id)];
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  /** The path of a page with one of the things. */
  function fill(path: string, { key, call, job }: Things): string {
    if (path === '/account/playground/video') return `${path}?id=${job}`;
    if (path.startsWith('/account/people/')) return path.replace('{id}', visitors.member.id);
    return path.replace('{id}', path.startsWith('/account/calls') ? call : key);
  }

  const isOfObject = (path: string) => path.includes('{id}') || path === '/account/playground/video';
  const isOfPerson = (path: string) => path.startsWith('/account/people/');
  const pages = (method: 'get' | 'post') =>
    listPageRoutes(test).filter((route) => route.who === 'account' && route.method === method);

  it('have a line for each page of an account, and none for a page that does not exist', () => {
    const served = new Set([...pages('get'), ...pages('post')].map(({ path }) => path));
    expect([...served].sort()).to.deep.equal(Object.keys(ACCESS).sort());
    for (const role of ROLES) expect(findSight('/account/new', role)).to.equal(undefined);
    expect(findSight('constructor', 'owner')).to.equal(undefined);
  });

  for (const role of ROLES) {
    it(`let the ${role} read what the table says, and nothing else`, async () => {
      for (const { path } of pages('get')) {
        const sight = findSight(path, role);
        if (MISSING.includes(path) && sight) continue;
        for (const things of isOfObject(path) && !isOfPerson(path) ? [own, other] : [own]) {
          const wanted = !sight ? 403 : sight === 'own' && things === other ? 404 : 200;
          const { status, text } = await visitors[role].get(fill(path, things));
          expect([path, things === own, status]).to.deep.equal([path, things === own, wanted]);
          if (status !== 200) continue;
          // Whatever a page lists, nothing of others is on a page that shows one's own.
          if (sight === 'own') for (const id of Object.values(other)) expect(text, path).not.to.contain(id);
          if (sight === 'own') expect(text, path).not.to.contain(`key of ${visitors.owner.id}`);
        }
      }
    });

    it(`refuse forms of the ${role} on pages that the role does not include`, async () => {
      const csrf = /name="csrf" value="([^"]+)"/.exec((await visitors[role].get('/account/settings')).text)?.[1] ?? '';
      const before = await readState();
      for (const { path } of pages('post')) {
        const sight = findSight(path, role);
        const things = sight === 'own' || !sight ? other : undefined;
        if (!things || (sight && !isOfObject(path))) continue;
        const name = `key of ${visitors.owner.id}`;
        const reply = await visitors[role].post(fill(path, things), { csrf, name, hours: '1', role: 'owner' });
        expect([path, reply.status]).to.deep.equal([path, sight ? 404 : 403]);
      }
      expect(await readState()).to.deep.equal(before);
    });
  }

  async function readState() {
    const { store } = test;
    return {
      wallet: await store.ledger.wallet(account),
      keys: (await store.keys.list(account)).map(({ requestsCount: _, lastUsedAt: __, ...key }) => key),
      members: await store.users.listAccountMembers(account),
      invitations: await store.sessions.listInvitations(account),
    };
  }

  it('show members only their own keys, calls, usage and data, without the wallet', async () => {
    const { member } = visitors;
    for (const path of [
      '/account',
      '/account/calls',
      '/account/calls.csv',
      '/account/keys',
      '/account/settings/export',
    ]) {
      const { text } = await member.get(path);
      expect(text, path).to.contain(path.includes('keys') || path.includes('export') ? own.key : own.call);
      expect(text, path).not.to.contain(other.key).and.not.to.contain(other.call);
    }
    const mine = await member.get('/account/usage.csv?by=key');
    expect(mine.text).to.contain(own.key).and.not.to.contain(other.key);
    const asked = await member.get(`/account/usage.csv?by=key&key=${other.key}`);
    expect(asked.text).not.to.contain(other.key);
    const exported = JSON.parse((await member.get('/account/settings/export')).text);
    expect(exported.account).not.to.have.property('wallet');
    const found = await member.get(`/account/calls?id=${other.call}`);
    expect(found.text).to.contain('No charge has this ID');
    const overview = await member.get('/account');
    expect(overview.text).not.to.contain('/account/wallet').and.not.to.contain('Available');
    for (const path of ['/account/wallet', '/account/people']) expect(overview.text).not.to.contain(`href="${path}"`);
  });

  it('tell members of their own keys and calls, before they have any', async () => {
    const fresh = await setUpMember(test, { account, role: 'member' }, 'fresh@example.com');
    const calls = await fresh.get('/account/calls');
    expect(calls.text).to.contain('You have not made any calls in the last 30 days. <a href="/account/playground">');
    expect((await fresh.get('/account/calls?model=x')).text).to.contain('No calls match. <a href="/account/calls">');
    expect((await visitors.member.get('/account/keys')).text)
      .to.contain('Your keys')
      .and.not.to.contain('of this account');
    expect((await visitors.owner.get('/account/keys')).text).to.contain('Keys of this account');
  });

  it('show accountants money and sums, but no keys and no calls', async () => {
    const { accountant } = visitors;
    const overview = (await accountant.get('/account')).text;
    expect(overview).to.contain('Available').and.to.contain('href="/account/wallet"');
    expect(overview).not.to.contain(own.call).and.not.to.contain('href="/account/keys"');
    expect((await accountant.get('/account/usage.csv?by=day')).text).to.match(/\d{4}-\d\d-\d\d;?,?\d/);
    expect(JSON.parse((await accountant.get('/account/settings/export')).text)).not.to.have.property('keys');
  });

  it('call in the playground only with visible keys', async () => {
    const { member } = visitors;
    const form = { kind: 'text', model: 'sandbox-lite', prompt: 'hi', max_tokens: '10', do: 'send' };
    const before = (await test.store.ledger.charges(account, { limit: 50 })).length;
    const reply = await member.submit('/account/playground', { ...form, key: other.key });
    expect(reply.status).to.equal(401);
    expect((await test.store.ledger.charges(account, { limit: 50 })).length).to.equal(before);
    const answered = await member.submit('/account/playground', { ...form, key: own.key });
    expect(answered.status).to.equal(200);
    expect(answered.text).to.contain('Charged').and.not.to.contain('Balance').and.not.to.contain('Available');
    const { owner } = visitors;
    const seen = (await owner.submit('/account/playground', { ...form, key: other.key })).text;
    expect(seen).to.contain('Balance');
    const shown = (await owner.get('/account/playground')).text;
    expect(shown).to.contain('Available');
    const [, options = ''] = /<select id="key" name="key">(.*?)<\/select>/s.exec(shown) ?? [];
    const offered = [...options.matchAll(/value="([^"]+)"[^>]*>[^<]*?(?:, ([^<]+))?</g)].map(([, id, email]) => [
      id,
      email,
    ]);
    expect(offered[0]).to.deep.equal([other.key, `owner-${account}@example.com`]);
    expect(offered).to.deep.include([own.key, `member-${account}@example.com`]);
    expect((await test.store.ledger.charges(account, { limit: 50 })).length).to.equal(before + 2);
  });

  it('show a member in the playground the cap in place of the wallet', async () => {
    const { member } = visitors;
    expect((await member.get('/account/playground')).text)
      .not.to.contain('Available')
      .and.not.to.contain('Your cap');
    const cap = { limit: 300_000_000n, reset: 'month', zone: 'UTC' } as const;
    await test.store.users.setMembership({ account, user: member.id, role: 'member', cap }, Date.now());
    const { text } = await member.get('/account/playground');
    expect(text).to.contain('Your cap').and.to.contain('₽300.00 a month').and.not.to.contain('Available');
  });

  it('let each member have ten keys beside those of the account', async () => {
    const { member, owner } = visitors;
    for (let count = 1; count < 10; count += 1) {
      expect((await member.submit('/account/keys', { name: `own ${count}` })).text).to.contain('tg-sk-');
    }
    expect((await member.get('/account/keys')).text).to.contain('You can have 10 active keys');
    expect((await owner.submit('/account/keys', { name: 'owner key' })).text).to.contain('tg-sk-');
    expect((await owner.get('/account/keys')).text).to.contain(`member-${account}@example.com`);
  });
});
