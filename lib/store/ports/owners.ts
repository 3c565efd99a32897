// The port of owners: which gateways are alive, and how many.

/**
 * The gateway processes on this store. One is alive until its lease ends by the store's clock: the server's, or that of
 * the machine which the file is on. A lease that ends later than two of its length from now is over: the clock ran ahead.
 */
export interface OwnerStore {
  /** Registers, or renews for a whole lease from now; then looks at the others. */
  renew(owner: OwnerLease): Promise<Others>;
  /** Leaves: its open holds become orphans when their own leases end. */
  remove(id: string): Promise<void>;
}

export interface OwnerLease {
  readonly id: string;
  readonly leaseMs: number;
  /** It may count rate limits by its own memory. */
  readonly alone: boolean;
}

export interface Others {
  /** The store's clock, in ms since the epoch. */
  readonly now: number;
  /** Other owners that are alive. */
  readonly others: number;
  /** How many of them may count rate limits by their own memory. */
  readonly alone: number;
}
