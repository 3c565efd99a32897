// `tollgate key users`: what the end users of a key have spent of their budgets.
import type { Command } from 'commander';
import { KEY_USERS_BY_DEFAULT, keyUserActions } from '../manage/actions/key-users.ts';
import { readCount, readText } from '../manage/arguments.ts';
import { onStore } from './session.ts';

export function addKeyUsersCommand(key: Command): void {
  key
    .command('users')
    .description('Lists what the end users of a key have spent of their budgets, by the digests of their names.')
    .argument('<key-id>', 'the key')
    .option('--name <name>', 'only this end user, named as calls name them', readText)
    .option('--after <digest>', 'the digest after which the list goes on', readText)
    .option('--limit <number>', `show at most this many (default: ${KEY_USERS_BY_DEFAULT})`, readCount)
    .addHelpText('after', '\nExample:\n  tollgate key users key_83d1… --name alice')
    .action(onStore(keyUserActions.list));
}
