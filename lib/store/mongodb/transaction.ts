// Runs a transaction in bounded time. Not `withTransaction`, which retries for two minutes and hangs on a frozen server.
import type { ClientSession, Db, Document } from 'mongodb';
import { StoreError } from '../store.ts';
import { ATTEMPT_MS, CALL_MS, delay, send, withDeadline } from './call.ts';
import { isConflict, isDuplicate, isKilled, isTransient, toStoreError } from './failure.ts';
import type { TransactionSessions } from './transaction-sessions.ts';

/** Sends one command of the transaction. Never two at once: the server accepts them only in order. */
export type Step = (command: Document) => Promise<Document>;

/** The rows of a read, which must fit into its first reply. */
export async function readFirstBatch(reply: Promise<Document>): Promise<Document[]> {
  return (await reply).cursor.firstBatch;
}

interface Work<T> {
  /** May run several times, each time from the beginning. */
  readonly steps: (step: Step) => Promise<T>;
  /** Called when another writer was in the way. */
  readonly onConflict?: () => void;
}

export interface Transactions {
  /** Retries on conflicts for a while; rejects with `StoreError`, `unknown` once a commit may have happened. */
  run<T>(work: Work<T>): Promise<T>;
}

const JITTER_MS = 20;
const ABORT_MS = 300;
/** The next attempt sees the row of the other writer, so repeated duplicates mean a damaged row. */
const DUPLICATES_MAX = 8;
/** After this time, a conflict may come from the open transaction of a dead process. */
const SUSPICIOUS_MS = 200;

export function createTransactions(db: Db, sessions: TransactionSessions): Transactions {
  async function run<T>(work: Work<T>): Promise<T> {
    const from = performance.now();
    let committing = false;
    let duplicates = 0;
    const onCommit = () => {
      committing = true;
    };
    while (true) {
      try {
        return await runAttempt(work, onCommit);
      } catch (error) {
        const spent = performance.now() - from;
        duplicates = isDuplicate(error) ? duplicates + 1 : 0;
        const again = isConflict(error) || (!committing && (isTransient(error) || isKilled(error)));
        if (!again || spent > CALL_MS || duplicates > DUPLICATES_MAX)
          throw toStoreError(error, committing ? 'unknown' : 'no');
        if (isConflict(error)) work.onConflict?.();
        if (spent > SUSPICIOUS_MS) sessions.reap().catch(() => undefined);
        await delay(Math.random() * JITTER_MS);
      }
    }
  }

  async function runAttempt<T>({ steps }: Work<T>, onCommit: () => void): Promise<T> {
    const session = await sessions.takeSession();
    let state: 'idle' | 'broken' = 'broken';
    try {
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      const result = await withDeadline(ATTEMPT_MS, (signal) =>
        steps((command) => send(db, command, { signal, session })),
      );
      onCommit();
      await withDeadline(ATTEMPT_MS, () => session.commitTransaction());
      state = 'idle';
      return result;
    } catch (error) {
      state = await rollBackTransaction(session, error);
      throw error;
    } finally {
      sessions.returnSession(session, state);
    }
  }

  return { run };
}

/** After a conflict, the server has already ended the transaction, and the session can be reused. */
async function rollBackTransaction(session: ClientSession, error: unknown): Promise<'idle' | 'broken'> {
  if (!session.inTransaction()) return 'broken';
  const aborted = withDeadline(ABORT_MS, () => session.abortTransaction());
  if (isConflict(error)) {
    return aborted.then(
      () => 'idle',
      () => 'broken',
    );
  }
  // Does not wait for a server that may be frozen: killing the session ends the transaction.
  aborted.catch(() => undefined);
  return 'broken';
}

/** If the first attempt was committed, the second one changes nothing. */
export function repeatUnknown<T>(change: () => Promise<T>): Promise<T> {
  return change().catch((error: unknown) => {
    if (error instanceof StoreError && error.applied === 'unknown') return change();
    throw error;
  });
}
