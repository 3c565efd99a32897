// `tollgate hold`: sets money aside for services of the operator that run elsewhere, and charges or returns it.

import { type Command, InvalidArgumentError } from 'commander';
import { LEASE_SECONDS } from '../ledger/service-holds.ts';
import { holdActions } from '../manage/actions/hold.ts';
import { readAmount, readCount, readPayment, readReason, readText } from '../manage/arguments.ts';
import type { Usage } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { UNITS_MAX, USAGE_UNITS, type UsageUnit } from '../money/usage-units.ts';
import { onStore } from './session.ts';

const ID = 'the hold: hold_…';

const RUB = 'RUB, with at most 6 decimals';

const LEASE = `how many seconds from now it is held, at most ${LEASE_SECONDS.most}; then it goes back`;

export function addHoldCommands(program: Command): void {
  const hold = program
    .command('hold')
    .description("money held for the operator's own services: create, show, renew, settle, release");
  hold
    .command('create')
    .description(
      'Holds an amount of a wallet for a service that runs elsewhere. A hold that is neither settled nor released goes back.',
    )
    .argument('<id>', 'the account')
    .argument('<rub>', RUB, readPayment)
    .requiredOption('--reason <text>', 'a short name of the service, by which usage is added up', readReason)
    .option('--lease <seconds>', LEASE, readLease, LEASE_SECONDS.byDefault)
    .option('--key <id>', 'a key of the account, whose budget and caps it counts in')
    .option('--user <name>', 'with --key: the end user it is for', readText)
    .addHelpText('after', '\nExample:\n  tollgate hold create acc_5f0c… 120 --reason gpu-render --lease 3600')
    .action(onStore(holdActions.create));
  hold
    .command('show')
    .description('Shows a hold.')
    .argument('<hold>', ID)
    .addHelpText('after', '\nExample:\n  tollgate hold show hold_91ab…')
    .action(onStore(holdActions.show));
  hold
    .command('renew')
    .description('Extends the lease of a hold that has not gone back yet.')
    .argument('<hold>', ID)
    .option('--lease <seconds>', LEASE, readLease, LEASE_SECONDS.byDefault)
    .addHelpText('after', '\nExample:\n  tollgate hold renew hold_91ab… --lease 3600')
    .action(onStore(holdActions.renew));
  hold
    .command('settle')
    .description('Charges at most what is held, and gives the rest back.')
    .argument('<hold>', ID)
    .argument('<rub>', `${RUB}; 0 charges nothing`, readCost)
    .option('--usage <counts>', `what was used, such as seconds=12: ${USAGE_UNITS.join(', ')}`, readUsage)
    .addHelpText('after', '\nExample:\n  tollgate hold settle hold_91ab… 97.50 --usage seconds=840')
    .action(onStore(holdActions.settle));
  hold
    .command('release')
    .description('Gives a hold back in full.')
    .argument('<hold>', ID)
    .addHelpText('after', '\nExample:\n  tollgate hold release hold_91ab…')
    .action(onStore(holdActions.release));
}

function readLease(text: string): number {
  const seconds = readCount(text);
  if (seconds > LEASE_SECONDS.most) throw new InvalidArgumentError(`It must be at most ${LEASE_SECONDS.most}.`);
  return seconds;
}

function readCost(text: string): Micro {
  if (/^0+(\.0+)?$/.test(text)) return 0n;
  const amount = readAmount(text);
  if (amount < 0n) throw new InvalidArgumentError('The amount must not be below zero.');
  return amount;
}

function readUsage(text: string): Usage {
  const counts = text.split(',').map((part) => part.trim().split('='));
  return Object.fromEntries(
    counts.map(([name = '', count = '']) => {
      if (!USAGE_UNITS.includes(name as UsageUnit) || !/^\d{1,10}$/.test(count) || Number(count) > UNITS_MAX) {
        throw new InvalidArgumentError(
          `Give counts of ${USAGE_UNITS.join(', ')}, such as seconds=12, each at most ${UNITS_MAX}.`,
        );
      }
      return [name, Number(count)];
    }),
  );
}
