// The port of refused requests: counted, not kept one by one.
import { DAY_MS } from '../../base/durations.ts';

/** The requests of a key that were refused for one reason in one hour. */
export interface Refusal {
  readonly account: string;
  readonly key: string;
  /** When the hour began, ms since the epoch. */
  readonly hour: number;
  /** The name of the fault. */
  readonly code: string;
  readonly count: number;
  /** Of the latest of them, as are the next two; ms since the epoch. */
  readonly lastAt: number;
  /** The HTTP status. */
  readonly status: number;
  readonly message: string;
}

/** How long they are kept. */
export const REFUSALS_KEPT_MS = 7 * DAY_MS;

export interface RefusalStore {
  /** Adds the counts to those that are there. A batch that is sent again counts twice. */
  add(refusals: readonly Refusal[]): Promise<void>;
  /** Of all keys of the account, or of some; the latest hour first, in it the latest refusal. */
  list(
    account: string,
    options: { readonly keys?: readonly string[]; readonly limit: number },
  ): Promise<readonly Refusal[]>;
  /** Of all accounts, in an order of the store's own; `after` is the last of the page before. */
  page(options: { readonly after?: Refusal; readonly limit: number }): Promise<readonly Refusal[]>;
  /** Writes counts as they are, instead of those that are there. */
  put(refusals: readonly Refusal[]): Promise<void>;
  /** Removes up to `limit` that are no longer kept; resolves to how many. */
  clean(now: number, limit: number): Promise<number>;
}
