// Opens what the routes of the API work with.
import { createHolders, type Holders } from '../accounts/holders.ts';
import { createBodyParser } from '../api/body-parser.ts';
import { createCallTurns } from '../api/call-turns.ts';
import { createRecentBalanceCache } from '../api/recent-balance-cache.ts';
import { readRateLimits } from '../api/request-limits.ts';
import type { Services } from '../api/services.ts';
import { createStorePing } from '../calls/readiness.ts';
import type { LiveCatalog } from '../catalog/live.ts';
import type { Config } from '../config.ts';
import type { BodyLimits } from '../http/body.ts';
import { createLiveCalls } from '../http/live-calls.ts';
import type { Log } from '../http/log.ts';
import { createMemoryQuota } from '../http/memory-quota.ts';
import { createShutdown } from '../http/shutdown.ts';
import type { Store } from '../store/store.ts';
import type { openEngines } from './engines.ts';
import type { openMedia } from './media.ts';

interface ServiceParts extends Pick<Services, 'limiter' | 'throttle' | 'topups' | 'isReal' | 'publicUrl'> {
  readonly store: Store;
  readonly log: Log;
  readonly owner: Parameters<typeof createStorePing>[1] & { now(): number };
  readonly catalog: LiveCatalog;
  readonly media: ReturnType<typeof openMedia>;
  readonly engines: ReturnType<typeof openEngines>;
}

interface ServiceTimings {
  readonly bodyLimits?: BodyLimits;
  /** How long a key that was read from the store counts as unchanged. */
  readonly keyCacheMs?: number;
}

export function openServices(
  config: Config,
  parts: ServiceParts,
  { bodyLimits = {}, keyCacheMs }: ServiceTimings,
): Services {
  const { store, log, media, engines } = parts;
  return {
    store,
    pingStore: createStorePing(store, parts.owner),
    config,
    catalog: parts.catalog.current,
    upstreams: engines.upstreams,
    holders: openHolders(config, { store, log, ttlMs: keyCacheMs }),
    limiter: parts.limiter,
    throttle: parts.throttle,
    turns: createCallTurns(),
    text: engines.text,
    embeddings: engines.embeddings,
    images: engines.images,
    videos: engines.videos.engine,
    parser: createBodyParser(),
    fetcher: media.fetcher,
    results: media.results,
    calls: createLiveCalls(),
    memoryQuota: createMemoryQuota({ bytesMax: config.bodyMemoryBytes, ownerBytesMax: config.bodyMemoryBytes / 2 }),
    recentBalances: createRecentBalanceCache(),
    isReal: parts.isReal,
    shutdown: createShutdown(config.shutdownDelayMs),
    topups: parts.topups,
    log,
    bodyLimits,
    limits: readRateLimits(config),
    clientStallMs: config.clientStallMs,
    now: parts.owner.now,
    publicUrl: parts.publicUrl,
  };
}

type HolderParts = Pick<ServiceParts, 'store' | 'log'> & { readonly ttlMs: number | undefined };

function openHolders({ keyPrefix }: Config, { store, log, ttlMs }: HolderParts): Holders {
  const onFlushError = (err: unknown) => log.warn({ err }, 'could not write the usage counters of keys');
  return createHolders({ store, prefix: keyPrefix, ttlMs, onFlushError });
}
