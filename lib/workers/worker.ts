// A worker is a gateway in its own process. Its primary starts, queries and stops it.
import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { buildLoopbackUrl } from '../base/network.ts';
import type { Config } from '../config.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import { addAllRoutes } from '../http/late-routes.ts';
import type { Log } from '../http/log.ts';
import { type ToPrimary, type ToWorker, WORKER_VARIABLE, type WorkerTerms } from './messages.ts';
import { createRemoteLimiter } from './remote-limiter.ts';
import { makeStartupReport } from './startup-report.ts';

interface WorkerOptions {
  readonly config: Config;
  readonly log: Log;
  /** Ends the process like a signal. Called when the primary asks for it, or has exited. */
  readonly stop: (why: string) => void;
}

/** Whether this process was started by a primary. */
export function isWorker(): boolean {
  return cluster.isWorker && process.env[WORKER_VARIABLE] !== undefined;
}

/** Starts the gateway of a worker; rejects if it cannot be started. */
export async function startWorker({ config, log, stop }: WorkerOptions): Promise<Gateway> {
  const { group, port, isFirst } = JSON.parse(process.env[WORKER_VARIABLE] ?? '') as WorkerTerms;
  const limiter = createRemoteLimiter({ send: (id, hits) => sendToPrimary({ kind: 'hits', id, hits }) });
  surviveThePrimary(stop);
  const ownerId = `${group}-${randomBytes(6).toString('hex')}`;
  const publicUrl = config.publicUrlSet ? config.publicUrl : buildLoopbackUrl(config.host, port);
  const member = { limiter, isFirst };
  const gateway = await createGateway({ ...config, ownerId, port, publicUrl }, log, { member });
  process.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'verdicts':
        return limiter.answer(message.id, message.verdicts);
      case 'stop':
        return stop('stop');
      case 'reload':
        return void gateway.reload();
      case 'scrape':
        return void answerScrape(gateway, log);
    }
  });
  try {
    await gateway.start();
    addAllRoutes(gateway.server);
  } catch (error) {
    await gateway.stop();
    throw error;
  }
  sendToPrimary({ kind: 'ready', report: makeStartupReport(gateway) });
  return gateway;
}

async function answerScrape({ metrics }: Gateway, log: Log): Promise<void> {
  try {
    const [snapshot, readiness] = await Promise.all([metrics?.snapshot() ?? [], metrics?.readiness()]);
    sendToPrimary({ kind: 'scraped', metrics: snapshot, readiness });
  } catch (err) {
    log.warn({ err }, 'a metrics scrape failed');
  }
}

/** Does nothing without the primary; the worker notices its exit by `disconnect`. */
function sendToPrimary(message: ToPrimary): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Lets running calls finish when the primary exits; Node would end the process at once. */
function surviveThePrimary(stop: WorkerOptions['stop']): void {
  const { worker } = cluster;
  worker?.once('disconnect', () => {
    worker.exitedAfterDisconnect = true;
    stop('the primary is gone');
  });
}
