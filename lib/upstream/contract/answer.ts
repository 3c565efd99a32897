// The part of the contract about how a plugin reads an answer: types only.
import type { BlockState, Citation, FinishReason, UsageCounts } from '../../stream/provider-part.ts';
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

/**
 * Writes the parts of an answer in their grammar. A `block` is the reader's own name for a content block: a string, a
 * number or an object. What is written for a name belongs to the same block until that has ended; then, or for a new
 * name, another one starts. Where an upstream names no blocks, leave it out: texts are then one block, and reasoning
 * another, until something else comes.
 */
export interface AnswerWriter {
  /** The upstream's names for the answer and its model: the first strings count. */
  start(names: { readonly id?: unknown; readonly model?: unknown }): void;
  /**
   * A fragment of text; with `cited`, of a passage that has citations of its own: `''` starts it. `phase` is that of its
   * block.
   */
  text(text: string, block?: unknown, kind?: { readonly cited?: boolean; readonly phase?: string | undefined }): void;
  /**
   * What a text is based on: that of an open block of this name, else the last text. What comes after something else than
   * a text is dropped.
   */
  cite(citation: Citation, block?: unknown): void;
  /** A fragment of the text with which the model declines to answer, where the vendor marks it as such. */
  refusal(text: string, block?: unknown): void;
  /** A fragment of the model's reasoning; `''` starts a block that may stay without text. */
  reasoning(text: string, block?: unknown, kind?: { readonly redacted?: boolean }): void;
  /**
   * What the upstream wants back with a reasoning block in later requests; starts one if none is open under this name.
   * The last state counts: write it once per block, when it is whole.
   */
  state(state: BlockState, block?: unknown): void;
  /**
   * A whole image of the answer, once; what a vendor shows of it while it is drawn is left out. The text and reasoning that
   * are open end. What the bytes are is checked: see `ImagePart`.
   */
  image(image: { readonly mediaType?: unknown; readonly base64: string }): void;
  /** A piece of a tool call. Calls may be interleaved with each other and with anything else. */
  tool(piece: ToolPiece): void;
  /** Nothing more belongs to this block. */
  end(block: unknown): void;
  /**
   * Counts so far: numbers from 0 count, also as strings, and replace earlier ones; anything else counts as absent.
   * `input` excludes what was read from a cache or written to one, if that is counted too.
   */
  usage(counts: { readonly [Name in keyof UsageCounts]?: unknown }): void;
  /** The upstream is at work, with nothing to show for it: keeps the call from timing out. */
  alive(): void;
  /**
   * The upstream's own word for the end, and the stop string that it ended before, if it names one. What follows still
   * counts; of several the last one does.
   */
  finish(reason: FinishReason, raw: string, sequence?: unknown): void;
  /** The protocol's end mark: nothing after it counts. After content it is a finish if there was none. */
  done(mark: string): void;
}

export interface ToolPiece {
  /** The reader's name for the call. */
  readonly block: unknown;
  /** The first string counts. If absent, or used by another call of the answer, the call gets one. */
  readonly id?: unknown;
  /** The first string counts; the call waits for it. */
  readonly name?: unknown;
  /**
   * Text of the arguments; any other value is the complete arguments. Arguments that come again replace those before,
   * they are not appended: whole ones at the end, or each piece with all that came before it.
   */
  readonly json?: unknown;
  /** The text is all of the arguments: what is not there yet of them counts. */
  readonly isWhole?: boolean;
  /** What the upstream wants back with the call in later requests; a string is read by this upstream's plugin alone. */
  readonly state?: BlockState | unknown;
  /** No more pieces follow. */
  readonly done?: boolean;
}
