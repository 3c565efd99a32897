// Exactly-once counting for counts written in batches.

/**
 * Identifies counts that are resent unchanged until the store has confirmed them, so that the store counts them once, even
 * if the first commit only seemed to fail. Without a batch, resent counts would be added again.
 */
export interface Batch {
  /** The sender; never used by another one. */
  readonly writer: string;
  /** Starts at 1 and grows by one per batch; sent only after the previous batch was confirmed. */
  readonly number: number;
}
