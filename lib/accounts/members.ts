// Members of an account: what an invitation offers them, their role and cap, and how they leave.
import { OperatorError } from '../base/operator-error.ts';
import { AMOUNT_MAX, formatRub } from '../money/money.ts';
import type { Link, MembershipOffer } from '../store/ports/sessions.ts';
import type { Membership, MembershipChange, User, UserStore } from '../store/ports/users.ts';
import { readZone } from './zone.ts';

type MemberStore = Pick<UserStore, 'listAccountMembers' | 'get'>;

/** A membership and its user; undefined if there is none any more. */
export interface Member {
  readonly member: Membership;
  readonly user: User | undefined;
}

/** The members of an account in order of their emails. */
export async function listMembers(users: MemberStore, account: string): Promise<readonly Member[]> {
  const memberships = await users.listAccountMembers(account);
  const found = memberships.map(async (member): Promise<Member> => ({ member, user: await users.get(member.user) }));
  return (await Promise.all(found)).sort(({ user: one }, { user: other }) =>
    (one?.email ?? '').localeCompare(other?.email ?? ''),
  );
}

/** Throws `OperatorError` for an offer that makes no sense. */
export function checkOffer({ role, cap }: MembershipOffer): void {
  if (!cap) return;
  if (role !== 'member') throw new OperatorError('Only members have a cap.');
  if (cap.limit <= 0n || cap.limit > AMOUNT_MAX) {
    throw new OperatorError(`A cap must be above zero and at most ${formatRub(AMOUNT_MAX)} RUB.`);
  }
}

/** Role and cap with the time zone in which the account counts its days. */
async function addZone(
  users: MemberStore,
  account: string,
  { role, cap }: MembershipOffer,
): Promise<Omit<Membership, 'user'>> {
  return { account, role, ...(cap && { cap: { ...cap, zone: await readZone(users, account) } }) };
}

/** What an invitation makes of the user who accepts it; those of earlier versions offer no role. */
export function readInvitation(
  users: MemberStore,
  { offer = { role: 'owner' } }: Pick<Link, 'offer'>,
  account: string,
): Promise<Omit<Membership, 'user'>> {
  return addZone(users, account, offer);
}

export interface MemberTerms extends MembershipOffer {
  readonly account: string;
  readonly user: string;
}

/** Changes role and cap; a member who becomes an accountant loses their keys. Throws `OperatorError` like `checkOffer`. */
export async function setMember(
  users: MemberStore & Pick<UserStore, 'setMembership'>,
  { account, user, ...offer }: MemberTerms,
  at: number,
): Promise<MembershipChange> {
  checkOffer(offer);
  return users.setMembership({ user, ...(await addZone(users, account, offer)) }, at);
}
