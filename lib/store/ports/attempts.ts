// The port of attempts at upstreams, the other half of the books: what calls cost the operator. The ledger writes them
// in the transaction that ends their call.
import type { Attempt, AttemptEnding } from '../../money/attempt.ts';
import type { Micro } from '../../money/money.ts';

/** A position in the order of time, charge and number. */
export interface AttemptPosition {
  readonly at: number;
  readonly charge: string;
  readonly number: number;
}

/** A span of time, ms since the epoch: `from` is inclusive, `to` is not; absent: without a bound. */
interface AttemptSpan {
  readonly from?: number;
  readonly to?: number;
}

export interface AttemptPage extends AttemptSpan {
  readonly after?: AttemptPosition;
  readonly limit: number;
}

/** Which attempts an operator looks for, newest first; absent fields do not filter. */
export interface AttemptSearch extends AttemptSpan {
  readonly before?: AttemptPosition;
  readonly limit: number;
  readonly wallet?: string;
  /** The model that was asked. */
  readonly model?: string;
  /** Empty: an unknown one. */
  readonly upstream?: string;
  readonly ending?: AttemptEnding;
  /** Empty: none. */
  readonly reason?: string;
  /** Only those that went wrong. */
  readonly isFault?: boolean;
}

export const COST_GROUPS = ['day', 'model', 'upstream', 'account'] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

export interface CostQuery extends AttemptSpan {
  readonly by: CostGroup;
}

/**
 * The sums of a group, by the time of the attempts. A call counts once, with its last attempt: there is what it was
 * charged, nothing if it was refunded.
 */
export interface CostSum {
  /** The UTC day as `2027-01-15`, the model, the upstream (empty if unknown), or the account. */
  readonly group: string;
  readonly calls: number;
  readonly attempts: number;
  readonly charged: Micro;
  readonly reported: Micro;
  readonly estimated: Micro;
  readonly possible: Micro;
  /** Attempts that may have cost something nobody knows: their route has no cost in the catalog. */
  readonly unpriced: number;
}

export interface AttemptStore {
  /** The attempts of these calls, in order of charge and number. */
  list(charges: readonly string[]): Promise<readonly Attempt[]>;
  /** Attempts in order of time, charge and number. */
  page(page: AttemptPage): Promise<readonly Attempt[]>;
  /** Attempts by time, newest first. */
  search(search: AttemptSearch): Promise<readonly Attempt[]>;
  /** Sums by group, in no particular order. */
  sums(query: CostQuery): Promise<readonly CostSum[]>;
  /** Checks about `limit` attempts of charges with ids above `after`, and finds the charges that do not exist. */
  unknownCharges(
    after: string,
    limit: number,
  ): Promise<{ readonly found: readonly Pick<Attempt, 'charge' | 'wallet'>[]; readonly next?: string }>;
  /** Writes rows, overwriting: for a copy. */
  put(attempts: readonly Attempt[]): Promise<void>;
}
