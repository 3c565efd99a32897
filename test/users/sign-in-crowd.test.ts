// Crowds of guesses sent at the same moment, by several processes on one store: only the free ones are tried.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { createSignIn, type SignIn } from '../../lib/users/sign-in.ts';
import { longer } from '../../testkit/long.ts';
import { createMongoDatabase } from '../../testkit/mongod.ts';
import { itTimed } from '../../testkit/timed.ts';
import { makeUser } from '../contract/store/people.ts';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
/** One that takes no time to verify. */
const QUICK_HASH = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const databases = {
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-crowd-'));
    const remove = async () => rmSync(folder, { recursive: true, force: true });
    return { url: `sqlite:${join(folder, 'tollgate.db')}`, remove };
  },
  mongodb: createMongoDatabase,
};

/** Counting attempts that come at once is a part of the contract of stores: one of them does here. */
for (const [kind, open] of Object.entries(databases).slice(0, longer(1, 2))) {
  describe(`a crowd of guesses: ${kind}`, () => {
    let database: Awaited<ReturnType<typeof open>>;
    let stores: readonly Store[];
    let processes: readonly SignIn[];
    // The clock stands still: no wait ends meanwhile.
    const now = Date.now();
    let networks = 0;

    before(async () => {
      database = await open();
      stores = [await openStore(database.url), await openStore(database.url)];
      processes = stores.map((store) => createSignIn({ store, now: () => now }));
    });
    after(async () => {
      for (const store of stores) await store.close();
      await database.remove();
    });

    const add = async () => {
      const user = makeUser({ password: QUICK_HASH, totpSecret: SECRET });
      await stores[0]?.users.add(user);
      return user;
    };
    const clientAt = (number: number) => ({ address: `192.0.${number >> 8}.${number & 255}`, device: undefined });

    /** How many of them were tried. */
    async function tried(times: number, guess: (signIn: SignIn, number: number) => ReturnType<SignIn['signIn']>) {
      const ends = await Promise.all(
        Array.from({ length: times }, (_, number) => guess(processes[number % 2] as SignIn, number)),
      );
      expect(ends.some(({ status }) => status === 'ok')).to.equal(false);
      return ends.filter(({ status }) => status === 'wrong').length;
    }

    itTimed('tries five of 200 passwords', async () => {
      const { email } = await add();
      const guess = (signIn: SignIn, number: number) =>
        signIn.signIn({ email, password: `password ${number}`, code: '', client: clientAt(number) });
      expect(await tried(200, guess)).to.equal(5);
    });

    itTimed('tries five of 400 codes', async () => {
      const user = await add();
      const guess = (signIn: SignIn, number: number) =>
        signIn.proveCode(user, `x${100_000 + number}`, clientAt(number));
      expect(await tried(400, guess)).to.equal(5);
    });

    itTimed('tries five of 200 passwords of a signed-in user', async () => {
      const user = await add();
      const guess = (signIn: SignIn, number: number) =>
        signIn.confirmPassword(user, `password ${number}`, clientAt(number));
      expect(await tried(200, guess)).to.equal(5);
    });

    itTimed('tries twenty of 200 email addresses from one network', async () => {
      const network = clientAt(0xff00 + networks++);
      const emailOf = (number: number) => `${network.address}-${number}@example.com`;
      const guess = (signIn: SignIn, number: number) =>
        signIn.signIn({ email: emailOf(number), password: 'a guess', code: '', client: network });
      expect(await tried(200, guess)).to.equal(20);
      // What the network had to wait for is counted nowhere else.
      const counts = await Promise.all(
        Array.from({ length: 200 }, (_, number) => stores[1]?.sessions.attempts(`mail:${emailOf(number)}`)),
      );
      expect(counts.filter((found) => found !== undefined)).to.have.length(20);
    });
  });
}
