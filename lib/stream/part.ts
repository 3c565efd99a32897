// The parts of a reply between the guard and a dialect: the provider's, and those that the gateway adds.
import type { Fault } from '../base/faults.ts';
import type { SmartRouting } from '../base/smart-tiers.ts';
import type { FinishPart, ProviderPart, StartPart } from './provider-part.ts';

export type { FinishPart, FinishReason, ProviderPart } from './provider-part.ts';

/** The start as the delivery makes it from the upstream's. */
export interface ReplyStartPart extends StartPart {
  /** How the smart model chose. */
  readonly smart?: SmartRouting;
}

/** The answer failed; made only by the guard. */
export interface ErrorPart {
  readonly type: 'error';
  readonly fault: Fault;
}

/** What the answer cost, in micro-roubles; made only by the meter, always last. */
export interface BillingPart {
  readonly type: 'billing';
  readonly charged: bigint;
  readonly reserved: bigint;
  /** What the wallet can spend after settlement. */
  readonly balance: bigint;
  /** Price per 1M input tokens. */
  readonly priceInput: bigint;
  /** Price per 1M output tokens. */
  readonly priceOutput: bigint;
}

/** The end as reported to the client. */
export interface ReplyFinishPart extends FinishPart {
  /** The client's stop string that the answer ended before. */
  readonly sequence?: string;
}

export type StreamPart =
  | Exclude<ProviderPart, StartPart | FinishPart>
  | ReplyStartPart
  | ReplyFinishPart
  | ErrorPart
  | BillingPart;
