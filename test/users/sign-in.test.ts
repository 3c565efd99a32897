// Signing in makes the hash of a password anew where its parameters are old.
import { argon2Sync } from 'node:crypto';
import { expect } from 'chai';
import { isOutdatedHash, verifyPassword } from '../../lib/users/password.ts';
import { createSignIn } from '../../lib/users/sign-in.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { makeUser } from '../contract/store/people.ts';

const PASSWORD = 'a rather long one';

function oldHash(): string {
  const nonce = Buffer.from('somesaltsomesalt');
  const parameters = { message: PASSWORD, nonce, memory: 4096, passes: 3, parallelism: 1, tagLength: 32 };
  const [salt, digest] = [nonce, argon2Sync('argon2id', parameters)].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=4096,t=3,p=1$${salt}$${digest}`;
}

describe('signing in with an old hash', () => {
  let store: FaultyStore;

  before(async () => {
    store = await openFaultyStore();
  });
  after(() => store.close());

  async function comeIn(password: string) {
    const user = makeUser({ password: oldHash(), totpSecret: null });
    await store.real.users.add(user);
    const credentials = { email: user.email, password, code: '', client: { address: '127.0.0.1', device: undefined } };
    const result = await createSignIn({ store: store.store }).signIn(credentials).catch(String);
    const stored = await store.real.users.get(user.id);
    return { result, stored, hash: stored?.password ?? '' };
  }

  it('stores the password under a new hash', async () => {
    const { result, stored, hash } = await comeIn(PASSWORD);
    expect(result).to.deep.equal({ status: 'ok', user: stored, proven: false });
    expect(isOutdatedHash(hash)).to.equal(false);
    expect(await verifyPassword(hash, PASSWORD)).to.equal(true);
  });

  it('changes nothing with a wrong password or if the store fails', async () => {
    expect((await comeIn('another long one')).hash).to.equal(oldHash());
    store.next('users.change', refuse);
    const { result, hash } = await comeIn(PASSWORD);
    expect(result).to.contain('StoreError');
    expect(hash).to.equal(oldHash());
  });
});
