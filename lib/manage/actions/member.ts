// The people of an account, with their roles and caps.

import { listMembers } from '../../accounts/members.ts';
import { InvalidInputError, OperatorError, UnknownError } from '../../base/operator-error.ts';
import { memberSumId } from '../../ledger/caps.ts';
import { getSpent, indexSums } from '../../money/budget.ts';
import { isExpired, type Reset } from '../../money/key-limits.ts';
import { type Micro, toRub } from '../../money/money.ts';
import { findPeriod } from '../../money/period.ts';
import type { Link, MembershipOffer } from '../../store/ports/sessions.ts';
import type { Membership, Role } from '../../store/ports/users.ts';
import { type Answer, formatMoney, formatTable, toTime } from '../answer.ts';
import { recordAction } from '../audited-action.ts';
import { NONE } from '../removed.ts';
import { findAccount, findUser, type Session } from '../session.ts';
import { inviteActions } from './people.ts';

export interface MemberOptions {
  readonly role?: Role;
  readonly cap?: Micro | typeof NONE;
  readonly reset?: Reset;
}

export const memberActions = { list, invite, set, remove };

async function list(session: Session, idOrName: string): Promise<Answer> {
  const { store } = session;
  const { id: account } = await findAccount(session, idOrName);
  const members = await listMembers(store.users, account);
  const sums = indexSums(await store.ledger.budgets(members.map(({ member }) => memberSumId(member))));
  const now = Date.now();
  const keys = await store.keys.list(account);
  const active = keys.filter(({ revokedAt, limits }) => revokedAt === null && !isExpired(limits, now));
  const byMember = Map.groupBy(active, ({ createdBy }) => createdBy);
  const people = members.map(({ member, user }) => {
    const { cap } = member;
    const sum = sums.get(memberSumId(member));
    return {
      user_id: member.user,
      email: user?.email ?? null,
      role: member.role,
      status: user?.status ?? 'suspended',
      cap: cap ? { rub: toRub(cap.limit), reset: cap.reset, time_zone: cap.zone } : null,
      spent_rub: cap ? toRub(getSpent(sum, findPeriod(now, cap).start)) : null,
      active_keys: byMember.get(member.user)?.length ?? 0,
    };
  });
  const invitations = (await store.sessions.listInvitations(account)).filter(({ expiresAt }) => expiresAt > now);
  const rows = people.map(({ email, role, status, cap, spent_rub: spent, active_keys: active }) => [
    email ?? '',
    role,
    status,
    cap ? formatCap(cap) : 'none',
    spent === null ? '' : String(spent),
    String(active),
  ]);
  const waiting = invitations.map(describeInvitation);
  const invited = waiting.map(({ email, role, cap }) => [
    email,
    role,
    'invited',
    cap ? formatCap(cap) : 'none',
    '',
    '',
  ]);
  return {
    json: { account_id: account, members: people, invitations: waiting },
    text:
      rows.length + invited.length === 0
        ? 'Nobody.'
        : formatTable(['email', 'role', 'status', 'cap', ' spent', ' keys'], [...rows, ...invited]),
  };
}

function describeInvitation({ email, expiresAt, offer = { role: 'owner' } }: Link) {
  const { role, cap }: MembershipOffer = offer;
  const json = cap ? { rub: toRub(cap.limit), reset: cap.reset } : null;
  return { email: email ?? '', role, cap: json, expires_at: toTime(expiresAt) };
}

function formatCap({ rub, reset }: { readonly rub: number; readonly reset: Reset }): string {
  return `${rub} RUB${reset === 'none' ? '' : ` a ${reset}`}`;
}

async function invite(session: Session, account: string, email: string, options: MemberOptions): Promise<Answer> {
  const { role = 'member', cap } = options;
  return inviteActions.invite(session, account, email, readOffer({ ...options, role, cap }));
}

async function set(session: Session, idOrName: string, who: string, options: MemberOptions): Promise<Answer> {
  const { store } = session;
  if (Object.values(options).every((value) => value === undefined))
    throw new InvalidInputError('Give a role or a cap; see --help.');
  const { id: account } = await findAccount(session, idOrName);
  const user = await findUser(session, who);
  const before = (await store.users.listAccountMembers(account)).find((each) => each.user === user.id);
  if (!before) throw unknownMemberError(user.email, account);
  const offer = readOffer(options, before);
  const { setMember } = await import('../../accounts/members.ts');
  const changed = await setMember(store.users, { account, user: user.id, ...offer }, Date.now());
  if (changed === 'none') throw unknownMemberError(user.email, account);
  if (changed === 'last_owner') throw lastOwnerError(user.email);
  const { role, cap } = offer;
  const detail = { email: user.email, role, ...(cap && { member_cap: `${cap.limit}`, reset: cap.reset }) };
  await recordAction(session, { action: 'member.change', target: user.id, account, detail });
  const json = {
    account_id: account,
    user_id: user.id,
    role,
    cap: cap ? { rub: toRub(cap.limit), reset: cap.reset } : null,
  };
  return {
    json,
    text: `${user.email}: ${role}${json.cap ? `, ${formatMoney(cap?.limit ?? 0n)} ${resetText(json.cap.reset)}` : ''}.`,
  };
}

function resetText(reset: Reset): string {
  return reset === 'none' ? 'in all' : `a ${reset}`;
}

/** Role and cap after the change; a role without caps drops the cap. */
function readOffer({ role, cap, reset }: MemberOptions, before?: Pick<Membership, 'role' | 'cap'>): MembershipOffer {
  const next = role ?? before?.role ?? 'member';
  const limit = cap ?? before?.cap?.limit;
  if (reset !== undefined && (limit === undefined || limit === NONE))
    throw new InvalidInputError('--reset needs --cap.');
  if (cap !== undefined && cap !== NONE && next !== 'member') throw new InvalidInputError('Only members have a cap.');
  if (limit === undefined || limit === NONE || next !== 'member') return { role: next };
  return { role: next, cap: { limit, reset: reset ?? before?.cap?.reset ?? 'month' } };
}

async function remove(session: Session, idOrName: string, who: string): Promise<Answer> {
  const { store } = session;
  const { id: account } = await findAccount(session, idOrName);
  const user = await findUser(session, who);
  const { createUserRemoval } = await import('../../users/user-removal.ts');
  const left = await createUserRemoval({ store }).leaveAccount(user, account);
  if (left === 'none') throw unknownMemberError(user.email, account);
  if (left === 'last_owner') throw lastOwnerError(user.email);
  await recordAction(session, { action: 'member.remove', target: user.id, account, detail: { email: user.email } });
  return {
    json: { account_id: account, user_id: user.id, status: 'removed' },
    text: `${user.email} has left the account. Keys that they had as a member are revoked.`,
  };
}

function unknownMemberError(email: string, account: string): UnknownError {
  return new UnknownError(`${email} does not belong to the account ${account}.`);
}

function lastOwnerError(email: string): OperatorError {
  return new OperatorError(
    `${email} is the last active owner: make somebody else an owner first, or use "tollgate user remove-owner".`,
  );
}
