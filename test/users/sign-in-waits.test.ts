// Who guesses waits longer and longer, whoever it is that they guess about; owners at their own address do not.
import { argon2Sync } from 'node:crypto';
import { expect } from 'chai';
import type { User } from '../../lib/store/ports/users.ts';
import { isOutdated } from '../../lib/users/password.ts';
import { createSessions } from '../../lib/users/sessions.ts';
import { createSignIn, type SignIn } from '../../lib/users/sign-in.ts';
import { hashRecoveryCode, stepOf } from '../../lib/users/totp.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { codeOf } from '../../testkit/pages.ts';
import { newId } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const PASSWORD = 'a rather long one';
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const MINUTE_MS = 60_000;

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
    signIn.signIn({ email, password, code, address });
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

  it('is free five times, and then waits one second and ever twice as long, five minutes at most', async () => {
    const { email } = await add();
    expect(await guess(16, email)).to.deep.equal([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('counts guesses from everywhere, however the address is written', async () => {
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

  it('lets one network guess twenty times about everybody together, and delays no other network', async () => {
    const address = place();
    const users = await Promise.all(Array.from({ length: 6 }, () => add()));
    for (let time = 0; time < 20; time += 1) {
      expect(await statusOf(users[time % 5]?.email ?? '', address)).to.equal('wrong');
    }
    const { email } = users[5] as User;
    expect(await attempt(email, address, PASSWORD)).to.deep.equal({ status: 'wait', seconds: 1 });
    expect(await statusOf(email, place(), PASSWORD)).to.equal('ok');
  });

  it('is free of strangers’ guesses only where the same person is signed in', async () => {
    const [owner, other] = [await add(), await add()];
    const [home, office] = [place(), place()];
    const sessions = createSessions({ store: store.real, now: () => now });
    await sessions.open(owner, { address: home, agent: '' });
    await sessions.open(other, { address: office, agent: '' });
    await guess(5, owner.email);
    expect(await statusOf(owner.email, office, PASSWORD)).to.equal('wait');
    expect(await statusOf(owner.email, home, PASSWORD)).to.equal('ok');
    // What goes wrong at home says nothing about strangers.
    for (let time = 0; time < 6; time += 1) expect(await statusOf(owner.email, home)).to.equal('wrong');
  });

  it('is refused alike without a password, without being active, and with a wrong code', async () => {
    const [guest, gone] = [await add({ password: null }), await add({ status: 'suspended' })];
    const secured = await add({ totpSecret: SECRET });
    for (const [email, code] of [
      [guest.email, ''],
      [gone.email, ''],
      [secured.email, ''],
      [secured.email, '000000'],
      [secured.email, 'aaaaa-aaaaa'],
    ] as const) {
      expect(await attempt(email, place(), PASSWORD, code)).to.deep.equal({ status: 'wrong' });
    }
  });

  it('takes a code of the app once, of several at the same time too, and then renews an old hash', async () => {
    const user = await add({ totpSecret: SECRET });
    const code = codeOf(SECRET);
    const results = await Promise.all([1, 2, 3].map(() => attempt(user.email, place(), PASSWORD, code)));
    const [done, ...others] = results.filter(({ status }) => status === 'ok');
    expect(others).to.deep.equal([]);
    const after = await store.real.users.get(user.id);
    expect(done).to.deep.equal({ status: 'ok', user: after, proven: true });
    expect(after?.totpStep).to.equal(stepOf(SECRET, code, { now, lastStep: -1 }));
    expect(isOutdated(after?.password ?? '')).to.equal(false);
    expect(await statusOf(user.email, place(), PASSWORD, code)).to.equal('wrong');
  });

  it('takes each recovery code once', async () => {
    const codes = ['abcde-fghjk', '01234-56789'];
    const user = await add({ totpSecret: SECRET, recovery: codes.map(hashRecoveryCode) });
    const address = place();
    expect(await attempt(user.email, address, PASSWORD, 'ABCDE fghjk')).to.include({ status: 'ok', proven: true });
    expect(await statusOf(user.email, address, PASSWORD, codes[0])).to.equal('wrong');
    const left = (await store.real.users.get(user.id))?.recovery;
    expect(left).to.deep.equal([hashRecoveryCode(codes[1] ?? '')]);
  });

  it('says whether a code was given', async () => {
    expect(await attempt((await add()).email, place(), PASSWORD)).to.include({ status: 'ok', proven: false });
  });

  describe('again by a code', () => {
    const prove = (user: User, code: string, address: string) => signIn.proveCode(user, code, address);

    it('takes it once, and nothing of who has no app', async () => {
      const [user, bare] = [await add({ totpSecret: SECRET }), await add()];
      const code = codeOf(SECRET);
      const proved = await prove(user, code, place());
      const after = await store.real.users.get(user.id);
      expect(proved).to.deep.equal({ status: 'ok', user: after, proven: true });
      expect(await prove(after as User, code, place())).to.deep.equal({ status: 'wrong' });
      expect(await prove(bare, '', place())).to.deep.equal({ status: 'wrong' });
    });

    it('makes those wait who guess, as signing in does, until a success', async () => {
      const user = await add({ totpSecret: SECRET, email: `${newId('op')}@example.com` });
      const address = place();
      for (let time = 0; time < 5; time += 1) expect((await prove(user, '000000', address)).status).to.equal('wrong');
      expect(await prove(user, codeOf(SECRET), address)).to.deep.equal({ status: 'wait', seconds: 1 });
      expect(await attempt(user.email, place(), PASSWORD)).to.deep.equal({ status: 'wait', seconds: 1 });
      now += 1000;
      expect((await prove(user, codeOf(SECRET), address)).status).to.equal('ok');
      const after = (await store.real.users.get(user.id)) as User;
      for (let time = 0; time < 5; time += 1) expect((await prove(after, '000000', address)).status).to.equal('wrong');
    });
  });
});
