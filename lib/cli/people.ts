// `tollgate operator` and `tollgate user`: one-time links for people, printed once.
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { MembershipOffer } from '../store/ports/sessions.ts';
import type { Role } from '../store/ports/users.ts';
import { createLinkAnswer, recordAction } from './audited-action.ts';
import type { Answer } from './output.ts';
import { findAccount, ID_OR_NAME, onStore, type Session } from './session.ts';
import { addUserCommands } from './user.ts';

export function addPeopleCommands(program: Command): void {
  const operator = program.command('operator').description('operators of the pages: create, reset');
  operator
    .command('create')
    .description(
      'Prints a one-time link, valid for an hour, for a new operator to set a password and an authenticator app.',
    )
    .argument('<email>', 'what the operator signs in with')
    .addHelpText('after', '\nExample:\n  tollgate operator create ann@example.com')
    .action(onStore(createOperator));
  operator
    .command('reset')
    .description('Prints a one-time link for an operator to set a new password and app, which ends all their sessions.')
    .argument('<email>', 'the operator')
    .addHelpText('after', '\nExample:\n  tollgate operator reset ann@example.com')
    .action(onStore(resetOperator));
  const user = program
    .command('user')
    .description('people: invite, list, suspend, resume, remove, remove-owner, reset, sessions');
  user
    .command('invite')
    .description(
      'Prints a one-time link, valid for a week, that makes somebody an owner of an account; who has access already accepts it after signing in.',
    )
    .argument('<account>', ID_OR_NAME)
    .argument('<email>', 'what the owner signs in with')
    .addHelpText('after', '\nExample:\n  tollgate user invite "Acme" bob@example.com')
    .action(onStore(invite));
  addUserCommands(user);
}

/** Also what the management API does: lib/manage/verbs.ts. */
export const inviteActions = { invite };

async function createOperator(session: Session, text: string): Promise<Answer> {
  const email = await checkEmail(text);
  const user = await session.store.users.find(email);
  if (user) throw new OperatorError(`The address ${email} is already in use.`);
  await recordAction(session, { action: 'operator.invite', target: email });
  return createLinkAnswer(session, { purpose: 'operator', email });
}

async function resetOperator(session: Session, text: string): Promise<Answer> {
  const email = await checkEmail(text);
  const user = await session.store.users.find(email);
  if (!user?.operator) throw new OperatorError(`There is no operator ${email}.`);
  if (user.status !== 'active') throw new OperatorError(`${email} is suspended: see "tollgate user resume".`);
  await recordAction(session, { action: 'operator.reset', target: user.id, detail: { email } });
  return createLinkAnswer(session, { purpose: 'operator', email, user: user.id });
}

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
  if (present) throw new OperatorError(`${email} is ${withArticle(present.role)} of the account already.`);
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

async function checkEmail(text: string): Promise<string> {
  const { readEmail } = await import('../users/people.ts');
  const email = readEmail(text);
  if (email === undefined) throw new OperatorError(`${JSON.stringify(text.slice(0, 60))} is not an email address.`);
  return email;
}
