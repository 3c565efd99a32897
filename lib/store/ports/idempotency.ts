// The port of idempotency keys: the ledger takes a key together with the money of the call; the reply is stored later.
import type { IdempotencyRecord } from '../../money/idempotency.ts';

/** A key, and the call that it must still belong to: another call may take the key of a failed one. */
export interface IdempotencyCall {
  readonly id: string;
  readonly charge: string;
}

export interface IdempotencyStore {
  /** Also finds an expired key until it is removed. */
  get(id: string): Promise<IdempotencyRecord | undefined>;
  /** Stores the reply; null: no reply will be stored. False if the key no longer belongs to that call. */
  storeReply(of: IdempotencyCall, reply: string | null): Promise<boolean>;
  /** Removes up to `limit` keys that have expired by `now`; resolves to how many. */
  clean(now: number, limit: number): Promise<number>;
  /** All keys with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly IdempotencyRecord[]>;
  /** Writes keys as they are in another store, overwriting: for a copy. */
  put(records: readonly IdempotencyRecord[]): Promise<void>;
}
