// Users and their memberships in the MongoDB store.
import type { Document } from 'mongodb';
import type { Membership, User, UserStore } from '../ports/users.ts';
import { listWrongMarks, toMarkedMembership } from '../row-mark.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { isDuplicate } from './failure.ts';
import { membershipId } from './member-role.ts';
import { membershipCalls, readMembershipDocument } from './memberships.ts';
import { type Row, readPlainDocument } from './rows.ts';
import type { Step, Transactions } from './transaction.ts';
import { touchOperators, userExists, userRemovalCalls } from './user-removal.ts';

export function userStore({ db }: Connection, transactions: Transactions): UserStore {
  const users = db.collection<Row>('users');
  const memberships = db.collection<Row>('memberships');

  const get = async (filter: Document): Promise<User | undefined> => {
    const row = await read((signal) => users.findOne(filter, { signal }));
    return row ? readPlainDocument<User>(row) : undefined;
  };
  const listMemberships = async (filter: Document, sort: Record<string, 1>, limit = 0): Promise<Membership[]> => {
    const rows = await read((signal) => memberships.find(filter, { signal }).sort(sort).limit(limit).toArray());
    return rows.map(readMembershipDocument);
  };

  return {
    get: (id) => get({ _id: id }),
    find: (email) => get({ email }),
    async add(user) {
      try {
        await call({ repeatable: false }, (signal) =>
          send(db, { insert: 'users', documents: [toUserDocument(user)], ...MAJORITY }, { signal }),
        );
        return 'added';
      } catch (error) {
        if (isDuplicate(getCause(error))) return 'taken';
        throw error;
      }
    },
    addFirstOperator: (user) => transactions.run({ steps: (step) => insertFirstOperator(step, user) }),
    ...userRemovalCalls(db, transactions),
    async change(user) {
      const updates = [
        { q: { _id: user.id, version: user.version }, u: toUserDocument({ ...user, version: user.version + 1 }) },
      ];
      const { n } = await call({ repeatable: false }, (signal) =>
        send(db, { update: 'users', updates, ...MAJORITY }, { signal }),
      );
      return n === 1;
    },
    async page({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => users.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map((row) => readPlainDocument<User>(row));
    },
    operators: () => read((signal) => users.countDocuments({ operator: true }, { signal })),
    ...membershipCalls(db, transactions),
    async findWrongMarks({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => memberships.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return listWrongMarks(rows.map(toMarkedDocument), limit);
    },
    listUserMemberships: (user) => listMemberships({ user }, { account: 1 }),
    listAccountMembers: (account) => listMemberships({ account }, { user: 1 }),
    async listOwnerEmails(accounts) {
      const owners = await listMemberships({ account: { $in: [...accounts] }, role: 'owner' }, { account: 1, user: 1 });
      const filter = { _id: { $in: [...new Set(owners.map(({ user }) => user))] } };
      const options = { projection: { email: 1 } } as const;
      const rows = await read((signal) => users.find(filter, { ...options, signal }).toArray());
      const emails = new Map(rows.map(({ _id, email }) => [_id, String(email)]));
      return owners.flatMap(({ account, user }) => {
        const email = emails.get(user);
        return email === undefined ? [] : [{ account, email }];
      });
    },
    memberships: ({ after, limit }) =>
      listMemberships(after ? buildAfterMembership(after) : {}, { user: 1, account: 1 }, limit),
  };
}

async function insertFirstOperator(step: Step, user: User): ReturnType<UserStore['addFirstOperator']> {
  await touchOperators(step);
  if (await userExists(step, { operator: true })) return 'late';
  if (await userExists(step, { email: user.email })) return 'taken';
  await step({ insert: 'users', documents: [toUserDocument(user)] });
  return 'added';
}

/** A membership under the id of another is found by nobody. */
function toMarkedDocument(row: Row) {
  const membership = readMembershipDocument(row);
  return toMarkedMembership(membership, row._id === membershipId(membership) ? row.mark : 'none');
}

function buildAfterMembership({ user, account }: Membership): Document {
  return { $or: [{ user: { $gt: user } }, { user, account: { $gt: account } }] };
}

function getCause(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function toUserDocument({ id: _id, telegram, ...user }: User): Document {
  return { _id, ...user, ...(telegram && { telegram }) };
}
