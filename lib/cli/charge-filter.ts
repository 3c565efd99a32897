// The options that select calls, for `charge list` and `usage`.
import { type Command, Option } from 'commander';
import { readTime } from '../manage/arguments.ts';
import { CHARGE_KINDS, CHARGE_STATES } from '../money/decide.ts';

export function addChargeFilter(command: Command): Command {
  return command
    .option('--from <time>', 'calls that started at this time or later: a day (UTC), or a time with its zone', readTime)
    .option('--to <time>', 'calls that started before this time (exclusive)', readTime)
    .option('--key <id>', 'calls made with this key')
    .option('--model <id>', 'calls billed as this model')
    .addOption(new Option('--kind <kind>', 'calls of this kind').choices(CHARGE_KINDS))
    .addOption(new Option('--state <state>', 'calls in this state').choices(CHARGE_STATES));
}
