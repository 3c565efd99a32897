// The calling side of a thread with a database: answers every call, and starts a new thread after a crash.
import { Worker } from 'node:worker_threads';
import { StoreError } from '../store.ts';
import type { ThreadOptions } from './database-calls.ts';
import { toError } from './failure.ts';
import type { Reply, Request, ThreadCall } from './worker.ts';

export interface Thread {
  /** Opens the database before it is needed. Rejects with `StoreError` or `OperatorError`, like a call. */
  start(): Promise<void>;
  call(...call: ThreadCall): Promise<unknown>;
  /** Closes the thread; all calls must be answered. */
  close(): Promise<void>;
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface RunningThread {
  readonly worker: Worker;
  readonly waiting: Map<number, PendingCall>;
  /** Stops listening to the thread. */
  forget(): void;
}

/** `tsc` rewrites the extensions of imports, but not of this URL. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);

/** Rows live until they are sent, so a larger young generation would only fill up. */
const YOUNG_MB = 8;

/** Tests replace these: they open hundreds of stores, and reuse the threads of closed ones. */
export const workers = {
  entry: WORKER,
  start: (role: ThreadOptions['role']): Worker =>
    new Worker(workers.entry, { name: `tollgate-${role}`, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } }),
  async end(worker: Worker): Promise<void> {
    worker.ref();
    await worker.terminate();
  },
};

export function createThread(options: ThreadOptions): Thread {
  const { role } = options;
  let running: RunningThread | undefined;
  let opening: Promise<void> = Promise.resolve();
  let lastId = 0;
  let served = false;

  function ensureRunning(): RunningThread {
    if (running) return running;
    const worker = workers.start(role);
    const onMessage = (reply: Reply) => answerCall(started, reply);
    const onError = (error: unknown) => failCalls(started, threadEndedError(error));
    const onExit = () => failCalls(started, threadEndedError());
    const forget = () => void worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    const started: RunningThread = { worker, waiting: new Map(), forget };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    // An idle store must not keep the process alive. Must come after adding the listener, which refs the worker again.
    worker.unref();
    running = started;
    opening = open(started);
    // Each call rejects with this error itself.
    opening.catch(() => undefined);
    return started;
  }

  async function open(started: RunningThread): Promise<void> {
    try {
      await send(started, 'thread', 'open', [options]);
      served = true;
    } catch (error) {
      const { message, cause } = error as Error;
      // At the start this is an operator error; later it is a store that does not answer.
      const failure = served ? new StoreError(message, 'no', cause) : (error as Error);
      failCalls(started, failure);
      started.worker.ref();
      await started.worker.terminate();
      throw failure;
    }
  }

  function send({ worker, waiting }: RunningThread, ...call: ThreadCall): Promise<unknown> {
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      worker.postMessage([id, ...call] satisfies Request);
      if (waiting.size === 0) worker.ref();
      waiting.set(id, { resolve, reject });
    });
  }

  function answerCall({ worker, waiting }: RunningThread, [id, value, failure]: Reply): void {
    const call = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) worker.unref();
    if (failure) call?.reject(toError(failure));
    else call?.resolve(value);
  }

  /** Fails every call of a dead thread; the next call starts another. */
  function failCalls(dead: RunningThread, error: Error): void {
    if (running === dead) running = undefined;
    for (const { reject } of dead.waiting.values()) reject(error);
    dead.waiting.clear();
  }

  function threadEndedError(cause?: unknown): StoreError {
    return new StoreError(`the ${role} thread of the database ended`, role === 'writer' ? 'unknown' : 'no', cause);
  }

  return {
    start() {
      ensureRunning();
      return opening;
    },
    call: (...call) => send(ensureRunning(), ...call),
    async close() {
      if (!running) return;
      const { worker, forget } = running;
      await send(running, 'thread', 'close', []).catch(() => undefined);
      forget();
      await workers.end(worker);
    },
  };
}
