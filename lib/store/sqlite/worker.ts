// The inside of a worker thread: opens its database and answers one request at a time. Then it ends or waits for another.
import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { OperatorError } from '../../operator-error.ts';
import { StoreError } from '../store.ts';
import { openReader, openWriter } from './procedures.ts';
import {
  CLOSE,
  type Failure,
  NOT_OPENED,
  type Procedures,
  type Reply,
  type Request,
  type ThreadOptions,
} from './protocol.ts';

const port = parentPort as NonNullable<typeof parentPort>;

open(workerData as ThreadOptions);

function open({ role, connection }: ThreadOptions): void {
  try {
    const opened = role === 'writer' ? openWriter(connection) : openReader(connection);
    serve(opened.db, opened.procedures);
  } catch (error) {
    port.postMessage([NOT_OPENED, undefined, failureOf(error)] satisfies Reply);
  }
}

function serve(db: DatabaseSync, procedures: Procedures): void {
  const unfinished = new Set<Promise<unknown>>();
  const reply = (message: Reply) => port.postMessage(message);

  const answer = ([id, name, args]: Request) => {
    const fail = (error: unknown) => {
      // If a transaction cannot be rolled back, the thread ends.
      if (db.isTransaction) process.exit(1);
      reply([id, undefined, failureOf(error)]);
    };
    if (name === CLOSE) return void close(id, args[0] === true);
    try {
      const result = procedures[name]?.(...(args as never[]));
      if (!(result instanceof Promise)) return reply([id, result]);
      const answered = result.then((value) => reply([id, value]), fail);
      unfinished.add(answered);
      void answered.then(() => unfinished.delete(answered));
    } catch (error) {
      fail(error);
    }
  };
  port.on('message', answer);

  async function close(id: number, stays: boolean): Promise<void> {
    await Promise.all(unfinished);
    db.close();
    port.off('message', answer);
    if (stays) port.once('message', open);
    reply([id, undefined]);
    if (!stays) port.close();
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof StoreError) {
    const { applied, message, cause, blames } = error;
    return { kind: applied, message, cause, blames };
  }
  if (error instanceof OperatorError)
    return { kind: 'operator', message: error.message, cause: undefined, blames: 'store' };
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'no', message, cause: error, blames: 'store' };
}
