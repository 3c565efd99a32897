// The services that endpoints use, composed once by the gateway.

import type { Logger } from 'pino';
import type { Holders } from '../accounts/holders.ts';
import type { Limiter, LimitRule } from '../accounts/rate-limiter.ts';
import type { EmbeddingEngine } from '../calls/embeddings/engine.ts';
import type { ImageEngine } from '../calls/images/engine.ts';
import type { TextEngine } from '../calls/text/engine.ts';
import type { UpstreamHealth } from '../calls/upstreams.ts';
import type { VideoEngine } from '../calls/videos/engine.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import type { BodyLimits } from '../http/body.ts';
import type { LiveCalls } from '../http/live-calls.ts';
import type { MemoryQuota } from '../http/memory-quota.ts';
import type { Shutdown } from '../http/shutdown.ts';
import type { Fetcher } from '../media/fetcher.ts';
import type { Results } from '../media/results.ts';
import type { AutoTopup } from '../payments/auto-topup.ts';
import type { Store } from '../store/store.ts';
import type { BodyParser } from './body-parser.ts';
import type { CallTurns } from './call-turns.ts';
import type { RecentBalanceCache } from './recent-balance-cache.ts';
import type { Throttle } from './throttle.ts';

export interface Services {
  readonly store: Store;
  /** Resolves when the store answers reads and takes writes. */
  readonly pingStore: () => Promise<void>;
  readonly config: Config;
  readonly catalog: () => Catalog;
  /** The current state of the upstreams. */
  readonly upstreams: () => readonly UpstreamHealth[];
  readonly holders: Holders;
  readonly limiter: Pick<Limiter, 'hit'>;
  readonly throttle: Pick<Throttle, 'computeWaitMs'>;
  readonly turns: CallTurns;
  readonly text: TextEngine;
  readonly embeddings: EmbeddingEngine;
  readonly images: ImageEngine;
  readonly videos: VideoEngine;
  readonly parser: BodyParser;
  /** Fetches images that requests link to; `readLinkedImage` also reads our own links. */
  readonly fetcher: () => Fetcher;
  /** Stores and links generated images and videos. */
  readonly results: Results;
  readonly calls: LiveCalls;
  /** Bounds the memory of request bodies, and of large answers. */
  readonly memoryQuota: MemoryQuota;
  readonly recentBalances: RecentBalanceCache;
  /** Whether models here cost real money: play money pays for none of them. */
  readonly isReal: () => boolean;
  readonly shutdown: Shutdown;
  /** Notified of calls refused for lack of money. */
  readonly topups: Pick<AutoTopup, 'reportRefusal'>;
  readonly log: Logger;
  readonly bodyLimits: BodyLimits;
  /** The rate limits of generating endpoints, of counted tokens, of the balance, of video polls, and of the management API. */
  readonly limits: Readonly<Record<'generate' | 'count' | 'balance' | 'videos' | 'management', LimitRule>>;
  /** A client that reads nothing for this long counts as gone. */
  readonly clientStallMs: number;
  /** The clock of the store, by which people sign in at every gateway. */
  readonly now: () => number;
  /** Base URL of our links, without a trailing slash. A function, because the port may be unknown before the start. */
  readonly publicUrl: () => string;
}
