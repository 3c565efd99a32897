// Sessions of people, links that work once, and failed attempts.
import { expect } from 'chai';
import type { Link, Session } from '../../../lib/store/ports/sessions.ts';
import { AT, newId, type StoreContext } from './context.ts';

const MINUTE = 60_000;

function makeSession(fields: Partial<Session> = {}): Session {
  return {
    hash: newId('hash'),
    user: newId('usr'),
    createdAt: AT,
    seenAt: AT,
    expiresAt: AT + 60 * MINUTE,
    idleMs: 10 * MINUTE,
    provenAt: null,
    address: '192.0.2.1',
    agent: 'Mozilla/5.0',
    ...fields,
  };
}

function makeLink(fields: Partial<Link> = {}): Link {
  const none = { user: null, account: null, email: null };
  return { hash: newId('hash'), purpose: 'reset', ...none, expiresAt: AT + MINUTE, ...fields };
}

export function signinContract(context: StoreContext): void {
  it('keeps sessions of a user, newest first', async () => {
    const { sessions } = context.store;
    const user = newId('usr');
    const old = makeSession({ user });
    const young = makeSession({ user, createdAt: AT + 1, provenAt: AT });
    for (const session of [old, young, makeSession()]) await sessions.add(session);
    expect(await sessions.get(young.hash)).to.deep.equal(young);
    expect(await sessions.list(user)).to.deep.equal([young, old]);
    const twins = [`b_${newId('hash')}`, `a_${newId('hash')}`].map((hash) =>
      makeSession({ hash, user, createdAt: AT + 2 }),
    );
    for (const session of twins) await sessions.add(session);
    expect(await sessions.list(user)).to.deep.equal([...twins.toReversed(), young, old]);
    expect(await sessions.get(newId('hash'))).to.equal(undefined);
  });

  it('records when a session was seen and proven', async () => {
    const { sessions } = context.store;
    const session = makeSession();
    await sessions.add(session);
    const change = { seenAt: AT + MINUTE, provenAt: AT + MINUTE };
    expect(await sessions.touch(session.hash, change)).to.equal(true);
    expect(await sessions.get(session.hash)).to.deep.equal({ ...session, ...change });
    expect(await sessions.touch(newId('hash'), change)).to.equal(false);
  });

  it('ends one session, or all of a user but one', async () => {
    const { sessions } = context.store;
    const user = newId('usr');
    const [first, second, third] = [1, 2, 3].map(() => makeSession({ user })) as [Session, Session, Session];
    const other = makeSession();
    for (const session of [first, second, third, other]) await sessions.add(session);
    expect([await sessions.remove(first.hash), await sessions.remove(first.hash)]).to.deep.equal([true, false]);
    await sessions.removeUserSessions(user, second.hash);
    expect(await sessions.list(user)).to.deep.equal([second]);
    await sessions.removeUserSessions(user);
    expect(await sessions.list(user)).to.deep.equal([]);
    expect(await sessions.get(other.hash)).to.deep.equal(other);
  });

  it('gives a link to one of many concurrent takers', async () => {
    const { sessions } = context.store;
    const link = makeLink({ user: newId('usr'), account: newId('acc'), email: 'ann@example.com' });
    await sessions.addLink(link);
    expect(await sessions.link(link.hash)).to.deep.equal(link);
    const taken = await Promise.all(Array.from({ length: 6 }, () => sessions.takeLink(link.hash)));
    expect(taken.filter((found) => found !== undefined)).to.deep.equal([link]);
    expect(await sessions.link(link.hash)).to.equal(undefined);
  });

  it('removes only the links of one purpose and person', async () => {
    const { sessions } = context.store;
    const user = newId('usr');
    const mine = makeLink({ user });
    const otherPurpose = makeLink({ user, purpose: 'operator' });
    const otherUser = makeLink({ user: newId('usr') });
    for (const link of [mine, otherPurpose, otherUser]) await sessions.addLink(link);
    await sessions.removeLinks({ purpose: 'reset', user });
    expect(await sessions.link(mine.hash)).to.equal(undefined);
    for (const link of [otherPurpose, otherUser]) expect(await sessions.link(link.hash)).to.deep.equal(link);
  });

  it('removes only the links sent to one email address', async () => {
    const { sessions } = context.store;
    const email = `${newId('ann')}@example.com`;
    const sent = makeLink({ email });
    const other = makeLink({ email: `${newId('bob')}@example.com` });
    const ofUser = makeLink({ email, user: newId('usr') });
    for (const link of [sent, other, ofUser]) await sessions.addLink(link);
    await sessions.removeLinks({ purpose: 'reset', email });
    expect(await sessions.link(sent.hash)).to.equal(undefined);
    for (const link of [other, ofUser]) expect(await sessions.link(link.hash)).to.deep.equal(link);
  });

  it('removes only the links to one account', async () => {
    const { sessions } = context.store;
    const email = `${newId('ann')}@example.com`;
    const [wanted, other, none] = [newId('acc'), newId('acc'), null].map((account) =>
      makeLink({ purpose: 'invite', account, email }),
    ) as [Link, Link, Link];
    for (const link of [wanted, other, none]) await sessions.addLink(link);
    await sessions.removeLinks({ purpose: 'invite', email, account: wanted.account ?? '' });
    expect(await sessions.link(wanted.hash)).to.equal(undefined);
    for (const link of [other, none]) expect(await sessions.link(link.hash)).to.deep.equal(link);
    await sessions.removeLinks({ purpose: 'invite', email });
    expect(await sessions.link(none.hash)).to.equal(undefined);
    expect(await sessions.link(other.hash)).to.deep.equal(other);
  });

  it('counts consecutive attempts until they are too old', async () => {
    const { sessions } = context.store;
    const name = newId('mail');
    const attempt = async (now: number) => {
      expect(await sessions.count(name, { now, since: now - 15 * MINUTE, waitsMs: [0] })).to.equal(0);
      return sessions.attempts(name);
    };
    await Promise.all(Array.from({ length: 5 }, () => attempt(AT)));
    expect(await sessions.attempts(name)).to.deep.equal({ count: 5, lastAt: AT });
    expect(await attempt(AT + MINUTE)).to.deep.equal({ count: 6, lastAt: AT + MINUTE });
    expect(await attempt(AT + 16 * MINUTE), 'to the millisecond').to.deep.equal({ count: 7, lastAt: AT + 16 * MINUTE });
    expect(await attempt(AT + 60 * MINUTE)).to.deep.equal({ count: 1, lastAt: AT + 60 * MINUTE });
    await sessions.forget(name);
    expect(await sessions.attempts(name)).to.equal(undefined);
  });

  it('accepts no more concurrent attempts than the rule allows, and does not count the others', async () => {
    const { sessions } = context.store;
    const name = newId('mail');
    const rule = { now: AT, since: AT - 15 * MINUTE, waitsMs: [0, 0, 0, 1000, 7000] };
    const waits = await Promise.all(Array.from({ length: 40 }, () => sessions.count(name, rule)));
    expect(waits.toSorted((one, other) => one - other)).to.deep.equal([0, 0, 0, ...new Array(37).fill(1000)]);
    expect(await sessions.attempts(name)).to.deep.equal({ count: 3, lastAt: AT });
  });

  it('makes an attempt wait from the last counted one, which refused attempts do not move', async () => {
    const { sessions } = context.store;
    const name = newId('mail');
    const at = (now: number) => sessions.count(name, { now, since: now - 15 * MINUTE, waitsMs: [0, 1000, 7000] });
    expect([await at(AT), await at(AT + 1), await at(AT + 999), await at(AT + 1000)]).to.deep.equal([0, 999, 1, 0]);
    expect(await sessions.attempts(name)).to.deep.equal({ count: 2, lastAt: AT + 1000 });
    // The last wait is for all further ones.
    expect([await at(AT + 8000), await at(AT + 8001), await at(AT + 15_000)]).to.deep.equal([0, 6999, 0]);
    // A clock that was set back makes nobody wait longer.
    expect(await at(AT - 60 * MINUTE)).to.equal(7000);
    expect(await at(AT + 60 * MINUTE)).to.equal(0);
    expect(await sessions.attempts(name)).to.deep.equal({ count: 1, lastAt: AT + 60 * MINUTE });
  });

  it('takes attempts back one by one, and ignores missing ones', async () => {
    const { sessions } = context.store;
    const name = newId('mail');
    for (let time = 0; time < 3; time += 1) await sessions.count(name, { now: AT + time, since: 0, waitsMs: [0] });
    await Promise.all([sessions.uncount(name), sessions.uncount(name)]);
    expect(await sessions.attempts(name)).to.deep.equal({ count: 1, lastAt: AT + 2 });
    await sessions.uncount(name);
    expect(await sessions.attempts(name)).to.equal(undefined);
    await sessions.uncount(name);
    expect(await sessions.attempts(name)).to.equal(undefined);
  });

  it('finds a device by its hash, and extends its expiry', async () => {
    const { sessions } = context.store;
    const device = { hash: newId('hash'), user: newId('usr'), expiresAt: AT };
    await sessions.putDevice(device);
    expect(await sessions.device(device.hash)).to.deep.equal(device);
    await sessions.putDevice({ ...device, expiresAt: AT + MINUTE });
    expect(await sessions.device(device.hash)).to.deep.equal({ ...device, expiresAt: AT + MINUTE });
    expect(await sessions.device(newId('hash'))).to.equal(undefined);
  });

  it('removes only expired rows', async () => {
    const { sessions } = context.store;
    const now = AT + 5 * MINUTE;
    const live = makeSession();
    const ended = [makeSession({ expiresAt: now }), makeSession({ idleMs: 5 * MINUTE })];
    const liveLink = makeLink({ expiresAt: now + 1 });
    const endedLinks = [makeLink({ expiresAt: now }), makeLink({ expiresAt: now - 1 })];
    for (const session of [live, ...ended]) await sessions.add(session);
    for (const link of [liveLink, ...endedLinks]) await sessions.addLink(link);
    const [recent, ...old] = [newId('mail'), newId('mail'), newId('mail')] as const;
    await sessions.count(recent, { now: AT, since: 0, waitsMs: [0] });
    for (const [index, name] of old.entries()) {
      await sessions.count(name, { now: AT - 1 - index, since: 0, waitsMs: [0] });
    }
    const devices = [now, now + 1].map((expiresAt) => ({ hash: newId('hash'), user: newId('usr'), expiresAt }));
    for (const device of devices) await sessions.putDevice(device);
    await sessions.clean({ now, since: AT });
    expect(await sessions.get(live.hash)).to.deep.equal(live);
    for (const { hash } of ended) expect(await sessions.get(hash)).to.equal(undefined);
    expect(await sessions.link(liveLink.hash)).to.deep.equal(liveLink);
    for (const { hash } of endedLinks) expect(await sessions.link(hash)).to.equal(undefined);
    const left = await Promise.all(devices.map(({ hash }) => sessions.device(hash)));
    expect(left).to.deep.equal([undefined, devices[1]]);
    expect((await sessions.attempts(recent))?.count).to.equal(1);
    for (const name of old) expect(await sessions.attempts(name)).to.equal(undefined);
  });
}
