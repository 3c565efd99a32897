// Calls the server in bounded time: each attempt has a deadline, and a call retries until its own deadline.
import { type ClientSession, type Db, type Document, MongoServerError } from 'mongodb';
import { StoreError } from '../store.ts';
import { classifyApplied, isTransient, OutOfTime, toStoreError } from './failure.ts';

/** The deadline of one attempt. The timeouts of the driver do not bound a call to a frozen server. */
export const ATTEMPT_MS = 1500;
/** The deadline of a call with all its attempts. */
export const CALL_MS = 4500;
/** The deadline of an attempt that reads many rows. */
export const SCAN_MS = 60_000;
/** Commands sent directly do not get the write concern of the client. */
export const MAJORITY = { writeConcern: { w: 'majority' } };
const PAUSE_MS = { least: 20, most: 250 };

/** Rejects when the time is up, whether or not the work obeys the signal. */
export function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = new OutOfTime(`the database has not answered within ${Math.round(ms)} ms`);
      reject(error);
      controller.abort(error);
    }, ms);
    work(controller.signal)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

interface SendOptions {
  readonly signal: AbortSignal;
  readonly session?: ClientSession;
  /** A code with which single writes may fail. */
  readonly ignored?: number;
}

/** Sends one command; rejects if any of its writes failed. The write methods of the driver take no signal. */
export async function send(db: Db, command: Document, { ignored, ...sending }: SendOptions): Promise<Document> {
  const reply = await db.command(command, { useBigInt64: true, ...sending });
  const failed = ((reply.writeErrors ?? []) as Document[]).find(({ code }) => code !== ignored);
  if (failed) throw new MongoServerError({ code: failed.code, message: failed.errmsg, ok: 0 });
  return reply;
}

interface CallOptions {
  /** Whether an attempt that may have succeeded can be repeated without further effect. */
  readonly repeatable: boolean;
  readonly attemptMs?: number;
  readonly callMs?: number;
}

/** Retries until an attempt succeeds, fails permanently, or the time is up; rejects with `StoreError`. */
export async function call<T>(options: CallOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { repeatable, attemptMs = ATTEMPT_MS, callMs = CALL_MS } = options;
  const until = performance.now() + callMs;
  let applied: 'no' | 'unknown' = 'no';
  for (let failures = 0; ; failures += 1) {
    try {
      return await withDeadline(Math.max(1, Math.min(attemptMs, until - performance.now())), work);
    } catch (error) {
      const now = classifyApplied(error);
      if (now === 'unknown') applied = 'unknown';
      const again = now === 'no' ? isTransient(error) : repeatable;
      const pauseMs = Math.min(PAUSE_MS.most, PAUSE_MS.least * 2 ** failures) * (0.5 + Math.random() / 2);
      if (!again || performance.now() + pauseMs >= until) throw toStoreError(error, applied);
      await delay(pauseMs);
    }
  }
}

/** Reads are safe to retry. */
export async function read<T>(work: (signal: AbortSignal) => Promise<T>, ms = ATTEMPT_MS): Promise<T> {
  try {
    return await call({ repeatable: true, attemptMs: ms, callMs: Math.max(CALL_MS, ms) }, work);
  } catch (error) {
    throw error instanceof StoreError ? new StoreError(error.message, 'no', error.cause) : error;
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
