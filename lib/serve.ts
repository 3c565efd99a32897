// The service as a process: reads the environment, composes, listens, and drains on SIGTERM.

import { joinLines } from './base/one-line.ts';
import { OperatorError } from './base/operator-error.ts';
import { pluralize } from './base/pluralize.ts';
import { type Config, findMisspellings, readConfig } from './config.ts';
import { createGateway } from './gateway.ts';
import { addAllRoutes } from './http/late-routes.ts';
import { createLog, type Log } from './http/log.ts';
import { StoreError } from './store/store.ts';
import { findFailingPlugin, type PluginName } from './upstream/host/plugin-run.ts';
import { WorkerFailed } from './workers/pool.ts';
import { findClientUrl, makeStartupReport, type StartupReport } from './workers/startup-report.ts';
import { isWorker, startWorker } from './workers/worker.ts';

/** Serves until a signal ends the process; a failure to start is reported on stderr. */
export function serve(): void {
  const started = isWorker() ? serveAsWorker() : start();
  started.catch(reportFailure);
}

function reportFailure(error: unknown): void {
  if (!(error instanceof WorkerFailed)) process.stderr.write(`tollgate: ${describeFailure(error)}\n`);
  process.exit(1);
}

/** What was started: one gateway, or several workers. */
interface Served {
  readonly report: StartupReport;
  readonly metricsUrl: string | undefined;
  stop(): Promise<void>;
  reload(): Promise<boolean>;
  /** Absent in a primary, which runs no plugins. */
  onPluginError?(whose: PluginName): void;
}

async function start(): Promise<void> {
  const config = readConfig(process.env);
  const isShared = config.workers > 1;
  const log = createLog({ level: config.logLevel, keyPrefix: config.keyPrefix, isShared });
  for (const { name, meant } of findMisspellings(config.env)) {
    log.warn({ variable: name }, `the variable ${name} is not read: is ${meant} meant?`);
  }
  const onStarted = watchUnhandled(log, config);
  const served = await (isShared ? startSeveral(config, log) : startAlone(config, log));
  const stop = stopOnce(served, log);
  onStarted(served, stop);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  process.on('SIGHUP', () => void served.reload());
  printStartupReport(config, served);
  if (!config.publicUrlSet && !['127.0.0.1', 'localhost', '::1'].includes(config.host)) {
    log.warn('PUBLIC_URL is not set: links to stored media will point to the loopback address');
  }
}

async function startAlone(config: Config, log: Log): Promise<Served> {
  const gateway = await createGateway(config, log);
  try {
    await gateway.start();
    addAllRoutes(gateway.server);
  } catch (error) {
    await gateway.stop();
    throw error;
  }
  return { ...gateway, report: makeStartupReport(gateway), metricsUrl: gateway.facts.metricsUrl };
}

async function startSeveral(config: Config, log: Log): Promise<Served> {
  const { startPrimary } = await import('./workers/primary.ts');
  return startPrimary(config, log);
}

/** One of several workers. It ignores SIGHUP, which a terminal sends to all processes: the primary passes a reload on. */
async function serveAsWorker(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel, keyPrefix: config.keyPrefix, isShared: true });
  // Until it has started, there is nothing to stop.
  let stop: (why: string) => void = () => process.exit(0);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  process.on('SIGHUP', () => undefined);
  const onStarted = watchUnhandled(log, config);
  const gateway = await startWorker({ config, log, stop: (why) => stop(why) });
  const end = stopOnce(gateway, log);
  stop = end;
  onStarted(gateway, end);
}

type StopTimes = Pick<Config, 'shutdownDelayMs' | 'drainMs'>;
type OnStarted = (served: Pick<Served, 'onPluginError'>, stop: ReturnType<typeof stopOnce>) => void;

/** How long a shutdown may take once calls have ended, before the process exits anyway. */
const ENDING_MS = 30_000;

const PLUGIN_ERROR = 'a plugin has left an error unhandled; its call fails if it still runs';

/**
 * Handles uncaught errors. A plugin's error fails its call only. Any other leaves the process in an unknown state and ends
 * it: at once before the start has finished, later after its calls.
 */
function watchUnhandled(log: Log, { shutdownDelayMs, drainMs }: StopTimes): OnStarted {
  let onPluginError: (whose: PluginName) => void = () => undefined;
  let onOther = reportFailure;
  const handle = (err: unknown) => {
    const run = findFailingPlugin(err);
    if (run) {
      log.error({ alert: 'plugin', [run.title === 'Plugin' ? 'plugin' : 'upstream']: run.name, err }, PLUGIN_ERROR);
      run.fail(err);
      onPluginError(run);
    } else {
      log.fatal({ err }, 'an error that nobody has handled; stopping');
      onOther(err);
    }
  };
  process.on('unhandledRejection', handle);
  process.on('uncaughtException', handle);
  return (served, stop) => {
    onPluginError = (whose) => served.onPluginError?.(whose);
    onOther = () => {
      // The broken part may be the one that has to stop.
      setTimeout(() => process.exit(1), shutdownDelayMs + drainMs + ENDING_MS).unref();
      stop('an error that nobody has handled', 1);
    };
  };
}

/** The command line, invoked the way this service was. */
const COMMAND = process.env.npm_lifecycle_event === 'start' ? 'npm run -s tollgate --' : 'tollgate';

/** Printed directly, because the log would scrub the key. */
function printStartupReport(config: Config, { report, metricsUrl }: Served): void {
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${report.port}`;
  const lines = [`Tollgate is listening on ${url} (${pluralize(report.models.length, 'model')})`];
  const model = report.models.find(({ type }) => type === 'text')?.id;
  if (config.workers > 1) lines.push(`Workers: ${config.workers}`);
  if (metricsUrl) lines.push(`Metrics: ${metricsUrl}`);
  if (report.sandbox) lines.push('Sandbox mode: answers are made up, and no upstream is called.');
  if (report.demoAccount && !report.demoKey) {
    lines.push(
      `Lost the key of the demo account? This issues another: ${COMMAND} key issue ${report.demoAccount} --name demo`,
    );
  }
  if (report.demoKey) {
    lines.push(
      '',
      'A demo account with 1000 RUB was created. Its key is shown only once:',
      '',
      `  ${report.demoKey}`,
      '',
      'Try it:',
      '',
      `  curl -N ${findClientUrl(config, report.port)}/api/v1/messages -H 'x-api-key: ${report.demoKey}' -H 'content-type: application/json' \\`,
      `    -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Hello!"}]}'`,
      '',
    );
  }
  if (report.links.demo)
    lines.push(
      'The pages of the demo account open with this link, once, within an hour:',
      '',
      `  ${report.links.demo}`,
      '',
    );
  if (report.links.setup)
    lines.push(
      'There is no operator yet. This link makes the first one, once, within an hour:',
      '',
      `  ${report.links.setup}`,
      '',
    );
  if (report.models.length === 0) {
    const wanted = report.switchedOff.join(', ') || '(the catalog has none)';
    lines.push(
      `No upstream is switched on. An operator adds one on /admin/upstreams (set SECRETS_KEY for its key). Or set one of: ${wanted}; or SANDBOX=on for made-up answers.`,
    );
  }
  // A closed stdout must not end the process.
  process.stdout.on('error', () => undefined);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Returns a function that ends the process; only the first call has an effect. */
function stopOnce(served: Pick<Served, 'stop'>, log: Log): (signal: string, code?: number) => void {
  let stopping = false;
  let exitCode = 0;
  return (signal, wanted = 0) => {
    exitCode ||= wanted;
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    const stopped = served.stop().then(
      () => exitCode,
      (err: unknown) => {
        log.error({ err }, 'the shutdown failed');
        return 1;
      },
    );
    void stopped.then(async (code) => {
      if (await log.written()) process.exit(code);
      else process.kill(process.pid, 'SIGKILL');
    });
  };
}

/** One line for an operator's mistake, a stack for a bug. */
function describeFailure(error: unknown): string {
  if (error instanceof OperatorError) return joinLines(error.message);
  if (error instanceof StoreError) return `The database does not answer: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
