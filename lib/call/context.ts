// Who makes a paid call, how long it lives, and what its log line learns.

export interface CallContext {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** How long the request has waited for the store before it came here, in ms. */
  readonly waitedMs?: number;
  /** Aborts with `GONE` when the client left, or with a fault when the service itself ends the call. */
  readonly signal: AbortSignal;
  /** Called when the first of an answer is passed on. */
  readonly onFirst: () => void;
  /** Called when no route can need the request any more: its memory is free. */
  readonly onSpent?: () => void;
  readonly log: CallLog;
}

export interface CallLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Adds to the line that is written when the call is over. */
  note(fields: object): void;
}

/** The reason of a call's signal when its client left. */
export const GONE = Symbol('the client left');
