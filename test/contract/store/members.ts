// Roles and caps of the members of an account, and what follows from them for its keys, invitations and lists.

import { expect } from 'chai';
import { NO_LIMITS } from '../../../lib/money/key-limits.ts';
import type { Link } from '../../../lib/store/ports/sessions.ts';
import type { Membership } from '../../../lib/store/ports/users.ts';
import type { Store } from '../../../lib/store/store.ts';
import { applied, charge, findWrong, newAccount, newId, newWallet, RUB, type StoreContext } from './context.ts';

import { newManagementKey } from './management.ts';
import { makeUser } from './people.ts';

const AT = 1_800_000_000_000;
const CAP = { limit: 50n * RUB, reset: 'month', zone: 'Asia/Omsk' } as const;

export function memberContract(context: StoreContext): void {
  /** A user with a role in the account. */
  async function newMember(account: string, role: Membership['role'], cap?: Membership['cap']): Promise<Membership> {
    const user = makeUser();
    const { users } = context.store;
    await users.add(user);
    const membership = { user: user.id, account, role, ...(cap && { cap }) };
    await users.join(membership);
    return membership;
  }

  const newKey = (account: string, createdBy?: string) => {
    const key = { id: newId('key'), account, name: 'n', hash: newId('hash'), last4: 'Ab9z', createdAt: AT };
    return createdBy === undefined ? key : { ...key, createdBy };
  };
  const changeOf = (ofAccount: string) => context.store.users.listAccountMembers(ofAccount);

  it('have a role and a cap, which change, also to none', async () => {
    const { users } = context.store;
    const account = await newAccount(context.store);
    const bob = await newMember(account, 'member', CAP);
    expect(await users.listUserMemberships(bob.user)).to.deep.equal([bob]);
    await users.join({ ...bob, role: 'owner' });
    expect(await changeOf(account)).to.deep.equal([bob]);
    for (const change of [
      { role: 'member', cap: { ...CAP, limit: RUB, reset: 'day' } },
      { role: 'member' },
      { role: 'owner' },
    ] as const) {
      expect(await users.setMembership({ user: bob.user, account, ...change }, AT)).to.equal('done');
      expect(await changeOf(account)).to.deep.equal([{ user: bob.user, account, ...change }]);
    }
    expect(await users.setMembership({ user: newId('usr'), account, role: 'owner' }, AT)).to.equal('none');
  });

  it('always include an active owner, also when all leave at once', async () => {
    const openers = [context.store, await context.other()] as const;
    const account = await newAccount(context.store);
    const owners = [
      await newMember(account, 'owner'),
      await newMember(account, 'owner'),
      await newMember(account, 'owner'),
    ];
    await newMember(account, 'member');
    const suspended = await newMember(account, 'owner');
    const row = await context.store.users.get(suspended.user);
    if (row) expect(await context.store.users.suspend(row, AT)).to.equal('done');
    const answers = await Promise.all(
      owners.map(({ user }, index) => {
        const { users } = openers[index % 2] as Store;
        if (index === 1) return users.setMembership({ user, account, role: 'accountant' }, AT);
        return users.leave({ user, account, at: AT });
      }),
    );
    expect(answers.toSorted()).to.deep.equal(['done', 'done', 'last_owner']);
    const last = owners[answers.indexOf('last_owner')] as Membership;
    expect(await changeOf(account)).to.deep.include(last);
    expect(await context.store.users.leave({ ...last, at: AT, isForced: true })).to.equal('done');
  });

  it('issue keys of their own, apart from those of the account', async () => {
    const { keys, users } = context.store;
    const account = await newAccount(context.store);
    const ann = await newMember(account, 'owner');
    const bob = await newMember(account, 'member', CAP);
    const eve = await newMember(account, 'accountant');
    const stranger = newId('usr');
    const add = (by?: string, most = 2) => keys.add(newKey(account, by), most);
    expect([await add(ann.user), await add(), await add(ann.user), await add()]).to.deep.equal([
      ...['added', 'added', 'too_many', 'too_many'],
    ]);
    expect([await add(bob.user), await add(bob.user), await add(bob.user)]).to.deep.equal([
      ...['added', 'added', 'too_many'],
    ]);
    expect([await add(eve.user), await add(stranger)]).to.deep.equal(['no_member', 'no_member']);
    // A member who becomes an owner brings their keys along.
    await users.setMembership({ ...bob, role: 'owner' }, AT);
    expect([await add(bob.user, 4), await add(bob.user, 5)]).to.deep.equal(['too_many', 'added']);
  });

  it('are found with their keys, while they are members', async () => {
    const { keys, users } = context.store;
    const account = await newAccount(context.store);
    const bob = await newMember(account, 'member', CAP);
    const ann = await newMember(account, 'owner');
    const [key, other] = [newKey(account, bob.user), newKey(account, ann.user)];
    for (const each of [key, other]) expect(await keys.add(each, 10)).to.equal('added');
    expect(await keys.find(key.hash)).to.deep.include({
      createdBy: bob.user,
      member: { user: bob.user, status: 'active', cap: CAP },
    });
    expect(await keys.find(other.hash)).not.to.have.property('member');
    const next = { ...newKey(account), endsAt: AT + 5 };
    expect(await keys.replace(key.id, next, 10)).to.equal('replaced');
    expect((await keys.find(next.hash))?.member?.user).to.equal(bob.user);
    await users.setMembership({ user: bob.user, account, role: 'member' }, AT);
    const row = await users.get(bob.user);
    if (row) await users.suspend(row, AT);
    expect((await keys.find(key.hash))?.member).to.deep.equal({ user: bob.user, status: 'suspended' });
    await users.setMembership({ user: bob.user, account, role: 'owner' }, AT);
    expect(await keys.find(key.hash)).not.to.have.property('member');
  });

  it('lose their keys with the membership, as an accountant and with the user; owners leave theirs', async () => {
    const { keys, users } = context.store;
    const account = await newAccount(context.store);
    const people = [
      await newMember(account, 'member'),
      await newMember(account, 'member'),
      await newMember(account, 'member'),
      await newMember(account, 'owner'),
      await newMember(account, 'owner'),
    ] as const;
    await newMember(account, 'owner');
    const issued = people.map(({ user }) => newKey(account, user));
    for (const key of issued) expect(await keys.add(key, 10)).to.equal('added');
    const [left, accountant, gone, owner, removed] = people;
    expect(await users.leave({ ...left, at: AT + 1 })).to.equal('done');
    expect(await users.setMembership({ ...accountant, role: 'accountant' }, AT + 2)).to.equal('done');
    const user = await users.get(gone.user);
    if (user) expect(await users.remove(user, AT + 3)).to.equal('done');
    expect(await users.leave({ ...owner, at: AT + 4 })).to.equal('done');
    const formerOwner = await users.get(removed.user);
    if (formerOwner) expect(await users.remove(formerOwner, AT + 5)).to.equal('done');
    const ends = await Promise.all(issued.map(async ({ id }) => (await keys.get(id))?.revokedAt));
    expect(ends).to.deep.equal([AT + 1, AT + 2, AT + 3, null, null]);
    expect((await findWrong(keys)).filter(({ wallet }) => wallet === account)).to.deep.equal([]);
  });

  it('keep their keys with a new cap or role, but for members who become accountants', async () => {
    const { keys, users } = context.store;
    const account = await newAccount(context.store);
    const [capped, raised, lowered, accountant] = [
      ...[await newMember(account, 'member'), await newMember(account, 'member')],
      ...[await newMember(account, 'owner'), await newMember(account, 'owner')],
    ] as const;
    await newMember(account, 'owner');
    const issued = [capped, raised, lowered, accountant].map(({ user }) => newKey(account, user));
    for (const key of issued) expect(await keys.add(key, 10)).to.equal('added');
    const changes = [
      { ...capped, role: 'member', cap: CAP },
      { ...raised, role: 'owner' },
      { ...lowered, role: 'member' },
      { ...accountant, role: 'accountant' },
    ] as const;
    for (const change of changes) expect(await users.setMembership(change, AT + 1)).to.equal('done');
    const ends = await Promise.all(issued.map(async ({ id }) => (await keys.get(id))?.revokedAt));
    expect(ends).to.deep.equal([null, null, null, null]);
  });

  it('lose their keys of the management API with the role of an owner, in whatever way', async () => {
    const { management, users } = context.store;
    const [account, elsewhere] = [await newAccount(context.store), await newAccount(context.store)];
    const [left, member, accountant, gone, staying] = [
      ...[await newMember(account, 'owner'), await newMember(account, 'owner'), await newMember(account, 'owner')],
      ...[await newMember(account, 'owner'), await newMember(account, 'owner')],
    ] as const;
    const newOwnKey = async (createdBy: string, of: string | null = account) => {
      const id = newId('mk');
      const more = { addresses: null, createdAt: AT, expiresAt: null, revokedAt: null, lastUsedAt: null };
      const terms = { id, name: 'ci', hash: newId('hash'), last4: 'Ab9z', scopes: ['account'] };
      await management.addKey({ ...terms, account: of, createdBy, ...more });
      return id;
    };
    const ended = await Promise.all([left, member, accountant, gone].map(({ user }) => newOwnKey(user)));
    const kept = [
      await newOwnKey(staying.user),
      await newOwnKey(left.user, elsewhere),
      await newOwnKey(left.user, null),
    ];
    expect(await users.leave({ ...left, at: AT + 1 })).to.equal('done');
    expect(await users.setMembership({ ...member, role: 'member' }, AT + 2)).to.equal('done');
    expect(await users.setMembership({ ...accountant, role: 'accountant' }, AT + 3)).to.equal('done');
    const user = await users.get(gone.user);
    if (user) expect(await users.remove(user, AT + 4)).to.equal('done');
    expect(await users.setMembership({ ...staying, role: 'owner', cap: CAP }, AT + 5)).to.equal('done');
    const endOf = async (id: string) => (await management.getKey(id))?.revokedAt;
    expect(await Promise.all(ended.map(endOf))).to.deep.equal([AT + 1, AT + 2, AT + 3, AT + 4]);
    expect(await Promise.all(kept.map(endOf))).to.deep.equal([null, null, null]);
  });

  it('have a mark that follows every change of role and cap, and of the terms of their account', async () => {
    const { accounts, users } = context.store;
    const account = await newAccount(context.store);
    const bob = await newMember(account, 'owner');
    const ann = await newMember(account, 'member', CAP);
    await accounts.setRequestLimits(account, { addresses: ['10.0.0.1'], waitSeconds: 5, atOnce: 2 });
    await accounts.setPriceList(account, 'partner');
    await accounts.setAllowance(account, { amount: RUB, reason: 'r' });
    await users.setMembership({ ...ann, cap: { ...CAP, limit: 7n } }, AT);
    await users.handOver({ account, from: bob.user, to: ann.user, at: AT });
    await users.setMembership({ user: bob.user, account, role: 'accountant' }, AT);
    const found = await accounts.get(account);
    if (found)
      await accounts.put([
        { ...found, priceList: 'other' },
        { ...found, id: newId('acc'), name: 'copy' },
      ]);
    await accounts.setRequestLimits(account, undefined);
    await accounts.setAllowance(account, undefined);
    for (const store of [accounts, users]) {
      const wrong = await findWrong(store);
      expect(wrong.filter(({ id, wallet }) => id === account || wallet === account)).to.deep.equal([]);
    }
  });

  it('hand an account over in one step, and only while both have their roles', async () => {
    const { management, users } = context.store;
    const account = await newAccount(context.store);
    const [ann, bob, eve] = [await newMember(account, 'owner'), await newMember(account, 'member', CAP), makeUser()];
    await users.add(eve);
    const key = newManagementKey({ account, createdBy: ann.user });
    await management.addKey(key);
    const give = (from: string, to: string, at: number) => users.handOver({ account, from, to, at });
    expect([await give(ann.user, eve.id, AT), await give(bob.user, ann.user, AT)]).to.deep.equal(['none', 'none']);
    expect((await management.getKey(key.id))?.revokedAt).to.equal(null);
    // Of two at once, one finds that it has nothing to give any more.
    const other = await context.other();
    const change = { account, from: ann.user, to: bob.user, at: AT + 1 };
    const both = await Promise.all([users.handOver(change), other.users.handOver(change)]);
    expect(both.sort()).to.deep.equal(['done', 'none']);
    const roles = (await users.listAccountMembers(account)).toSorted((one, two) => (one.role > two.role ? -1 : 1));
    expect(roles).to.deep.equal([
      { user: bob.user, account, role: 'owner' },
      { user: ann.user, account, role: 'member' },
    ]);
    expect((await management.getKey(key.id))?.revokedAt).to.equal(AT + 1);
  });

  it('lose all their keys of the management API, those of an operator too, when they are suspended or removed', async () => {
    const { management, users } = context.store;
    const account = await newAccount(context.store);
    const people = [await newMember(account, 'owner'), await newMember(account, 'owner')] as const;
    await newMember(account, 'owner');
    const make = async (more: object) => {
      const key = newManagementKey(more);
      await management.addKey(key);
      return key.id;
    };
    const made = [];
    for (const { user: createdBy } of people)
      made.push(await make({ account, createdBy }), await make({ account: null, createdBy }));
    const [suspended, removed] = await Promise.all(people.map(({ user }) => users.get(user)));
    if (!suspended || !removed) throw new Error('they are not there');
    expect(await users.suspend({ ...suspended, version: 7 }, AT + 1)).to.equal('changed');
    expect(await users.suspend(suspended, AT + 2)).to.equal('done');
    expect(await users.remove(removed, AT + 3)).to.equal('done');
    const ends = await Promise.all(made.map(async (id) => (await management.getKey(id))?.revokedAt));
    expect(ends).to.deep.equal([AT + 2, AT + 2, AT + 3, AT + 3]);
  });

  it('have no active key left, however many they issue while they are removed', async () => {
    const openers = [context.store, await context.other()] as const;
    const account = await newAccount(context.store);
    const bob = await newMember(account, 'member');
    const adding = Array.from({ length: 12 }, (_, index) =>
      (openers[index % 2] as Store).keys.add(newKey(account, bob.user), 20),
    );
    const leaving = openers[1].users.leave({ ...bob, at: AT + 1 });
    const answers = await Promise.all(adding);
    expect(await leaving).to.equal('done');
    for (const answer of answers) expect(answer).to.be.oneOf(['added', 'no_member']);
    expect((await context.store.keys.list(account)).filter(({ revokedAt }) => revokedAt === null)).to.deep.equal([]);
  });

  it('are invited with a role and a cap', async () => {
    const { sessions } = context.store;
    const [account, other] = [newId('acc'), newId('acc')];
    const link = (email: string, more: Partial<Link> = {}): Link => ({
      ...{ hash: newId('hash'), purpose: 'invite', user: null, account, email, expiresAt: AT },
      ...more,
    });
    const offer = { role: 'member', cap: { limit: 5n * RUB, reset: 'week' } } as const;
    const bob = link('bob@example.com', { offer });
    const ann = link('ann@example.com', { offer: { role: 'accountant' } });
    const old = link('old@example.com');
    for (const each of [old, bob, ann, link('x@example.com', { account: other })]) await sessions.addLink(each);
    expect(await sessions.listInvitations(account)).to.deep.equal([ann, bob, old]);
    expect(await sessions.takeLink(bob.hash)).to.deep.equal(bob);
    expect(await sessions.listInvitations(account)).to.deep.equal([ann, old]);
  });

  it('list the calls and sums of several keys, and sums of budgets in order', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const [one, two, three] = [newId('key'), newId('key'), newId('key')] as const;
    for (const key of [one, two, three]) {
      const caps = [{ id: `user:${wallet}:${key}`, period: 0, limit: 9n * RUB }];
      await applied(store, charge(wallet, { key, caps }));
    }
    const keysOf = async (filter: object) =>
      (await store.ledger.charges(wallet, { limit: 9, filter })).map(({ key }) => key).sort();
    expect(await keysOf({ keys: [one, three] })).to.deep.equal([one, three].sort());
    expect(await keysOf({ keys: [one, three], key: three })).to.deep.equal([three]);
    expect(await keysOf({ keys: [] })).to.deep.equal([]);
    const hour = {
      hour: 0,
      model: 'm',
      kind: 'text',
      calls: 1,
      charged: RUB,
      refunded: 0n,
      failed: 0,
      cost: 0n,
      unpriced: 0,
    } as const;
    const units = {
      ...{ tokensInput: 1, tokensOutput: 1, tokensCacheRead: 0, tokensCacheWrite: 0, tokensCacheWrite1h: 0 },
      ...{ tokensAudio: 0, tokensReasoning: 0, images: 0, seconds: 0 },
    };
    const hours = [one, two, three].map((key) => ({ ...hour, ...units, key }));
    await store.usage.add({ wallet, from: 0, to: 1, hours });
    const groups = async (query: object) =>
      (await store.usage.sums(wallet, { by: 'key', ...query })).map(({ group }) => group).sort();
    expect(await groups({ keys: [one, two] })).to.deep.equal([one, two].sort());
    expect(await groups({ keys: [one, two], key: three })).to.deep.equal([]);
    const [first = '', second = '', third = ''] = [one, two, three].map((key) => `user:${wallet}:${key}`).sort();
    const page = async (after: string) =>
      (await store.ledger.budgetPage({ after, before: `user:${wallet};`, limit: 2 })).map(({ key }) => key);
    expect([await page(`user:${wallet}:`), await page(second)]).to.deep.equal([[first, second], [third]]);
  });

  it('keep the limits of a key that a copy brings', async () => {
    const { keys } = context.store;
    const account = await newAccount(context.store);
    const key = { ...newKey(account, newId('usr')), limits: NO_LIMITS };
    expect(await keys.add(key, Number.MAX_SAFE_INTEGER)).to.equal('added');
    expect(await keys.get(key.id)).to.deep.include(key);
  });
}
