// `tollgate user`: lists, suspends, resumes and removes people, takes them off accounts and ends their sessions.
import type { Command } from 'commander';
import { userActions } from '../manage/actions/user.ts';
import { ID_OR_NAME, onStore } from './session.ts';

export const WHO = 'their email address or id';

export function addUserCommands(user: Command): void {
  user
    .command('list')
    .description('Lists everybody who may sign in, oldest first, with their accounts.')
    .addHelpText('after', '\nExample:\n  tollgate user list')
    .action(onStore(userActions.list));
  user
    .command('suspend')
    .description('Suspends a person: all sessions and one-time links end at once, and signing in is refused.')
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate user suspend bob@example.com')
    .action(onStore(userActions.suspend));
  user
    .command('resume')
    .description('Ends a suspension: the person signs in with the same password and authenticator app.')
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate user resume bob@example.com')
    .action(onStore(userActions.resume));
  user
    .command('remove')
    .description(
      'Removes a person for good, with all sessions, links and memberships. The audit log and consents stay, and so do keys of accounts.',
    )
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate user remove bob@example.com')
    .action(onStore(userActions.remove));
  user
    .command('remove-owner')
    .description('Removes an owner from an account, even its last one.')
    .argument('<account>', ID_OR_NAME)
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate user remove-owner "Acme" bob@example.com')
    .action(onStore(userActions.removeOwner));
  user
    .command('reset')
    .description(
      'Prints a one-time link, valid for an hour, for an owner to set a new password; it also removes the authenticator app.',
    )
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate user reset bob@example.com')
    .action(onStore(userActions.reset));
  addSessionCommands(user.command('sessions').description('where a person is signed in: list, end'));
}

function addSessionCommands(sessions: Command): void {
  sessions
    .command('list')
    .description('Lists the sessions of a person, newest first.')
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate user sessions list bob@example.com')
    .action(onStore(userActions.listSessions));
  sessions
    .command('end')
    .description('Ends all sessions of a person, who may sign in again.')
    .argument('<user>', WHO)
    .addHelpText('after', '\nExample:\n  tollgate user sessions end bob@example.com')
    .action(onStore(userActions.endSessions));
}
