// The primary of several workers, which answer the calls on one port. The primary counts their rate limits, runs the
// store's chores and the metrics port, and keeps the workers alive.
import { createLimiter } from '../accounts/rate-limiter.ts';
import { buildCatalog } from '../catalog/catalog.ts';
import { readCatalogFiles } from '../catalog/files.ts';
import type { Config } from '../config.ts';
import type { Log } from '../http/log.ts';
import { findPort } from '../http/server.ts';
import { createOwner } from '../ledger/owner.ts';
import { createChores } from '../start/chores.ts';
import { openServiceStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { ToPrimary, ToWorker } from './messages.ts';
import { createPool, type Pool } from './pool.ts';
import { countHits } from './remote-limiter.ts';
import type { Scrapes } from './scrapes.ts';
import type { StartupReport } from './startup-report.ts';

export interface Primary {
  /** The report of the first worker. */
  readonly report: StartupReport;
  readonly metricsUrl: string | undefined;
  /** Stops the workers like a single process; rejects if one of them did not stop cleanly. */
  stop(): Promise<void>;
  reload(): Promise<boolean>;
}

/** How long a worker may take to stop in addition to `shutdownDelayMs` and `drainMs`. */
const STOP_MS = 20_000;

/** Starts the workers; rejects with `OperatorError`, or with `WorkerFailed` if a worker has printed the reason. */
export async function startPrimary(config: Config, log: Log): Promise<Primary> {
  const port = await findPort(config);
  const store = await openServiceStore(config);
  try {
    return await supervise({ ...config, port }, log, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function supervise(config: Config, log: Log, store: Store): Promise<Primary> {
  const limiter = createLimiter({ store: store.limits });
  // The workers release the holds of dead processes.
  const ledger = { expireOrphans: async () => 0 };
  const owner = createOwner({ ...config, store: store.owners, ledger, log, onPeers: limiter.setPeers });
  const onMessage = (message: ToPrimary, answer: (message: ToWorker) => void, worker: number) => {
    if (message.kind === 'scraped') scrapes?.answer(worker, message);
    if (message.kind !== 'hits') return;
    const { id, hits } = message;
    void countHits(limiter, hits).then((verdicts) => answer({ kind: 'verdicts', id, verdicts }));
  };
  const onEnd = (worker: number) => void scrapes?.forget(worker);
  const pool = createPool({ size: config.workers, group: config.ownerId, port: config.port, log, onMessage, onEnd });
  const scrapes = await openScrapes(config, log, pool);
  const chores = createChores({ store, log, metrics: scrapes?.metrics, more: [] });
  const close = async () => {
    chores.stop();
    const clean = await pool.stop(config.shutdownDelayMs + config.drainMs + STOP_MS);
    await owner.stop();
    await store.close();
    await scrapes?.close();
    return clean;
  };
  try {
    await owner.start();
    const metricsUrl = await scrapes?.start();
    const report = await pool.start();
    chores.start();
    return {
      report,
      metricsUrl,
      async stop() {
        if (!(await close())) throw new Error('a worker did not stop cleanly');
      },
      reload: async () => pool.broadcast({ kind: 'reload' }).length > 0,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openScrapes(config: Config, log: Log, pool: Pool): Promise<Scrapes | undefined> {
  if (config.metricsPort === undefined) return undefined;
  const { createMetrics } = await import('../metrics/metrics.ts');
  const { createScrapes } = await import('./scrapes.ts');
  const none = buildCatalog(readCatalogFiles([], []), new Map());
  const metrics = createMetrics({ catalog: () => none, routes: () => [] });
  metrics.watchWorkers(pool);
  return createScrapes({ host: config.metricsHost, port: config.metricsPort, metrics, log, broadcast: pool.broadcast });
}
