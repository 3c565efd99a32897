// The port of idempotency: keys of calls, taken in the ledger with the money of the call, and the replies kept for them.
import type { Repeat } from '../../money/repeat.ts';

/** A key, and the call that it must still belong to: the key of one that failed may be another's by now. */
export interface RepeatOf {
  readonly id: string;
  readonly charge: string;
}

export interface IdempotencyStore {
  /** Also one that has expired, until it is removed. */
  get(id: string): Promise<Repeat | undefined>;
  /** Keeps the reply; null: none will be kept. False when the key is no longer that call's. */
  keep(of: RepeatOf, reply: string | null): Promise<boolean>;
  /** Removes up to `limit` of those that have expired by `now`; resolves to how many. */
  clean(now: number, limit: number): Promise<number>;
  /** All with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly Repeat[]>;
  /** Writes them as they are in another store, whatever was there: for a copy. */
  put(repeats: readonly Repeat[]): Promise<void>;
}
