// Members of an account: the order in which they are listed, and the caps that they may have.
import { expect } from 'chai';
import { checkOffer, listMembers } from '../../lib/accounts/members.ts';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { AMOUNT_MAX } from '../../lib/money/money.ts';
import type { Membership, User } from '../../lib/store/ports/users.ts';
import { makeUser } from '../contract/store/people.ts';

describe('members of an account', () => {
  it('are listed in the order of their emails, after those who are gone', async () => {
    const people = ['eve', 'ann', 'bob'].map((name) => makeUser({ id: `usr_${name}`, email: `${name}@example.com` }));
    const users = {
      listAccountMembers: async (account: string) =>
        ['eve', 'gone', 'ann', 'lost', 'bob'].map(
          (name): Membership => ({ account, user: `usr_${name}`, role: 'owner' }),
        ),
      get: async (id: string): Promise<User | undefined> => people.find((user) => user.id === id),
    };
    const listed = await listMembers(users, 'acc_1');
    expect(listed.map(({ member }) => member.user.slice(4))).to.deep.equal(['gone', 'lost', 'ann', 'bob', 'eve']);
    expect(listed.map(({ user }) => user?.email.slice(0, 3))).to.deep.equal([
      undefined,
      undefined,
      'ann',
      'bob',
      'eve',
    ]);
  });

  for (const [limit, fits] of [
    [0n, false],
    [1n, true],
    [AMOUNT_MAX, true],
    [AMOUNT_MAX + 1n, false],
  ] as const) {
    it(`may ${fits ? '' : 'not '}have a cap of ${limit} micro-roubles`, () => {
      const check = () => checkOffer({ role: 'member', cap: { limit, reset: 'month' } });
      if (fits) expect(check).not.to.throw();
      else expect(check).to.throw(OperatorError, 'A cap must be above zero and at most');
    });
  }

  it('have a cap only if their role is that of a member', () => {
    const cap = { limit: 1n, reset: 'month' } as const;
    for (const role of ['owner', 'accountant'] as const) {
      expect(() => checkOffer({ role, cap })).to.throw(OperatorError, 'Only members have a cap.');
      expect(() => checkOffer({ role })).not.to.throw();
    }
  });
});
