// The context of a paid call: its caller, its lifetime, and its log.
import type { CallBudget, CallCap } from '../ledger/caps.ts';
import type { IdempotencyTerms } from '../money/idempotency.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import type { Micro } from '../money/money.ts';
import type { AnswerMemory } from '../stream/answer-memory.ts';

/** The budgets that a call counts in. */
export type CallBudgets = Pick<CallContext, 'budget' | 'caps'>;

export interface CallContext {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The limits of the key; absent if it has none. */
  readonly limits?: KeyLimits;
  /** The price list of the account; absent if it has none. */
  readonly priceList?: string;
  readonly budget?: CallBudget;
  /** Further budgets that the call counts in; absent if there are none. */
  readonly caps?: readonly CallCap[];
  /**
   * Runs `start` once the call is among the calls that may run at once, with the budgets that its hold has to keep, which
   * may have changed while it waited; absent if nothing limits them. Rejects with a 429 fault if that takes too long, and
   * with a 403 fault if the key may not use the model any more.
   */
  readonly takePlace?: <T>(start: (budgets: CallBudgets) => Promise<T>, model: string) => Promise<T>;
  /** The most that the client lets it cost; absent if it does not say. */
  readonly maxCost?: Micro;
  /** Absent if the client sent no idempotency key. */
  readonly idempotency?: IdempotencyTerms;
  /** How long the request has already waited for the store. */
  readonly waitedMs?: number;
  /** What the client calls its conversation, in a header; absent if it does not say. */
  readonly session?: string | undefined;
  /** Aborts with `GONE` when the client left, or with a fault when the service itself ends the call. */
  readonly signal: AbortSignal;
  /** Called when the first part of an answer is passed on. */
  readonly onFirst: () => void;
  /** Called when no route needs the request any more, to free its memory. */
  readonly releaseRequest?: () => void;
  /** The memory for large parts of the answer; absent if nothing is measured. */
  readonly answerMemory?: AnswerMemory;
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
