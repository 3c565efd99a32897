// People and their links: how long a link lives and what ends it, who is added, and which texts are email addresses.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import type { LinkPurpose } from '../../lib/store/ports/sessions.ts';
import { verifyPassword } from '../../lib/users/password.ts';
import { createPeople, type People, readEmail } from '../../lib/users/people.ts';
import { hashToken } from '../../lib/users/token.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { newId } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const CLIENT = { address: '127.0.0.1', agent: 'test', provenAt: null };

describe('people', () => {
  let store: FaultyStore;
  let people: People;
  let now: number;

  before(async () => {
    store = await openFaultyStore();
  });
  beforeEach(() => {
    now = 1_800_000_000_000;
    people = createPeople({ store: store.real, now: () => now });
  });
  after(() => store.close());

  describe('get a link', () => {
    const lives: readonly (readonly [LinkPurpose, hours: number])[] = [
      ['operator', 1],
      ['reset', 1],
      ['restore', 1],
      ['demo', 1],
      ['verify', 24],
      ['invite', 7 * 24],
    ];
    for (const [purpose, hours] of lives) {
      it(`for ${purpose} that lives ${hours} h, and is worth nothing after that`, async () => {
        const email = `${newId('ann')}@example.com`;
        const token = await people.makeLink({ purpose, email });
        now += hours * HOUR_MS - 1;
        expect(await people.peekLink(token)).to.include({ purpose, email, user: null, account: null });
        now += 1;
        expect([await people.peekLink(token), await people.useLink(token)]).to.deep.equal([undefined, undefined]);
      });
    }

    it('that works once and is stored only as a hash', async () => {
      const request = { purpose: 'invite', account: newId('acc'), email: `${newId('ann')}@example.com` } as const;
      const token = await people.makeLink(request);
      expect(await people.peekLink(token)).to.include({ ...request, hash: hashToken(token) });
      expect(await people.peekLink(hashToken(token))).to.equal(undefined);
      const taken = await Promise.all([1, 2, 3].map(() => people.useLink(token)));
      expect(taken.filter((link) => link !== undefined)).to.have.length(1);
      expect(await people.peekLink(token)).to.equal(undefined);
    });

    it('that replaces only the earlier one for the same purpose and person', async () => {
      const user = newId('usr');
      const email = `${newId('ann')}@example.com`;
      const tokens = [
        await people.makeLink({ purpose: 'operator', user, email }),
        await people.makeLink({ purpose: 'invite', email }),
        await people.makeLink({ purpose: 'operator', user: newId('usr'), email: `${newId('bob')}@example.com` }),
      ];
      const fresh = await people.makeLink({ purpose: 'operator', user, email });
      const found = await Promise.all([...tokens, fresh].map(async (token) => (await people.peekLink(token))?.purpose));
      expect(found).to.deep.equal([undefined, 'invite', 'operator', 'operator']);
    });

    it('to one account beside a link to another account', async () => {
      const email = `${newId('ann')}@example.com`;
      const one = newId('acc');
      const other = newId('acc');
      const invite = (account: string) => people.makeLink({ purpose: 'invite', email, account });
      const tokens = [await invite(one), await invite(other), await invite(one)];
      const found = await Promise.all(tokens.map(async (token) => (await people.peekLink(token))?.account));
      expect(found).to.deep.equal([undefined, other, one]);
    });

    it('beside earlier ones if strangers can request it, until one of them is used', async () => {
      const user = makeUser();
      const other = makeUser();
      for (const each of [user, other]) await store.real.users.add(each);
      const mail = user.email;
      const strange = `${newId('new')}@example.com`;
      const tokens = await Promise.all([
        ...[1, 2].map(() => people.makeLink({ purpose: 'reset', user: user.id, email: mail })),
        ...[1, 2].map(() => people.makeLink({ purpose: 'verify', email: strange })),
        people.makeLink({ purpose: 'reset', user: other.id, email: other.email }),
        ...(['restore', 'operator'] as const).map((purpose) =>
          people.makeLink({ purpose, user: user.id, email: mail }),
        ),
      ]);
      const found = async () => Promise.all(tokens.map(async (token) => (await people.peekLink(token)) !== undefined));
      expect(await found()).to.deep.equal([true, true, true, true, true, true, true]);
      const stale = { ...user, version: user.version + 1 };
      expect(await people.setPassword(stale, 'a rather long one')).to.equal(false);
      expect(await found()).to.deep.equal([true, true, true, true, true, true, true]);
      expect(await people.setPassword(user, 'a rather long one')).to.equal(true);
      expect(await found()).to.deep.equal([false, false, true, true, true, false, false]);
      const wish = { password: 'a rather long one', operator: false, language: 'ru' } as const;
      expect(await people.add({ ...wish, email: other.email })).to.equal('taken');
      await people.add({ ...wish, email: strange });
      expect(await found()).to.deep.equal([false, false, false, false, true, false, false]);
    });
  });

  it('can use a setup link only while there is no operator, and only once', async () => {
    const fresh = await openFaultyStore();
    const first = createPeople({ store: fresh.real, now: () => now });
    const old = await first.makeLink({ purpose: 'setup' });
    const token = await first.makeLink({ purpose: 'setup' });
    expect(await first.peekLink(old)).to.include({ purpose: 'setup', user: null });
    now += HOUR_MS - 1;
    expect(await first.peekLink(token)).to.include({ purpose: 'setup' });
    const wish = { password: 'a rather long one', operator: true, language: 'ru' } as const;
    const made = await Promise.all(
      ['one', 'two', 'three'].map((name) => first.addFirstOperator({ ...wish, email: `${name}@example.com` })),
    );
    const late = made.filter((outcome) => outcome === 'late');
    expect([late.length, await fresh.real.users.operators()]).to.deep.equal([2, 1]);
    expect([await first.peekLink(token), await first.useLink(token), await first.peekLink(old)]).to.deep.equal([
      ...[undefined, undefined, undefined],
    ]);
    await fresh.close();
  });

  it('join an account, unless they are removed in the meantime', async () => {
    const user = makeUser();
    const gone = makeUser();
    for (const each of [user, gone]) await store.real.users.add(each);
    const account = newId('acc');
    expect(await people.join(user, { account, role: 'owner' })).to.equal(true);
    await store.real.users.remove(gone, now);
    expect(await people.join(gone, { account, role: 'owner' })).to.equal(false);
    expect(await store.real.users.listAccountMembers(account)).to.deep.equal([
      { user: user.id, account, role: 'owner' },
    ]);
  });

  it('are added once per email address in any letter case', async () => {
    const email = `${newId('Ann')}@Example.com`;
    const wish = { email, password: 'a rather long one', operator: false, language: 'ru' } as const;
    const user = await people.add(wish);
    if (user === 'taken') throw new Error('nobody had this address');
    expect(await store.real.users.find(email.toLowerCase())).to.deep.equal(user);
    expect(user).to.include({ operator: false, status: 'active', totpSecret: null, language: 'ru', createdAt: now });
    expect(await verifyPassword(user.password ?? '', 'a rather long one')).to.equal(true);
    expect(await people.add({ ...wish, email: email.toUpperCase() })).to.equal('taken');
  });

  it('are added with their authenticator app, whose first code is used up', async () => {
    const totp = { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', step: 60_000_000, recovery: ['aa', 'bb'] };
    const wish = { email: `${newId('op')}@example.com`, password: 'a rather long one', operator: true } as const;
    const user = await people.add({ ...wish, totp, language: 'en' });
    expect(user).to.deep.include({
      operator: true,
      totpSecret: totp.secret,
      totpStep: totp.step,
      recovery: ['aa', 'bb'],
    });
  });

  it('lose every session but one with a new password, and none after a concurrent change', async () => {
    const user = makeUser();
    await store.real.users.add(user);
    const life = { user: user.id, createdAt: now, seenAt: now, expiresAt: now + HOUR_MS, idleMs: HOUR_MS, ...CLIENT };
    const hashes = [newId('hash'), newId('hash')] as const;
    for (const hash of hashes) await store.real.sessions.add({ ...life, hash });
    const left = async () => (await store.real.sessions.list(user.id)).map(({ hash }) => hash).sort();

    const stale = { ...user, version: user.version + 1 };
    expect(await people.setPassword(stale, 'a rather long one')).to.equal(false);
    expect(await left()).to.deep.equal([...hashes].sort());
    expect(await people.setPassword(user, 'a rather long one', hashes[0])).to.equal(true);
    expect(await left()).to.deep.equal([hashes[0]]);
    const changed = { ...user, version: user.version + 1 };
    expect(await people.setPassword(changed, 'another long one')).to.equal(true);
    expect(await left()).to.deep.equal([]);
    const { password } = (await store.real.users.get(user.id)) ?? {};
    expect(await verifyPassword(password ?? '', 'another long one')).to.equal(true);
  });

  it('are not told of a new password while the sessions under the old one go on', async () => {
    const user = makeUser();
    await store.real.users.add(user);
    const unsure = createPeople({ store: store.store, now: () => now });
    for (const call of ['sessions.removeUserSessions', 'sessions.removeLinks'] as const) {
      const current = await store.real.users.get(user.id);
      store.next(call, refuse);
      const error = await unsure.setHash(current ?? user, 'hash').catch(({ name }) => name);
      expect(error, call).to.equal('StoreError');
    }
  });

  it('are guests of a demo account as its owners, without a password, and never operators', async () => {
    const account = newId('acc');
    const { id } = await people.addGuest(`${newId('Guest')}@Example.com`, account, 'en');
    const guest = await store.real.users.get(id);
    expect(guest).to.include({ operator: false, password: null, totpSecret: null, status: 'active', language: 'en' });
    expect(guest?.email).to.match(/^guest_\w+@example\.com$/);
    expect(await store.real.users.listAccountMembers(account)).to.deep.equal([{ user: id, account, role: 'owner' }]);
  });
});

describe('an email address', () => {
  const long = (local: number, domain: number) => `${'a'.repeat(local)}@${'b.'.repeat(domain / 2)}example.com`;

  for (const [text, email] of [
    ['ann@example.com', 'ann@example.com'],
    [' Ann.Smith+gate@Mail.Example.COM\n', 'ann.smith+gate@mail.example.com'],
    ['вася@example.com', undefined],
    ['ann@почта.рф', 'ann@xn--80a1acny.xn--p1ai'],
    ["o'neil@example.com", "o'neil@example.com"],
    [long(64, 0), long(64, 0)],
    [long(65, 0), undefined],
    [long(60, 182), long(60, 182)],
    [long(61, 182), undefined],
    ['', undefined],
    ['ann', undefined],
    ['@example.com', undefined],
    ['ann@', undefined],
    ['ann@example', undefined],
    ['ann@127.0.0.1', undefined],
    ['ann@[127.0.0.1]', undefined],
    ['ann@example.1', undefined],
    ['ann@-example.com', undefined],
    ['.ann@example.com', undefined],
    ['ann..smith@example.com', undefined],
    ['ann@bob@example.com', undefined],
    ['ann,bob@example.com', undefined],
    ['ann smith@example.com', undefined],
    ['"ann"@example.com', undefined],
    ['<ann@example.com>', undefined],
    ['ann@example.com\r\nbcc: bob@example.com', undefined],
  ] as const) {
    const name = text.length > 40 ? `${text.slice(0, 20)}… of ${text.length}` : text;
    it(`${JSON.stringify(name)} is ${email === undefined ? 'none' : 'one'}`, () => {
      expect(readEmail(text)).to.equal(email);
    });
  }
});
