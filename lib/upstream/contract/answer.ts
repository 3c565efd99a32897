// The part of the contract about how a plugin reads an answer: types only.
import type { FinishReason } from '../../stream/provider-part.ts';
import type { JsonObject } from './request.ts';

/**
 * A plugin's reader of one reply: it receives JSON values and writes to `out`. Created for each call; both methods are
 * synchronous. Whatever they throw ends the reply: after its finish this is harmless, before it the call fails with it.
 */
export interface AnswerReader {
  /**
   * One JSON object, unwrapped from whatever frame it came in; for a list, each object separately. `eventName` is the
   * `event` field of a server-sent event, empty if it has none. Heartbeats and events named as errors are not passed.
   * The same object may be reused with other content: keep what you read from it, not the object.
   */
  take(value: JsonObject, out: AnswerWriter, eventName: () => string): void;
  /** The reply ended by itself (`marked` false) or with the end mark `[DONE]`: the last chance to write something. */
  end?(out: AnswerWriter, marked: boolean): void;
}

/** Writes the parts of an answer in their grammar, whatever order it is called in. */
export interface AnswerWriter {
  /** The upstream's names for the answer and its model: the first strings count. */
  start(names: { readonly id?: unknown; readonly model?: unknown }): void;
  /** A fragment. A `block` different from the last one ends that block and starts a new one. */
  text(text: string, block?: unknown): void;
  /**
   * A piece of a tool call. Pieces of one call share a `block`, and calls may be interleaved. The first strings for
   * `id` and `name` count; `json` is a fragment of the arguments. `done` means that no more pieces follow.
   */
  tool(piece: ToolPiece): void;
  /** Counts so far. Numbers above 0 count, also as strings; anything else counts as absent. */
  usage(tokens: { readonly input?: unknown; readonly output?: unknown }): void;
  /** The upstream's own word for the end of the answer; held back until no more text can follow. */
  finish(reason: FinishReason, raw: string): void;
  /** The protocol's end mark: nothing after it counts. After text it is a finish if there was none. */
  done(mark: string): void;
}

export interface ToolPiece {
  /** The reader's name for the call. */
  readonly block: unknown;
  /** If absent, the call gets one. */
  readonly id?: unknown;
  readonly name?: unknown;
  /** Text of the arguments; any other value is the complete arguments. */
  readonly json?: unknown;
  /** State that the upstream wants back with the call in later requests. */
  readonly state?: unknown;
  readonly done?: boolean;
}
