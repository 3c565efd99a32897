// The role of a member in a transaction of the MongoDB store.
import type { Document } from 'mongodb';
import type { Membership } from '../ports/users.ts';
import { readFirstBatch, type Step } from './transaction.ts';

export type MemberOf = Pick<Membership, 'user' | 'account'>;

export function membershipId({ user, account }: MemberOf): string {
  return `${user} ${account}`;
}

/**
 * Writes a counter, so that one of two concurrent transactions that depend on the members of an account has to retry:
 * otherwise a member could get a key while being removed, or two owners could leave at once.
 */
export async function touchMembers(step: Step, account: string): Promise<void> {
  const touched = { q: { _id: `members:${account}` }, u: { $inc: { value: 1 } }, upsert: true };
  await step({ update: 'counters', updates: [touched] });
}

export async function findRole(step: Step, of: MemberOf): Promise<string | undefined> {
  const filter = { _id: membershipId(of) };
  const [row] = await readFirstBatch(step({ find: 'memberships', filter, limit: 1 }));
  return row?.role;
}

export function readCapDocument({ limit, reset, zone }: Document): NonNullable<Membership['cap']> {
  return { limit: BigInt(limit), reset, zone };
}
