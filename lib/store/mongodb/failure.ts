// Classifies errors of the driver: whether the write may have been applied, and whether a retry makes sense.
import { MongoError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { OperatorError } from '../../base/operator-error.ts';
import { StoreError } from '../store.ts';

/** The wallet has changed since the transaction read it. */
export class StaleRead extends Error {
  override readonly name = 'StaleRead';
}

const WRITE_CONFLICT = 112;
const NO_SUCH_TRANSACTION = 251;
export const DUPLICATE_KEY = 11_000;
/** An index was dropped while it was read: another process changes the schema. */
export const QUERY_PLAN_KILLED = 175;
const CONFLICTS: ReadonlySet<unknown> = new Set([WRITE_CONFLICT, NO_SUCH_TRANSACTION, DUPLICATE_KEY]);
/** Nothing was applied: this member is not primary, the snapshot was not available yet, or an index is gone. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  10_107,
  13_435,
  13_436,
  246,
  WRITE_CONFLICT,
  NO_SUCH_TRANSACTION,
  QUERY_PLAN_KILLED,
]);
const KILLED = 11_601;
/** The command was interrupted while running: its write may have been applied. */
const INTERRUPTED: ReadonlySet<unknown> = new Set([11_600, KILLED, 11_602, 189, 91, 50, 262]);

/**
 * Bad value, wrong type, document too large or refused by the schema, transaction too large, lasting duplicate: the server
 * is healthy but will not accept this write.
 */
const BATCH_CODES: ReadonlySet<unknown> = new Set([2, 14, 121, 10_334, 257, DUPLICATE_KEY]);

/** Classes that the driver does not export. */
const UNSENT: ReadonlySet<string> = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClearedError']);

/** Another writer was faster, and nothing of the transaction was applied. */
export function isConflict(error: unknown): boolean {
  return error instanceof StaleRead || (error instanceof MongoServerError && CONFLICTS.has(error.code));
}

export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** The command was not sent, because there was no connection. */
function isUnsent(error: unknown): boolean {
  if (error instanceof MongoServerSelectionError) return true;
  return error instanceof Error && UNSENT.has(error.name);
}

/** Whether a single write that failed with this error may have been applied. */
export function classifyApplied(error: unknown): 'no' | 'unknown' {
  if (isUnsent(error) || error instanceof StaleRead) return 'no';
  if (error instanceof MongoServerError) {
    return INTERRUPTED.has(error.code) || error.name === 'MongoWriteConcernError' ? 'unknown' : 'no';
  }
  // A network error, a deadline, a closed pool. Other errors were thrown before the driver was called.
  return error instanceof MongoError || isAbort(error) ? 'unknown' : 'no';
}

/** Whether a failure that applied nothing may disappear by itself. */
export function isTransient(error: unknown): boolean {
  return isUnsent(error) || (error instanceof MongoServerError && TRANSIENT_CODES.has(error.code));
}

/** The session was killed, for example after a long idle time: before the commit, nothing was applied. */
export function isKilled(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === KILLED;
}

/** The deadline of an attempt has passed. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

function isAbort(error: unknown): boolean {
  return error instanceof OutOfTime || (error instanceof Error && error.name === 'AbortError');
}

/** Whether other writes would succeed: an error that is not from the driver was thrown by our own rules. */
function isBatchFailure(error: unknown): boolean {
  if (error instanceof MongoServerError) return BATCH_CODES.has(error.code);
  return !(error instanceof MongoError) && !(error instanceof StaleRead) && !isAbort(error);
}

export function toStoreError(error: unknown, applied: 'no' | 'unknown'): Error {
  if (error instanceof StoreError || error instanceof OperatorError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreError(message, applied, error, isBatchFailure(error) ? 'batch' : 'store');
}
