// Invitations to accounts, as one-time links.
import { OperatorError } from '../../base/operator-error.ts';
import type { MembershipOffer } from '../../store/ports/sessions.ts';
import type { Role } from '../../store/ports/users.ts';
import type { Answer } from '../answer.ts';
import { createLinkAnswer, recordAction } from '../audited-action.ts';
import { findAccount, type Session } from '../session.ts';

export const inviteActions = { invite };

async function invite(
  session: Session,
  account: string,
  text: string,
  offer: MembershipOffer = { role: 'owner' },
): Promise<Answer> {
  const { id } = await findAccount(session, account);
  const email = await checkEmail(text);
  const { users } = session.store;
  const user = await users.find(email);
  if (user?.status === 'suspended') throw new OperatorError(`${email} is suspended: see "tollgate user resume".`);
  const present = user && (await users.listUserMemberships(user.id)).find(({ account: of }) => of === id);
  if (present) throw new OperatorError(`${email} is already ${withArticle(present.role)} of the account.`);
  const { role, cap } = offer;
  if (role === 'owner') await recordAction(session, { action: 'owner.invite', target: email, account: id });
  else {
    const detail = { role, ...(cap && { member_cap: `${cap.limit}`, reset: cap.reset }) };
    await recordAction(session, { action: 'member.invite', target: email, account: id, detail });
  }
  const answer = await createLinkAnswer(session, { purpose: 'invite', email, account: id, offer });
  return user
    ? { ...answer, text: `${email} has access already, and accepts after signing in.\n${answer.text}` }
    : answer;
}

function withArticle(role: Role): string {
  return role === 'member' ? 'a member' : `an ${role}`;
}

export async function checkEmail(text: string): Promise<string> {
  const { readEmail } = await import('../../users/people.ts');
  const email = readEmail(text);
  if (email === undefined) throw new OperatorError(`${JSON.stringify(text.slice(0, 60))} is not an email address.`);
  return email;
}
