// The metrics port of a primary. Every scrape asks all workers and answers with the sum, which includes the counts of
// exited workers; `/readyz` merges the readiness of all workers.
import { type FullReadiness, mergeReadiness } from '../calls/readiness.ts';
import type { Log } from '../http/log.ts';
import type { Metrics, MetricsSnapshot } from '../metrics/metrics.ts';
import { createMetricsServer, type MetricsServer } from '../metrics/server.ts';
import { addExitedCounts, formatMergedMetrics } from './merge-metrics.ts';
import type { ToWorker } from './messages.ts';

interface ScrapesOptions {
  readonly host: string;
  readonly port: number;
  /** The metrics of the primary itself. */
  readonly metrics: Metrics;
  readonly log: Log;
  /** Sends a message to all workers; returns their ids. */
  readonly broadcast: (message: ToWorker) => readonly number[];
  /** A worker that has not answered after this time counts with its last values. */
  readonly answerWithinMs?: number;
}

export interface Scrapes extends MetricsServer {
  readonly metrics: Metrics;
  answer(worker: number, answered: WorkerAnswer): void;
  /** Called when a worker has exited. */
  forget(worker: number): Promise<void>;
}

/** A worker's answer to a scrape. */
interface WorkerAnswer {
  readonly metrics: MetricsSnapshot;
  readonly readiness: FullReadiness | undefined;
}

const ANSWER_WITHIN_MS = 3000;

interface Scrape {
  readonly missing: Set<number>;
  readonly done: () => void;
}

export function createScrapes(options: ScrapesOptions): Scrapes {
  const { host, port, metrics, log, broadcast, answerWithinMs = ANSWER_WITHIN_MS } = options;
  /** The last answer of each worker. */
  const latest = new Map<number, WorkerAnswer>();
  const open = new Set<Scrape>();
  let exitedCounts: MetricsSnapshot = [];
  let addingExited: Promise<void> = Promise.resolve();

  async function scrapeWorkers(): Promise<void> {
    const missing = new Set(broadcast({ kind: 'scrape' }));
    if (missing.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const scrape = { missing, done: resolve };
    open.add(scrape);
    const timer = setTimeout(resolve, answerWithinMs);
    await promise;
    clearTimeout(timer);
    open.delete(scrape);
  }

  function markAnswered(worker: number): void {
    for (const { missing, done } of open) {
      missing.delete(worker);
      if (missing.size === 0) done();
    }
  }

  async function scrape(): Promise<string> {
    await scrapeWorkers();
    await addingExited;
    return formatMergedMetrics([
      await metrics.snapshot(),
      ...[...latest.values()].map((answered) => answered.metrics),
      exitedCounts,
    ]);
  }

  async function readiness(): Promise<FullReadiness> {
    await scrapeWorkers();
    return mergeReadiness(
      [...latest.values()].map((answered) => answered.readiness).filter((each) => each !== undefined),
    );
  }

  const onError = (err: unknown) => log.warn({ err }, 'a metrics scrape failed');
  const server = createMetricsServer({
    host,
    port,
    onError,
    metrics: { scrape, readiness, contentType: metrics.contentType },
  });
  return {
    ...server,
    metrics,
    answer(worker, answered) {
      latest.set(worker, answered);
      markAnswered(worker);
    },
    forget(worker) {
      const last = latest.get(worker)?.metrics ?? [];
      latest.delete(worker);
      markAnswered(worker);
      addingExited = addingExited.then(async () => {
        exitedCounts = await addExitedCounts(exitedCounts, last);
      });
      return addingExited;
    },
  };
}
