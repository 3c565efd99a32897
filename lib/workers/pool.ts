// The workers of a primary: started, given their tasks, replaced when they exit on their own, and stopped.
import cluster, { type Worker } from 'node:cluster';
import type { Log } from '../http/log.ts';
import { type ToPrimary, type ToWorker, WORKER_VARIABLE, type WorkerTerms } from './messages.ts';
import type { StartupReport } from './startup-report.ts';

export interface PoolOptions {
  readonly size: number;
  /** The owner that the workers belong to. */
  readonly group: string;
  readonly port: number;
  readonly log: Log;
  readonly onMessage: (message: ToPrimary, answer: (message: ToWorker) => void, worker: number) => void;
  readonly onEnd: (worker: number) => void;
}

export interface Pool {
  /** Resolves to what the first worker reports once all of them listen; rejects with `WorkerFailed`. */
  start(): Promise<StartupReport>;
  /** Sends to every listening worker; returns their ids. */
  tell(message: ToWorker): readonly number[];
  alive(): number;
  replaced(): number;
  /** Resolves when all have exited, by force after this time: to whether none had to be forced or failed. */
  stop(withinMs: number): Promise<boolean>;
}

/** A worker could not start; it has said why. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
}

/** Between a worker's exit and the start of its replacement; doubles while they exit early. */
const PAUSE_MS = { least: 250, most: 30_000 };
/** One that lived this long did not exit early. */
const SOON_MS = 60_000;

/** A slot of a worker, which may be between two. */
interface Place {
  readonly number: number;
  worker: Worker | undefined;
  listens: boolean;
  /** Consecutive early exits. */
  ends: number;
  timer: NodeJS.Timeout | undefined;
}

export function createPool({ size, group, port, log, onMessage, onEnd }: PoolOptions): Pool {
  const places = Array.from(
    { length: size },
    (_, index): Place => ({ number: index + 1, worker: undefined, listens: false, ends: 0, timer: undefined }),
  );
  let replaced = 0;
  let stopping = false;
  let failed = false;

  /** Resolves when the worker listens; rejects if it exits before. */
  function fill(place: Place, isFirst = false): Promise<StartupReport> {
    const startedAt = performance.now();
    const worker = cluster.fork({ [WORKER_VARIABLE]: JSON.stringify({ group, port, isFirst } satisfies WorkerTerms) });
    place.worker = worker;
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.kind === 'ready') {
          place.listens = true;
          resolve(message.report);
        } else onMessage(message, (answer) => send(worker, answer), worker.id);
      });
      worker.once('exit', (code: number | null, signal: string | null) => {
        const wasListening = place.listens;
        if (performance.now() - startedAt > SOON_MS) place.ends = 0;
        Object.assign(place, { worker: undefined, listens: false });
        onEnd(worker.id);
        failed ||= stopping && code !== 0;
        if (wasListening) replace(place, { code, signal });
        reject(new WorkerFailed(`worker ${place.number} ended with ${signal ?? code}`));
      });
    });
  }

  function replace(place: Place, end: { readonly code: number | null; readonly signal: string | null }): void {
    if (stopping) return;
    const pauseMs = Math.min(PAUSE_MS.most, PAUSE_MS.least * 2 ** place.ends);
    place.ends += 1;
    replaced += 1;
    log.error({ worker: place.number, ...end, pause_ms: pauseMs }, 'a worker has exited and will be replaced');
    place.timer = setTimeout(() => {
      fill(place).then(
        () => log.info({ worker: place.number }, 'a worker has been replaced'),
        () => replace(place, { code: 1, signal: null }),
      );
    }, pauseMs);
  }

  function workers(): readonly Worker[] {
    return places.flatMap(({ worker }) => worker ?? []);
  }

  return {
    async start() {
      cluster.setupPrimary({ execArgv: process.execArgv.filter((flag) => !flag.startsWith('--env-file')) });
      const [first, ...others] = places as [Place, ...Place[]];
      // It does what is done only once, and reports mistakes before the others repeat them.
      const report = await fill(first, true);
      await Promise.all(others.map((place) => fill(place)));
      return report;
    },
    tell(message) {
      const listening = places.flatMap(({ worker, listens }) => (worker && listens ? worker : []));
      for (const worker of listening) send(worker, message);
      return listening.map(({ id }) => id);
    },
    alive: () => places.filter(({ listens }) => listens).length,
    replaced: () => replaced,
    async stop(withinMs) {
      stopping = true;
      for (const { timer } of places) clearTimeout(timer);
      const ends = workers().map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
      for (const { worker, listens } of places) {
        if (worker && listens) send(worker, { kind: 'stop' });
        else worker?.process.kill('SIGTERM');
      }
      const force = setTimeout(() => {
        for (const worker of workers()) worker.process.kill('SIGKILL');
      }, withinMs);
      await Promise.all(ends);
      clearTimeout(force);
      return !failed;
    },
  };
}

/** A worker that is exiting cannot receive messages; its exit says the same. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
