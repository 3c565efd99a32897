// The options that limit the requests of a key or an account.
import { type Command, InvalidArgumentError } from 'commander';
import { readCount } from '../manage/arguments.ts';
import { NONE } from '../manage/removed.ts';

/** With `canRemove`, the options also accept `none`. */
export function addRequestLimitOptions(command: Command, { canRemove }: { readonly canRemove: boolean }): Command {
  const or = canRemove ? ', or "none"' : '';
  const orNone =
    <T>(read: (text: string) => T) =>
    (text: string): T | typeof NONE =>
      canRemove && text === NONE ? NONE : read(text);
  return command
    .option('--per-minute <number>', `requests a minute${or}`, orNone(readCount))
    .option('--at-once <number>', `calls at once, over all gateways${or}`, orNone(readCount))
    .option('--wait <seconds>', `how long calls above --at-once wait for their turn, 1 to 60${or}`, orNone(readCount))
    .option('--addresses <list>', `where requests may come from, such as 192.0.2.7,10.0.0.0/8${or}`, orNone(readList));
}

export function readList(text: string): readonly string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.includes('')) throw new InvalidArgumentError('Give addresses separated by commas.');
  return entries;
}
