// The port of idempotency keys: taken in the ledger with the money of the call, with the reply kept for repeats.
import type { IdempotencyRecord } from '../../money/idempotency.ts';

/** A key, and the call it must still belong to: the key of a failed call may have been taken by another. */
export interface IdempotencyCall {
  readonly id: string;
  readonly charge: string;
}

export interface IdempotencyStore {
  /** Including expired ones, until they are removed. */
  get(id: string): Promise<IdempotencyRecord | undefined>;
  /** Stores the reply; null: none will be kept. False if the key no longer belongs to that call. */
  storeReply(of: IdempotencyCall, reply: string | null): Promise<boolean>;
  /** Removes up to `limit` keys that have expired by `now`; resolves to how many. */
  clean(now: number, limit: number): Promise<number>;
  /** All keys with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly IdempotencyRecord[]>;
  /** Writes keys as they are in another store, overwriting: for a copy. */
  put(records: readonly IdempotencyRecord[]): Promise<void>;
}
