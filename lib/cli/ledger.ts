// `tollgate ledger`: the journal of a wallet, and the audit of all wallets.
import type { Command } from 'commander';
import { ledgerActions } from '../manage/actions/ledger.ts';
import { readCount } from '../manage/arguments.ts';
import { addArchiveCommand } from './ledger-archive.ts';
import { withBar } from './progress.ts';
import { ID_OR_NAME, onStore, onStoreOrBackup } from './session.ts';

const ENTRIES_BY_DEFAULT = 50;

export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('the journal of all money: list, verify, archive');
  ledger
    .command('list')
    .description('Lists the entries of a wallet, newest first.')
    .argument('<account>', ID_OR_NAME)
    .option('--limit <count>', 'show at most this many entries', readCount, ENTRIES_BY_DEFAULT)
    .option('--before <seq>', 'only entries numbered below this', readCount)
    .addHelpText('after', '\nExample:\n  tollgate ledger list acc_5f0c… --limit 20')
    .action(onStore(ledgerActions.list));
  ledger
    .command('verify')
    .description(
      'Checks every wallet and every call against its entries. Writes nothing and works beside a running server. ' +
        'Exits with code 1 if something does not add up.',
    )
    .argument('[file]', 'a backup, instead of the store in use')
    .addHelpText('after', '\nExample:\n  tollgate ledger verify\n  tollgate ledger verify /backup/tollgate.db')
    .action(onStoreOrBackup((session) => withBar((show) => ledgerActions.verify(session, show))));
  addArchiveCommand(ledger);
}
