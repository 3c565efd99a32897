// People, their memberships, and the log of what they did.
import { expect } from 'chai';
import type { User } from '../../../lib/store/ports/users.ts';
import { AT, newId, type StoreContext } from './context.ts';

export function makeUser(fields: Partial<User> = {}): User {
  const id = newId('usr');
  return {
    ...{ id, email: `${id}@example.com`, password: '$argon2id$', totpSecret: 'GEZDGNBVGY3TQOJQ', totpStep: -1 },
    ...{ recovery: ['aa', 'bb'], operator: false, status: 'active', language: 'ru', timeZone: 'Asia/Omsk' },
    ...{ createdAt: AT, version: 1 },
    ...fields,
  };
}

export function peopleContract(context: StoreContext): void {
  it('keeps a user as it is, by id and by address', async () => {
    const { users } = context.store;
    const [user, bare] = [
      makeUser(),
      makeUser({ password: null, totpSecret: null, totpStep: 60_000_000, recovery: [] }),
    ];
    expect([await users.add(user), await users.add(bare)]).to.deep.equal(['added', 'added']);
    expect(await users.get(user.id)).to.deep.equal(user);
    expect(await users.find(bare.email)).to.deep.equal(bare);
    expect([await users.get('nobody'), await users.find('nobody@example.com')]).to.deep.equal([undefined, undefined]);
  });

  it('has one user for an address, of many at once', async () => {
    const { users } = context.store;
    const rivals = Array.from({ length: 8 }, () => makeUser({ email: `${newId('same')}@example.com` }));
    const [{ email }] = rivals as [User];
    const outcomes = await Promise.all(rivals.map((rival) => users.add({ ...rival, email })));
    expect(outcomes.filter((outcome) => outcome === 'added')).to.have.length(1);
    const winner = rivals[outcomes.indexOf('added')] as User;
    expect((await users.find(email))?.id).to.equal(winner.id);
    for (const { id } of rivals) if (id !== winner.id) expect(await users.get(id)).to.equal(undefined);
  });

  it('changes the version that was read, and no other', async () => {
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

  it('knows who belongs to which account', async () => {
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
    expect(await users.membershipsOf(ann)).to.deep.equal([of(ann, first), of(ann, second)]);
    expect(await users.membersOf(second)).to.deep.equal([of(abe, second), of(ann, second), of(bob, second)]);
    expect(await users.membersOf(newId('acc'))).to.deep.equal([]);
    expect(await users.memberships({ after: of(ann, first), limit: 2 })).to.deep.equal([
      of(ann, second),
      of(bob, second),
    ]);
  });

  it('logs what was done, newest first, for good', async () => {
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
