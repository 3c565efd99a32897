// Wire formats that many upstreams speak, nearly alike: what the host does of them for a plugin. Types only.
import type { AnswerReader } from './answer-contract.ts';
import type { MediaSource, TextCall } from './call-contract.ts';
import type { Base64, JsonObject } from './request-contract.ts';

/** A wire format, so that a plugin says only what its upstream does in another way. */
export interface WireFormat<Quirks> {
  /**
   * The request that a call becomes: model, messages, tools with the choice between them, and that the answer is to be a
   * stream. What is not here, such as the form of the answer and the thought before it, is for the plugin to add.
   */
  body(call: TextCall, base64: Base64, quirks?: Quirks): JsonObject;
  /** Reads one answer, whether it comes as a stream or as a whole. Make one for each call. */
  reader(quirks?: Quirks): AnswerReader;
}

/** Of chat completions. Its `body` has no limit of tokens: upstreams disagree about the name of the field. */
export interface ChatQuirks {
  /** True where every delta repeats the whole text so far. */
  readonly isCumulative?: boolean;
  /** True where messages of the assistant need thoughts when there are tools: blank ones, as the model's stay with us. */
  readonly hasBlankThoughts?: boolean;
  /** Where counts may be at the end of a stream that has no `usage`; the first that is there counts. */
  readonly counts?: readonly CountsPlace[];
}

/** Of messages. */
export interface MessageQuirks {
  /** Where the last event may have counts, for upstreams that report none before: see `CountNames`. */
  readonly counts?: CountsPlace & { readonly names: CountNames };
}

/** Contents made of parts: texts, pictures, calls of tools and their responses. */
export interface ContentsFormat {
  /** System prompt, contents, and tools with the choice between them; `generationConfig` is for the plugin to add. */
  body(call: ContentsCall, base64: Base64, quirks?: ContentsQuirks): JsonObject;
  /** Reads one answer, whether it comes as a stream or as a whole. Make one for each call. */
  reader(): AnswerReader;
  /**
   * The pictures in a reply of a model that draws; its drafts are none. Throws when there are none because of the
   * content.
   */
  picturesOf(reply: unknown): readonly MediaSource[];
}

export type ContentsCall = Pick<TextCall, 'system' | 'messages' | 'tools'>;

export interface ContentsQuirks {
  /** Stands for the signature of calls that have none, for models that refuse those. */
  readonly noSignature?: string | undefined;
}

/** An object with counts of tokens. */
export interface CountsPlace {
  /** The names that lead to it. */
  readonly at: readonly string[];
  /** Those of its counts; absent where they are those of a usage object of one of the formats. */
  readonly names?: CountNames;
}

/** Names of counts that are added up; of messages the input is what was read anew, written to the cache, read from it. */
export interface CountNames {
  readonly input: readonly string[];
  readonly output: readonly string[];
}

export interface TokenCounts {
  readonly input?: number;
  readonly output?: number;
}
