// People, their memberships, and the log of what they did.
import { expect } from 'chai';
import type { User } from '../../../lib/store/ports/users.ts';
import { AT, newId, type StoreContext } from './context.ts';

export function makeUser(fields: Partial<User> = {}): User {
  const id = newId('usr');
  return {
    id,
    email: `${id}@example.com`,
    password: '$argon2id$',
    totpSecret: 'GEZDGNBVGY3TQOJQ',
    totpStep: -1,
    recovery: ['aa', 'bb'],
    operator: false,
    status: 'active',
    language: 'ru',
    timeZone: 'Asia/Omsk',
    createdAt: AT,
    version: 1,
    ...fields,
  };
}

export function peopleContract(context: StoreContext): void {
  it('creates one first operator of many concurrent ones, and none if there is one', async () => {
    const { users } = context.store;
    expect(await users.operators()).to.equal(0);
    const user = makeUser();
    await users.add(user);
    expect(await users.addFirstOperator(makeUser({ operator: true, email: user.email }))).to.equal('taken');
    const rivals = Array.from({ length: 6 }, () => makeUser({ operator: true }));
    const outcomes = await Promise.all(rivals.map((rival) => users.addFirstOperator(rival)));
    expect(outcomes.toSorted()).to.deep.equal(['added', 'late', 'late', 'late', 'late', 'late']);
    const first = rivals[outcomes.indexOf('added')] as User;
    expect(await users.get(first.id)).to.deep.equal(first);
    expect(await users.operators()).to.equal(1);
    const late = makeUser({ operator: true, status: 'suspended' });
    expect(await users.addFirstOperator(late)).to.equal('late');
    expect(await users.get(late.id)).to.equal(undefined);
  });

  it('keeps a user unchanged, found by id and email address', async () => {
    const { users } = context.store;
    const user = makeUser();
    const bare = makeUser({ password: null, totpSecret: null, totpStep: 60_000_000, recovery: [] });
    expect([await users.add(user), await users.add(bare)]).to.deep.equal(['added', 'added']);
    expect(await users.get(user.id)).to.deep.equal(user);
    const linked = { ...user, telegram: { id: '4503599627370495', name: 'Анна (@anna)' } };
    expect(await users.change(linked)).to.equal(true);
    expect(await users.get(user.id)).to.deep.equal({ ...linked, version: 2 });
    expect(await users.change({ ...user, version: 2 })).to.equal(true);
    expect(await users.get(user.id)).to.deep.equal({ ...user, version: 3 });
    expect(await users.find(bare.email)).to.deep.equal(bare);
    expect([await users.get('nobody'), await users.find('nobody@example.com')]).to.deep.equal([undefined, undefined]);
  });

  it('has one user per email address, even concurrently', async () => {
    const { users } = context.store;
    const rivals = Array.from({ length: 8 }, () => makeUser({ email: `${newId('same')}@example.com` }));
    const [{ email }] = rivals as [User];
    const outcomes = await Promise.all(rivals.map((rival) => users.add({ ...rival, email })));
    expect(outcomes.filter((outcome) => outcome === 'added')).to.have.length(1);
    const winner = rivals[outcomes.indexOf('added')] as User;
    expect((await users.find(email))?.id).to.equal(winner.id);
    for (const { id } of rivals) if (id !== winner.id) expect(await users.get(id)).to.equal(undefined);
  });

  it('changes only the version that was read', async () => {
    const { users } = context.store;
    const user = makeUser();
    await users.add(user);
    const outcomes = await Promise.all([1, 2, 3, 4].map((totpStep) => users.change({ ...user, totpStep })));
    expect(outcomes.filter(Boolean)).to.have.length(1);
    const after = await users.get(user.id);
    expect(after).to.deep.equal({ ...user, totpStep: outcomes.indexOf(true) + 1, version: 2 });
    expect(await users.change({ ...makeUser() })).to.equal(false);
    expect(await users.change({ ...(after as User), status: 'suspended', operator: true })).to.equal(true);
    expect(await users.get(user.id)).to.include({ status: 'suspended', operator: true, version: 3 });
  });

  it('lists users in order of id, and counts operators', async () => {
    const { users } = context.store;
    const before = await users.operators();
    const made = [makeUser({ operator: true }), makeUser({ operator: true, status: 'suspended' }), makeUser()];
    for (const user of made) await users.add(user);
    expect((await users.operators()) - before).to.equal(2);
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const page = await users.page({ after, limit: 2 });
      expect(page.length).to.be.at.most(2);
      ids.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
    }
    expect(ids).to.deep.equal([...ids].sort());
    expect(ids).to.include.members(made.map(({ id }) => id));
  });

  it('lists the emails of the owners of some accounts', async () => {
    const { users } = context.store;
    const ids = [newId('usr'), newId('usr'), newId('usr'), newId('usr')].sort();
    const [abe, ann, bob, gone] = ids.map((id) => makeUser({ id })) as [User, User, User, User];
    for (const user of [abe, ann, bob]) await users.add(user);
    const [first, second, third] = [newId('acc'), newId('acc'), newId('acc')].sort() as [string, string, string];
    for (const [user, account, role] of [
      [bob, second, 'owner'],
      [ann, second, 'owner'],
      [abe, second, 'member'],
      [gone, second, 'owner'],
      [ann, first, 'owner'],
      [abe, third, 'owner'],
    ] as const)
      await users.join({ user: user.id, account, role });
    expect(await users.listOwnerEmails([second, newId('acc'), first])).to.deep.equal([
      { account: first, email: ann.email },
      { account: second, email: ann.email },
      { account: second, email: bob.email },
    ]);
    expect(await users.listOwnerEmails([])).to.deep.equal([]);
  });

  it('lists the members of an account and the accounts of a user', async () => {
    const { users } = context.store;
    const [abe, ann, bob] = [newId('usr'), newId('usr'), newId('usr')].sort() as [string, string, string];
    const [first, second] = [newId('acc'), newId('acc')].sort() as [string, string];
    const of = (user: string, account: string) => ({ user, account, role: 'owner' }) as const;
    for (const [user, account] of [
      [abe, second],
      [bob, second],
      [ann, second],
      [ann, first],
      [ann, first],
    ] as const) {
      await users.join(of(user, account));
    }
    expect(await users.listUserMemberships(ann)).to.deep.equal([of(ann, first), of(ann, second)]);
    expect(await users.listAccountMembers(second)).to.deep.equal([of(abe, second), of(ann, second), of(bob, second)]);
    expect(await users.listAccountMembers(newId('acc'))).to.deep.equal([]);
    // Those of other tests may be anywhere but between the two of one user.
    const page = await users.memberships({ after: of(ann, first), limit: 2 });
    expect([page.length, page[0]]).to.deep.equal([2, of(ann, second)]);
    const rest = await users.memberships({ after: of(ann, first), limit: 1000 });
    expect(rest.filter(({ user }) => user === bob)).to.deep.equal([of(bob, second)]);
  });

  /** What lets a person in: a session, a link of theirs, and one that was sent to their address. */
  async function letIn({ id: user, email }: User): Promise<readonly string[]> {
    const { sessions, users } = context.store;
    const [hash, byUser, byEmail, account] = [newId('hash'), newId('hash'), newId('hash'), newId('acc')];
    const seen = { createdAt: AT, seenAt: AT, expiresAt: AT + 1000, idleMs: 1000, provenAt: null };
    await sessions.add({ hash, user, ...seen, address: '192.0.2.1', agent: '' });
    const link = { purpose: 'reset', user: null, account: null, email: null, expiresAt: AT + 1000 } as const;
    await sessions.addLink({ ...link, hash: byUser, user });
    await sessions.addLink({ ...link, purpose: 'invite', hash: byEmail, account, email });
    await users.join({ user, account, role: 'owner' });
    return [hash, byUser, byEmail];
  }
  async function ways({ id }: User, [hash = '', byUser = '', byEmail = '']: readonly string[]) {
    const { sessions, users } = context.store;
    const found = [await sessions.get(hash), await sessions.link(byUser), await sessions.link(byEmail)];
    return [...found.map((row) => row !== undefined), (await users.listUserMemberships(id)).length];
  }

  it('suspends one user and ends only that user’s sessions and links', async () => {
    const { users } = context.store;
    const gone = makeUser();
    const stays = makeUser();
    for (const user of [gone, stays]) await users.add(user);
    const ofGone = await letIn(gone);
    const ofOther = await letIn(stays);
    expect(await users.suspend({ ...gone, version: 2 }, AT)).to.equal('changed');
    expect(await ways(gone, ofGone)).to.deep.equal([true, true, true, 1]);
    expect(await users.suspend(gone, AT)).to.equal('done');
    expect(await users.get(gone.id)).to.deep.equal({ ...gone, status: 'suspended', version: 2 });
    expect(await ways(gone, ofGone)).to.deep.equal([false, false, false, 1]);
    expect(await ways(stays, ofOther)).to.deep.equal([true, true, true, 1]);
    expect(await users.suspend(gone, AT)).to.equal('changed');
  });

  it('removes a user, keeps the name for the history, and frees the email address', async () => {
    const { users } = context.store;
    const gone = makeUser({ createdAt: AT - 1 });
    const stays = makeUser();
    for (const user of [gone, stays]) await users.add(user);
    const ofGone = await letIn(gone);
    const ofOther = await letIn(stays);
    expect(await users.remove({ ...gone, version: 2 }, AT)).to.equal('changed');
    expect(await users.former(gone.id)).to.equal(undefined);
    expect(await users.remove(gone, AT)).to.equal('done');
    expect([await users.get(gone.id), await users.find(gone.email)]).to.deep.equal([undefined, undefined]);
    expect(await ways(gone, ofGone)).to.deep.equal([false, false, false, 0]);
    expect(await ways(stays, ofOther)).to.deep.equal([true, true, true, 1]);
    const former = { id: gone.id, email: gone.email, createdAt: AT - 1, removedAt: AT };
    expect(await users.former(gone.id)).to.deep.equal(former);
    expect(await users.remove(gone, AT)).to.equal('changed');
    expect(await users.change({ ...gone, language: 'en' })).to.equal(false);
    expect(await users.add(makeUser({ email: gone.email }))).to.equal('added');
  });

  it('lists former users in order of id, and keeps existing ones', async () => {
    const { users } = context.store;
    const made = [newId('usr'), newId('usr'), newId('usr')].sort().map((id, at) => {
      return { id, email: 'same@example.com', createdAt: at, removedAt: AT };
    });
    await users.putFormer(made);
    await users.putFormer(made.map((user) => ({ ...user, email: 'changed@example.com' })));
    await users.putFormer([]);
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const page = await users.formerPage({ after, limit: 2 });
      expect(page.length).to.be.at.most(2);
      ids.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
    }
    expect(ids).to.deep.equal([...ids].sort());
    expect(ids).to.include.members(made.map(({ id }) => id));
    expect(await users.former(made[1]?.id ?? '')).to.deep.equal(made[1]);
  });

  it('never loses the last active operator to concurrent suspensions and removals', async () => {
    const { users } = context.store;
    const left = async () => {
      const all = await users.page({ limit: 9999 });
      return all.filter(({ operator, status }) => operator && status === 'active');
    };
    await Promise.all((await left()).slice(1).map((user) => users.suspend(user, AT)));
    const made = [makeUser({ operator: true }), makeUser({ operator: true }), makeUser({ operator: true })];
    for (const user of made) await users.add(user);
    const rivals = await left();
    const outcomes = await Promise.all(
      rivals.map((user, at) => (at % 2 === 0 ? users.suspend(user, AT) : users.remove(user, AT))),
    );
    expect(outcomes.filter((outcome) => outcome === 'last_operator')).to.have.length(1);
    const [last, ...others] = await left();
    expect([last?.id, others]).to.deep.equal([rivals[outcomes.indexOf('last_operator')]?.id, []]);
    const ofLast = await letIn(last as User);
    expect(await users.suspend(last as User, AT)).to.equal('last_operator');
    expect(await users.remove(last as User, AT)).to.equal('last_operator');
    expect(await ways(last as User, ofLast)).to.deep.equal([true, true, true, 1]);
    // A suspended operator is none that is lost.
    const suspended = makeUser({ operator: true, status: 'suspended' });
    await users.add(suspended);
    expect(await users.remove(suspended, AT)).to.equal('done');
  });

  it('ends one membership', async () => {
    const { users } = context.store;
    const ann = newId('usr');
    const first = newId('acc');
    const second = newId('acc');
    for (const account of [first, second]) await users.join({ user: ann, account, role: 'owner' });
    const of = { user: ann, account: first, at: AT, isForced: true };
    expect([await users.leave(of), await users.leave(of)]).to.deep.equal(['done', 'none']);
    expect(await users.listUserMemberships(ann)).to.deep.equal([{ user: ann, account: second, role: 'owner' }]);
  });

  it('logs actions permanently, newest first', async () => {
    const { auditLog } = context.store;
    const account = newId('acc');
    const row = {
      at: AT,
      user: newId('usr'),
      action: 'key.issue',
      account,
      target: 'key_1',
      detail: '{"name":"Ключ"}',
    };
    for (const number of [1, 2, 3]) await auditLog.append({ ...row, address: `192.0.2.${number}` });
    await auditLog.append({ ...row, account: null, address: '' });
    const [newest, ...others] = await auditLog.page({ limit: 2, account });
    expect(newest).to.deep.include({ ...row, address: '192.0.2.3' });
    expect(others.map(({ address }) => address)).to.deep.equal(['192.0.2.2']);
    const rest = await auditLog.page({ limit: 9, account, before: others[0]?.seq ?? 0 });
    expect(rest.map(({ address }) => address)).to.deep.equal(['192.0.2.1']);
    const [whole] = await auditLog.page({ limit: 1 });
    expect(whole).to.include({ account: null });
    await auditLog.put([{ ...(whole as NonNullable<typeof whole>), detail: 'changed' }]);
    expect((await auditLog.page({ limit: 1 }))[0]).to.deep.equal(whole);
    await auditLog.put([]);
    const foreign = [8, 9].map((ahead) => ({ ...row, address: `${ahead}`, seq: (whole?.seq ?? 0) + ahead }));
    await auditLog.put(foreign);
    // A copy brings the oldest page last.
    await auditLog.put([whole as NonNullable<typeof whole>]);
    await auditLog.append({ ...row, address: 'behind them' });
    const last = await auditLog.page({ limit: 3, account });
    expect(last.map(({ address }) => address)).to.deep.equal(['behind them', '9', '8']);
    expect(last.slice(1)).to.deep.equal(foreign.toReversed());
  });
}
