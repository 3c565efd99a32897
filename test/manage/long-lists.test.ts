// Lists of keys and of members of an account that has thousands.
import { expect } from 'chai';
import { keyActions } from '../../lib/manage/actions/key.ts';
import { memberActions } from '../../lib/manage/actions/member.ts';
import type { Session } from '../../lib/manage/session.ts';
import type { BudgetSum } from '../../lib/money/budget.ts';

const COUNT = 300;

/** What an account with so many keys and members answers, and how often a list reads the keys of its rows. */
function openSession() {
  const names = Array.from({ length: COUNT }, (_, at) => `each_${at}`);
  const counted = { sums: 0, keys: 0 };
  const limits = { budget: 5n, reset: 'none', zone: 'UTC', models: [], expiresAt: null };
  const facts = { last4: '0000', requestsCount: 0, lastUsedAt: null, createdAt: 0, revokedAt: null, budgetKey: null };
  const keys = names.map((id) => ({
    ...{ ...facts, id, name: id, limits },
    get createdBy() {
      counted.keys += 1;
      return id;
    },
  }));
  const members = names.map((user) => ({ user, account: 'acc', role: 'member' }));
  const toSum = (id: string) => ({
    ...{ wallet: 'acc', period: 0, spent: 1n },
    get key() {
      counted.sums += 1;
      return id;
    },
  });
  const store = {
    accounts: { get: async () => ({ id: 'acc' }) },
    users: { listAccountMembers: async () => members, get: async () => undefined },
    ledger: { budgets: async (ids: readonly string[]): Promise<readonly BudgetSum[]> => ids.map(toSum) },
    keys: { list: async () => keys },
    sessions: { listInvitations: async () => [] },
  };
  return { session: { store, config: { keyPrefix: 'tg-' } } as unknown as Session, counted };
}

describe('long lists of an account', () => {
  it('look once at each key and each sum', async () => {
    const { session, counted } = openSession();
    await keyActions.list(session, 'acc');
    expect(counted.sums).to.be.within(COUNT, 3 * COUNT);
    await memberActions.list(session, 'acc');
    expect(counted.sums).to.be.at.most(6 * COUNT);
    expect(counted.keys).to.be.within(COUNT, 6 * COUNT);
  });
});
