// The composition root: everything the service is made of is put together here, for main, tests and benchmarks.
import type { Server } from '@hapi/hapi';
import { createHolders } from './accounts/holders.ts';
import { listModels } from './catalog/listing.ts';
import { type LiveCatalogLog, openLiveCatalog, readCatalogFacts } from './catalog/live.ts';
import type { Config } from './config.ts';
import { fault } from './faults.ts';
import { logRequest } from './http/access-log.ts';
import { type AuthOptions, registerAuth } from './http/auth.ts';
import { createLiveCalls } from './http/context.ts';
import { createLimiter } from './http/limiter.ts';
import type { Log } from './http/log.ts';
import { onPreResponse, onRequest } from './http/reply.ts';
import { type BadHttp, createHttp } from './http/server.ts';
import { verifyLedger } from './ledger/audit.ts';
import { createLedger } from './ledger/ledger.ts';
import { createOwner } from './ledger/owner.ts';
import { registerRoutes } from './routes/routes.ts';
import { decideSandbox, findDemoAccount, makeDemoAccount } from './sandbox.ts';
import { openStore } from './store/open.ts';
import type { Store } from './store/store.ts';
import { createTextEngine } from './text/engine.ts';

export interface Gateway {
  readonly server: Server;
  /** Starts listening; rejects with an `OperatorError` when the port is taken. */
  start(): Promise<void>;
  /** Stops taking calls, lets those under way end for up to `drainMs`, then ends and settles them. */
  stop(): Promise<void>;
  /** Reads the catalog again. */
  reload(): Promise<boolean>;
  /** What an operator is told after the start. */
  readonly facts: GatewayFacts;
}

export interface GatewayFacts {
  readonly sandbox: boolean;
  /** The demo account's key, when this start made it. */
  readonly demoKey: string | undefined;
  /** Models that can be used. */
  readonly models: readonly { readonly id: string; readonly type: string }[];
  readonly switchedOff: readonly string[];
}

const AUDIT_EVERY_MS = 3_600_000;
/** How long the ledger may take for what is left once every call has ended. */
const LEDGER_DRAIN_MS = 5_000;
/** How long leaving the store may take; a lock of another process would keep it for many times four seconds. */
const CLOSE_MS = 5_000;
const PROBLEMS_LOGGED_MAX = 20;

export async function createGateway(config: Config, log: Log): Promise<Gateway> {
  const store = await openStore(config.databaseUrl);
  try {
    return await compose(config, log, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function compose(config: Config, log: Log, store: Store): Promise<Gateway> {
  const facts = readCatalogFacts(config);
  const sandbox = await decideSandbox(store, config, facts);
  const catalog = await openLiveCatalog({ config, sandbox, onSecrets: log.addSecrets, log: adviceLog(log) });
  let demoKey: string | undefined;
  const { ownerId, leaseMs } = config;
  const ledger = createLedger({ store, ownerId, leaseMs, log });
  const limiter = createLimiter({ store: store.limits });
  const owner = createOwner({ store: store.owners, ledger, ownerId, leaseMs, log, onPeers: limiter.setPeers });
  const onFlushError = (err: unknown) => log.warn({ err }, 'the use counters of keys were not written');
  const holders = createHolders({ store, prefix: config.keyPrefix, onFlushError });
  const calls = createLiveCalls();
  const onBadHttp = (fields: BadHttp) => log.info(fields, 'what came was no HTTP');
  const http = createHttp({ host: config.host, port: config.port, onBadHttp });
  prepareServer(http.server, { holders, limiter, log });
  registerRoutes(http.server, {
    store,
    catalog: catalog.current,
    holders,
    calls,
    log,
    text: createTextEngine({ catalog: catalog.current, ledger, timeouts: config }),
    limits: {
      generate: { name: 'generate', perMinute: config.rateLimitPerMinute },
      balance: { name: 'balance', perMinute: config.balanceRateLimitPerMinute },
    },
    clientStallMs: config.clientStallMs,
    publicUrl: config.publicUrl,
  });
  const audits = createAudits(store, log);

  return {
    server: http.server,
    get facts() {
      return { sandbox, demoKey, models: listModels(catalog.current()), switchedOff: facts.switchedOff };
    },
    async start() {
      await owner.start();
      await http.start();
      // Only now: a start that fails would leave an account whose key nobody has seen.
      if (sandbox) demoKey = await makeDemoAccount(store, config);
      else await warnOfDemo(store, log);
      catalog.watch();
      audits.start();
    },
    async stop() {
      audits.stop();
      await http.close(async () => {
        await calls.drain(config.drainMs);
        // Also the calls of connections that were in the middle of a request when the others had ended.
        calls.endAll(fault('shutting_down'));
        await calls.drain(LEDGER_DRAIN_MS);
      });
      const left = await ledger.drain(LEDGER_DRAIN_MS);
      if (left > 0)
        log.error({ left }, 'stopped before the store has confirmed everything; open holds go back in full');
      const closing = closeInOrder([owner.stop, holders.close, catalog.close, store.close]);
      if (!(await endsWithin(closing, CLOSE_MS)))
        log.error('the store does not let go; the process leaves all the same');
    },
    reload: catalog.reload,
  };
}

async function closeInOrder(closes: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of closes) await close();
}

/** Whether it ends in time; what it fails with in time is thrown on. */
async function endsWithin(work: Promise<void>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  const ended = work.then(() => true);
  ended.catch(() => undefined);
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

interface ServerParts extends AuthOptions {
  readonly log: Log;
}

function prepareServer(server: Server, { holders, limiter, log }: ServerParts): void {
  server.ext('onRequest', (request, h) => {
    logRequest(request, log);
    return onRequest(request, h);
  });
  server.ext('onPreResponse', onPreResponse);
  registerAuth(server, { holders, limiter });
}

async function warnOfDemo(store: Store, log: Log): Promise<void> {
  const account = await findDemoAccount(store);
  if (account) log.warn({ account }, 'the demo account of the sandbox can spend its gift on real models: suspend it');
}

/** pino takes the fields first, plugins and the catalog the message. */
function adviceLog(log: Log): LiveCatalogLog {
  return {
    info: (message, fields) => log.info(fields, message),
    warn: (message, fields) => log.warn(fields, message),
    error: (message, fields) => log.error(fields, message),
  };
}

/** Verifies the ledger now and then while the service runs. */
function createAudits(store: Store, log: Log): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const audit = async () => {
    const { ok, problems } = await verifyLedger(store);
    if (!ok) log.error({ problems: problems.slice(0, PROBLEMS_LOGGED_MAX) }, 'the ledger does not add up');
  };
  const onError = (err: unknown) => log.warn({ err }, 'the audit of the ledger did not finish');
  return {
    start() {
      timer = setInterval(() => void audit().catch(onError), AUDIT_EVERY_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}
