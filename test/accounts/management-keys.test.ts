// Keys of the management API: what they may be made with, how many there may be, and which texts find them.
import { expect } from 'chai';
import {
  createManagementKeys,
  MANAGEMENT_KEYS_MAX,
  NEW_MANAGEMENT_KEYS_MAX,
  type NewManagementKey,
} from '../../lib/accounts/management-keys.ts';
import { OperatorError, UnknownError } from '../../lib/base/operator-error.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';

const PREFIX = 'sk-test-';

describe('keys of the management API', () => {
  let store: FaultyStore;
  let account: string;
  let now: number;

  beforeEach(async () => {
    store = await openFaultyStore();
    account = await store.wallet();
    now = 1_800_000_000_000;
  });
  afterEach(() => store.close());

  const open = () => createManagementKeys({ store: store.store, keyPrefix: PREFIX, clock: () => now });
  const create = (more: Partial<NewManagementKey> = {}) =>
    open().create({ name: 'billing', scopes: ['usage'], account: null, createdBy: 'usr_1', ...more });
  const refusal = (more: Partial<NewManagementKey>) =>
    create(more).then(
      () => undefined,
      (error: unknown) => (error instanceof OperatorError ? error.message : error),
    );

  it('are stored with what they were made with, each scope once, and only a hash and the end of their text', async () => {
    const addresses = ['127.0.0.0/8'];
    const scopes = ['usage', 'keys', 'usage'];
    const { id, key } = await create({ name: '  billing ', scopes, addresses, expiresAt: now + 1 });
    const { hash, ...row } = await open().get(id);
    expect(row).to.deep.equal({
      ...{ id, name: 'billing', last4: key.slice(-4), scopes: ['usage', 'keys'], account: null, addresses },
      ...{ createdBy: 'usr_1', createdAt: now, expiresAt: now + 1, revokedAt: null, lastUsedAt: null },
    });
    expect(hash).not.to.contain(key.slice(PREFIX.length));
    expect((await open().find(key))?.id).to.equal(id);
  });

  it('of an owner reach their account and nothing else, whatever scopes are asked for', async () => {
    const { id } = await create({ account, scopes: ['people', 'unknown'] });
    expect(await open().get(id))
      .to.include({ account })
      .and.to.deep.include({ scopes: ['account'] });
    expect(await create({ account: 'acc_none' }).catch((error) => error)).to.be.instanceOf(UnknownError);
  });

  for (const [what, more, says] of [
    ['without a name', { name: ' ' }, 'A name has 1 to 100 characters'],
    ['with a longer name', { name: 'x'.repeat(101) }, 'A name has 1 to 100 characters'],
    ['with a name of two lines', { name: 'two\nlines' }, 'A name has 1 to 100 characters'],
    ['without a scope', { scopes: [] }, 'A key needs a scope: choose from accounts, '],
    ['with an unknown scope', { scopes: ['usage', 'account'] }, 'There is no scope "account": choose from accounts, '],
    ['with a wrong address', { addresses: ['127.0.0.1', 'home'] }, 'Not an address or a network'],
    ['for no address at all', { addresses: [] }, 'List 1 to 100 addresses'],
    ['with an end that has come', { expiresAt: 1_800_000_000_000 }, 'The expiry date is in the past.'],
  ] as const) {
    it(`are not made ${what}`, async () => {
      expect(await refusal(more)).to.include(says);
      expect(await open().list()).to.deep.equal([]);
    });
  }

  it('are made with a name of a hundred characters', async () => {
    expect(await refusal({ name: 'x'.repeat(100) })).to.equal(undefined);
  });

  it('are twenty at most, of operators together and of each account, not counting those that have ended', async () => {
    const made: string[] = [];
    for (let count = 0; count < MANAGEMENT_KEYS_MAX; count += 1) {
      made.push((await create({ expiresAt: count === 0 ? now + 1000 : null })).id);
    }
    expect(await refusal({})).to.equal('There are 20 active keys already, the maximum. Revoke one first.');
    expect(await refusal({ account })).to.equal(undefined);
    now += 1000;
    expect(await refusal({})).to.equal(undefined);
    expect(await refusal({})).to.include('20 active keys');
    expect(await open().revoke(made[1] as string)).to.equal('revoked');
    expect(await refusal({})).to.equal(undefined);
    expect(await open().list(null)).to.have.length(22);
    expect(await open().list(account)).to.have.length(1);
    expect(await open().list()).to.have.length(23);
  });

  it('are made a hundred times within 24 hours, of operators together and of each account, however many have ended', async () => {
    for (let count = 0; count < NEW_MANAGEMENT_KEYS_MAX; count += 1) {
      const { id } = await create({ account });
      await open().revoke(id);
    }
    expect(await refusal({ account })).to.equal('100 keys were made within 24 hours, the maximum. Try again later.');
    expect(await refusal({})).to.equal(undefined);
    now += 86_400_000;
    expect(await refusal({ account })).to.equal(undefined);
  });

  it('are found until they are revoked, also after they have expired', async () => {
    const { id, key } = await create({ expiresAt: now + 1000 });
    now += 2000;
    expect((await open().find(key))?.id).to.equal(id);
    expect(await open().find(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`)).to.equal(undefined);
    expect(await open().find(id)).to.equal(undefined);
    expect([await open().revoke(id), await open().revoke(id)]).to.deep.equal(['revoked', 'exists']);
    expect(await open().get(id)).to.include({ revokedAt: now });
    expect(await open().find(key)).to.equal(undefined);
  });

  it('are named, shortened, if there is none with an id', async () => {
    for (const ask of [(id: string) => open().get(id), (id: string) => open().revoke(id)]) {
      const error = await ask(`mk_${'0'.repeat(100)}`).catch((thrown) => thrown);
      expect(error).to.be.instanceOf(UnknownError);
      expect(error.message).to.equal(`There is no management key "mk_${'0'.repeat(57)}".`);
    }
  });
});
