// The options that limit the requests of a key or an account, and their output.
import { type Command, InvalidArgumentError } from 'commander';
import type { RequestLimits } from '../money/request-limits.ts';
import { readCount } from './arguments.ts';
import { NONE } from './removed.ts';

export interface RequestLimitOptions {
  readonly perMinute?: number | typeof NONE;
  readonly atOnce?: number | typeof NONE;
  readonly wait?: number | typeof NONE;
  readonly addresses?: readonly string[] | typeof NONE;
}

/** With `canRemove`, the options also accept `none`. */
export function addRequestLimitOptions(command: Command, { canRemove }: { readonly canRemove: boolean }): Command {
  const or = canRemove ? ', or "none"' : '';
  const orNone =
    <T>(read: (text: string) => T) =>
    (text: string): T | typeof NONE =>
      canRemove && text === NONE ? NONE : read(text);
  return command
    .option('--per-minute <number>', `requests a minute${or}`, orNone(readCount))
    .option('--at-once <number>', `calls at once, in each gateway process${or}`, orNone(readCount))
    .option('--wait <seconds>', `how long further calls wait for their turn${or}`, orNone(readCount))
    .option('--addresses <list>', `where requests may come from, such as 192.0.2.7,10.0.0.0/8${or}`, orNone(readList));
}

export function readList(text: string): readonly string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.includes('')) throw new InvalidArgumentError('Give addresses separated by commas.');
  return entries;
}

/** Whether any of the options was given. */
export function hasRequestLimits({ perMinute, atOnce, wait, addresses }: RequestLimitOptions): boolean {
  return [perMinute, atOnce, wait, addresses].some((value) => value !== undefined);
}

/** The limits after the change; undefined if none is left. */
export function changeRequestLimits(
  before: RequestLimits | undefined,
  { perMinute, atOnce, wait: waitSeconds, addresses }: RequestLimitOptions,
): RequestLimits | undefined {
  const changes = Object.entries({ perMinute, atOnce, waitSeconds, addresses }).filter(
    ([, value]) => value !== undefined,
  );
  const all = { ...before, ...Object.fromEntries(changes) };
  const kept = Object.entries(all as Record<string, unknown>).filter(([, value]) => value !== NONE);
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as RequestLimits);
}

export function requestLimitsJson(limits: RequestLimits = {}) {
  const { perMinute, atOnce, waitSeconds, addresses } = limits;
  return {
    per_minute: perMinute ?? null,
    at_once: atOnce ?? null,
    wait_seconds: waitSeconds ?? null,
    addresses: addresses ?? null,
  };
}

/** Parts of a table cell. */
export function describeRequestLimits({
  perMinute,
  atOnce,
  waitSeconds,
  addresses,
}: RequestLimits = {}): readonly string[] {
  return [
    ...(perMinute === undefined ? [] : [`${perMinute} requests a minute`]),
    ...(atOnce === undefined ? [] : [`${atOnce} calls at once${waitSeconds ? `, others wait ${waitSeconds} s` : ''}`]),
    ...(addresses === undefined ? [] : [`only from ${addresses.join(', ')}`]),
  ];
}
