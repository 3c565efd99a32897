// Enforces the request limits that an owner sets on a key and an operator on an account: client addresses and requests
// a minute.
import type { LimitRule } from '../accounts/rate-limiter.ts';
import { fault } from '../base/faults.ts';
import { readNetworks } from '../base/network.ts';
import type { Config } from '../config.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import type { Services } from './services.ts';

type Limited = Pick<KeyHolder, 'limits' | 'accountRequests'>;

/** Throws a 403 fault for a request from an address that the key, or its account, may not be used from. */
export function refuseAddress({ limits, accountRequests }: Limited, findAddress: () => string): void {
  for (const addresses of [limits.requests?.addresses, accountRequests?.addresses]) {
    if (addresses && !includesAddress(addresses, findAddress()))
      throw fault('address_not_allowed', { hint: findAddress() });
  }
}

/** Compiled allow-lists: a list stays the same object while its holder is cached. */
const networks = new WeakMap<readonly string[], (address: string) => boolean>();

/** Whether an address is one of those, or in one of those networks. */
export function includesAddress(addresses: readonly string[], address: string): boolean {
  let matches = networks.get(addresses);
  if (!matches) {
    // A list that cannot be read allows nobody.
    matches = readNetworks(addresses) ?? (() => false);
    networks.set(addresses, matches);
  }
  return matches(address);
}

/** The rule of requests that generate. Others, such as counts of tokens and polls of a video, keep the rate of the service. */
const GENERATE = 'generate';

/**
 * The rate of a key: that of the service, or a higher one of its account; an owner can only lower it. The rate of an
 * account is that of all its keys together.
 */
export function listRules(
  rule: LimitRule,
  { limits, accountRequests }: Limited,
): { key: LimitRule; account?: LimitRule } {
  if (rule.name !== GENERATE) return { key: rule };
  const ofAccount = accountRequests?.perMinute;
  const most = Math.max(rule.perMinute, ofAccount ?? 0);
  const perMinute = Math.min(limits.requests?.perMinute ?? most, most);
  const key = perMinute === rule.perMinute ? rule : { ...rule, perMinute };
  return ofAccount === undefined ? { key } : { key, account: { name: `${rule.name}-account`, perMinute: ofAccount } };
}

/** The rates of keys by default. */
export function readRateLimits(config: Config): Services['limits'] {
  const { rateLimitPerMinute, countRateLimitPerMinute, balanceRateLimitPerMinute } = config;
  const { videoRateLimitPerMinute, managementRateLimitPerMinute } = config;
  return {
    generate: { name: GENERATE, perMinute: rateLimitPerMinute },
    count: { name: 'count', perMinute: countRateLimitPerMinute },
    balance: { name: 'balance', perMinute: balanceRateLimitPerMinute },
    videos: { name: 'videos', perMinute: videoRateLimitPerMinute },
    management: { name: 'management', perMinute: managementRateLimitPerMinute },
  };
}
