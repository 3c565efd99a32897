// The pages with keys of the management API: an operator makes and revokes them with a code, an owner for one account.
import { expect } from 'chai';
import { hashKey } from '../../../lib/accounts/key.ts';
import { MANAGEMENT_KEYS_MAX } from '../../../lib/accounts/management-keys.ts';
import { send } from '../../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { createVisitor, hiddenFields, setUpOperator, setUpOwner, type Visitor } from '../../../testkit/pages.ts';
import { after as behind, openPages, type Pages } from '../stage.ts';

const ADMIN = '/admin/management-keys';
const OWN = '/account/keys/management';
const readKey = (text: string) => /tg-mk-\w+/.exec(text)?.[0] ?? '';

describe('pages with management keys', () => {
  let test: TestGateway;
  let account: TestAccount;
  let operator: Visitor;
  let owner: Visitor;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account();
    [operator, owner] = [await setUpOperator(test), await setUpOwner(test, account.id)];
  });
  after(() => test.stop());

  const statusOf = async (key: string, path: string) => (await send(`${test.url}/api/v1${path}`, { key })).status;

  it('make a key of an operator with its scopes, shown once and logged', async () => {
    const made = await operator.submit(ADMIN, { name: 'billing', 'scope-accounts': 'yes', addresses: '127.0.0.0/8' });
    const key = readKey(made.text);
    expect(await statusOf(key, '/manage/accounts')).to.equal(200);
    expect(await statusOf(key, '/manage/payments')).to.equal(403);
    const { text } = await operator.get(`${ADMIN}?lang=en`);
    expect(text).to.contain('billing').and.to.contain('127.0.0.0/8').and.to.not.contain(key);
    const [line] = await test.store.auditLog.page({ limit: 1 });
    expect(line).to.include({ action: 'management_key.create', account: null });
    expect(line?.detail).to.equal('{"name":"billing","scopes":["accounts"]}');
    expect((await operator.get('/admin/audit?lang=en')).text).to.contain('created a management key');
  });

  it('revoke a key at once', async () => {
    const key = readKey((await operator.submit(ADMIN, { name: 'old', 'scope-usage': 'yes' })).text);
    const id = (await test.store.management.findKey(hashKey(key)))?.id;
    expect((await operator.get(`${ADMIN}/${id}?lang=en`)).text).to.contain('Revoke “old”');
    expect((await operator.submit(`${ADMIN}/${id}`, {})).headers.location).to.equal(`${ADMIN}?done=revoked`);
    expect(await statusOf(key, '/manage/costs')).to.equal(401);
    expect((await operator.get(`${ADMIN}/${id}`)).status).to.equal(404);
    expect((await test.store.auditLog.page({ limit: 1 }))[0]).to.include({
      action: 'management_key.revoke',
      target: id,
    });
  });

  it('refuse a key without a name, a scope, a day to come, and with wrong addresses', async () => {
    const count = (await test.store.management.listKeys()).length;
    const cases = [
      [{ name: '', 'scope-usage': 'yes' }, 'A name must have 1 to 100 characters'],
      [{ name: 'x' }, 'Choose at least one scope.'],
      [{ name: 'x', 'scope-usage': 'yes', expires: '2020-01-01' }, 'Choose a future date, or leave it empty.'],
      [{ name: 'x', 'scope-usage': 'yes', expires: 'soon' }, 'Choose a future date, or leave it empty.'],
      [{ name: 'x', 'scope-usage': 'yes', addresses: 'here' }, 'These are not addresses'],
    ] as const;
    for (const [fields, problem] of cases) {
      const { status, text } = await operator.submit(ADMIN, fields);
      expect([status, text.includes(problem)], problem).to.deep.equal([400, true]);
    }
    expect(await test.store.management.listKeys()).to.have.length(count);
  });

  it("make a key of an owner for their account, which others' owners and operators cannot see", async () => {
    expect((await owner.get('/account/keys')).text).to.contain(OWN);
    const key = readKey((await owner.submit(OWN, { name: 'ci' })).text);
    expect(await statusOf(key, '/account/wallet')).to.equal(200);
    expect(await statusOf(key, '/manage/accounts')).to.equal(403);
    expect(await statusOf(key, '/balance')).to.equal(401);
    const [row] = await test.store.management.listKeys(account.id);
    expect(row).to.deep.include({ scopes: ['account'], account: account.id });
    const other = await setUpOwner(test, (await test.account()).id, 'other@example.com');
    expect((await other.get(`${OWN}/${row?.id}`)).status).to.equal(404);
    expect((await operator.get(`${ADMIN}/${row?.id}`)).status).to.equal(404);
    expect((await createVisitor(test.url).get(OWN)).status).to.equal(303);
    expect((await owner.submit(`${OWN}/${row?.id}`, {})).status).to.equal(303);
    expect(await statusOf(key, '/account/wallet')).to.equal(401);
  });

  it('make no more than the maximum, also at once', async () => {
    const { id } = await test.account();
    const visitor = await setUpOwner(test, id);
    const { csrf = '' } = hiddenFields((await visitor.get(OWN)).text, OWN);
    const names = Array.from({ length: MANAGEMENT_KEYS_MAX + 10 }, (_, at) => `key ${at}`);
    const replies = await Promise.all(names.map((name) => visitor.post(OWN, { csrf, name })));
    const active = (await test.store.management.listKeys(id)).filter(({ revokedAt }) => revokedAt === null);
    expect(active.length).to.be.at.most(MANAGEMENT_KEYS_MAX);
    expect(replies.filter(({ text }) => readKey(text) !== '')).to.have.length(active.length);
  });
});

describe('a management key that is made at the very moment its maker', () => {
  let pages: Pages;
  before(async () => {
    pages = await openPages();
  });
  after(() => pages.close());

  const users = () => pages.faults.real.users;
  async function makeDuring(visitor: Visitor, path: string, change: () => Promise<unknown>) {
    pages.faults.next('management.addKey', behind(change));
    const { status, text } = await visitor.submit(path, { name: 'late', 'scope-usage': 'yes' });
    const [key] = (await pages.faults.real.management.listKeys()).toReversed();
    const isLogged = (await pages.faults.real.auditLog.page({ limit: 9 })).some(({ target }) => target === key?.id);
    return { status, isShown: readKey(text) !== '', isRevoked: key?.revokedAt !== null, isLogged };
  }
  const REFUSED = { status: 403, isShown: false, isRevoked: true, isLogged: false };

  it('stops being an owner is revoked, and not shown', async () => {
    const owner = await pages.owner();
    const user = (await users().find(owner.email))?.id ?? '';
    await setUpOwner({ store: pages.faults.real, url: pages.url }, owner.account, 'next@example.com');
    const demote = () => users().setMembership({ user, account: owner.account, role: 'member' }, Date.now());
    expect(await makeDuring(owner, OWN, demote)).to.deep.equal(REFUSED);
  });

  it('is suspended or removed as an operator is revoked, and not shown', async () => {
    await pages.operator();
    for (const how of ['suspend', 'remove'] as const) {
      const operator = await pages.operator();
      const end = async () => {
        const user = await users().find(operator.email);
        if (user) expect(await users()[how](user, Date.now())).to.equal('done');
      };
      expect(await makeDuring(operator, ADMIN, end), how).to.deep.equal(REFUSED);
    }
  });
});
