// People who leave: what ends with them, who has to stay, and changes that they make at the same moment.
import { expect } from 'chai';
import { createPeople } from '../../lib/users/people.ts';
import { createUserRemoval, type UserRemoval } from '../../lib/users/user-removal.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { newId, rejection } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

describe('user removal', () => {
  let store: FaultyStore;
  let removal: UserRemoval;
  const NOW = 1_800_000_000_000;

  before(async () => {
    store = await openFaultyStore();
    removal = createUserRemoval({ store: store.store, now: () => NOW });
  });
  after(() => store.close());

  async function somebody(fields: Parameters<typeof makeUser>[0] = {}) {
    const user = makeUser(fields);
    await store.real.users.add(user);
    return user;
  }
  const statusOf = async (id: string) => (await store.real.users.get(id))?.status;

  it('suspends and resumes any number of times', async () => {
    const { id } = await somebody();
    const ends = [await removal.suspend(id), await removal.suspend(id), await statusOf(id)];
    expect(ends).to.deep.equal(['done', 'done', 'suspended']);
    expect([await removal.resume(id), await removal.resume(id), await statusOf(id)]).to.deep.equal([
      ...['done', 'done', 'active'],
    ]);
  });

  it('removes permanently', async () => {
    const { id, email, createdAt } = await somebody();
    expect([await removal.remove(id), await removal.remove(id)]).to.deep.equal(['done', 'gone']);
    expect([await removal.suspend(id), await removal.resume(id)]).to.deep.equal(['gone', 'gone']);
    expect(await store.real.users.former(id)).to.deep.equal({ id, email, createdAt, removedAt: NOW });
  });

  it('keeps the last operator', async () => {
    const { id } = await somebody({ operator: true });
    expect([await removal.suspend(id), await removal.remove(id)]).to.deep.equal([
      ...['last_operator', 'last_operator'],
    ]);
    const other = await somebody({ operator: true });
    expect([await removal.remove(id), await removal.suspend(other.id)]).to.deep.equal(['done', 'last_operator']);
  });

  it('retries if the user changes meanwhile, but not forever', async () => {
    const user = await somebody();
    store.next('users.suspend', async (call) => {
      await store.real.users.change({ ...user, language: 'en' });
      return call();
    });
    expect(await removal.suspend(user.id)).to.equal('done');
    expect(await store.real.users.get(user.id)).to.include({ status: 'suspended', language: 'en' });
    for (let times = 0; times < 5; times += 1) store.next('users.remove', async () => 'changed');
    expect(await rejection(removal.remove(user.id))).to.have.property('message', `the user ${user.id} keeps changing`);
    expect(await statusOf(user.id)).to.equal('suspended');
  });

  it('removes an owner from an account, with unused invitations to it', async () => {
    const user = await somebody();
    const people = createPeople({ store: store.real });
    const account = newId('acc');
    const other = newId('acc');
    for (const each of [account, other]) await people.join(user, { account: each, role: 'owner' });
    const invite = (to: string) => people.makeLink({ purpose: 'invite', account: to, email: user.email });
    const mine = await invite(account);
    const others = await invite(other);
    expect([
      await removal.leaveAccount(user, account, { isForced: true }),
      await removal.leaveAccount(user, account),
    ]).to.deep.equal([...['done', 'none']]);
    const links = [await people.peekLink(mine), await people.peekLink(others)].map((link) => link?.account);
    expect(links).to.deep.equal([undefined, other]);
    expect((await store.real.users.listUserMemberships(user.id)).map((each) => each.account)).to.deep.equal([other]);
  });
});
