// How counts written in batches are counted exactly once.

/**
 * The name of counts that are sent again, as they were, until the store has confirmed them: it counts them once, also
 * when their first commit only seemed to fail. Without one a repeat counts again.
 */
export interface Batch {
  /** Who counts; never reused by another. */
  readonly writer: string;
  /** From 1, one more with every batch; the one before is confirmed. */
  readonly number: number;
}
