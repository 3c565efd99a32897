// A worker thread as its callers see it: typed calls, an answer to every call, and a new thread after a crash.
import { Worker } from 'node:worker_threads';
import { OperatorError } from '../../operator-error.ts';
import { StoreError } from '../store.ts';
import { addIdle, hasRoom, isAlive, takeIdle } from './idle-threads.ts';
import {
  CLOSE,
  type Failure,
  NOT_OPENED,
  type Procedures,
  type Reply,
  type Request,
  type ThreadOptions,
} from './protocol.ts';

export interface Thread<P extends Procedures> {
  /** Starts the thread before it is needed. */
  start(): void;
  /** Rejects with `StoreError` or `OperatorError`. */
  call<Name extends keyof P & string>(name: Name, ...args: Parameters<P[Name]>): Promise<Awaited<ReturnType<P[Name]>>>;
  /** Waits for running calls; later ones are rejected. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  /** Leaves the thread to itself. */
  forget(): void;
}

/** `tsc` rewrites imports, but not this. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);

/** Rows live until they are sent, so more room for young objects would only fill up. */
const YOUNG_MB = 8;

export function createThread<P extends Procedures>(options: ThreadOptions): Thread<P> {
  const { role } = options;
  let running: Running | undefined;
  let closing: Promise<void> | undefined;
  let lastId = NOT_OPENED;
  let served = false;

  function start(): Running {
    if (running) return running;
    const worker = openIn(takeIdle(role)) ?? startWorker();
    const onMessage = (reply: Reply) => settle(started, reply);
    const onError = (error: unknown) => bury(started, lost(error));
    const onExit = () => bury(started, lost());
    const forget = () => void worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    const started: Running = { worker, waiting: new Map(), forget };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    // An idle store must not keep the process alive. After adding the listener, which would undo it.
    worker.unref();
    running = started;
    return started;
  }

  function startWorker(): Worker {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB };
    return new Worker(WORKER, { name: `tollgate-${role}`, workerData: options, resourceLimits });
  }

  function openIn(idle: Worker | undefined): Worker | undefined {
    idle?.postMessage(options);
    return idle;
  }

  function send(name: string, args: readonly unknown[]): Promise<never> {
    const { worker, waiting } = start();
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      worker.postMessage([id, name, args] satisfies Request);
      if (waiting.size === 0) worker.ref();
      waiting.set(id, { resolve, reject });
    });
  }

  function settle(from: Running, [id, value, failure]: Reply): void {
    if (id === NOT_OPENED) {
      if (failure) bury(from, notOpened(failure));
      return;
    }
    const call = from.waiting.get(id);
    from.waiting.delete(id);
    if (from.waiting.size === 0) from.worker.unref();
    served = true;
    if (failure) call?.reject(toError(failure));
    else call?.resolve(value as never);
  }

  /** Fails every call of a dead thread; the next call starts another. */
  function bury(dead: Running, error: Error): void {
    if (running === dead) running = undefined;
    for (const { reject } of dead.waiting.values()) reject(error);
    dead.waiting.clear();
  }

  function lost(cause?: unknown): StoreError {
    return new StoreError(`the ${role} thread of the database ended`, role === 'writer' ? 'unknown' : 'no', cause);
  }

  /** At the start the operator is told; later it is a store that does not answer. */
  function notOpened(failure: Failure): Error {
    return served ? new StoreError(failure.message, 'no', failure.cause) : toError(failure);
  }

  async function end(): Promise<void> {
    if (!running) return;
    const { worker, forget } = running;
    const stays = hasRoom(role);
    const closed = await send(CLOSE, [stays]).then(
      () => true,
      () => false,
    );
    if (closed && stays) {
      forget();
      return addIdle(role, worker);
    }
    worker.ref();
    if (isAlive(worker)) await new Promise((resolve) => worker.once('exit', resolve));
  }

  return {
    start: () => void start(),
    call: (name, ...args) => (closing ? Promise.reject(new StoreError('the store is closed', 'no')) : send(name, args)),
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

function toError({ message, kind, cause, blames }: Failure): Error {
  return kind === 'operator' ? new OperatorError(message) : new StoreError(message, kind, cause, blames);
}
