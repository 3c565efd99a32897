// `tollgate member`: the people of an account, with their roles and caps.
import { type Command, Option } from 'commander';
import { memberActions } from '../manage/actions/member.ts';
import { readPayment } from '../manage/arguments.ts';
import { NONE } from '../manage/removed.ts';
import { RESETS } from '../money/key-limits.ts';
import type { Micro } from '../money/money.ts';
import { ROLES } from '../store/ports/users.ts';
import { ID_OR_NAME, onStore } from './session.ts';
import { WHO } from './user.ts';

export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('the people of an account: list, invite, set, remove');
  member
    .command('list')
    .description('Lists the people of an account with their roles, caps and what was spent of them, and invitations.')
    .argument('<account>', ID_OR_NAME)
    .addHelpText('after', '\nExample:\n  tollgate member list "Acme"')
    .action(onStore(memberActions.list));
  addOptions(
    member
      .command('invite')
      .description(
        'Prints a one-time link, valid for a week, that gives somebody a role in an account: a member without --role.',
      )
      .argument('<account>', ID_OR_NAME)
      .argument('<email>', 'what they sign in with'),
    readPayment,
  )
    .addHelpText('after', '\nExample:\n  tollgate member invite "Acme" bob@example.com --cap 500 --reset month')
    .action(onStore(memberActions.invite));
  addOptions(
    member
      .command('set')
      .description(
        'Changes role or cap within a second; the other stays. A member who becomes an accountant loses their keys.',
      )
      .argument('<account>', ID_OR_NAME)
      .argument('<user>', WHO),
    (text) => (text === NONE ? NONE : readPayment(text)),
  )
    .addHelpText('after', '\nExample:\n  tollgate member set "Acme" bob@example.com --cap none')
    .action(onStore(memberActions.set));
  member
    .command('remove')
    .description('Removes somebody from an account. The keys of a member are revoked; those of an owner stay.')
    .argument('<account>', ID_OR_NAME)
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate member remove "Acme" bob@example.com')
    .action(onStore(memberActions.remove));
}

function addOptions(command: Command, readCap: (text: string) => Micro | typeof NONE): Command {
  return command
    .addOption(new Option('--role <role>', 'what they may do').choices(ROLES))
    .option('--cap <rub>', 'the most that all keys of a member may spend between two resets', readCap)
    .addOption(
      new Option(
        '--reset <period>',
        'when the cap resets, in the time zone of the account; by default monthly',
      ).choices(RESETS),
    );
}
