// `tollgate operator` and `tollgate user`: one-time links for people, printed once.
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { checkEmail, inviteActions } from '../manage/actions/people.ts';
import type { Answer } from '../manage/answer.ts';
import { createLinkAnswer, recordAction } from '../manage/audited-action.ts';
import type { Session } from '../manage/session.ts';
import { ID_OR_NAME, onStore } from './session.ts';
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
      'Prints a one-time link, valid for a week, that makes somebody an owner of an account; somebody who already has access accepts it after signing in.',
    )
    .argument('<account>', ID_OR_NAME)
    .argument('<email>', 'what the owner signs in with')
    .addHelpText('after', '\nExample:\n  tollgate user invite "Acme" bob@example.com')
    .action(onStore(inviteOwner));
  addUserCommands(user);
}

/** After the arguments, commander passes its options: the action would take them for an offer. */
function inviteOwner(session: Session, account: string, email: string): Promise<Answer> {
  return inviteActions.invite(session, account, email);
}

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
