// The composition root: assembles the whole service, for main, tests and benchmarks.
import type { Server } from '@hapi/hapi';
import { createLimiter, type Limiter } from './accounts/rate-limiter.ts';
import { apiPlugin } from './api/plugin.ts';
import { createThrottle } from './api/throttle.ts';
import { buildLoopbackUrl } from './base/network.ts';
import { type CreateTransform, refuseWrongOptions } from './calls/text/embedder-transform.ts';
import type { OnPluginError } from './calls/upstreams.ts';
import { createCatalogEditor } from './catalog/editor.ts';
import { createLayerSource } from './catalog/layer.ts';
import { listModels } from './catalog/listing.ts';
import type { LiveCatalog } from './catalog/live.ts';
import { readCatalogFacts } from './catalog/read.ts';
import type { Config } from './config.ts';
import { createConsole, type FirstLinks } from './console/console.ts';
import { consolePlugin } from './console/plugin.ts';
import type { FinishedRequest } from './http/access-log.ts';
import type { BodyLimits } from './http/body.ts';
import { listRoutes } from './http/late-routes.ts';
import type { Log } from './http/log.ts';
import type { Http } from './http/server.ts';
import type { FetchLimits } from './media/fetcher.ts';
import type { Metrics } from './metrics/metrics.ts';
import { openMetrics } from './metrics/open.ts';
import { createCostWatch } from './payments/play-money.ts';
import { openAlerts } from './start/alerts.ts';
import { type OnLosses, openCatalog } from './start/catalog.ts';
import { createChores, openUsage } from './start/chores.ts';
import { openEngines, readEngineSettings } from './start/engines.ts';
import { openHttp, reportRequests } from './start/http.ts';
import { openMedia } from './start/media.ts';
import { openMoney } from './start/money.ts';
import { prepareStore } from './start/prepare-store.ts';
import { type Demo, decideSandbox, NO_DEMO, openDemo } from './start/sandbox.ts';
import { openServices } from './start/services.ts';
import { closeAll, endCalls, endLedger, once } from './start/shutdown.ts';
import { openServiceStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export type { CreateTransform } from './calls/text/embedder-transform.ts';
export type { StreamPart } from './stream/part.ts';
export type { Transform } from './stream/pipeline.ts';

export interface Gateway {
  readonly server: Server;
  /** Starts listening; rejects with an `OperatorError` if the port is taken. */
  start(): Promise<void>;
  /** Accepts no new calls, lets running ones finish for up to `drainMs`, then ends and settles the rest, once. */
  stop(): Promise<void>;
  /** Reloads the catalog. */
  reload(): Promise<boolean>;
  /** Call it when a plugin of this gateway has left an error unhandled. */
  readonly onPluginError: OnPluginError;
  /** For the report after the start. */
  readonly facts: GatewayFacts;
  /** The metrics of this process; undefined without a metrics port. */
  readonly metrics: Pick<Metrics, 'snapshot' | 'readiness'> | undefined;
}

/** For a gateway that is one of several workers: what the primary does for it. The primary also runs the chores. */
export interface Membership {
  readonly limiter: Pick<Limiter, 'hit'>;
  /** Whether this worker does what a start does once: make the demo account and the links of the first visitors. */
  readonly isFirst: boolean;
}

export interface GatewayFacts {
  readonly sandbox: boolean;
  /** The demo account's key, if this start created it. */
  readonly demoKey: string | undefined;
  /** The id of the demo account, while it can be used in the sandbox. */
  readonly demoAccount: string | undefined;
  /** Links for the first visitors of the pages; empty before the start. */
  readonly links: FirstLinks;
  /** The usable models. */
  readonly models: readonly { readonly id: string; readonly type: string }[];
  /** Upstreams that lack a variable. */
  readonly switchedOff: readonly string[];
  /** Where metrics are served; undefined before the start. */
  readonly metricsUrl: string | undefined;
}

/** Intervals that no operator needs to change; tests shorten them. */
export interface Timings {
  /** The interval of heartbeats of a stream on which nothing is sent. */
  readonly heartbeatMs?: number;
  readonly headersTimeoutMs?: number;
  readonly bodyLimits?: BodyLimits;
  /** Average pause between two rounds of alerts. */
  readonly alertsEveryMs?: number;
  readonly fetchLimits?: Partial<FetchLimits>;
  /** How long a key that was read from the store counts as unchanged. */
  readonly keyCacheMs?: number;
  /** How often the catalog is checked for edits. */
  readonly catalogPollMs?: number;
}

export interface GatewayOptions {
  readonly timings?: Timings | undefined;
  /** Absent for the only process of a start. */
  readonly member?: Membership;
  /** Further steps on the way of every text answer, each made anew for an attempt: docs/architecture.md shows one. */
  readonly transforms?: readonly CreateTransform[] | undefined;
  /** An open store instead of the one that the configuration names; the gateway closes it. */
  readonly store?: Store;
  /** Called when a request is over: its reply is sent or its client has left, and its money is settled. */
  readonly onRequestEnd?: ((request: FinishedRequest) => void) | undefined;
}

/**
 * Opens the store and the catalog that `config` names and assembles a gateway, which does not listen before `start()`.
 * Rejects with an `OperatorError` for what an operator can put right, and with a `StoreError` if the store does not answer.
 */
export async function createGateway(config: Config, log: Log, options: GatewayOptions = {}): Promise<Gateway> {
  refuseWrongOptions(options, ['timings', 'member', 'transforms', 'store', 'onRequestEnd']);
  const { timings = {}, member, transforms = [], onRequestEnd } = options;
  const store = options.store ?? (await openServiceStore(config));
  try {
    return await compose(config, { log, store, timings, member, transforms, onRequestEnd });
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface Foundation {
  readonly log: Log;
  readonly store: Store;
  readonly timings: Timings;
  readonly member: Membership | undefined;
  readonly transforms: readonly CreateTransform[];
  readonly onRequestEnd: GatewayOptions['onRequestEnd'];
}

async function compose(config: Config, foundation: Foundation): Promise<Gateway> {
  const { log, store, timings, member, transforms, onRequestEnd } = foundation;
  const isMember = member !== undefined;
  const isFirst = member?.isFirst !== false;
  const facts = readCatalogFacts(config, await createLayerSource(store).read());
  const sandbox = await decideSandbox({ store, setting: config.sandbox, hasRealUpstream: facts.real, log });
  const { isReal, recordCostlyUpstream } = createCostWatch(store, log);
  let alertLosses: OnLosses = () => undefined;
  const onLosses: OnLosses = (losses) => alertLosses(losses);
  const catalog = await openCatalog(config, { sandbox, store, log, timings, recordCostlyUpstream, onLosses });

  const throttle = createThrottle();
  const http = openHttp(config, { sandbox, isReal, sharesPort: isMember, headersTimeoutMs: timings.headersTimeoutMs });
  const publicUrl = () => resolvePublicUrl(config, http.server);
  const metrics = await openGatewayMetrics(config, { log, isMember, catalog, http });
  const refusals = reportRequests(http, { store, log, metrics, throttle, onRequestEnd });

  const { limiter, onPeers } = openLimiter(store, member);
  const media = openMedia(config, { store, publicUrl, metrics, limits: timings.fetchLimits });
  const { webhooks, results } = media;
  const alerting = openAlerts(config, { store, log, publicUrl, fetcher: webhooks, everyMs: timings.alertsEveryMs });
  const { alerts } = alerting;
  alertLosses = alerting.onLosses;
  const usage = openUsage(store, log, { sweeps: isFirst });
  const money = openMoney(config, { store, log, catalog, metrics, alerts, publicUrl, isReal, onPeers });
  const { owner, payments, topups } = money;
  const ledger = topups.watch(usage.watch(money.ledger));
  const settings = readEngineSettings(config, timings, transforms);
  const engines = openEngines(settings, { store, log, catalog, metrics, ledger, owner, results });
  const { videos, upstreams } = engines;
  alerting.watchUpstreams(upstreams);

  const parts = { store, log, owner, catalog, limiter, throttle, topups, media, engines, isReal, publicUrl };
  const services = openServices(config, parts, timings);
  await http.server.register({ plugin: apiPlugin, options: services });
  const web = createConsole({
    api: services,
    catalogFailure: catalog.failure,
    catalogParts: catalog.parts,
    catalogEditor: createCatalogEditor({ store, live: catalog, keepsSecrets: config.secretsKeys.length > 0 }),
    sandbox,
    keyPrefix: config.keyPrefix,
    registration: config.registration,
    statusPage: config.statusPage,
    pageRateLimitPerMinute: config.pageRateLimitPerMinute,
    ...alerting.channels,
    alerts,
    payments,
    topups,
    usage,
    fetcher: webhooks,
    onSignIn: metrics?.onSignIn,
  });
  await http.server.register({ plugin: consolePlugin, options: web.services });
  const chores = isMember ? usage : createChores({ store, log, metrics, more: [usage] });
  const { calls, parser, holders, shutdown, pingStore } = services;
  const { current, failure: catalogFailure } = catalog;
  metrics?.watchService({ calls, catalog: current, catalogFailure, upstreams, ping: pingStore });

  let demo: Demo = NO_DEMO;
  let metricsUrl: string | undefined;

  async function start(): Promise<void> {
    await prepareStore(store, log);
    await owner.start();
    metricsUrl = await metrics?.start();
    await http.start();
    if (isFirst) demo = await openDemo({ store, log, sandbox, keyPrefix: config.keyPrefix });
    await web.start(isFirst ? demo : undefined);
    alertLosses(catalog.current().losses);
    catalog.watch();
    for (const service of [alerting, videos.worker, payments, topups, chores]) service.start();
  }

  async function stop(): Promise<void> {
    await shutdown.begin();
    chores.stop();
    web.close();
    await alerting.stop();
    await Promise.all([videos.worker.stop(), topups.stop(), payments.stop()]);
    await http.close(() => endCalls(calls, config.drainMs));
    videos.engine.stop();
    await endLedger(ledger, log);
    await closeAll([parser.close, owner.stop, holders.close, refusals.close, catalog.close, store.close], log);
    await metrics?.close();
  }

  return {
    server: http.server,
    get facts() {
      const { demoKey, demoAccount } = demo;
      const { switchedOff } = facts;
      const models = listModels(catalog.current());
      return { sandbox, demoKey, demoAccount, links: web.links, models, switchedOff, metricsUrl };
    },
    start,
    stop: once(stop),
    reload: catalog.reload,
    onPluginError: engines.onPluginError,
    metrics,
  };
}

interface MetricsParts {
  readonly log: Log;
  readonly isMember: boolean;
  readonly catalog: LiveCatalog;
  readonly http: Http;
}

function openGatewayMetrics(config: Config, { log, isMember, catalog, http }: MetricsParts) {
  return openMetrics({
    host: config.metricsHost,
    port: config.metricsPort,
    log,
    isMember,
    series: { catalog: catalog.current, providers: catalog.payments, routes: () => listRoutes(http.server) },
  });
}

/** A worker leaves counting to the primary. */
function openLimiter(store: Store, member: Membership | undefined) {
  if (member) return { limiter: member.limiter, onPeers: undefined };
  const limiter = createLimiter({ store: store.limits });
  return { limiter, onPeers: limiter.setPeers };
}

/** With `PORT=0` the port is the one the system assigned. */
function resolvePublicUrl({ publicUrl, publicUrlSet, host, port }: Config, { info }: Server): string {
  return publicUrlSet || port !== 0 ? publicUrl : buildLoopbackUrl(host, Number(info.port));
}
