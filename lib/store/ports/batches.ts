// Exactly-once counting for counts written in batches.

/**
 * Identifies counts that are resent unchanged until the store has confirmed them, so that it counts them once, even if
 * the first commit only seemed to fail. Without it a repeat counts again.
 */
export interface Batch {
  /** The sender; never reused by another. */
  readonly writer: string;
  /** Starts at 1 and grows by one per batch; the previous batch is confirmed. */
  readonly number: number;
}
