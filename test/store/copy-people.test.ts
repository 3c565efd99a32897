// Copies of people: users, memberships and the audit log, any number of times.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import { AT, rejection } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';
import { useCopies } from './copies.ts';

describe('copy of people', () => {
  let from: FaultyStore;
  let to: FaultyStore;
  let wallet: string;

  const { copy, breakOff } = useCopies((opened) => {
    ({ source: from, target: to, wallet } = opened);
  });

  it('copies more than a page of users, memberships and audit log rows, in order', async () => {
    const users = Array.from({ length: 201 }, (_, at) =>
      makeUser(at < 1 ? { telegram: { id: '5', name: 'Anna' } } : {}),
    );
    for (const user of users) {
      await from.real.users.add(user);
      await from.real.users.join({ user: user.id, account: wallet, role: 'owner' });
      const row = { at: AT, user: user.id, action: 'key.issue', account: wallet, target: 'k', detail: '{}' };
      await from.real.auditLog.append({ ...row, address: '192.0.2.1' });
    }
    to.next('auditLog.put', lose);
    expect(await rejection(copy())).to.have.property('message', 'lost by the test');
    expect(await copy()).to.include({ users: 201, resumed: true });
    const rowsOf = ({ real: { users, auditLog } }: FaultyStore) =>
      Promise.all([users.page({ limit: 999 }), users.listAccountMembers(wallet), auditLog.page({ limit: 999 })]);
    const rows = await rowsOf(from);
    expect(rows.map((list) => list.length)).to.deep.equal([201, 201, 201]);
    expect(await rowsOf(to)).to.deep.equal(rows);
  });

  it('keeps removed users for the audit log', async () => {
    const former = Array.from({ length: 201 }, () => makeUser());
    for (const user of former) {
      await from.real.users.add(user);
      await from.real.users.remove(user, AT);
    }
    await copy();
    const pageOf = ({ real: { users } }: FaultyStore) => users.formerPage({ limit: 999 });
    expect((await pageOf(to)).length).to.equal(201);
    expect(await pageOf(to)).to.deep.equal(await pageOf(from));
  });

  it('is refused if a user of the target differs', async () => {
    const user = makeUser();
    await from.real.users.add(user);
    await copy();
    await breakOff();
    await to.real.users.change({ ...user, operator: true });
    const error = await rejection(copy());
    expect(error).to.be.instanceOf(OperatorError);
    expect(String(error)).to.include(`The copy of the user ${user.id} does not match the source`);
  });

  it('is refused if a role is not copied as it is', async () => {
    const user = makeUser();
    await from.real.users.add(user);
    await from.real.users.join({ user: user.id, account: wallet, role: 'owner' });
    to.next('users.join', () => to.real.users.join({ user: user.id, account: wallet, role: 'member' }));
    const error = await rejection(copy());
    expect(error).to.be.instanceOf(OperatorError);
    expect(String(error)).to.include(`The copy of the role of ${user.id} in ${wallet} does not match the source`);
  });
});
