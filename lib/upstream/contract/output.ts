// The part of the contract about the form of an answer and the reasoning before it: types only.

/**
 * The answer must be one JSON value: any, on routes of models that the catalog marks `json`, or one matching a schema,
 * on those it marks `schema`.
 */
export type OutputFormat = { readonly type: 'json' } | JsonSchemaFormat;

export interface JsonSchemaFormat {
  readonly type: 'json-schema';
  /** A JSON schema as the client wrote it, but for the name of `$defs`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Letters, digits, `_` and `-`, 64 at the most. */
  readonly name: string;
  readonly description?: string;
  /** Absent if the client leaves it to the upstream. */
  readonly strict?: boolean;
}

/**
 * Sampling parameters in the meaning of the chat format, those that the client sent. Only on routes of models that the
 * catalog marks `sampling`. Leave out what the vendor lacks.
 */
export interface Sampling {
  /** 0 to 2; 1 is the most that some vendors take. */
  readonly temperature?: number;
  /** 0 to 1. */
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  /** -2 to 2. */
  readonly presencePenalty?: number;
  /** -2 to 2. */
  readonly frequencyPenalty?: number;
}

/** How long an answer the client wants. */
export type Verbosity = 'low' | 'medium' | 'high';

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * How much the model reasons before it answers: not at all, as it sees fit, or this much. Absent if the client does not
 * say. Only on routes of models that the catalog marks `reasoning`.
 */
export type Reasoning = ReasoningOff | ({ readonly mode: 'auto' } & ReasoningDisplay) | ReasoningOn;

export interface ReasoningOff {
  readonly mode: 'off';
  /** For vendors with which an effort is also about the answer; absent if the client does not say. */
  readonly effort?: Effort;
}

/** What of its text is shown, where the vendor lets a client choose; absent if the client does not say. */
export interface ReasoningDisplay {
  readonly display?: 'summarized' | 'omitted';
  /** The client gets what there is to see: a vendor that shows it only on request is asked to. */
  readonly isShown?: true;
}

/** Upstreams take one or the other: the client gave one of them, the gateway derived the other. */
export interface ReasoningOn extends ReasoningDisplay {
  readonly mode: 'on';
  readonly effort: Effort;
  /** Maximum tokens for it; at least 1024 and below `maxTokens`, or absent if there is no room for that. */
  readonly budgetTokens?: number;
}
