// The port of API keys, with their limits and use counters.

import type { SharesBudget } from '../../money/budget.ts';
import type { KeyLimits } from '../../money/key-limits.ts';
import type { Account } from './accounts.ts';
import type { Batch } from './batches.ts';
import type { Membership, User } from './users.ts';
import type { WrongMarks } from './wrong-marks.ts';

export interface KeyRow extends SharesBudget {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** Last four characters of the key. */
  readonly last4: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly requestsCount: number;
  /** ms since the epoch; null before the first use. */
  readonly lastUsedAt: number | null;
  readonly limits: KeyLimits;
  /** The user who issued it on a page; null for the command line and for earlier versions. */
  readonly createdBy: string | null;
}

/** A member of the account who has issued a key: the key is theirs. */
export interface KeyMember extends Pick<Membership, 'user' | 'cap'> {
  readonly status: User['status'];
}

/** A key as authentication needs it. */
export interface KeyHolder extends KeyRow {
  readonly accountStatus: Account['status'];
  readonly accountRequests?: Account['requests'];
  /** The account's. */
  readonly priceList?: Account['priceList'];
  /** Absent for keys that belong to the account itself. */
  readonly member?: KeyMember;
}

export interface KeyUse {
  readonly id: string;
  readonly count: number;
  readonly lastUsedAt: number;
}

/** Absent limits: none; absent `budgetKey`: a budget of its own; absent `createdBy`: null. */
export type NewKey = Pick<KeyRow, 'id' | 'account' | 'name' | 'hash' | 'last4' | 'createdAt'> &
  Partial<Pick<KeyRow, 'limits' | 'budgetKey' | 'createdBy'>>;

/** As the `activeMax` of a copy: keys are neither counted, nor need their creators be members. */
export const COPIED_KEY = Number.MAX_SAFE_INTEGER;

/** Whether somebody with this role in an account may issue keys there. */
export function mayIssueKeys(role: unknown): boolean {
  return role === 'owner' || role === 'member';
}

/** How many new keys an account may get within a time, its members' included. */
export interface NewKeysLimit {
  readonly most: number;
  readonly withinMs: number;
}

/** A key that replaces another one. */
export interface ReplacementKey extends Pick<KeyRow, 'id' | 'hash' | 'last4' | 'createdAt'> {
  /** When the replaced key expires at the latest, ms since the epoch. */
  readonly endsAt: number;
}

export interface AccountUse {
  readonly account: string;
  /** ms since the epoch. */
  readonly at: number;
}

export interface KeyStore {
  /**
   * Adds a key unless there are `activeMax` active keys (neither revoked nor expired at that time) already: of the member who
   * issues it, or of the account without its members. `no_member`: its creator is neither an owner nor a member.
   * `too_many_new`: beyond `fresh`, if given. Decided atomically.
   */
  add(
    key: NewKey,
    activeMax: number,
    fresh?: NewKeysLimit,
  ): Promise<'added' | 'too_many' | 'too_many_new' | 'no_account' | 'no_member'>;
  /** The key with this hash, revoked or not. */
  find(hash: string): Promise<KeyHolder | undefined>;
  get(id: string): Promise<KeyRow | undefined>;
  list(account: string): Promise<readonly KeyRow[]>;
  /** At most `limit` accounts that have a key with this end, in order of id. */
  findAccountsByEnd(last4: string, limit: number): Promise<readonly string[]>;
  /** When the keys of each of these accounts were last used, of all by default; without those whose keys never were. */
  lastUses(accounts?: readonly string[]): Promise<readonly AccountUse[]>;
  /** At most `limit` accounts with ids above `after` that have keys, in order of id; empty only if there are no more. */
  owners(page: { readonly after?: string; readonly limit: number }): Promise<readonly string[]>;
  /** Checks `limit` keys with ids above `after`, and finds those whose values were changed outside the store. */
  findWrongMarks(page: { readonly after?: string; readonly limit: number }): Promise<WrongMarks>;
  /** `exists`: it was revoked before. */
  revoke(id: string, at: number): Promise<'revoked' | 'exists' | 'no_key'>;
  /**
   * Adds a key that replaces another: same account, creator, name, budget and limits, but without the expiry; the replaced key
   * expires. One step, decided like `add`. `ended`: the replaced key is revoked or expired.
   */
  replace(
    id: string,
    key: ReplacementKey,
    activeMax: number,
    fresh?: NewKeysLimit,
  ): Promise<'replaced' | 'too_many' | 'too_many_new' | 'ended' | 'no_key'>;
  /**
   * Changes the given limits of a key in one step; other limits stay. A changed budget applies to all active keys that
   * share it. `ended`: the key is revoked, or has expired by `now`.
   */
  limit(id: string, change: Partial<KeyLimits>, now: number): Promise<'limited' | 'ended' | 'no_key'>;
  /** Overwrites the limits of a key as they are in another store: for a copy. */
  put(id: string, limits: KeyLimits): Promise<void>;
  /** Adds to the counters; `lastUsedAt` never decreases. */
  use(uses: readonly KeyUse[], batch?: Batch): Promise<void>;
}
