// The port of owners: which gateways are alive, and how many.

/**
 * The gateway processes on this store. One is alive until its lease expires by the store's clock: the server's, or that
 * of the machine with the file. A lease that ends more than two of its length from now has expired: the clock ran
 * ahead.
 */
export interface OwnerStore {
  /** Registers, or renews for a whole lease from now; then counts the others. */
  renew(owner: OwnerLease): Promise<OtherOwners>;
  /** Leaves: its open holds become orphans when their own leases expire. */
  remove(id: string): Promise<void>;
}

export interface OwnerLease {
  /** Processes of one start have the id of their primary, a dash and more: to the primary they are no others. */
  readonly id: string;
  readonly leaseMs: number;
  /** Whether it may count rate limits in its own memory. */
  readonly alone: boolean;
}

export interface OtherOwners {
  /** The store's clock, in ms since the epoch. */
  readonly now: number;
  /** Other live owners. */
  readonly others: number;
  /** How many of them may count rate limits in their own memory. */
  readonly alone: number;
}
