// The parts a provider may yield, as published by the contract. The gateway adds its own in `part.ts`.

/** Why an answer ended: at its natural end, at the token limit, by a content filter, for a tool call, or otherwise. */
export type FinishReason = 'stop' | 'length' | 'filter' | 'tool' | 'other';

export interface TextBlock {
  readonly type: 'text';
}

/** A tool call; the fragments of its block are the JSON of its arguments. None at all means `{}`. */
export interface ToolBlock {
  readonly type: 'tool';
  /** Identifies the call for its result; never empty. */
  readonly id: string;
  readonly name: string;
  /** What the upstream wants back with the call in later requests; opaque to us. */
  readonly state?: string;
}

/** What a content block holds. */
export type Block = TextBlock | ToolBlock;

/** The answer starts; `id` and `model` are the upstream's own names, for the log. */
export interface StartPart {
  readonly type: 'start';
  readonly id?: string;
  readonly model?: string;
}

/** A content block starts; blocks are numbered from 0 in order. */
export interface BlockStartPart {
  readonly type: 'block-start';
  readonly index: number;
  readonly block: Block;
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

/** Token counts so far: cumulative; a number replaces the previous one, an absent one leaves it. */
export interface UsagePart {
  readonly type: 'usage';
  /** Tokens of the prompt, including cached ones. */
  readonly input?: number;
  /** Tokens of the answer, including reasoning. */
  readonly output?: number;
}

/** The upstream's terminal signal; `raw` is its own word for the reason, for the log. */
export interface FinishPart {
  readonly type: 'finish';
  readonly reason: FinishReason;
  readonly raw?: string;
}

export type ProviderPart = StartPart | BlockStartPart | BlockDeltaPart | BlockEndPart | UsagePart | FinishPart;
