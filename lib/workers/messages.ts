// What a primary and its workers tell each other.
import type { MetricsSnapshot } from '../metrics/metrics.ts';
import type { Told } from './told.ts';

/** A request to be counted against a limit. */
export type Hit = readonly [rule: string, perMinute: number, keyId: string];

/**
 * The answer to a hit, in seconds until its window ends: above 0 it is allowed, below 0 it is not; 0 when the store, which
 * had to count, did not answer.
 */
export type Verdict = number;

export type ToWorker =
  | { readonly kind: 'stop' }
  | { readonly kind: 'reload' }
  | { readonly kind: 'scrape' }
  | { readonly kind: 'verdicts'; readonly id: number; readonly verdicts: readonly Verdict[] };

export type ToPrimary =
  /** It listens. */
  | { readonly kind: 'ready'; readonly told: Told }
  | { readonly kind: 'hits'; readonly id: number; readonly hits: readonly Hit[] }
  | { readonly kind: 'scraped'; readonly metrics: MetricsSnapshot };

/** By this variable a process knows that it is a worker, and what it has in common with the others. */
export const WORKER_VARIABLE = 'TOLLGATE_WORKER';

export interface WorkerTerms {
  /** The owner that the workers belong to. */
  readonly group: string;
  readonly port: number;
  /** It makes what is made once. */
  readonly isFirst: boolean;
}
