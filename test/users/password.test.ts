// Passwords: what is stored, what matches, what is refused.
import { argon2Sync } from 'node:crypto';
import { expect } from 'chai';
import { findPasswordProblem, hashPassword, isOutdatedHash, verifyPassword } from '../../lib/users/password.ts';
import { hashCheaply } from '../../testkit/passwords.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('passwords', () => {
  before(() => hashCheaply(false));
  after(() => hashCheaply(true));

  it('match only their own hash', async () => {
    const hashed = await hashPassword('a rather long one');
    expect(hashed).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(hashed, 'a rather long one')).to.equal(true);
    expect(await verifyPassword(hashed, 'a rather long two')).to.equal(false);
    expect(await hashPassword('a rather long one')).not.to.equal(hashed);
  });

  it('are equal in any Unicode composition', async () => {
    const hashed = await hashPassword('caf\u00e9 au lait');
    expect(await verifyPassword(hashed, 'cafe\u0301 au lait')).to.equal(true);
  });

  it('match nothing without a user or with a damaged hash', async () => {
    expect(await verifyPassword(undefined, 'a rather long one')).to.equal(false);
    expect(await verifyPassword('$argon2id$damaged', 'a rather long one')).to.equal(false);
  });

  itTimed('take about as long without a user', async () => {
    const hashed = await hashPassword('a rather long one');
    const timeOf = async (stored: string | undefined) => {
      const startedAt = performance.now();
      await verifyPassword(stored, 'another long one');
      return performance.now() - startedAt;
    };
    let [there, absent] = [Infinity, Infinity];
    // In turns: a machine that is busy for a while is so for both.
    for (let round = 0; round < 5; round += 1) {
      there = Math.min(there, await timeOf(hashed));
      absent = Math.min(absent, await timeOf(undefined));
    }
    expect(absent / there).to.be.within(0.5, 2);
  });

  it('verify with the parameters of their hash, and report them as outdated', async () => {
    const nonce = Buffer.from('somesaltsomesalt');
    const parameters = { message: 'a rather long one', nonce, memory: 4096, passes: 3, parallelism: 1, tagLength: 32 };
    const tag = argon2Sync('argon2id', parameters);
    const [salt, digest] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
    const old = `$argon2id$v=19$m=4096,t=3,p=1$${salt}$${digest}`;
    expect(await verifyPassword(old, 'a rather long one')).to.equal(true);
    expect([isOutdatedHash(old), isOutdatedHash(await hashPassword('a rather long one'))]).to.deep.equal([true, false]);
  });

  for (const [what, parameters] of [
    ['memory', { memory: 'm=19455' }],
    ['passes', { passes: 't=1' }],
    ['lanes', { lanes: 'p=2' }],
    ['length', { digest: 'A'.repeat(22) }],
  ] as const) {
    it(`are old with another ${what}`, () => {
      const now = { memory: 'm=19456', passes: 't=2', lanes: 'p=1', digest: 'A'.repeat(43) };
      const hashed = ({ memory, passes, lanes, digest }: typeof now) =>
        `$argon2id$v=19$${memory},${passes},${lanes}$${'A'.repeat(22)}$${digest}`;
      expect([isOutdatedHash(hashed(now)), isOutdatedHash(hashed({ ...now, ...parameters }))]).to.deep.equal([
        false,
        true,
      ]);
    });
  }

  it('are hashed at most two at a time', async () => {
    const stored = (passes: number) => `$argon2id$v=19$m=1024,t=${passes},p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const order: string[] = [];
    const verify = async (name: string, passes: number) => {
      await verifyPassword(stored(passes), 'a rather long one');
      order.push(name);
    };
    // The pool has threads for all three.
    await Promise.all([verify('slow', 99), verify('slow', 99), verify('quick', 1)]);
    expect(order[0]).to.equal('slow');
  });

  for (const [password, problem] of [
    ['ninechars', 'short'],
    ['🙂🙂🙂🙂🙂', 'short'],
    ['🙂'.repeat(257), 'long'],
    ['🙂x!y'.repeat(64), undefined],
    ['tenchars,!', undefined],
    ['password123', 'common'],
    ['PassWord123', 'common'],
    ['qwertyuiopasdf', 'common'],
    ['9876543210987', 'common'],
    ['abababababab', 'common'],
    ['йцукенгшщз', 'common'],
    ['uvwxyzabcdefg', 'common'],
    ['1234567890'.repeat(20), 'common'],
    ['ｐａｓｓｗｏｒｄ１２３', 'common'],
    ['ann@example.com', 'common'],
    ['tulip-rain-oak', undefined],
    ['дождь и тюльпан', undefined],
    ['x1x1x1yz!?', undefined],
  ] as const) {
    it(`${JSON.stringify(password.slice(0, 20))} is ${problem ?? 'taken'}`, () => {
      expect(findPasswordProblem(password, ['Ann@Example.com'])).to.equal(problem);
    });
  }
});
