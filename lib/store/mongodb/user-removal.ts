// Suspends or removes users in the MongoDB store, together with everything that lets them sign in.
import type { Db, Document } from 'mongodb';
import type { FormerUser, RemovalResult, User, UserStore } from '../ports/users.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { touchMembers } from './member-role.ts';
import { revokeMemberKeys } from './memberships.ts';
import { type Row, readPlainDocument } from './rows.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';

type UserRemovalCalls = Pick<UserStore, 'suspend' | 'remove' | 'former' | 'formerPage' | 'putFormer'>;

export function userRemovalCalls(db: Db, transactions: Transactions): UserRemovalCalls {
  const former = db.collection<Row>('former_users');
  const endAccess = (user: User, at: number, how: (step: Step) => Promise<void>) =>
    transactions.run({
      steps: async (step): Promise<RemovalResult> => {
        const result = await endUserAccess(step, user);
        if (result !== 'done') return result;
        await revokeManagementKeys(step, user, at);
        await how(step);
        return 'done';
      },
    });
  return {
    suspend: (user, at) =>
      endAccess(user, at, async (step) => {
        const u = { $set: { status: 'suspended', version: user.version + 1 } };
        await step({ update: 'users', updates: [{ q: { _id: user.id }, u }] });
      }),
    remove: (user, at) =>
      endAccess(user, at, async (step) => {
        await endMemberships(step, user, at);
        await step({ delete: 'users', deletes: [{ q: { _id: user.id }, limit: 1 }] });
        const { id, email, createdAt } = user;
        await step({
          update: 'former_users',
          updates: [buildFormerUserUpsert({ id, email, createdAt, removedAt: at })],
        });
      }),
    async former(id) {
      const row = await read((signal) => former.findOne({ _id: id }, { signal }));
      return row ? readPlainDocument<FormerUser>(row) : undefined;
    },
    async formerPage({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => former.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map((row) => readPlainDocument<FormerUser>(row));
    },
    async putFormer(users) {
      if (users.length === 0) return;
      const command = { update: 'former_users', updates: users.map(buildFormerUserUpsert), ...MAJORITY };
      await call({ repeatable: true }, (signal) => send(db, command, { signal }));
    },
  };
}

async function endUserAccess(step: Step, { id, email, version }: User): Promise<RemovalResult> {
  const [found] = await readFirstBatch(step({ find: 'users', filter: { _id: id, version }, limit: 1 }));
  if (!found) return 'changed';
  if (found.operator && found.status === 'active') {
    await touchOperators(step);
    const isLast = !(await userExists(step, { operator: true, status: 'active', _id: { $ne: id } }));
    if (isLast) return 'last_operator';
  }
  await step({ delete: 'signins', deletes: [{ q: { user: id }, limit: 0 }] });
  await step({ delete: 'links', deletes: [{ q: { $or: [{ user: id }, { email }] }, limit: 0 }] });
  return 'done';
}

async function revokeManagementKeys(step: Step, { id: createdBy }: User, at: number): Promise<void> {
  const q = { createdBy, revokedAt: null };
  await step({ update: 'management_keys', updates: [{ q, u: { $set: { revokedAt: at } }, multi: true }] });
}

async function endMemberships(step: Step, { id: user }: User, at: number): Promise<void> {
  const filter = { user, role: { $ne: 'accountant' } };
  const joined = await readFirstBatch(step({ find: 'memberships', filter, batchSize: 1000, singleBatch: true }));
  for (const { account, role } of joined) {
    await touchMembers(step, account);
    if (role === 'member') await revokeMemberKeys(step, { user, account }, at);
  }
  await step({ delete: 'memberships', deletes: [{ q: { user }, limit: 0 }] });
}

/** Writes a counter, so that one of two concurrent transactions that count operators has to retry. */
export async function touchOperators(step: Step): Promise<void> {
  await step({ update: 'counters', updates: [{ q: { _id: 'operators' }, u: { $inc: { value: 1 } }, upsert: true }] });
}

export async function userExists(step: Step, filter: Document): Promise<boolean> {
  const rows = await readFirstBatch(step({ find: 'users', filter, projection: { _id: 1 }, limit: 1 }));
  return rows.length > 0;
}

function buildFormerUserUpsert({ id, ...user }: FormerUser): Document {
  return { q: { _id: id }, u: { $setOnInsert: user }, upsert: true };
}
