// Authentication by API key, then the account's status, then the rate limit: all before a body is read.

import type { ServerResponse } from 'node:http';
import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { Holders } from '../accounts/holders.ts';
import type { Limiter, LimitRule } from '../accounts/rate-limiter.ts';
import { fault } from '../base/faults.ts';
import { findClientAddress } from '../http/client-address.ts';
import { getRequestState, measureStoreWait, type RequestState } from '../http/request-state.ts';
import { isExpired, type KeyLimits } from '../money/key-limits.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import { listRules, refuseAddress } from './request-limits.ts';
import type { Throttle } from './throttle.ts';

declare module '@hapi/hapi' {
  interface PluginSpecificConfiguration {
    /** The rate bucket of the route's requests; none for unlimited routes. */
    limit?: LimitRule;
  }
}

export interface AuthOptions {
  readonly holders: Holders;
  readonly limiter: Pick<Limiter, 'hit'>;
  readonly throttle: Pick<Throttle, 'computeWaitMs'>;
}

/** Makes API keys the default authentication of all routes. */
export function registerAuth(server: Server, { holders, limiter, throttle }: AuthOptions): void {
  server.auth.scheme('api-key', () => ({
    authenticate: async (request: Request, h: ResponseToolkit) => {
      const state = getRequestState(request);
      const found = findHolder(request, holders);
      const holder = found instanceof Promise ? await measureStoreWait(state, found) : found;
      if (!holder) throw fault('invalid_key');
      await admit(request, holder, { holders, limiter, throttle, rule: request.route.settings.plugins?.limit });
      return h.authenticated({ credentials: { holder } });
    },
  }));
  server.auth.strategy('key', 'api-key');
  server.auth.default('key');
}

interface Admission extends AuthOptions {
  readonly rule: LimitRule | undefined;
}

/** Counts every request of a key, whatever its outcome. Throws 401, 403 and 429 faults. */
async function admit(request: Request, holder: KeyHolder, admission: Admission): Promise<void> {
  const { holders, limiter, throttle, rule } = admission;
  const state = getRequestState(request);
  Object.assign(state.notes, { account: holder.account, key: holder.id });
  refuseExpired(holder.limits);
  refuseAddress(holder, () => findClientAddress(request));
  holders.countUse(holder.id);
  const waitMs = rule ? throttle.computeWaitMs(holder.id) : 0;
  if (waitMs > 0) {
    state.notes.cooldown_ms = Math.round(waitMs);
    await delayUntilClose(waitMs, request.raw.res);
  }
  refuseSuspended(holder);
  if (!rule) return;
  const { key, account } = listRules(rule, holder);
  await countRequest(key, holder.id, { limiter, state });
  if (account) await countRequest(account, holder.account, { limiter, state, of: ' for all keys of the account' });
}

type Counting = Pick<AuthOptions, 'limiter'> & {
  readonly state: RequestState;
  /** What the limit is of, if not of the key alone. */
  readonly of?: string;
};

async function countRequest(rule: LimitRule, id: string, { limiter, state, of = '' }: Counting): Promise<void> {
  const hit = limiter.hit(rule, id, state.waitedMs);
  const { allowed, retryAfterS } = hit instanceof Promise ? await measureStoreWait(state, hit) : hit;
  if (!allowed) throw fault('rate_limited', { hint: `${rule.perMinute} per minute${of}`, retryAfterS });
}

/** Resolves early if the client disconnects. */
export function delayUntilClose(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      response.off('close', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    response.on('close', end);
  });
}

/** Authenticates a request as the given key without the key itself (console sessions). */
export async function authenticateAs(holder: KeyHolder, request: Request, admission: Admission): Promise<void> {
  await admit(request, holder, admission);
  request.auth.credentials = { holder };
}

function findHolder(request: Request, holders: Holders): ReturnType<Holders['find']> {
  const text = readKeyHeader(request);
  if (text === undefined) throw fault('missing_key');
  return holders.find(text);
}

/** A request whose key was accepted when it began. */
export interface Caller {
  readonly state: RequestState;
  readonly holder: KeyHolder;
}

/**
 * Checks the key and the account again, right before money moves: a body may take minutes to arrive. Returns the holder
 * as it is now; its limits apply from here on.
 */
export async function confirmHolder(caller: Caller, holders: Holders): Promise<KeyHolder> {
  const found = holders.findAgain(caller.holder);
  const holder = found instanceof Promise ? await measureStoreWait(caller.state, found) : found;
  if (!holder) throw fault('invalid_key');
  refuseExpired(holder.limits);
  refuseAddress(holder, () => caller.state.address ?? '');
  refuseSuspended(holder);
  return holder;
}

function refuseSuspended({ accountStatus, member }: Pick<KeyHolder, 'accountStatus' | 'member'>): void {
  if (accountStatus === 'suspended') throw fault('account_suspended');
  if (member?.status === 'suspended') throw fault('member_suspended');
}

function refuseExpired(limits: KeyLimits): void {
  const { expiresAt } = limits;
  if (isExpired(limits, Date.now())) throw fault('expired_key', { hint: new Date(expiresAt ?? 0).toISOString() });
}

/** The holder of the key that authenticated the request. */
export function getKeyHolder(request: Request): KeyHolder {
  const { holder } = request.auth.credentials;
  if (!holder) throw new Error('the route has no authentication');
  return holder;
}

/** `x-api-key` wins if both headers contain a key; an empty header is ignored, because some clients send one. */
export function readKeyHeader(request: Request): string | undefined {
  const { 'x-api-key': direct, authorization = '' } = request.raw.req.headers;
  const key = String(direct ?? '').trim();
  if (key !== '') return key;
  if (/^(bearer)?\s*$/i.test(authorization)) return undefined;
  return /^bearer (.*)$/i.exec(authorization)?.[1]?.trim() ?? '';
}
