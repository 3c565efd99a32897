// `tollgate charge`: what calls cost, and how the money of one call moved.
import type { Command } from 'commander';
import { chargeActions } from '../manage/actions/charge.ts';
import { readCount } from '../manage/arguments.ts';
import { addChargeFilter } from './charge-filter.ts';
import { ID_OR_NAME, onStore } from './session.ts';

const CHARGES_BY_DEFAULT = 50;

export function addChargeCommands(program: Command): void {
  const charge = program.command('charge').description('what calls cost: show, list');
  charge
    .command('show')
    .description('Shows the charge of a call with its entries, by the x-request-id of the reply.')
    .argument('<request-id>', 'the x-request-id, or the id of a video')
    .addHelpText('after', '\nExample:\n  tollgate charge show req_91ab…')
    .action(onStore(chargeActions.show));
  const listing = charge
    .command('list')
    .description('Lists the calls of an account, newest first.')
    .argument('<account>', ID_OR_NAME);
  addChargeFilter(listing)
    .option('--limit <count>', 'show at most this many calls', readCount, CHARGES_BY_DEFAULT)
    .option('--before <request-id>', 'only calls older than this one')
    .addHelpText('after', '\nExample:\n  tollgate charge list acc_5f0c… --from 2026-01-01 --state refunded')
    .action(onStore(chargeActions.list));
}
