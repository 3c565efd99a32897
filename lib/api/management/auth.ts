// Authentication by management key, and what it may do, before a body is read.
import type { Request, Server } from '@hapi/hapi';
import { isActiveManagementKey, type ManagementKeys, type ManagementScope } from '../../accounts/management-keys.ts';
import type { Limiter, LimitRule } from '../../accounts/rate-limiter.ts';
import { orUnavailable } from '../../accounts/read-wallet.ts';
import { fault } from '../../base/faults.ts';
import { toClientNetwork } from '../../base/network.ts';
import { findClientAddress } from '../../http/client-address.ts';
import { getRequestState, measureStoreWait } from '../../http/request-state.ts';
import type { ManagementKey } from '../../store/ports/management.ts';
import type { Store } from '../../store/store.ts';
import { delayUntilClose, readKeyHeader } from '../auth.ts';
import { includesAddress } from '../request-limits.ts';
import type { Throttle } from '../throttle.ts';

declare module '@hapi/hapi' {
  interface AuthCredentials {
    manager?: ManagementKey;
  }
  interface PluginSpecificConfiguration {
    /** The scope that a management key needs for the route. */
    scope?: ManagementScope;
  }
}

/** The strategy of the management API's routes. */
export const MANAGEMENT_AUTH = 'management';

interface ManagementAuthOptions {
  readonly store: Pick<Store, 'management' | 'accounts'>;
  readonly keys: Pick<ManagementKeys, 'find'>;
  readonly limiter: Pick<Limiter, 'hit'>;
  readonly throttle: Pick<Throttle, 'computeWaitMs'>;
  /** Of each operator's key, and of all keys of an account together: its owners may make as many as they like. */
  readonly rule: LimitRule;
}

/** Requests with a wrong key from one network. */
const WRONG_KEYS: LimitRule = { name: 'management-wrong', perMinute: 30 };
/** The last use of a key is written at most this often. */
const USE_EVERY_MS = 60_000;

export function registerManagementAuth(server: Server, options: ManagementAuthOptions): void {
  const { store, keys, limiter, throttle, rule } = options;
  const usedAt = new Map<string, number>();

  async function count(of: LimitRule, id: string, request: Request): Promise<number | undefined> {
    const state = getRequestState(request);
    const hit = limiter.hit(of, id, state.waitedMs);
    const { allowed, retryAfterS } = hit instanceof Promise ? await measureStoreWait(state, hit) : hit;
    return allowed ? undefined : retryAfterS;
  }

  async function find(request: Request): Promise<ManagementKey> {
    const text = readKeyHeader(request);
    if (text === undefined) throw fault('missing_key');
    const key = await orUnavailable(keys.find(text));
    if (key) return key;
    const retryAfterS = await count(WRONG_KEYS, toClientNetwork(findClientAddress(request)), request);
    throw retryAfterS === undefined ? fault('invalid_key') : fault('try_later', { retryAfterS });
  }

  function noteUse({ id }: ManagementKey): void {
    const now = Date.now();
    if (now - (usedAt.get(id) ?? 0) < USE_EVERY_MS) return;
    usedAt.set(id, now);
    store.management.useKey(id, now).catch(() => usedAt.delete(id));
  }

  async function admit(request: Request, key: ManagementKey): Promise<void> {
    const { notes } = getRequestState(request);
    if (key.expiresAt !== null && key.expiresAt <= Date.now())
      throw fault('expired_key', { hint: new Date(key.expiresAt).toISOString() });
    const address = findClientAddress(request);
    if (key.addresses && !includesAddress(key.addresses, address))
      throw fault('address_not_allowed', { hint: address });
    Object.assign(notes, { key: key.id, ...(key.account !== null && { account: key.account }) });
    noteUse(key);
    const waitMs = throttle.computeWaitMs(key.id);
    if (waitMs > 0) {
      notes.cooldown_ms = Math.round(waitMs);
      await delayUntilClose(waitMs, request.raw.res);
    }
    // Before anything that may refuse it: what a key may not do counts, too.
    const retryAfterS = await count(rule, key.account ?? key.id, request);
    if (retryAfterS !== undefined) throw fault('rate_limited', { hint: `${rule.perMinute} per minute`, retryAfterS });
    const scope = request.route.settings.plugins?.scope;
    if (scope === undefined || !key.scopes.includes(scope)) throw fault('key_scope', { hint: scope ?? '' });
    await refuseSuspended(store, key);
  }

  server.auth.scheme('management-key', () => ({
    authenticate: async (request, h) => {
      const manager = await find(request);
      await admit(request, manager);
      return h.authenticated({ credentials: { manager } });
    },
  }));
  server.auth.strategy(MANAGEMENT_AUTH, 'management-key');
}

async function refuseSuspended({ accounts }: Pick<Store, 'accounts'>, key: ManagementKey): Promise<void> {
  if (key.account === null) return;
  const account = await orUnavailable(accounts.get(key.account));
  if (account?.status !== 'active') throw fault('account_suspended');
}

/** A body may be on its way for minutes, in which its key may have ended, or its account been suspended. */
export async function confirmManager(request: Request, store: Pick<Store, 'management' | 'accounts'>): Promise<void> {
  const key = await orUnavailable(store.management.getKey(getManager(request).id));
  if (!key || !isActiveManagementKey(key, Date.now())) throw fault('invalid_key');
  await refuseSuspended(store, key);
}

/** The key that authenticated the request. */
export function getManager(request: Request): ManagementKey {
  const { manager } = request.auth.credentials;
  if (!manager) throw new Error('the route has no authentication by management key');
  return manager;
}
