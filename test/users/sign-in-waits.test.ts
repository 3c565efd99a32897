// Who guesses waits longer and longer, whoever it is that they guess about; owners on their own devices do not.
import { argon2Sync } from 'node:crypto';
import { expect } from 'chai';
import { DAY_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import type { User } from '../../lib/store/ports/users.ts';
import { createDevices } from '../../lib/users/devices.ts';
import { isOutdatedHash } from '../../lib/users/password.ts';
import { createSignIn, type SignIn, type SignInClient } from '../../lib/users/sign-in.ts';
import { findCodeStep, hashRecoveryCode } from '../../lib/users/totp.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { makeCode } from '../../testkit/pages.ts';
import { newId } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const PASSWORD = 'a rather long one';
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** One that takes no time to verify. */
const QUICK_HASH = (() => {
  const nonce = Buffer.from('somesaltsomesalt');
  const settings = { message: PASSWORD, nonce, memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
  const [salt, digest] = [nonce, argon2Sync('argon2id', settings)].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${digest}`;
})();

describe('signing in', () => {
  let store: FaultyStore;
  let now: number;
  let signIn: SignIn;
  let places = 0;

  before(async () => {
    store = await openFaultyStore();
  });
  beforeEach(() => {
    now = Date.now();
    signIn = createSignIn({ store: store.real, now: () => now });
  });
  after(() => store.close());

  const place = () => {
    places += 1;
    return `192.0.2.${places}`;
  };

  async function add(fields: Partial<User> = {}): Promise<User> {
    const user = makeUser({ password: QUICK_HASH, totpSecret: null, ...fields });
    await store.real.users.add(user);
    return user;
  }

  const attempt = (email: string, address: string, password = 'not the password', code = '') =>
    signIn.signIn({ email, password, code, client: at(address) });
  const at = (address: string, device?: string): SignInClient => ({ address, device });
  const statusOf = async (...asked: Parameters<typeof attempt>) => (await attempt(...asked)).status;

  /** How long each of these guesses has to wait, in seconds. */
  async function guess(times: number, email: string, address = place()): Promise<readonly number[]> {
    const waits: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const first = await attempt(email, address);
      waits.push(first.status === 'wait' ? first.seconds : 0);
      if (first.status !== 'wait') continue;
      now += first.seconds * 1000 - 1;
      expect(await attempt(email, address)).to.deep.equal({ status: 'wait', seconds: 1 });
      now += 1;
      expect(await statusOf(email, address)).to.equal('wrong');
    }
    return waits;
  }

  it('has five free attempts, and then waits that double from one second to five minutes', async () => {
    const { email } = await add();
    expect(await guess(16, email)).to.deep.equal([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('accepts a code with a mailed link whatever strangers guess, and counts guesses with that link', async () => {
    const user = await add({ totpSecret: SECRET });
    const address = place();
    await guess(12, user.email, address);
    const withLink = (code: string) =>
      signIn.proveCode(user, code, { address: place(), device: undefined, hasLink: true });
    for (let time = 0; time < 5; time += 1) expect((await withLink('x00000')).status).to.equal('wrong');
    expect(await withLink('x00000')).to.deep.equal({ status: 'wait', seconds: 1 });
    expect((await signIn.proveCode(user, 'x00000', at(address))).status).to.equal('wait');
    now += 1000;
    const code = makeCode(SECRET, Math.round((now - Date.now()) / 30_000));
    expect((await withLink(code)).status).to.equal('ok');
    expect((await signIn.proveCode(user, 'x00000', at(place()))).status).to.equal('wait');
  });

  it('counts guesses for an email address from everywhere, in any letter case', async () => {
    const { email } = await add();
    const [name = '', host = ''] = email.split('@');
    for (const text of [email, email.toUpperCase(), ` ${email}`, `${name.toUpperCase()}@${host}`, email]) {
      expect(await statusOf(text, place())).to.equal('wrong');
    }
    expect(await statusOf(` ${email.toUpperCase()} `, place(), PASSWORD)).to.equal('wait');
    now += 1000;
    expect(await statusOf(` ${email.toUpperCase()} `, place(), PASSWORD)).to.equal('ok');
  });

  it('forgets guesses a quarter of an hour after the last, or with a success', async () => {
    const [{ email }, other] = [await add(), await add()];
    expect(await guess(5, email)).to.deep.equal([0, 0, 0, 0, 0]);
    now += 15 * MINUTE_MS + 1;
    expect(await guess(6, email)).to.deep.equal([0, 0, 0, 0, 0, 1]);
    const address = place();
    expect(await guess(4, other.email, address)).to.deep.equal([0, 0, 0, 0]);
    expect(await statusOf(other.email, address, PASSWORD)).to.equal('ok');
    expect(await guess(6, other.email, address)).to.deep.equal([0, 0, 0, 0, 0, 1]);
  });

  it('allows one network twenty guesses about all users together, and delays no other network', async () => {
    const address = place();
    const users = await Promise.all(Array.from({ length: 6 }, () => add()));
    for (let time = 0; time < 20; time += 1) {
      expect(await statusOf(users[time % 5]?.email ?? '', address)).to.equal('wrong');
    }
    const { email } = users[5] as User;
    expect(await attempt(email, address, PASSWORD)).to.deep.equal({ status: 'wait', seconds: 1 });
    expect(await statusOf(email, place(), PASSWORD)).to.equal('ok');
  });

  describe('on a device', () => {
    const devices = () => createDevices({ store: store.real, now: () => now });
    const on = (device: string | undefined, email: string, { password = PASSWORD, address = place() } = {}) =>
      signIn.signIn({ email, password, code: '', client: at(address, device) });

    it('ignores strangers’ guesses only if the same user has signed in there', async () => {
      const owner = await add();
      const other = await add();
      const mine = await devices().remember(owner, undefined);
      const theirs = await devices().remember(other, undefined);
      await guess(10, owner.email);
      for (const device of [theirs, undefined, '', 'x', 'A'.repeat(43), `${mine} `]) {
        expect(await on(device, owner.email), device).to.include({ status: 'wait' });
      }
      expect(await on(mine, owner.email)).to.include({ status: 'ok' });
      expect(await on(theirs, other.email)).to.include({ status: 'ok' });
    });

    it('ignores guesses from the same network', async () => {
      const owner = await add();
      const address = place();
      const mine = await devices().remember(owner, undefined);
      for (let time = 0; time < 20; time += 1) await attempt((await add()).email, address);
      expect(await on(undefined, owner.email, { address })).to.include({ status: 'wait' });
      expect(await on(mine, owner.email, { address })).to.include({ status: 'ok' });
    });

    it('makes a thief wait after ten guesses there, and nobody on other devices', async () => {
      const owner = await add();
      const mine = await devices().remember(owner, undefined);
      for (let time = 0; time < 10; time += 1) {
        expect(await on(mine, owner.email, { password: 'not the password' })).to.include({ status: 'wrong' });
      }
      expect(await on(mine, owner.email)).to.deep.equal({ status: 'wait', seconds: 1 });
      expect(await on(undefined, owner.email)).to.include({ status: 'ok' });
    });

    it('is known for 400 days from the last sign-in, by one token for all its users', async () => {
      const one = await add();
      const two = await add();
      const token = await devices().remember(one, undefined);
      expect(await devices().remember(two, token)).to.equal(token);
      now += 399 * DAY_MS;
      expect(await devices().remember(two, token)).to.equal(token);
      now += DAY_MS;
      expect(await devices().find(one, token)).to.equal(undefined);
      expect((await devices().find(two, token))?.user).to.equal(two.id);
      expect(await devices().remember(one, 'no token'))
        .to.have.length(43)
        .and.not.equal(token);
    });
  });

  it('checks no more concurrent attempts than are free, for one email address or many', async () => {
    const here = place();
    for (const addressOf of [place, () => here]) {
      const { email } = await add();
      const ends = await Promise.all(Array.from({ length: 200 }, () => statusOf(email, addressOf())));
      expect(ends.filter((end) => end === 'wrong')).to.have.length(5);
      expect(ends.filter((end) => end === 'wait')).to.have.length(195);
    }
    const address = place();
    const emails = Array.from({ length: 200 }, () => `${newId('none')}@example.com`);
    const ends = await Promise.all(emails.map((email) => statusOf(email, address)));
    expect(ends.filter((end) => end === 'wrong')).to.have.length(20);
    // Those that the network had to wait for are not counted as guesses about these people.
    const counts = await Promise.all(emails.map((email) => store.real.sessions.attempts(`mail:${email}`)));
    expect(counts.filter((found) => found !== undefined)).to.have.length(20);
  });

  it('keeps the guesses of a network when somebody there signs in', async () => {
    const own = await add();
    const victim = await add();
    const address = place();
    let tried = 0;
    for (let round = 0; round < 45; round += 1) {
      for (let guess = 0; guess < 4; guess += 1) {
        // Strangers are many: what holds them back is their network's count.
        if ((await statusOf((await add()).email, address)) === 'wrong') tried += 1;
      }
      await attempt(own.email, address, PASSWORD);
    }
    expect(tried).to.be.at.most(20);
    expect(await statusOf(victim.email, address, PASSWORD)).to.equal('wait');
  });

  it('takes back only its own attempt on success, so that a whole office may sign in', async () => {
    const address = place();
    for (let person = 0; person < 22; person += 1) {
      expect(await statusOf((await add()).email, address, PASSWORD)).to.equal('ok');
    }
    expect(await store.real.sessions.attempts(`address:${address}`)).to.equal(undefined);
  });

  it('counts an IPv6 client by its /64 network', async () => {
    places += 1;
    const network = `2001:db8:0:${places.toString(16)}`;
    for (let time = 0; time < 20; time += 1) await attempt((await add()).email, `${network}::${time + 1}`);
    const { email } = await add();
    expect(await statusOf(email, `${network}:ffff::1`, PASSWORD)).to.equal('wait');
    expect(await statusOf(email, `2001:db8:1:${places.toString(16)}::1`, PASSWORD)).to.equal('ok');
  });

  it('writes nothing for clients that have to wait, and does not extend the wait', async () => {
    const { email } = await add();
    const address = place();
    await guess(5, email, address);
    const names = [`mail:${email}`, `address:${address}`];
    const before = await Promise.all(names.map((name) => store.real.sessions.attempts(name)));
    const watched = createSignIn({ store: store.store, now: () => now });
    store.always('sessions.count', refuse);
    const ask = { email, password: PASSWORD, code: '', client: at(address) };
    expect((await watched.signIn(ask)).status).to.equal('wait');
    store.always('sessions.count', undefined);
    await Promise.all(Array.from({ length: 20 }, () => attempt(email, address)));
    expect(await Promise.all(names.map((name) => store.real.sessions.attempts(name)))).to.deep.equal(before);
  });

  it('is refused in the same way without a password, for an inactive user, and with a wrong code', async () => {
    const guest = await add({ password: null });
    const gone = await add({ status: 'suspended' });
    const secured = await add({ totpSecret: SECRET });
    for (const [email, code] of [
      [guest.email, ''],
      [gone.email, ''],
      [secured.email, ''],
      [secured.email, '000000'],
      [secured.email, 'aaaaa-aaaaa'],
    ] as const) {
      expect(await statusOf(email, place(), PASSWORD, code)).to.equal('wrong');
    }
  });

  it('accepts a code of the app once even concurrently, and then renews an outdated hash', async () => {
    const user = await add({ totpSecret: SECRET });
    const code = makeCode(SECRET);
    const results = await Promise.all([1, 2, 3].map(() => attempt(user.email, place(), PASSWORD, code)));
    const [done, ...others] = results.filter(({ status }) => status === 'ok');
    expect(others).to.deep.equal([]);
    const after = await store.real.users.get(user.id);
    expect(done).to.deep.equal({ status: 'ok', user: after, proven: true });
    expect(after?.totpStep).to.equal(findCodeStep(SECRET, code, { now, lastStep: -1 }));
    expect(isOutdatedHash(after?.password ?? '')).to.equal(false);
    expect(await statusOf(user.email, place(), PASSWORD, code)).to.equal('wrong');
  });

  it('accepts each recovery code once', async () => {
    const codes = ['abcde-fghjk', '01234-56789'];
    const user = await add({ totpSecret: SECRET, recovery: codes.map(hashRecoveryCode) });
    const address = place();
    expect(await attempt(user.email, address, PASSWORD, 'ABCDE fghjk')).to.include({ status: 'ok', proven: true });
    expect(await statusOf(user.email, address, PASSWORD, codes[0])).to.equal('wrong');
    const left = (await store.real.users.get(user.id))?.recovery;
    expect(left).to.deep.equal([hashRecoveryCode(codes[1] ?? '')]);
  });

  it('reports whether a code was given', async () => {
    expect(await attempt((await add()).email, place(), PASSWORD)).to.include({ status: 'ok', proven: false });
  });

  describe('again by a code', () => {
    const prove = (user: User, code: string, address: string) => signIn.proveCode(user, code, at(address));

    it('accepts a code once, and none of a user without an app', async () => {
      const user = await add({ totpSecret: SECRET });
      const bare = await add();
      const code = makeCode(SECRET);
      const proved = await prove(user, code, place());
      const after = await store.real.users.get(user.id);
      expect(proved).to.deep.equal({ status: 'ok', user: after, proven: true });
      expect(await prove(after as User, code, place())).to.include({ status: 'wrong' });
      expect(await prove(bare, '', place())).to.include({ status: 'wrong' });
    });

    it('makes guessers wait, like signing in, until a success', async () => {
      const user = await add({ totpSecret: SECRET, email: `${newId('op')}@example.com` });
      const address = place();
      for (let time = 0; time < 5; time += 1) expect((await prove(user, '000000', address)).status).to.equal('wrong');
      expect(await prove(user, makeCode(SECRET), address)).to.deep.equal({ status: 'wait', seconds: 1 });
      expect(await attempt(user.email, place(), PASSWORD)).to.deep.equal({ status: 'wait', seconds: 1 });
      now += 1000;
      expect((await prove(user, makeCode(SECRET), address)).status).to.equal('ok');
      const after = (await store.real.users.get(user.id)) as User;
      for (let time = 0; time < 5; time += 1) expect((await prove(after, '000000', address)).status).to.equal('wrong');
    });

    it('checks no more concurrent codes than are free', async () => {
      const user = await add({ totpSecret: SECRET });
      const codes = Array.from({ length: 400 }, (_, number) => `${100_000 + number}`);
      const ends = await Promise.all(codes.map(async (code) => (await prove(user, code, place())).status));
      expect(ends.filter((end) => end !== 'wait')).to.have.length(5);
    });
  });

  describe('again by the password', () => {
    const confirm = (user: User, password: string, address: string) =>
      signIn.confirmPassword(user, password, at(address));

    it('makes guessers wait, also at signing in', async () => {
      const user = await add();
      const address = place();
      expect(await confirm(user, PASSWORD, address)).to.deep.equal({ status: 'ok', user, proven: false });
      const ends = await Promise.all(Array.from({ length: 200 }, () => confirm(user, 'not the password', address)));
      expect(ends.filter(({ status }) => status === 'wrong')).to.have.length(5);
      expect(await confirm(user, PASSWORD, address)).to.deep.equal({ status: 'wait', seconds: 1 });
      expect(await attempt(user.email, place(), PASSWORD)).to.deep.equal({ status: 'wait', seconds: 1 });
    });

    it('keeps wrong codes counted, so that knowing only the password does not allow more guesses', async () => {
      const user = await add({ totpSecret: SECRET });
      const address = place();
      let tried = 0;
      for (let round = 0; round < 20; round += 1) {
        if ((await attempt(user.email, address, PASSWORD, `${100_000 + round}`)).status === 'wrong') tried += 1;
        await confirm(user, PASSWORD, address);
      }
      expect(tried).to.equal(5);
    });
  });
});
