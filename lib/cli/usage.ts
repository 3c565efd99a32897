// `tollgate usage`: what an account has used and what it cost, added up.
import { type Command, Option } from 'commander';
import { USAGE_GROUPS } from '../ledger/usage.ts';
import { usageActions } from '../manage/actions/usage.ts';
import { addChargeFilter } from './charge-filter.ts';
import { ID_OR_NAME, onStore } from './session.ts';

export function addUsageCommand(program: Command): void {
  const usage = program
    .command('usage')
    .summary('what an account used and what it cost')
    .description(
      'Adds up the calls of an account. A call counts at the time it started, in UTC, with its cost after refunds: ' +
        'without filters the total is what the wallet was charged.',
    )
    .argument('<account>', ID_OR_NAME)
    .addOption(new Option('--by <group>', 'a row for each').choices(USAGE_GROUPS).default('day'))
    .option('--csv', 'print comma-separated values, without a total');
  addChargeFilter(usage)
    .addHelpText('after', '\nExample:\n  tollgate usage acc_5f0c… --from 2026-01-01 --to 2026-02-01 --by model')
    .action(onStore(usageActions.report));
}
