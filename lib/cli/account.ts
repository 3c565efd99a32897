// `tollgate account`: creates, lists, shows, suspends and resumes accounts.
import type { Command } from 'commander';
import { accountActions } from '../manage/actions/account.ts';
import { readText } from '../manage/arguments.ts';
import { addRequestLimitOptions } from './request-limits.ts';
import { ID_OR_NAME, onStore } from './session.ts';

export function addAccountCommands(program: Command): void {
  const account = program
    .command('account')
    .description('accounts: create, list, show, limit, price-list, suspend, resume');
  account
    .command('create')
    .description('Creates an account with an empty wallet. Calls work after the first top-up.')
    .requiredOption('--name <name>', 'a name for people to read', readText)
    .addHelpText('after', '\nExample:\n  tollgate account create --name "Acme"')
    .action(onStore(accountActions.create, { existing: false }));
  account
    .command('list')
    .description('Lists all accounts, oldest first.')
    .addHelpText('after', '\nExample:\n  tollgate account list')
    .action(onStore(accountActions.list));
  account
    .command('show')
    .description('Shows one account.')
    .argument('<account>', ID_OR_NAME)
    .addHelpText('after', '\nExample:\n  tollgate account show acc_5f0c…')
    .action(onStore(accountActions.show));
  addRequestLimitOptions(
    account
      .command('limit')
      .description('Limits the requests of all keys of an account together, within a second; other limits stay.')
      .argument('<id>', 'the account'),
    { canRemove: true },
  )
    .addHelpText('after', '\nExample:\n  tollgate account limit acc_5f0c… --per-minute 300 --at-once 20 --wait 10')
    .action(onStore(accountActions.limit));
  account
    .command('price-list')
    .description('Gives an account the prices of a list of the catalog, within a second; "none": list prices.')
    .argument('<id>', 'the account')
    .argument('<name>', 'a list in "priceLists" of the catalog, or "none"')
    .addHelpText('after', '\nExample:\n  tollgate account price-list acc_5f0c… partner')
    .action(onStore(accountActions.setPriceList));
  account
    .command('suspend')
    .description('Suspends an account: within a second its keys get 403. Calls under way finish and are settled.')
    .argument('<id>', 'the account')
    .addHelpText('after', '\nExample:\n  tollgate account suspend acc_5f0c…')
    .action(onStore(accountActions.suspend));
  account
    .command('resume')
    .description('Ends a suspension.')
    .argument('<id>', 'the account')
    .addHelpText('after', '\nExample:\n  tollgate account resume acc_5f0c…')
    .action(onStore(accountActions.resume));
}
