// The port of owners: which gateways are alive, and how many.

/**
 * The gateway processes on this store. A process is alive until its lease expires by the clock of the store, which is that
 * of the server or of the machine with the file. A lease that ends more than twice its length from now has expired: the
 * clock ran ahead.
 */
export interface OwnerStore {
  /** Registers the owner, or renews its lease from now; then counts the others. */
  renew(owner: OwnerLease): Promise<OtherOwners>;
  /** Removes the owner: its open holds become orphans when their own leases expire. */
  remove(id: string): Promise<void>;
}

export interface OwnerLease {
  /** A worker has the id of its primary, a dash and a suffix: the primary does not count its workers as others. */
  readonly id: string;
  readonly leaseMs: number;
  /** Whether the process may count rate limits in its own memory. */
  readonly alone: boolean;
}

export interface OtherOwners {
  /** The clock of the store, in ms since the epoch. */
  readonly now: number;
  /** The number of other live owners. */
  readonly others: number;
  /** How many of them may count rate limits in their own memory. */
  readonly alone: number;
}
