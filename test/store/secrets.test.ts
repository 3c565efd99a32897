// Secrets at rest: what the database has with a key and without, replaced and lost keys, and damaged rows.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { sign } from '../../lib/alerts/signature.ts';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { copyStore } from '../../lib/store/copy.ts';
import type { AlertSettings } from '../../lib/store/ports/alerts.ts';
import type { User } from '../../lib/store/ports/users.ts';
import {
  checkSecrets,
  createVault,
  encryptSecrets,
  isSealed,
  SECRET_SETTING,
  withSecrets,
} from '../../lib/store/secrets.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import { findCodeStep } from '../../lib/users/totp.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { alertContract } from '../contract/store/alerts.ts';
import { newId, rejection, useStore } from '../contract/store/context.ts';
import { makeUser, peopleContract } from '../contract/store/people.ts';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const [OLD, NEW, OTHER] = Array.from({ length: 3 }, () => randomBytes(32)) as [Buffer, Buffer, Buffer];

const newAlerts = (): AlertSettings => ({
  account: newId('acc'),
  balanceBelow: null,
  budgets: true,
  version: 0,
  webhook: { url: 'https://example.com/hook', secret: 'whsec_the-secret-of-a-webhook' },
});

describe('a vault', () => {
  const vault = createVault([OLD]);
  const sealed = vault.seal(SECRET, 'users/usr_1/totp');

  it('opens what it sealed, for the same place only', () => {
    expect(vault.open(sealed, 'users/usr_1/totp')).to.equal(SECRET);
    expect(vault.open(sealed, 'users/usr_2/totp')).to.equal(undefined);
    expect(vault.open(sealed, 'alerts/usr_1/webhook')).to.equal(undefined);
    expect(vault.open(vault.seal('', 'a'), 'a'), 'an empty one').to.equal('');
  });

  it('shows version and key, nothing of the secret, and never the same text twice', () => {
    expect(sealed).to.match(/^enc:v1:[0-9a-f]{8}:[\w-]{80}$/);
    expect(sealed).not.to.contain(SECRET.slice(0, 8));
    expect(sealed).not.to.contain(OLD.toString('hex').slice(0, 8));
    expect(vault.seal(SECRET, 'users/usr_1/totp')).not.to.equal(sealed);
  });

  it('opens plain texts unchanged, and does not seal twice or without a key', () => {
    expect(vault.open(SECRET, 'a')).to.equal(SECRET);
    expect(vault.seal(sealed, 'a')).to.equal(sealed);
    expect(createVault([]).seal(SECRET, 'a')).to.equal(SECRET);
    expect([isSealed(sealed), isSealed(SECRET), isSealed('whsec_1')]).to.deep.equal([true, false, false]);
  });

  it('seals with the first key and opens with all', () => {
    const both = createVault([NEW, OLD]);
    expect(both.open(sealed, 'users/usr_1/totp')).to.equal(SECRET);
    const anew = both.seal(SECRET, 'a');
    expect(createVault([NEW]).open(anew, 'a')).to.equal(SECRET);
    expect(vault.open(anew, 'a')).to.equal(undefined);
  });

  it('opens nothing that was changed or cut', () => {
    const bytes = Buffer.from(sealed.slice(16), 'base64url');
    const head = sealed.slice(0, 16);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(vault.open(head + changed.toString('base64url'), 'users/usr_1/totp'), `byte ${at}`).to.equal(undefined);
    }
    for (const length of [0, 1, 12, 27, 28, bytes.length - 1]) {
      const cut = head + bytes.subarray(0, length).toString('base64url');
      expect(vault.open(cut, 'users/usr_1/totp'), `${length} bytes`).to.equal(undefined);
    }
    for (const text of ['enc:', 'enc:v2:00000000:aaaa', `${sealed} `, 'enc:v1:']) {
      expect(vault.open(text, 'users/usr_1/totp'), text).to.equal(undefined);
    }
  });
});

// Whatever store it is, its contract is all that the encryption knows of it.
for (const kind of longer([SQLITE], STORES)) {
  describe(`secrets in a store: ${kind.name}`, () => {
    const context = useStore(kind);
    const raw = () => context.store;
    const withKeys = (...keys: Buffer[]) => withSecrets(raw(), createVault(keys));

    describe('look like plain texts to the ports of users and alerts', () => {
      const wrap = async (store: Store | Promise<Store>) => withSecrets(await store, createVault([OLD]));
      const sealed = {
        get url() {
          return context.url;
        },
        get store() {
          return withKeys(OLD);
        },
        open: () => wrap(context.open()),
        other: (number?: 1 | 2) => wrap(context.other(number)),
      };
      peopleContract(sealed);
      alertContract(sealed);
    });

    it('are encrypted in the database, bound to their row', async () => {
      const user = makeUser({ totpSecret: SECRET });
      const bare = makeUser({ totpSecret: null });
      const settings = newAlerts();
      const { users, alerts } = withKeys(OLD);
      await users.add(user);
      await users.add(bare);
      await alerts.change(settings);
      const stored = (await raw().users.get(user.id)) as User;
      expect(stored).to.deep.equal({ ...user, totpSecret: stored.totpSecret });
      expect(stored.totpSecret).to.match(/^enc:v1:/);
      expect(await raw().users.get(bare.id)).to.deep.equal(bare);
      const webhook = (await raw().alerts.get(settings.account))?.webhook;
      expect([webhook?.url, isSealed(webhook?.secret ?? '')]).to.deep.equal([settings.webhook?.url, true]);
      // The secret of a row cannot be used in another row.
      await raw().users.change({ ...bare, totpSecret: stored.totpSecret });
      expect(isSealed((await users.get(bare.id))?.totpSecret ?? '')).to.equal(true);
    });

    it('are encrypted in settings that are secrets, and encrypted again with a new key', async () => {
      const name = `${SECRET_SETTING}catalog/${newId('UP')}`;
      const { settings: opened } = withKeys(OLD);
      await opened.set(name, SECRET);
      const stored = (await raw().settings.get(name)) ?? '';
      expect(stored).to.match(/^enc:v1:/);
      expect([await opened.get(name), await opened.get(`${name}2`)]).to.deep.equal([SECRET, undefined]);
      const row = (await opened.list()).find((setting) => setting.name === name);
      expect(row?.value).to.equal(stored);
      await raw().settings.set(`${name}3`, stored);
      expect(isSealed((await opened.get(`${name}3`)) ?? '')).to.equal(true);
      await raw().settings.set(`${name}3`, '');
      await encryptSecrets(raw(), createVault([NEW, OLD]));
      const again = await raw().settings.get(name);
      expect(again)
        .to.match(/^enc:v1:/)
        .and.not.to.equal(stored);
      expect(await withKeys(NEW).settings.get(name)).to.equal(SECRET);
      await raw().settings.set(name, '');
    });

    it('in plain text are read as before, and encrypted once their row is written', async () => {
      const user = makeUser({ totpSecret: SECRET });
      const settings = newAlerts();
      await raw().users.add(user);
      await raw().alerts.change(settings);
      const { users, alerts } = withKeys(OLD);
      expect(await users.find(user.email)).to.deep.equal(user);
      expect(await alerts.get(settings.account)).to.deep.equal({ ...settings, version: 1 });
      expect(await users.change({ ...user, language: 'en' })).to.equal(true);
      expect(await alerts.change({ ...settings, budgets: false, version: 1 })).to.equal(true);
      expect((await raw().users.get(user.id))?.totpSecret).to.match(/^enc:v1:/);
      expect((await raw().alerts.get(settings.account))?.webhook?.secret).to.match(/^enc:v1:/);
      expect(await users.get(user.id)).to.deep.equal({ ...user, language: 'en', version: 2 });
    });

    it('are not lost without their key, with which nobody can sign in and nothing is signed', async () => {
      const user = makeUser({ totpSecret: SECRET });
      const settings = newAlerts();
      await withKeys(OLD).users.add(user);
      await withKeys(OLD).alerts.change(settings);
      for (const store of [withKeys(), withKeys(OTHER)]) {
        const seen = (await store.users.get(user.id)) as User;
        expect(() => findCodeStep(seen.totpSecret ?? '', '123456', { now: Date.now(), lastStep: -1 })).to.throw(
          /SECRETS_KEY/,
        );
        expect(await store.users.change({ ...seen, timeZone: 'UTC' })).to.equal(true);
        const page = await store.alerts.page({ limit: 1000 });
        const wishes = page.find(({ account }) => account === settings.account) as AlertSettings;
        expect(() => sign('{}', { secret: wishes.webhook?.secret ?? '', now: 0 })).to.throw(/SECRETS_KEY/);
        expect(await store.alerts.change({ ...wishes, budgets: false })).to.equal(true);
      }
      expect((await withKeys(OLD).users.get(user.id))?.totpSecret).to.equal(SECRET);
      expect((await withKeys(OLD).alerts.get(settings.account))?.webhook).to.deep.equal(settings.webhook);
    });

    it('are replaced by new values if they cannot be read', async () => {
      const user = makeUser({ totpSecret: SECRET });
      await withKeys(OTHER).users.add(user);
      const { users } = withKeys(OLD);
      const seen = (await users.get(user.id)) as User;
      const fresh = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
      expect(await users.change({ ...seen, totpSecret: fresh })).to.equal(true);
      expect((await users.get(user.id))?.totpSecret).to.equal(fresh);
    });
  });

  describe(`keys of secrets: ${kind.name}`, () => {
    const context = useStore(kind);
    const raw = () => context.store;
    const use = (...keys: Buffer[]) => withSecrets(raw(), createVault(keys));
    const check = (...keys: Buffer[]) => checkSecrets(raw(), createVault(keys));
    const user = makeUser({ totpSecret: SECRET });
    const settings = newAlerts();

    it('are required as soon as one has encrypted something, and not before', async () => {
      const before = await raw().settings.list();
      await use(OLD).users.add(makeUser({ totpSecret: null }));
      await use().users.add(makeUser({ totpSecret: SECRET }));
      expect(await raw().settings.list()).to.deep.equal(before);
      await check();
      await use(OLD).users.add(user);
      for (const keys of [[], [OTHER]]) {
        const error = await rejection(check(...keys));
        expect(error).to.be.instanceOf(OperatorError);
        expect((error as Error).message).to.match(
          /^SECRETS_KEY: secrets in the store are encrypted with the key [0-9a-f]{8}, which is not (?:set|among those set): /,
        );
        expect((error as Error).message).not.to.contain(OLD.toString('hex'));
      }
      await check(OLD);
      await check(OTHER, OLD);
    });

    it('replace others once every secret is encrypted again', async () => {
      await use(OLD).alerts.change(settings);
      expect(await encryptSecrets(raw(), createVault([NEW, OLD]))).to.deep.equal({
        secrets: 3,
        encrypted: 3,
        lost: [],
      });
      expect(await encryptSecrets(raw(), createVault([NEW]))).to.deep.equal({ secrets: 3, encrypted: 0, lost: [] });
      await check(NEW);
      expect(await rejection(check(OLD))).to.be.instanceOf(OperatorError);
      expect((await use(NEW).users.get(user.id))?.totpSecret).to.equal(SECRET);
      expect((await use(NEW).alerts.get(settings.account))?.webhook).to.deep.equal(settings.webhook);
    });

    it('are required again if another gateway still encrypts with an old one', async () => {
      const late = use(OLD);
      const other = makeUser({ totpSecret: SECRET });
      await late.users.add(other);
      expect(await rejection(check(NEW))).to.be.instanceOf(OperatorError);
      await encryptSecrets(raw(), createVault([NEW, OLD]));
      await check(NEW);
      await late.users.change({ ...((await use(NEW, OLD).users.get(other.id)) as User) });
      expect(await rejection(check(NEW))).to.be.instanceOf(OperatorError);
      await raw().users.change({ ...((await raw().users.get(other.id)) as User), totpSecret: null });
      await encryptSecrets(raw(), createVault([NEW, OLD]));
    });

    it('stay required while a secret cannot be read with the new ones', async () => {
      const lost = makeUser({ totpSecret: SECRET });
      await use(OTHER).users.add(lost);
      expect(await encryptSecrets(raw(), createVault([OLD, NEW]))).to.deep.equal({
        secrets: 4,
        encrypted: 3,
        lost: [lost.id],
      });
      for (const keys of [[OLD], [OLD, NEW], [NEW, OTHER]]) {
        expect(await rejection(check(...keys))).to.be.instanceOf(OperatorError);
      }
      await check(OLD, NEW, OTHER);
      expect((await use(OTHER).users.get(lost.id))?.totpSecret).to.equal(SECRET);
    });

    it('are needed to encrypt secrets', async () => {
      expect(await rejection(encryptSecrets(raw(), createVault([])))).to.be.instanceOf(OperatorError);
    });
  });
}

describe('secrets in a store that fails', () => {
  let faulty: FaultyStore;
  let target: FaultyStore;
  const user = makeUser({ totpSecret: SECRET });
  const vault = createVault([OLD]);
  beforeEach(async () => {
    faulty = await openFaultyStore();
    target = await openFaultyStore();
  });
  afterEach(async () => {
    await faulty.close();
    await target.close();
  });

  it('are not written before their key is recorded', async () => {
    const { users, alerts } = withSecrets(faulty.store, vault);
    faulty.next('settings.set', refuse, refuse);
    expect(await rejection(users.add(user))).to.be.instanceOf(StoreError);
    expect(await rejection(alerts.change(newAlerts()))).to.be.instanceOf(StoreError);
    expect(await faulty.real.users.get(user.id)).to.equal(undefined);
    expect(await faulty.real.alerts.page({ limit: 9 })).to.deep.equal([]);
    expect(await users.add(user)).to.equal('added');
    expect(await rejection(checkSecrets(faulty.real, createVault([])))).to.be.instanceOf(OperatorError);
  });

  for (const call of [
    'settings.set',
    'users.page',
    'users.get',
    'users.change',
    'alerts.page',
    'settings.list',
  ] as const) {
    it(`are as readable as before when ${call} fails while they are encrypted anew, which can be repeated`, async () => {
      await withSecrets(faulty.real, vault).users.add(user);
      const both = createVault([NEW, OLD]);
      faulty.next(call, refuse);
      expect(await rejection(encryptSecrets(faulty.store, both))).to.be.instanceOf(StoreError);
      expect((await withSecrets(faulty.real, both).users.get(user.id))?.totpSecret).to.equal(SECRET);
      await checkSecrets(faulty.real, both);
      await encryptSecrets(faulty.store, both);
      await checkSecrets(faulty.real, createVault([NEW]));
      expect((await withSecrets(faulty.real, createVault([NEW])).users.get(user.id))?.totpSecret).to.equal(SECRET);
    });
  }

  it('are not written if the recorded keys cannot be read', async () => {
    const { users } = withSecrets(faulty.store, vault);
    faulty.next('settings.get', refuse);
    expect(await rejection(users.add(user))).to.be.instanceOf(StoreError);
    expect(await faulty.real.users.get(user.id)).to.equal(undefined);
  });

  it('keep concurrent changes', async () => {
    await faulty.real.users.add(user);
    const fresh = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    faulty.next('users.change', async (run) => {
      await faulty.real.users.change({ ...user, totpSecret: fresh });
      return run();
    });
    expect(await encryptSecrets(faulty.store, vault)).to.deep.equal({ secrets: 1, encrypted: 1, lost: [] });
    expect((await withSecrets(faulty.real, vault).users.get(user.id))?.totpSecret).to.equal(fresh);
  });

  it('are copied encrypted, without a key, together with the record of their key', async () => {
    const settings = newAlerts();
    await withSecrets(faulty.real, vault).users.add(user);
    await withSecrets(faulty.real, vault).alerts.change(settings);
    await copyStore({ from: faulty.real, to: target.real, live: false });
    expect(await target.real.users.get(user.id)).to.deep.equal(await faulty.real.users.get(user.id));
    expect(isSealed((await target.real.users.get(user.id))?.totpSecret ?? '')).to.equal(true);
    const there = withSecrets(target.real, vault);
    expect((await there.users.get(user.id))?.totpSecret).to.equal(SECRET);
    expect((await there.alerts.get(settings.account))?.webhook).to.deep.equal(settings.webhook);
    expect(await rejection(checkSecrets(target.real, createVault([])))).to.be.instanceOf(OperatorError);
  });
});
