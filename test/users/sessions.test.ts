// Sessions: how long they last without and with use, that only their hash is stored, and what a code proves for how long.
import { expect } from 'chai';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import { createSessions, isProven } from '../../lib/users/sessions.ts';
import { hashToken } from '../../lib/users/token.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { makeUser } from '../contract/store/people.ts';

const CLIENT = { address: '127.0.0.1', agent: 'test' };

describe('sessions', () => {
  let store: FaultyStore;
  let now: number;

  before(async () => {
    store = await openFaultyStore();
  });
  beforeEach(() => {
    now = 1_800_000_000_000;
  });
  after(() => store.close());

  async function open(operator: boolean) {
    const user = makeUser({ operator });
    await store.real.users.add(user);
    const sessions = createSessions({ store: store.real, now: () => now });
    return { user, sessions, token: await sessions.open(user, CLIENT) };
  }

  for (const [who, operator, idleMs, wholeMs] of [
    ['an owner', false, 12 * HOUR_MS, 30 * DAY_MS],
    ['an operator', true, 30 * MINUTE_MS, 12 * HOUR_MS],
  ] as const) {
    it(`of ${who} end when nobody uses them`, async () => {
      const { sessions, token } = await open(operator);
      now += idleMs - 1;
      expect(await sessions.find(token)).not.to.equal(undefined);
      now += idleMs;
      expect(await sessions.find(token)).to.equal(undefined);
    });

    it(`of ${who} end at last, however often they are used`, async () => {
      const { sessions, token } = await open(operator);
      const endsAt = now + wholeMs;
      for (; now < endsAt; now += idleMs / 2) expect(await sessions.find(token)).not.to.equal(undefined);
      expect(await sessions.find(token)).to.equal(undefined);
    });
  }

  it('have a random token of 256 bits, of which the store has only the hash', async () => {
    const { sessions, token, user } = await open(false);
    expect(Buffer.from(token, 'base64url')).to.have.length(32);
    const [row] = await sessions.list(user);
    expect(row?.hash).to.equal(hashToken(token));
    expect(JSON.stringify(await store.real.sessions.list(user.id))).not.to.contain(token);
    expect(await sessions.find(hashToken(token))).to.equal(undefined);
    expect(await sessions.open(user, CLIENT)).not.to.equal(token);
  });

  it('end at once if the user is suspended', async () => {
    const { sessions, token, user } = await open(false);
    await store.real.users.change({ ...user, status: 'suspended' });
    expect(await sessions.find(token)).to.equal(undefined);
  });

  it('are proven by a code for ten minutes', async () => {
    const { sessions, token } = await open(true);
    const sessionOf = async () => (await sessions.find(token))?.session;
    expect(isProven((await sessionOf()) as never, now)).to.equal(false);
    await sessions.prove((await sessionOf()) as never);
    now += 10 * MINUTE_MS - 1;
    expect(isProven((await sessionOf()) as never, now)).to.equal(true);
    now += 1;
    expect(isProven((await sessionOf()) as never, now)).to.equal(false);
  });

  it('are proven from the start by the code of the sign-in, also after further use', async () => {
    const { sessions, user } = await open(true);
    const token = await sessions.open(user, CLIENT, { proven: true });
    now += 5 * MINUTE_MS;
    for (let use = 0; use < 2; use += 1) {
      expect(isProven((await sessions.find(token))?.session as never, now)).to.equal(true);
    }
  });

  it('that go on under another token are proven as long as before', async () => {
    const { sessions, user } = await open(true);
    const token = await sessions.open(user, CLIENT, { provenAt: now - 9 * MINUTE_MS });
    const { provenAt } = (await sessions.find(token))?.session ?? {};
    expect(provenAt).to.equal(now - 9 * MINUTE_MS);
  });

  it('show their last use to the minute, and where they started', async () => {
    const { sessions, user } = await open(false);
    const agent = 'Mozilla/5.0 '.repeat(50);
    const token = await sessions.open(user, { address: '192.0.2.7', agent });
    const rowOf = async () => (await sessions.list(user)).find(({ hash }) => hash === hashToken(token));
    const startedAt = now;
    expect(await rowOf()).to.include({ address: '192.0.2.7', agent: agent.slice(0, 200), createdAt: now, seenAt: now });
    now += MINUTE_MS - 1;
    await sessions.find(token);
    expect((await rowOf())?.seenAt).to.equal(startedAt);
    now += 1;
    expect((await sessions.find(token))?.session.seenAt).to.equal(now);
    expect(await rowOf()).to.include({ createdAt: startedAt, seenAt: now });
  });

  it('are listed while they are live', async () => {
    const { sessions, user } = await open(false);
    now += 6 * HOUR_MS;
    const token = await sessions.open(user, CLIENT);
    now += 6 * HOUR_MS;
    expect((await sessions.list(user)).map(({ hash }) => hash)).to.deep.equal([hashToken(token)]);
  });

  it('are not taken for ended while the store does not end them', async () => {
    const { token, user } = await open(false);
    const sessions = createSessions({ store: store.store, now: () => now });
    store.next('sessions.remove', refuse);
    expect(await sessions.end(hashToken(token)).catch(({ name }) => name)).to.equal('StoreError');
    store.next('sessions.removeUserSessions', refuse);
    expect(await sessions.endAll(user.id).catch(({ name }) => name)).to.equal('StoreError');
    expect(await sessions.find(token)).not.to.equal(undefined);
  });

  it('end one by one, or all but one', async () => {
    const { sessions, user, token } = await open(false);
    const second = await sessions.open(user, CLIENT);
    const third = await sessions.open(user, CLIENT);
    const live = async () =>
      (await Promise.all([token, second, third].map((each) => sessions.find(each)))).map(
        (found) => found !== undefined,
      );
    await sessions.end(hashToken(second));
    expect(await live()).to.deep.equal([true, false, true]);
    await sessions.endAll(user.id, hashToken(third));
    expect(await live()).to.deep.equal([false, false, true]);
  });
});
