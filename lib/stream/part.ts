// The parts a text answer is made of, between a provider that yields them and a dialect that writes them.
import type { Fault } from '../faults.ts';
import type { SmartRouting } from './smart.ts';

/** Why an answer ended: at its natural end, at the token limit, by a content filter, for a tool call, or otherwise. */
export type FinishReason = 'stop' | 'length' | 'filter' | 'tool' | 'other';

/** What a content block holds. */
export interface TextBlock {
  readonly type: 'text';
}

/** The answer begins; `id` and `model` are the upstream's own names, for the log. */
export interface StartPart {
  readonly type: 'start';
  readonly id?: string;
  readonly model?: string;
  /** How the smart model chose; made only by the delivery, which replaces the upstream's start. */
  readonly smart?: SmartRouting;
}

/** A content block begins; blocks are numbered from 0 in order. */
export interface BlockStartPart {
  readonly type: 'block-start';
  readonly index: number;
  readonly block: TextBlock;
}

/** A fragment of the open block. */
export interface BlockDeltaPart {
  readonly type: 'block-delta';
  readonly index: number;
  readonly text: string;
}

/** The open block ends. */
export interface BlockEndPart {
  readonly type: 'block-end';
  readonly index: number;
}

/** Token counts so far: cumulative, a number replaces the last one seen, an absent one leaves it. */
export interface UsagePart {
  readonly type: 'usage';
  /** Tokens of the prompt, cached ones included. */
  readonly input?: number;
  /** Tokens of the answer, reasoning included. */
  readonly output?: number;
}

/** The upstream's terminal signal; `raw` is its own word for the reason, for the log. */
export interface FinishPart {
  readonly type: 'finish';
  readonly reason: FinishReason;
  readonly raw?: string;
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

export type StreamPart =
  | StartPart
  | BlockStartPart
  | BlockDeltaPart
  | BlockEndPart
  | UsagePart
  | FinishPart
  | ErrorPart
  | BillingPart;
