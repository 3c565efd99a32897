// The part of the contract that says in what form an answer is wanted, and how much thought before it: types only.

/**
 * The answer is to be one JSON value: any, on routes of models that the catalog marks `json`, or one of a schema, of those
 * that it marks `schema`.
 */
export type OutputFormat = { readonly type: 'json' } | JsonSchemaFormat;

export interface JsonSchemaFormat {
  readonly type: 'json-schema';
  /** A JSON schema as the client wrote it. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Letters, digits, `_` and `-`, 64 at the most. */
  readonly name: string;
  readonly description?: string;
  /** Absent where the client leaves it to the upstream. */
  readonly strict?: boolean;
}

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * How much the model is to think before it answers: not at all, as it sees fit, or so much. Absent where the client says
 * nothing. Only on routes of models that the catalog marks `reasoning`. What it thinks is never delivered.
 */
export type Reasoning = { readonly mode: 'off' } | { readonly mode: 'auto' } | ReasoningOn;

/** Upstreams take the one or the other: the client said one of them, the gateway made the other of it. */
export interface ReasoningOn {
  readonly mode: 'on';
  readonly effort: Effort;
  /** Most tokens for it; at least 1024 and below `maxTokens`, or absent where there is no room for so many. */
  readonly budgetTokens?: number;
}
