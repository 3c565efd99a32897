// The messages between a primary and its workers.
import type { FullReadiness } from '../calls/readiness.ts';
import type { MetricsSnapshot } from '../metrics/metrics.ts';
import type { StartupReport } from './startup-report.ts';

/** A request to count against a limit. */
export type Hit = readonly [rule: string, perMinute: number, keyId: string];

/**
 * The answer to a hit: the seconds until its window ends, positive if allowed, negative if not; 0 if the store had to
 * count and did not answer.
 */
export type Verdict = number;

export type ToWorker =
  | { readonly kind: 'stop' }
  | { readonly kind: 'reload' }
  | { readonly kind: 'scrape' }
  | { readonly kind: 'verdicts'; readonly id: number; readonly verdicts: readonly Verdict[] };

export type ToPrimary =
  /** The worker listens. */
  | { readonly kind: 'ready'; readonly report: StartupReport }
  | { readonly kind: 'hits'; readonly id: number; readonly hits: readonly Hit[] }
  | {
      readonly kind: 'scraped';
      readonly metrics: MetricsSnapshot;
      readonly readiness: FullReadiness | undefined;
    };

/** The environment variable that marks a process as a worker; its value is `WorkerTerms` as JSON. */
export const WORKER_VARIABLE = 'TOLLGATE_WORKER';

export interface WorkerTerms {
  /** The prefix of the owner ids of all workers. */
  readonly group: string;
  readonly port: number;
  /** The first worker does what only one process must do at the start. */
  readonly isFirst: boolean;
}
