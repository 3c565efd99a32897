// The part of the contract that says how a plugin reads an answer: types only.
import type { FinishReason } from '../stream/provider-part.ts';
import type { JsonObject } from './request-contract.ts';

/**
 * What a plugin makes of one reply: JSON values go in, `out` takes what they bring. It is made anew for each call, and
 * both methods are synchronous. What they throw ends the reply: after its finish it is harmless, before it the call fails
 * with it.
 */
export interface AnswerReader {
  /**
   * One JSON object, out of whatever frame it came in; of a list each object by itself. `eventName` tells the field
   * `event` of a server-sent event, empty when it has none. Heartbeats and errors by that name do not come here. The same
   * object may come again with other content: keep what is read from it, not the object.
   */
  take(value: JsonObject, out: AnswerWriter, eventName: () => string): void;
  /** The reply ended by itself (`marked` false) or by the end mark `[DONE]`: the last chance to say something. */
  end?(out: AnswerWriter, marked: boolean): void;
}

/** Makes the parts of an answer in their grammar, whatever the order it is told things in. */
export interface AnswerWriter {
  /** The upstream's names for the answer and its model: the first ones count, and only strings. */
  start(names: { readonly id?: unknown; readonly model?: unknown }): void;
  /** A fragment. Another `block` than the last one's ends that one and begins the next. */
  text(text: string, block?: unknown): void;
  /**
   * A piece of a call of a tool. Pieces of one call share a `block`, and calls may come interleaved. The first `id` and
   * `name` count, and only strings; `json` is a fragment of the arguments. `done` says that no piece will follow.
   */
  tool(piece: ToolPiece): void;
  /** Counts so far. Numbers above 0 count, also as strings; anything else counts as absent. */
  usage(tokens: { readonly input?: unknown; readonly output?: unknown }): void;
  /** The upstream's own word that the answer is over; kept back until no more text can follow. */
  finish(reason: FinishReason, raw: string): void;
  /** The protocol's end mark: nothing that follows counts. After text it is a finish if there was none. */
  done(mark: string): void;
}

export interface ToolPiece {
  /** The reader's name for the call. */
  readonly block: unknown;
  /** Without one the call gets one. */
  readonly id?: unknown;
  readonly name?: unknown;
  /** Text of the arguments; any other value is the arguments as a whole. */
  readonly json?: unknown;
  /** What the upstream wants back with the call in later requests. */
  readonly state?: unknown;
  readonly done?: boolean;
}
