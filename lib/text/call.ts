// What belongs to one running text call: who calls, what was asked, which model answers, how much is counted.
import type { TextModel } from '../catalog/catalog.ts';
import type { Hold } from '../ledger/ledger.ts';
import type { Meter } from '../stream/meter.ts';
import type { SmartRouting } from '../stream/smart.ts';
import type { Ending } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { TextRequest } from './request.ts';

/** Who calls, and the life of the call. */
export interface CallContext {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** How long the request has waited for the store before it came here, in ms. */
  readonly waitedMs?: number;
  /** Aborts with `GONE` when the client left, or with a fault when the service itself ends the call. */
  readonly signal: AbortSignal;
  /** Called when the first fragment is passed on. */
  readonly onFirst: () => void;
  readonly log: CallLog;
}

export interface CallLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Adds to the line that is written when the call is over. */
  note(fields: object): void;
}

/** The reason of a call's signal when its client left. */
export const GONE = Symbol('the client left');

/** A call whose money is held. */
export interface HeldCall {
  readonly request: TextRequest;
  readonly model: TextModel;
  readonly smart: SmartRouting | undefined;
  readonly context: CallContext;
  readonly hold: Hold;
  readonly meter: Meter;
  readonly delivery: Delivery;
  readonly timeouts: TextTimeouts;
  readonly onAttempt: ((upstream: string, ending: Ending) => void) | undefined;
}

export interface TextTimeouts {
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
}
