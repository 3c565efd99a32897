// `tollgate operator` and `tollgate user`: one-time links for people, printed once.
import type { Command } from 'commander';
import { OperatorError } from '../operator-error.ts';
import type { User } from '../store/ports/users.ts';
import { type Answer, formatPairs } from './output.ts';
import { findAccount, ID_OR_NAME, onStore, type Session } from './session.ts';

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
  const user = program.command('user').description('owners of accounts: invite');
  user
    .command('invite')
    .description('Prints a one-time link, valid for a week, that makes somebody an owner of an account.')
    .argument('<account>', ID_OR_NAME)
    .argument('<email>', 'what the owner signs in with')
    .addHelpText('after', '\nExample:\n  tollgate user invite "Acme" bob@example.com')
    .action(onStore(invite));
}

async function createOperator(session: Session, text: string): Promise<Answer> {
  const email = await checkEmail(text);
  const user = await session.store.users.find(email);
  if (user) throw new OperatorError(`The address ${email} is already in use.`);
  return answer(session, { purpose: 'operator', email });
}

async function resetOperator(session: Session, text: string): Promise<Answer> {
  const email = await checkEmail(text);
  const user = await session.store.users.find(email);
  if (!user?.operator) throw new OperatorError(`There is no operator ${email}.`);
  return answer(session, { purpose: 'operator', email, user: user.id });
}

async function invite(session: Session, account: string, text: string): Promise<Answer> {
  const { id } = await findAccount(session, account);
  const email = await checkEmail(text);
  const user: User | undefined = await session.store.users.find(email);
  if (user) {
    await session.store.users.join({ user: user.id, account: id, role: 'owner' });
    const url = `${session.config.publicUrl}/account?account=${id}`;
    return { json: { url }, text: `${email} is an owner of the account now.\n${formatPairs([['page', url]])}` };
  }
  return answer(session, { purpose: 'invite', email, account: id });
}

interface LinkOf {
  readonly purpose: 'operator' | 'invite';
  readonly email: string;
  readonly user?: string;
  readonly account?: string;
}

async function answer({ store, config }: Session, of: LinkOf): Promise<Answer> {
  const { createPeople } = await import('../users/people.ts');
  const token = await createPeople({ store }).makeLink(of);
  const url = `${config.publicUrl}/setup?token=${token}`;
  return { json: { url }, text: formatPairs([['link', url]]) };
}

async function checkEmail(text: string): Promise<string> {
  const { readEmail } = await import('../users/people.ts');
  const email = readEmail(text);
  if (email === undefined) throw new OperatorError(`${JSON.stringify(text.slice(0, 60))} is not an email address.`);
  return email;
}
