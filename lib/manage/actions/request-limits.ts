// The limits on the requests of a key or an account: which of them change, and how they are shown.

import type { RequestLimits } from '../../money/request-limits.ts';
import { NONE } from '../removed.ts';

export interface RequestLimitOptions {
  readonly perMinute?: number | typeof NONE;
  readonly atOnce?: number | typeof NONE;
  readonly wait?: number | typeof NONE;
  readonly addresses?: readonly string[] | typeof NONE;
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
