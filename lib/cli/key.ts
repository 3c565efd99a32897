// `tollgate key`: issues, limits, rotates, lists and revokes the API keys of an account.
import type { Command } from 'commander';
import { keyActions } from '../manage/actions/key.ts';
import { readCount, readText } from '../manage/arguments.ts';
import { addLimitOptions, warnAfter } from './key-limits.ts';
import { addKeyUsersCommand } from './key-users.ts';
import { ID_OR_NAME, onStore } from './session.ts';

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys of an account: issue, limit, rotate, list, revoke, users');
  addLimitOptions(
    key
      .command('issue')
      .description('Issues a key and shows it once; only its hash is stored. An account has at most 10 active keys.')
      .argument('<id>', 'the account')
      .requiredOption('--name <name>', 'a name for people to read', readText),
    { canRemove: false },
  )
    .addHelpText('after', '\nExample:\n  tollgate key issue acc_5f0c… --name production --budget 500 --reset month')
    .action(onStore(warnAfter(keyActions.issue)));
  addLimitOptions(
    key
      .command('limit')
      .description('Changes the given limits of an active key within a second; the others stay.')
      .argument('<key-id>', 'the key, as "key list" shows it'),
    { canRemove: true },
  )
    .addHelpText('after', '\nExample:\n  tollgate key limit key_83d1… --budget 1000 --models all --expires never')
    .action(onStore(warnAfter(keyActions.limit)));
  key
    .command('rotate')
    .description(
      'Issues a replacement key with the same name and limits but no expiry; the old key keeps working for some hours. Both share one budget.',
    )
    .argument('<key-id>', 'the key, as "key list" shows it')
    .option('--hours <number>', 'how long the old key keeps working, at most 720', readCount, 24)
    .addHelpText('after', '\nExample:\n  tollgate key rotate key_83d1… --hours 48')
    .action(onStore(keyActions.rotate));
  key
    .command('list')
    .description('Lists the keys of an account, including revoked ones.')
    .argument('<account>', ID_OR_NAME)
    .addHelpText('after', '\nExample:\n  tollgate key list acc_5f0c…')
    .action(onStore(keyActions.list));
  key
    .command('revoke')
    .description('Revokes a key for good: within a second it gets 401. Calls under way finish and are settled.')
    .argument('<key-id>', 'the key, as "key list" shows it')
    .addHelpText('after', '\nExample:\n  tollgate key revoke key_83d1…')
    .action(onStore(keyActions.revoke));
  addKeyUsersCommand(key);
}
