// The metrics port of a primary: every scrape asks all workers and answers with the sum, in which exited ones still
// count; `/readyz` answers for all.
import { type FullReadiness, mergeReadiness } from '../calls/readiness.ts';
import type { Log } from '../http/log.ts';
import type { Metrics, MetricsSnapshot } from '../metrics/metrics.ts';
import { createMetricsServer, type MetricsServer } from '../metrics/server.ts';
import type { ToWorker } from './messages.ts';
import { addGone, textOfSum } from './sums.ts';

export interface ScrapesOptions {
  readonly host: string;
  readonly port: number;
  /** The primary's own. */
  readonly metrics: Metrics;
  readonly log: Log;
  /** Asks the workers; returns which ones. */
  readonly tell: (message: ToWorker) => readonly number[];
  /** A worker that has not answered by then counts with its last values. */
  readonly answerWithinMs?: number;
}

export interface Scrapes extends MetricsServer {
  readonly metrics: Metrics;
  answer(worker: number, answered: Answered): void;
  /** The worker has exited. */
  forget(worker: number): Promise<void>;
}

/** What a worker says when it is asked. */
interface Answered {
  readonly metrics: MetricsSnapshot;
  readonly readiness: FullReadiness | undefined;
}

const ANSWER_WITHIN_MS = 3000;

interface Scrape {
  readonly missing: Set<number>;
  readonly done: () => void;
}

export function createScrapes(options: ScrapesOptions): Scrapes {
  const { host, port, metrics, log, tell, answerWithinMs = ANSWER_WITHIN_MS } = options;
  /** The last answer of each worker. */
  const latest = new Map<number, Answered>();
  const open = new Set<Scrape>();
  let gone: MetricsSnapshot = [];
  let adding: Promise<void> = Promise.resolve();

  async function ask(): Promise<void> {
    const missing = new Set(tell({ kind: 'scrape' }));
    if (missing.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const scrape = { missing, done: resolve };
    open.add(scrape);
    const timer = setTimeout(resolve, answerWithinMs);
    await promise;
    clearTimeout(timer);
    open.delete(scrape);
  }

  function settle(worker: number): void {
    for (const { missing, done } of open) {
      missing.delete(worker);
      if (missing.size === 0) done();
    }
  }

  async function scrape(): Promise<string> {
    await ask();
    await adding;
    return textOfSum([await metrics.snapshot(), ...[...latest.values()].map((answered) => answered.metrics), gone]);
  }

  async function readiness(): Promise<FullReadiness> {
    await ask();
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
      settle(worker);
    },
    forget(worker) {
      const last = latest.get(worker)?.metrics ?? [];
      latest.delete(worker);
      settle(worker);
      adding = adding.then(async () => {
        gone = await addGone(gone, last);
      });
      return adding;
    },
  };
}
