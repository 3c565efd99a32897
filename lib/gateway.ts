// The composition root: assembles the whole service, for main, tests and benchmarks.
import type { Server } from '@hapi/hapi';
import { createHolders, type Holders } from './accounts/holders.ts';
import { createLimiter, type Limiter } from './accounts/rate-limiter.ts';
import type { Alerts } from './alerts/alerts.ts';
import { tellOfSaved } from './alerts/card.ts';
import { createBodyParser } from './api/body-parser.ts';
import { type Cooldown, createCooldown } from './api/cooldown.ts';
import { apiPlugin } from './api/plugin.ts';
import { createRecentBalanceCache } from './api/recent-balance-cache.ts';
import { faceAt as apiFaceAt } from './api/response-styles.ts';
import type { Services } from './api/services.ts';
import { fault } from './base/faults.ts';
import { createRouteHealth, type RouteChange, type RouteHealth } from './calls/health.ts';
import { createImageEngine } from './calls/images/engine.ts';
import { createPaidCalls } from './calls/paid.ts';
import { createTextEngine } from './calls/text/engine.ts';
import { countStrays, healthOfUpstreams, type OnStray } from './calls/upstreams.ts';
import { openVideos } from './calls/videos/open.ts';
import { listModels } from './catalog/listing.ts';
import { type LiveCatalog, type LiveCatalogLog, openLiveCatalog, readCatalogFacts } from './catalog/live.ts';
import type { Config } from './config.ts';
import { type FirstLinks, openWeb } from './console/open.ts';
import { webPlugin } from './console/plugin.ts';
import { isPagePath, pageFaceOf } from './console/response-style.ts';
import { logRequest, type PastRequest } from './http/access-log.ts';
import type { BodyLimits } from './http/body.ts';
import { warnOfProxyOnce } from './http/client-address.ts';
import { createLiveCalls, type LiveCalls } from './http/context.ts';
import type { Log } from './http/log.ts';
import { createMemoryQuota } from './http/memory-quota.ts';
import { onPreResponse, onRequest } from './http/reply.ts';
import type { ResponseStyleAt } from './http/response-style.ts';
import { type BadHttp, createHttp, type Http } from './http/server.ts';
import { createLedger, type Ledger, type LedgerOptions } from './ledger/ledger.ts';
import { createOwner, type Owner } from './ledger/owner.ts';
import { createLateFetcher } from './media/fetcher.ts';
import { createResults, type Results, type ResultsOptions } from './media/results.ts';
import { readOrigins } from './media/url.ts';
import type { Metrics } from './metrics/metrics.ts';
import { openMetrics } from './metrics/open.ts';
import { type AutoTopup, createAutoTopup } from './payments/auto-topup.ts';
import { createMemory } from './payments/memory.ts';
import { createPayments, type Payments } from './payments/payments.ts';
import { watchCost } from './payments/play-money.ts';
import { createChores, openUsage } from './start/chores.ts';
import { type Demo, decideSandbox, NO_DEMO, openDemo } from './start/sandbox.ts';
import { openServiceStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export interface Gateway {
  readonly server: Server;
  /** Starts listening; rejects with an `OperatorError` when the port is taken. */
  start(): Promise<void>;
  /** Takes no new calls, lets running ones finish for up to `drainMs`, then ends and settles the rest. */
  stop(): Promise<void>;
  /** Reloads the catalog. */
  reload(): Promise<boolean>;
  /** A plugin of it has left an error unhandled. */
  readonly onStray: OnStray;
  /** What an operator is told after the start. */
  readonly facts: GatewayFacts;
  /** What a worker has counted, and how it is; undefined when nothing is counted. */
  readonly metrics: Pick<Metrics, 'snapshot' | 'readiness'> | undefined;
}

/** What a gateway that is one of several workers of a start leaves to their primary, which also has its chores. */
export interface Membership {
  readonly limiter: Pick<Limiter, 'hit'>;
  /** The one that makes what is made once: the demo account, and the links of the first visitors. */
  readonly isFirst: boolean;
}

export interface GatewayFacts {
  readonly sandbox: boolean;
  /** The demo account's key, if this start created it. */
  readonly demoKey: string | undefined;
  /** The id of the demo account, in the sandbox while it can be used. */
  readonly demoAccount: string | undefined;
  /** Links that let the first visitors of the pages in, once started. */
  readonly links: FirstLinks;
  /** The models that can be used. */
  readonly models: readonly { readonly id: string; readonly type: string }[];
  readonly switchedOff: readonly string[];
  /** Where metrics are served, once started. */
  readonly metricsUrl: string | undefined;
}

/** Intervals that no operator needs to change; tests shorten them. */
export interface Timings {
  /** How often a stream without a fragment yet sends a heartbeat. */
  readonly heartbeatMs?: number;
  readonly headersTimeoutMs?: number;
  readonly bodyLimits?: BodyLimits;
  /** Average pause between two rounds of alerts. */
  readonly alertsEveryMs?: number;
}

export interface GatewayOptions {
  readonly timings?: Timings | undefined;
  /** Absent: it is the whole service. */
  readonly member?: Membership;
}

/** How long the ledger may take to finish once every call has ended. */
const LEDGER_DRAIN_MS = 5_000;
/** How long closing the store may take; another process's lock could otherwise delay it for many times that. */
const CLOSE_MS = 5_000;

export async function createGateway(config: Config, log: Log, options: GatewayOptions = {}): Promise<Gateway> {
  const { timings = {}, member } = options;
  const store = await openServiceStore(config);
  try {
    return await compose(config, { log, store, timings, member });
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface Means {
  readonly log: Log;
  readonly store: Store;
  readonly timings: Timings;
  readonly member: Membership | undefined;
}

async function compose(config: Config, { log, store, timings, member }: Means): Promise<Gateway> {
  const facts = readCatalogFacts(config);
  const sandbox = await decideSandbox(store, config, { facts, log });
  const { catalog, isReal } = await openCatalog(config, { sandbox, store, log });
  let [demo, metricsUrl]: [Demo, string | undefined] = [NO_DEMO, undefined];
  const series = { catalog: catalog.current, providers: catalog.payments, routes: () => http.server.table() };
  const metrics = await openMetrics(config, { log, isMember: member !== undefined, series });
  const usage = openUsage(store, log, { sweeps: member?.isFirst !== false });
  const topups = openTopups({ store, log, catalog }, () => ({ payments, alerts: web.services.alerts, owner }));
  const ledger = topups.watch(usage.watch(openLedger({ ...config, store, log, isReal }, metrics)));
  const { limiter, onPeers } = openLimiter(store, member);
  const owner = createOwner({ ...config, store: store.owners, ledger, log, onPeers });
  const holders = openHolders(config, store, log);
  const [calls, parser, cooldown] = [createLiveCalls(), createBodyParser(), createCooldown()];
  const http = openHttp({ ...config, ...timings, sandbox, member }, { log, metrics, cooldown });
  const media = openMedia(config, http.server, { media: store.media, onStored: metrics?.media.onStored });
  const parts = { catalog, ledger, metrics, log, store, owner, clock: owner, results: media.results };
  const { videos, onStray, ...engines } = openEngines({ ...config, ...timings }, parts);
  const services: Services = {
    store,
    catalog: catalog.current,
    holders,
    ...{ limiter, cooldown, calls, solvent: createRecentBalanceCache(), topups, isReal },
    budget: createMemoryQuota({ bytesMax: config.bodyMemoryBytes, ownerBytesMax: config.bodyMemoryBytes / 2 }),
    log,
    ...media,
    ...engines,
    videos: videos.engine,
    parser,
    ...{ limits: limitsOf(config), bodyLimits: timings.bodyLimits ?? {} },
    clientStallMs: config.clientStallMs,
  };
  await http.server.register({ plugin: apiPlugin, options: services });
  const told = { onChange: topups.onPayment, onSaved: tellOfSaved(() => web.services), counts: metrics?.payments };
  const payments = createPayments({ ...config, ...parts, ...media, ...told, providers: catalog.payments });
  const shown = { topups, usage, sandbox, config, catalogFailure: catalog.failure };
  const web = openWeb({ ...timings, ...services, ...shown, payments, metrics });
  await http.server.register({ plugin: webPlugin, options: web.services });
  const chores = member ? usage : createChores({ store, log, metrics, more: [usage] });
  metrics?.watchService({ ...services, calls, ping: store.ping, catalogFailure: catalog.failure });

  return {
    server: http.server,
    get facts() {
      const { switchedOff } = facts;
      return { sandbox, ...demo, links: web.links, models: listModels(catalog.current()), switchedOff, metricsUrl };
    },
    async start() {
      await owner.start();
      metricsUrl = await metrics?.start();
      await http.start();
      if (member?.isFirst !== false) demo = await openDemo(store, config, { sandbox, log });
      await web.start(member?.isFirst === false ? undefined : demo);
      catalog.watch();
      for (const each of [videos.worker, payments, topups, chores]) each.start();
    },
    async stop() {
      chores.stop();
      await web.close();
      await Promise.all([videos.worker.stop(), topups.stop(), payments.stop()]);
      await http.close(() => endCalls(calls, config.drainMs));
      videos.engine.stop();
      await endLedger(ledger, log);
      await closeAll([parser.close, owner.stop, holders.close, catalog.close, store.close], log);
      await metrics?.close();
    },
    reload: catalog.reload,
    ...{ onStray, metrics },
  };
}

/** A worker's requests are counted by the primary. */
function openLimiter(store: Store, member: Membership | undefined) {
  if (member) return { limiter: member.limiter, onPeers: undefined };
  const limiter = createLimiter({ store: store.limits });
  return { limiter, onPeers: limiter.setPeers };
}

async function openCatalog(
  config: Config,
  { sandbox, store, log }: Pick<Means, 'store' | 'log'> & { readonly sandbox: boolean },
): Promise<{ readonly catalog: LiveCatalog; readonly isReal: () => boolean }> {
  const memoryOf = (provider: string) => createMemory(store.settings, provider);
  const { isReal, noteCost } = watchCost(store, log);
  const means = { memoryOf, noteCost, onSecrets: log.addSecrets, log: adviceLog(log) };
  return { catalog: await openLiveCatalog({ config, sandbox, ...means }), isReal };
}

async function endLedger(ledger: Ledger, log: Log): Promise<void> {
  const left = await ledger.drain(LEDGER_DRAIN_MS);
  if (left > 0)
    log.error({ left }, 'stopped before the store confirmed everything; open holds will be returned in full');
}

async function closeAll(closes: readonly (() => Promise<void>)[], log: Log): Promise<void> {
  if (!(await endsWithin(closeInOrder(closes), CLOSE_MS))) log.error('the store did not close in time; exiting anyway');
}

async function endCalls(calls: LiveCalls, drainMs: number): Promise<void> {
  await calls.drain(drainMs);
  // Including calls whose request was still arriving when the others ended.
  calls.endAll(fault('shutting_down'));
  await calls.drain(LEDGER_DRAIN_MS);
}

const HOUR_MS = 3_600_000;

/** What fetches, stores and links pictures and videos. */
function openMedia(
  config: Config,
  server: Server,
  options: Pick<ResultsOptions, 'media' | 'onStored'>,
): Pick<Services, 'publicUrl' | 'fetcher' | 'webhooks' | 'results'> {
  const publicUrl = () => publicUrlOf(config, server);
  const fetcher = createLateFetcher(readOrigins(config.imageTrustedOrigins), publicUrl);
  return {
    publicUrl,
    fetcher,
    // Owners choose where alerts are posted to: what pictures may be fetched from is none of their business.
    webhooks: createLateFetcher(readOrigins(config.webhookTrustedOrigins, 'WEBHOOK_TRUSTED_ORIGINS'), publicUrl),
    results: createResults({ ...options, fetcher, publicUrl, ttlMs: config.mediaTtlHours * HOUR_MS }),
  };
}

function openHolders({ keyPrefix }: Config, store: Store, log: Log): Holders {
  const onFlushError = (err: unknown) => log.warn({ err }, 'could not write the usage counters of keys');
  return createHolders({ store, prefix: keyPrefix, onFlushError });
}

function limitsOf(config: Config): Services['limits'] {
  const { rateLimitPerMinute, balanceRateLimitPerMinute, videoRateLimitPerMinute } = config;
  return {
    generate: { name: 'generate', perMinute: rateLimitPerMinute },
    balance: { name: 'balance', perMinute: balanceRateLimitPerMinute },
    videos: { name: 'videos', perMinute: videoRateLimitPerMinute },
  };
}

/** With `PORT=0` the port is the one the system assigned. */
function publicUrlOf({ publicUrl, publicUrlSet, port }: Config, { info }: Server): string {
  return publicUrlSet || port !== 0 ? publicUrl : `http://127.0.0.1:${info.port}`;
}

async function closeInOrder(closes: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of closes) await close();
}

/** Whether it ends in time; a failure in time is passed on. */
async function endsWithin(work: Promise<void>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  const ended = work.then(() => true);
  ended.catch(() => undefined);
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

function openLedger(options: LedgerOptions, metrics: Metrics | undefined): Ledger {
  if (!metrics) return createLedger(options);
  return metrics.watchLedger(createLedger({ ...options, store: metrics.watchStore(options.store) }));
}

/** The ledger notices what they are for, and is there before what they need. */
function openTopups(
  { store, log, catalog }: Pick<EngineParts, 'store' | 'log' | 'catalog'>,
  later: () => { readonly payments: Payments; readonly alerts: Alerts; readonly owner: Owner },
): AutoTopup {
  return createAutoTopup({
    ...{ store, log, now: () => later().owner.now(), bounds: () => catalog.current().autoTopup },
    payments: { charge: (...asked) => later().payments.charge(...asked) },
    alerts: { tell: (...news) => later().alerts.tell(...news) },
  });
}

interface EngineParts {
  readonly catalog: LiveCatalog;
  readonly ledger: Ledger;
  readonly metrics: Metrics | undefined;
  readonly log: Log;
  readonly store: Store;
  readonly owner: Owner;
  readonly results: Results;
}

/** Logs once when a route starts failing and once when it has recovered, however many calls notice. */
function openHealth(log: Log, metrics: Metrics | undefined): RouteHealth {
  const onChange = (change: RouteChange) => {
    const { way, to, kind, openMs } = change;
    metrics?.onRouteChange(change);
    const fields = { upstream: way.upstream, route: way.key };
    if (to === 'open') log.warn({ ...fields, kind }, 'a route keeps failing and is now tried last');
    else log.info({ ...fields, open_ms: openMs }, 'a route has recovered');
  };
  return createRouteHealth({ onChange });
}

/** The engines that answer calls, and what they learn about the upstreams. */
function openEngines(settings: Config & Timings, { catalog, ledger, metrics, log, results, ...more }: EngineParts) {
  const paidCalls = createPaidCalls(ledger);
  const health = openHealth(log, metrics);
  const shared = { paidCalls, health, onAttempt: metrics?.onAttempt };
  const text = createTextEngine({ ...shared, catalog: catalog.current, timeouts: settings });
  const images = createImageEngine({ ...shared, results, totalTimeoutMs: settings.totalTimeoutMs });
  const upstreams = () => healthOfUpstreams({ catalog: catalog.current, keyHealth: catalog.keyHealth, health });
  const videos = openVideos({ ...more, catalog: catalog.current, ledger, health, metrics, log, results, settings });
  metrics?.watchJobs(more.store.jobs);
  metrics?.watchReviews(more.store.payments);
  const onStray = countStrays({ catalog: catalog.current, health });
  return { text, images, upstreams, videos, onStray };
}

/** Paths of the pages get HTML errors even where there is no page. */
function faceAtOf(options: { readonly sandbox: boolean }): ResponseStyleAt {
  const pageFace = pageFaceOf(options);
  return (path) => (isPagePath(path) ? pageFace : apiFaceAt(path));
}

function openHttp(
  options: Omit<Config, 'sandbox'> & Timings & Pick<Means, 'member'> & { readonly sandbox: boolean },
  { log, metrics, cooldown }: { log: Log; metrics: Metrics | undefined; cooldown: Cooldown },
): Http {
  const { member, clientStallMs: stallMs } = options;
  const sharesPort = member !== undefined;
  const onBadHttp = (refusal: BadHttp) => {
    metrics?.onBadHttp(refusal);
    log.info(refusal, 'not an HTTP request');
  };
  const http = createHttp({ ...options, sharesPort, stallMs, onBadHttp, faceAt: faceAtOf(options) });
  const onPast = (past: PastRequest) => {
    cooldown.past(past);
    metrics?.onPast(past);
  };
  const lookAtProxy = warnOfProxyOnce(log);
  http.server.ext('onRequest', (request, h) => {
    logRequest(request, log, onPast);
    if (isPagePath(request.path)) lookAtProxy(request);
    return onRequest(request, h);
  });
  http.server.ext('onPreResponse', onPreResponse);
  return http;
}

/** pino takes the fields first; plugins and the catalog pass the message first. */
function adviceLog(log: Log): LiveCatalogLog {
  return {
    info: (message, fields) => log.info(fields, message),
    warn: (message, fields) => log.warn(fields, message),
    error: (message, fields) => log.error(fields, message),
  };
}
