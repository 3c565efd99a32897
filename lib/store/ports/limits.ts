// The port of rate limits: windows of hits, shared by all processes.
import type { Batch } from './batches.ts';

/** A counting window: it opens with its first hit and ends `windowMs` later. */
export interface LimitWindow {
  readonly bucket: string;
  readonly endsAt: number;
  readonly count: number;
}

export interface LimitStore {
  /**
   * Counts one hit, opening a window if none is open at `now`; returns the window afterwards. A window that ends more
   * than two windows from now has expired: the clock was set back.
   */
  hit(bucket: string, windowMs: number, now: number): Promise<LimitWindow>;
  /** The windows open at `now`, including hits sent before this call. */
  open(now: number): Promise<readonly LimitWindow[]>;
  /** Adds counts made elsewhere to the windows of the store, and drops windows that have ended. */
  merge(windows: readonly LimitWindow[], now: number, batch?: Batch): Promise<void>;
}
