// The workers of a primary: starts them, sends them messages, replaces workers that exit on their own, and stops them.
import cluster, { type Worker } from 'node:cluster';
import type { Log } from '../http/log.ts';
import { type ToPrimary, type ToWorker, WORKER_VARIABLE, type WorkerTerms } from './messages.ts';
import type { StartupReport } from './startup-report.ts';

interface PoolOptions {
  readonly size: number;
  /** The prefix of the owner ids of all workers. */
  readonly group: string;
  readonly port: number;
  readonly log: Log;
  readonly onMessage: (message: ToPrimary, answer: (message: ToWorker) => void, worker: number) => void;
  readonly onEnd: (worker: number) => void;
}

export interface Pool {
  /** Resolves to the report of the first worker once all workers listen; rejects with `WorkerFailed`. */
  start(): Promise<StartupReport>;
  /** Sends a message to every listening worker; returns the ids of these workers. */
  broadcast(message: ToWorker): readonly number[];
  alive(): number;
  replaced(): number;
  /** Resolves when all workers have exited, killed after this time: to whether all exited by themselves and cleanly. */
  stop(withinMs: number): Promise<boolean>;
}

/** A worker could not start. It has printed the reason. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
}

/** The pause between a worker's exit and its replacement. It doubles while workers exit early. */
const REPLACEMENT_PAUSE_MS = { least: 250, most: 30_000 };
/** A worker that exits sooner after its start exits early. */
const EARLY_EXIT_MS = 60_000;

/** A slot has no worker between an exit and its replacement. */
interface WorkerSlot {
  readonly number: number;
  worker: Worker | undefined;
  listens: boolean;
  /** Consecutive early exits. */
  earlyExits: number;
  timer: NodeJS.Timeout | undefined;
}

export function createPool({ size, group, port, log, onMessage, onEnd }: PoolOptions): Pool {
  const slots = Array.from(
    { length: size },
    (_, index): WorkerSlot => ({
      number: index + 1,
      worker: undefined,
      listens: false,
      earlyExits: 0,
      timer: undefined,
    }),
  );
  let replaced = 0;
  let stopping = false;
  let failed = false;

  /** Resolves when the worker listens; rejects if it exits first. */
  function fillSlot(slot: WorkerSlot, isFirst = false): Promise<StartupReport> {
    const startedAt = performance.now();
    const worker = cluster.fork({ [WORKER_VARIABLE]: JSON.stringify({ group, port, isFirst } satisfies WorkerTerms) });
    slot.worker = worker;
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.kind === 'ready') {
          slot.listens = true;
          resolve(message.report);
        } else onMessage(message, (answer) => sendToWorker(worker, answer), worker.id);
      });
      worker.once('exit', (code: number | null, signal: string | null) => {
        const wasListening = slot.listens;
        if (performance.now() - startedAt > EARLY_EXIT_MS) slot.earlyExits = 0;
        Object.assign(slot, { worker: undefined, listens: false });
        onEnd(worker.id);
        failed ||= stopping && code !== 0;
        if (wasListening) scheduleReplacement(slot, { code, signal });
        reject(new WorkerFailed(`worker ${slot.number} ended with ${signal ?? code}`));
      });
    });
  }

  function scheduleReplacement(
    slot: WorkerSlot,
    end: { readonly code: number | null; readonly signal: string | null },
  ): void {
    if (stopping) return;
    const pauseMs = Math.min(REPLACEMENT_PAUSE_MS.most, REPLACEMENT_PAUSE_MS.least * 2 ** slot.earlyExits);
    slot.earlyExits += 1;
    replaced += 1;
    log.error({ worker: slot.number, ...end, pause_ms: pauseMs }, 'a worker has exited and will be replaced');
    slot.timer = setTimeout(() => {
      fillSlot(slot).then(
        () => log.info({ worker: slot.number }, 'a worker has been replaced'),
        () => scheduleReplacement(slot, { code: 1, signal: null }),
      );
    }, pauseMs);
  }

  function listWorkers(): readonly Worker[] {
    return slots.flatMap(({ worker }) => worker ?? []);
  }

  return {
    async start() {
      cluster.setupPrimary({ execArgv: process.execArgv.filter((flag) => !flag.startsWith('--env-file')) });
      const [first, ...others] = slots as [WorkerSlot, ...WorkerSlot[]];
      // The first worker does the one-time work, and reports mistakes before the others repeat them.
      const report = await fillSlot(first, true);
      await Promise.all(others.map((slot) => fillSlot(slot)));
      return report;
    },
    broadcast(message) {
      const listening = slots.flatMap(({ worker, listens }) => (worker && listens ? worker : []));
      for (const worker of listening) sendToWorker(worker, message);
      return listening.map(({ id }) => id);
    },
    alive: () => slots.filter(({ listens }) => listens).length,
    replaced: () => replaced,
    async stop(withinMs) {
      stopping = true;
      for (const { timer } of slots) clearTimeout(timer);
      const ends = listWorkers().map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
      for (const { worker, listens } of slots) {
        if (worker && listens) sendToWorker(worker, { kind: 'stop' });
        else worker?.process.kill('SIGTERM');
      }
      const force = setTimeout(() => {
        for (const worker of listWorkers()) worker.process.kill('SIGKILL');
      }, withinMs);
      await Promise.all(ends);
      clearTimeout(force);
      return !failed;
    },
  };
}

/** Ignores workers that are exiting: they cannot receive messages, and their exit is handled. */
function sendToWorker(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
