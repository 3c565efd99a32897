// Memberships of users in accounts in the MongoDB store; the keys of a member end with the membership, and an owner's keys
// of the management API with the role.
import type { Db, Document } from 'mongodb';
import type { Membership, MembershipChange, UserStore } from '../ports/users.ts';
import { markMembership } from '../row-mark.ts';
import { call, MAJORITY, send } from './call.ts';
import { buildRevocation } from './keys.ts';
import { findRole, type MemberOf, membershipId, readCapDocument, touchMembers } from './member-role.ts';
import { toLong } from './rows.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';

type MembershipCalls = Pick<UserStore, 'join' | 'setMembership' | 'handOver' | 'leave'>;

export function membershipCalls(db: Db, transactions: Transactions): MembershipCalls {
  return {
    async join(membership) {
      const { role: _, cap: __, ...rest } = membership;
      const u = { $setOnInsert: { ...rest, ...toRoleFields(membership) } };
      const updates = [{ q: { _id: membershipId(membership) }, u, upsert: true }];
      await call({ repeatable: true }, (signal) =>
        send(db, { update: 'memberships', updates, ...MAJORITY }, { signal }),
      );
    },
    setMembership: (wanted, at) =>
      transactions.run({
        steps: async (step) => {
          const { account, role, cap } = wanted;
          await touchMembers(step, account);
          const before = await findRole(step, wanted);
          if (before === undefined) return 'none';
          if (role !== 'owner' && (await isLastOwner(step, before, wanted))) return 'last_owner';
          const u = { $set: toRoleFields(wanted), ...(!cap && { $unset: { cap: '' } }) };
          await step({ update: 'memberships', updates: [{ q: { _id: membershipId(wanted) }, u }] });
          if (before === 'member' && role === 'accountant') await revokeMemberKeys(step, wanted, at);
          if (before === 'owner' && role !== 'owner') await revokeOwnerKeys(step, wanted, at);
          return 'done';
        },
      }),
    handOver: ({ account, from, to, at }) =>
      transactions.run({
        steps: async (step) => {
          await touchMembers(step, account);
          const isOwner = (await findRole(step, { user: from, account })) === 'owner';
          if (!isOwner || !(await findRole(step, { user: to, account }))) return 'none';
          const after = [
            { user: to, account, role: 'owner' },
            { user: from, account, role: 'member' },
          ] as const;
          const updates = after.map((membership) => ({
            q: { _id: membershipId(membership) },
            u: { $set: toRoleFields(membership), $unset: { cap: '' } },
          }));
          await step({ update: 'memberships', updates });
          await revokeOwnerKeys(step, { user: from, account }, at);
          return 'done';
        },
      }),
    leave: ({ at, isForced = false, ...of }) =>
      transactions.run({
        steps: async (step): Promise<MembershipChange> => {
          await touchMembers(step, of.account);
          const before = await findRole(step, of);
          if (before === undefined) return 'none';
          if (!isForced && (await isLastOwner(step, before, of))) return 'last_owner';
          await step({ delete: 'memberships', deletes: [{ q: { _id: membershipId(of) }, limit: 1 }] });
          if (before === 'member') await revokeMemberKeys(step, of, at);
          if (before === 'owner') await revokeOwnerKeys(step, of, at);
          return 'done';
        },
      }),
  };
}

async function isLastOwner(step: Step, role: string, { user, account }: MemberOf): Promise<boolean> {
  if (role !== 'owner') return false;
  const pipeline = [
    { $match: { account, role: 'owner', user: { $ne: user } } },
    { $lookup: { from: 'users', as: 'users', localField: 'user', foreignField: '_id' } },
    { $match: { 'users.status': 'active' } },
    { $limit: 1 },
  ];
  return (await readFirstBatch(step({ aggregate: 'memberships', pipeline, cursor: {} }))).length === 0;
}

/** Revokes the keys that a user has issued in an account. */
export async function revokeMemberKeys(step: Step, { user, account }: MemberOf, at: number): Promise<void> {
  const filter = { account, createdBy: user, revokedAt: null };
  const rows = await readFirstBatch(step({ find: 'keys', filter, batchSize: 1000, singleBatch: true }));
  if (rows.length > 0) await step({ update: 'keys', updates: rows.map((row) => buildRevocation(row, at)) });
}

/** Revokes the keys of the management API that an owner has made for an account. */
async function revokeOwnerKeys(step: Step, { user, account }: MemberOf, at: number): Promise<void> {
  const q = { account, createdBy: user, revokedAt: null };
  await step({ update: 'management_keys', updates: [{ q, u: { $set: { revokedAt: at } }, multi: true }] });
}

function toRoleFields(membership: Membership): Document {
  const { role, cap } = membership;
  return { role, ...(cap && { cap: { ...cap, limit: toLong(cap.limit) } }), mark: markMembership(membership) };
}

export function readMembershipDocument({ user, account, role, cap }: Document): Membership {
  return { user, account, role, ...(cap && { cap: readCapDocument(cap) }) };
}
