// `tollgate grant`: gives an account money that it has not paid, lists such grants, and takes back what is left of one.
import type { Command } from 'commander';
import { grantActions, MONTHLY_REASON } from '../manage/actions/grant.ts';
import { readId, readPayment, readText, readTime } from '../manage/arguments.ts';
import { NONE } from '../manage/removed.ts';
import { ID_OR_NAME, onStore } from './session.ts';

export function addGrantCommands(program: Command): void {
  const grant = program
    .command('grant')
    .description(
      'money that is given, not paid: calls spend it first, and it is never paid out: give, monthly, list, revoke',
    );
  grant
    .command('give')
    .description(
      'Gives money to an account. The id is unique across all accounts: repeating the command changes nothing. ' +
        'Unless --opens-wallet is given, it can be spent after the first top-up.',
    )
    .argument('<id>', 'the account')
    .argument('<rub>', 'RUB, with at most 6 decimals', readPayment)
    .requiredOption('--id <id>', 'your own id of the grant', readId)
    .requiredOption('--reason <text>', 'the reason; the owner sees it', readText)
    .option('--expires <time>', 'when what is left of it is taken back: a day in UTC, or a time', readTime)
    .option('--opens-wallet', 'it counts as the first top-up')
    .addHelpText(
      'after',
      '\nExample:\n  tollgate grant give acc_5f0c… 300 --id trial-17 --expires 2027-01-31 --reason "a trial"',
    )
    .action(onStore(grantActions.give));
  grant
    .command('monthly')
    .description(
      'Gives an account an amount each month, which expires with the month in the time zone of the account. The whole ' +
        'amount is given at once; a new amount applies from the next month on, "none" ends it.',
    )
    .argument('<id>', 'the account')
    .argument('<rub>', 'RUB a month, or "none"', (text) => (text === NONE ? NONE : readPayment(text)))
    .option('--reason <text>', 'the reason; the owner sees it', readText, MONTHLY_REASON)
    .addHelpText('after', '\nExample:\n  tollgate grant monthly acc_5f0c… 500 --reason "for staff"')
    .action(onStore(grantActions.setMonthly));
  grant
    .command('list')
    .description('Lists the grants of an account that are not over, in the order in which calls spend them.')
    .argument('<account>', ID_OR_NAME)
    .addHelpText('after', '\nExample:\n  tollgate grant list acc_5f0c…')
    .action(onStore(grantActions.list));
  grant
    .command('revoke')
    .description('Takes back what is left of a grant. What running calls hold of it stays theirs until they end.')
    .argument('<id>', 'the account')
    .argument('<grant>', 'the id of the grant', readText)
    .requiredOption('--reason <text>', 'the reason; it stays in the ledger', readText)
    .addHelpText('after', '\nExample:\n  tollgate grant revoke acc_5f0c… trial-17 --reason "given by mistake"')
    .action(onStore(grantActions.revoke));
}
