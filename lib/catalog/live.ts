// The live catalog: loaded at the start, reloaded when a file changes or on request, as a whole or not at all.
import { isDeepStrictEqual } from 'node:util';
import { limitConcurrency } from '../base/limit-concurrency.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { HostLog, Provider } from '../upstream/contract/provider.ts';
import type { KeyHealth } from '../upstream/host/key-ring.ts';
import { scrub } from '../upstream/host/secret.ts';
import type { OpenProvider, Plugin } from '../upstream/host/settings.ts';
import { type Catalog, pauseUpstreams } from './catalog.ts';
import { createChanges } from './changes.ts';
import { type CatalogHistory, joinPrices } from './history.ts';
import { type CatalogLayer, createFailureReport, type LayerFailure, type LayerSource } from './layer.ts';
import { listModels } from './listing.ts';
import { discard, type Loaded, type LoadSettings, listFresh, listOpened, load } from './load.ts';
import { describeNotice, type LossNotice } from './loss.ts';
import type { Opened } from './opened.ts';
import type { PauseStore, UpstreamPauses } from './pauses.ts';
import type { OpenPayment } from './payments.ts';
import type { CatalogFile } from './schema.ts';
import { loadSections } from './sections.ts';

interface LiveCatalogOptions extends LoadSettings {
  readonly log: LiveCatalogLog;
  /** The polling interval; an edit takes effect after at most two polls. */
  readonly pollEveryMs?: number | undefined;
  /**
   * Records that an upstream costs real money, before the first such upstream takes effect: while this rejects, none
   * does. Absent when a catalog is only checked.
   */
  readonly recordRealMoney?: (upstream: string) => Promise<void>;
  /** Absent when a catalog is only checked: no price has been in force before. */
  readonly history?: CatalogHistory;
  /** Takes the prices below cost of a catalog that takes effect. */
  readonly onLosses?: (losses: readonly LossNotice[]) => void;
  /** The part that operators write on pages; absent: there is none. */
  readonly layer?: LayerSource;
  /** The upstreams that operators have paused; absent: none. */
  readonly pauses?: Pick<PauseStore, 'read'>;
}

interface LiveCatalogLog extends HostLog {
  info(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
  debug?(message: string, fields: object): void;
}

export interface LiveCatalog {
  /** The current catalog, without the routes of paused upstreams; a call keeps the one it started with. */
  current(): Catalog;
  /** The payment providers that are switched on, by name. */
  payments(): ReadonlyMap<string, OpenPayment>;
  /** The keys of the upstreams that are switched on, by name. */
  keyHealth(): ReadonlyMap<string, KeyHealth>;
  /** Why the last reload failed in this process; undefined after a success. */
  failure(): CatalogFailure | undefined;
  /** What the current catalog was made of. */
  parts(): CatalogParts;
  /** Loads another version of the part from pages, like a start, and uses it for nothing. */
  tryLayer(layer: Omit<CatalogLayer, 'version'>): Promise<LayerTrial>;
  /** Reloads if the part from pages has this version and no reload has tried it, or a later one. */
  loadLayer(version: number): Promise<void>;
  /** Reads which upstreams are paused. */
  loadPauses(): Promise<void>;
  /** Reloads the files, one reload at a time. A bad edit is logged, and the old catalog stays in force. */
  reload(): Promise<boolean>;
  /** Reloads when a file changes. */
  watch(): void;
  close(): Promise<void>;
}

/** A reload that failed; what was loaded before stays in force. */
export interface CatalogFailure {
  /** ms since the epoch. */
  readonly at: number;
  /** The mistakes in the files, without secrets. */
  readonly reason: string;
}

/** A catalog as its author wrote it. */
export interface CatalogParts {
  readonly file: CatalogFile;
  /** The version of the part from pages; 0 if there is none. */
  readonly version: number;
  /** The upstreams that are switched on, by name. */
  readonly upstreams: ReadonlyMap<string, OpenProvider<Provider>>;
  /** The missing variables of the upstreams that are switched off. */
  readonly switchedOff: ReadonlyMap<string, readonly string[]>;
  /** The plugins that an upstream may use. */
  readonly plugins: ReadonlyMap<string, Plugin<Provider>>;
}

/** The catalog with the part that was tried, or why a start would refuse it. */
export type LayerTrial = { readonly catalog: Catalog; readonly file: CatalogFile } | { readonly problem: string };

const SWITCHED_OFF =
  'the edit switched an upstream or a payment provider off: it names variables that are not set in this process';
const PAUSED = 'calls leave out the upstreams that operators have paused';
const NOT_RELOADED = 'the catalog was not reloaded; the old one stays in force';
const NOT_RECORDED = 'the store did not take the prices and rates of the catalog; a start would not know them';
const REASON_CHARS_MAX = 2000;
const POLL_EVERY_MS = 500;
/** What the store did not take is tried again after this many polls: a real-money upstream, prices and rates. */
const RETRY_POLLS = 10;
/** The store is asked for a new version of the part from pages, and for paused upstreams, after this many polls. */
const STORE_POLLS = 4;
const TIMER_MS_MAX = 2_147_483_647;

export async function openLiveCatalog(options: LiveCatalogOptions): Promise<LiveCatalog> {
  const { config, log, pollEveryMs = POLL_EVERY_MS, history, now = Date.now } = options;
  const sections = await loadSections(config);
  const changes = createChanges(config.catalogDir);
  await changes.markAsKnown();
  let remembered: Catalog['prices'] = (await history?.readPrices()) ?? new Map();
  let layer = await options.layer?.read();
  let loaded = load(options, { sections, layer, pricesBefore: remembered });
  /** Those of models that the current catalog lacks too: an edit may bring them back. */
  let pricesBefore = loaded.catalog.prices;
  let pollTimer: NodeJS.Timeout | undefined;
  let closed = false;
  /** Polls until a failed reload is retried; undefined if there is none. */
  let retryInPolls: number | undefined;
  /** The same until the store is told again of prices and rates. */
  let recordInPolls: number | undefined;
  let storeInPolls = STORE_POLLS;
  let failure: CatalogFailure | undefined;
  const retired = new Map<Opened, NodeJS.Timeout>();
  const oneAtATime = limitConcurrency(1);
  const oneReadAtATime = limitConcurrency(1);
  const reportFailure = createFailureReport(options.layer, log);
  const atStart = recordRealMoneyUpstream(options, loaded).then(readPauses);
  let pauses = await atStart.catch((error: unknown) => {
    discard(listOpened(loaded));
    throw error;
  });
  let current = pauseUpstreams(loaded.catalog, loaded.file, pauses);
  await announce(loaded);
  if (pauses.size > 0) log.warn(PAUSED, { upstreams: [...pauses.keys()] });

  /**
   * Tells the operator, and lets the store remember prices and rates; without it, a later start knows no price before.
   */
  async function announce({ catalog }: Loaded): Promise<void> {
    for (const warning of catalog.warnings) log.warn(warning);
    for (const notice of catalog.losses) if (notice.outcome === 'raised') log.info(describeNotice(notice));
    options.onLosses?.(catalog.losses);
    await record(catalog);
  }

  async function record(catalog: Catalog): Promise<void> {
    recordInPolls = undefined;
    await history?.record(catalog).catch((err: unknown) => {
      recordInPolls = RETRY_POLLS;
      log.warn(NOT_RECORDED, { err });
    });
  }

  const reload = (): Promise<boolean> => oneAtATime(reloadNow);

  async function reloadNow(): Promise<boolean> {
    await changes.markAsKnown();
    retryInPolls = undefined;
    const before = loaded;
    const next = await prepare(before);
    if (!next) return false;
    loaded = next;
    current = pauseUpstreams(next.catalog, next.file, pauses);
    pricesBefore = new Map([...pricesBefore, ...next.catalog.prices]);
    failure = undefined;
    for (const opened of listFresh(before, next)) retire(opened);
    await announce(next);
    for (const [upstream, variables] of next.switchedOff) {
      if (!before.switchedOff.has(upstream)) log.warn(SWITCHED_OFF, { upstream, variables });
    }
    log.info('the catalog was reloaded', { models: listModels(next.catalog).length });
    return true;
  }

  /** Resolves to the new catalog; undefined if the reload failed, which is logged. */
  async function prepare(before: Loaded): Promise<Loaded | undefined> {
    let next: Loaded | undefined;
    let isRead = false;
    try {
      layer = await options.layer?.read();
      remembered = (await history?.readPrices()) ?? remembered;
      isRead = true;
      next = load(options, { sections, layer, before, pricesBefore: joinPrices(pricesBefore, remembered) });
      await recordRealMoneyUpstream(options, next, before);
      if (!closed) return next;
    } catch (error) {
      // What a store refuses once, it may take later; a mistake in a file stays one.
      const isTriedAgain = next !== undefined || !isRead;
      if (isTriedAgain) retryInPolls = RETRY_POLLS;
      const reason = describeProblem(error, before, layer);
      failure = { at: Date.now(), reason };
      await reportFailure(findUnloaded());
      if (!closed) log.error(`${NOT_RELOADED}${isTriedAgain ? '; trying again soon' : ''}: ${reason}`);
    }
    if (next) discard(listFresh(next, before));
    return undefined;
  }

  /** The version of the part from pages that cannot be loaded, if that is so. */
  function findUnloaded(): LayerFailure | undefined {
    return failure && layer && layer.version !== loaded.layer?.version
      ? { ...failure, version: layer.version }
      : undefined;
  }

  async function readPauses(): Promise<UpstreamPauses> {
    return (await options.pauses?.read()) ?? new Map();
  }

  /** A reload is not needed, so that a mistake in a file keeps no upstream going. */
  async function loadPauses(): Promise<void> {
    const read = await readPauses();
    if (isDeepStrictEqual(read, pauses)) return;
    pauses = read;
    current = pauseUpstreams(loaded.catalog, loaded.file, pauses);
    log.warn(PAUSED, { upstreams: [...pauses.keys()] });
  }

  function isStoreDue(): boolean {
    storeInPolls -= 1;
    if (storeInPolls > 0) return false;
    storeInPolls = STORE_POLLS;
    return true;
  }

  /** Whether operators have saved another version on pages; a store that does not answer is asked again. */
  async function hasNewLayer(): Promise<boolean> {
    const last = await options.layer?.last().catch(() => undefined);
    return last !== undefined && last !== (layer?.version ?? 0);
  }

  /** Closes an upstream when no call can use it any more. */
  function retire(opened: Opened): void {
    const close = () => {
      retired.delete(opened);
      opened.open.close().catch((err: unknown) => log.warn('a retired upstream did not close', { err }));
    };
    retired.set(opened, setTimeout(close, Math.min(config.totalTimeoutMs + 1000, TIMER_MS_MAX)).unref());
  }

  async function pollForChanges(): Promise<void> {
    const isChanged = await changes.hasSettledChange();
    if (retryInPolls !== undefined) retryInPolls -= 1;
    if (recordInPolls !== undefined) recordInPolls -= 1;
    if (recordInPolls === 0) await record(loaded.catalog);
    const hasNewRate = loaded.nextRateAt !== undefined && now() >= loaded.nextRateAt && failure === undefined;
    const isAsked = isStoreDue();
    if (isAsked) await oneReadAtATime(loadPauses).catch(() => undefined);
    const isDue = (isAsked && (await hasNewLayer())) || isChanged || retryInPolls === 0 || hasNewRate;
    if (isDue && !closed) await reload();
    else await reportFailure(findUnloaded());
    if (!closed) watch();
  }

  function watch(): void {
    pollTimer = setTimeout(() => void pollForChanges(), pollEveryMs).unref();
  }

  function tryLayer(candidate: Omit<CatalogLayer, 'version'>, before: Loaded): LayerTrial {
    const tried = { ...candidate, version: 0 };
    try {
      const prices = joinPrices(pricesBefore, remembered);
      const next = load(options, { sections, layer: tried, before, pricesBefore: prices });
      discard(listFresh(next, before));
      return { catalog: next.catalog, file: next.file };
    } catch (error) {
      return { problem: describeProblem(error, before, tried) };
    }
  }

  return {
    current: () => current,
    payments: () => loaded.payments,
    failure: () => failure,
    parts: () => ({
      file: loaded.file,
      version: loaded.layer?.version ?? 0,
      upstreams: new Map([...loaded.upstreams].map(([name, { open }]) => [name, open])),
      switchedOff: loaded.switchedOff,
      plugins: sections.upstreams.plugins,
    }),
    tryLayer: (candidate) => oneAtATime(async () => tryLayer(candidate, loaded)),
    loadLayer: (version) =>
      oneAtATime(async () => {
        if (version > (layer?.version ?? 0)) await reloadNow();
      }),
    loadPauses: () => oneReadAtATime(loadPauses),
    keyHealth: () => new Map([...loaded.upstreams].map(([name, { open }]) => [name, open.keyHealth()])),
    reload,
    watch,
    async close() {
      closed = true;
      clearTimeout(pollTimer);
      for (const timer of retired.values()) clearTimeout(timer);
      await Promise.allSettled([...listOpened(loaded), ...retired.keys()].map(({ open }) => open.close()));
    },
  };
}

/** Records the first upstream that costs real money before it takes effect. Rejects with an `OperatorError`. */
async function recordRealMoneyUpstream(
  options: LiveCatalogOptions,
  { costly }: Loaded,
  before?: Loaded,
): Promise<void> {
  if (costly === undefined || before?.costly !== undefined) return;
  try {
    await options.recordRealMoney?.(costly);
  } catch (error) {
    const what = `the store could not record that the upstream ${costly} costs real money`;
    throw new OperatorError(
      `${what}, which it must, or test payments could buy its answers: ${(error as Error).message}`,
    );
  }
}

/** Without secrets. */
function describeProblem(error: unknown, before: Loaded, layer: Pick<CatalogLayer, 'secrets'> | undefined): string {
  const secrets = [
    ...listOpened(before).flatMap(({ open }) => open.secrets),
    ...Object.values(layer?.secrets ?? {}).filter((secret) => secret !== ''),
  ];
  return scrub((error as Error).message, secrets).slice(0, REASON_CHARS_MAX);
}
