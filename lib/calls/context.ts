// Who makes a paid call, how long it lives, and what is added to its log line.
import type { CallBudget } from '../ledger/ledger.ts';
import type { IdempotencyTerms } from '../money/idempotency.ts';
import type { KeyLimits } from '../money/key-limits.ts';

export interface CallContext {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The key's; absent if it has none. */
  readonly limits?: KeyLimits;
  readonly budget?: CallBudget;
  /** Of the client's idempotency key; absent if it sent none. */
  readonly idempotency?: IdempotencyTerms;
  /** How long the request has already waited for the store, in ms. */
  readonly waitedMs?: number;
  /** Aborts with `GONE` when the client left, or with a fault when the service itself ends the call. */
  readonly signal: AbortSignal;
  /** Called when the first part of an answer is passed on. */
  readonly onFirst: () => void;
  /** Called once no route can need the request any more, so that its memory can be freed. */
  readonly releaseRequest?: () => void;
  readonly log: CallLog;
}

export interface CallLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Adds to the log line of the call. */
  note(fields: object): void;
}

/** The reason of a call's signal when its client left. */
export const GONE = Symbol('the client left');
