// Wire formats that many upstreams speak with small differences: what the host does for a plugin. Types only.
import type { UsageCounts } from '../../stream/provider-part.ts';
import type { AnswerReader } from './answer.ts';
import type { MediaSource, TextCall } from './call.ts';
import type { EmbeddingsFormat } from './embedding.ts';
import type { Base64, JsonObject } from './request.ts';

/** A wire format, so that a plugin only states what its upstream does differently. */
export interface WireFormat<Quirks> {
  /**
   * The request for a call: model, messages, tools and the choice between them, with streaming on. The rest, such as
   * the form of the answer and the reasoning before it, is for the plugin to add.
   */
  body(call: TextCall, base64: Base64, quirks?: Quirks): JsonObject;
  /** Reads one answer, streamed or whole. Create one per call. */
  reader(quirks?: Quirks): AnswerReader;
}

/** For chat completions. Its `body` has no token limit: upstreams disagree about the field's name. */
export interface ChatQuirks {
  /** True if system messages stay where they are: a vendor's cache then still knows what comes before them. */
  readonly keepsSystemMessages?: boolean;
  /** True if they become part of the user's messages: for vendors that would move them to the front. */
  readonly mergesSystemMessages?: boolean;
  /** True if every delta repeats the whole text so far. */
  readonly isCumulative?: boolean;
  /** True if assistant messages need their reasoning back when there are tools: a blank one if the client has none. */
  readonly needsThoughts?: boolean;
  /** True if the reasoning of assistant messages goes back as `reasoning` when there are tools: some servers look only there. */
  readonly takesThoughts?: boolean;
  /** True if `reasoning_details` of earlier answers go back. */
  readonly takesDetails?: boolean;
  /** True if a tool that is not strict says so: for vendors that otherwise have models fill every argument. */
  readonly saysNotStrict?: boolean;
  /** True if `prompt_cache_key` and `prompt_cache_retention` are taken. */
  readonly takesCacheKey?: boolean;
  /** True if a client's cache markers go along with texts, images and results. */
  readonly takesMarkers?: boolean;
  /** True if stop strings are left out, for models that refuse them. */
  readonly omitsStops?: boolean;
  /** True if ids of calls are refused unless they are nine letters and digits: others become such. */
  readonly needsShortIds?: boolean;
  /** True if a user's message right behind results is refused: an answer comes between. */
  readonly answersResults?: boolean;
  /** The field beside a `function_call` whose text has to go back with it, and the format of the state it becomes. */
  readonly callState?: { readonly field: string; readonly format: string };
  /** Where counts may be at the end of a stream without `usage`; the first present one counts. */
  readonly counts?: readonly CountsPlace[];
  /** The names of the tools that may be called: they show whether two pieces are one name or two names. */
  readonly toolNames?: readonly string[] | undefined;
}

/** For messages. */
export interface MessageQuirks {
  /** True if system messages stay where they are: a vendor's cache then still knows what comes before them. */
  readonly keepsSystemMessages?: boolean;
  /** True if thoughts without a signature go back too, for vendors that sign none and want them before calls. */
  readonly keepsUnsignedThoughts?: boolean;
  /** True if a call without a thought before it is refused: a blank one goes back, unless thinking is turned off. */
  readonly needsThoughts?: boolean;
  /** Where the last event may have counts, for upstreams that report none before: see `CountNames`. */
  readonly counts?: CountsPlace & { readonly names: CountNames };
  /** True if `input_tokens` includes what was read from a cache or written to it, against the format. */
  readonly countsCacheInside?: boolean;
}

export interface MessageFormat extends WireFormat<MessageQuirks> {
  /** `thinking` and `output_config.effort`, as the call wants them; neither if it does not say. */
  thinking(call: TextCall, quirks: ThinkingQuirks): JsonObject;
}

export interface ThinkingQuirks {
  /** `adaptive`, with an effort; a `budget` of tokens for older models. */
  readonly by: 'adaptive' | 'budget';
  /** How it is turned off: for models that think between tool calls anyway, or always and then at `low` effort. */
  readonly off: 'disabled' | 'between_tools' | 'low';
  /** True if thoughts without a signature go back before calls. */
  readonly takesUnsigned?: boolean;
  /** True if `needsThoughts` puts a thought before each call. */
  readonly needsThoughts?: boolean;
  /** The format of the states that the upstream writes; absent: that of messages. */
  readonly stateFormat?: string;
}

/** Contents made of parts: texts, images, tool calls and their responses. */
export interface ContentsFormat {
  /** System prompt, contents, and tools with the choice between them; `generationConfig` is for the plugin to add. */
  body(call: ContentsCall, base64: Base64, quirks?: ContentsQuirks): JsonObject;
  /** Reads one answer, streamed or whole. Create one per call. */
  reader(): AnswerReader;
  /**
   * The images in a drawing model's reply, without its drafts. Throws if there are none because of the content.
   */
  readImages(reply: unknown): readonly MediaSource[];
  /** Embeddings of several contents at once. */
  readonly embeddings: EmbeddingsFormat;
}

export type ContentsCall = Pick<TextCall, 'system' | 'messages' | 'tools'>;

export interface ContentsQuirks {
  /** Stands for the signature of calls without one, for models that refuse those. */
  readonly noSignature?: string | undefined;
}

/** Items of messages, reasoning and calls. */
export interface ResponsesFormat {
  /** The request for a call without the form of the answer and the effort, which are for the plugin to add. */
  body(call: TextCall, base64: Base64, quirks?: ResponsesQuirks): JsonObject;
  /** Reads one answer, streamed or whole. Create one per call. */
  reader(): AnswerReader;
}

export interface ResponsesQuirks {
  /** True if `prompt_cache_key` and `prompt_cache_retention` are taken. */
  readonly takesCacheKey?: boolean;
  /** True if custom tools are offered as such, not as functions. */
  readonly takesCustomTools?: boolean;
  /** True if system messages stay where they are: a vendor's cache then still knows what comes before them. */
  readonly keepsSystemMessages?: boolean;
}

/** An object with token counts. */
export interface CountsPlace {
  /** The path of names to it. */
  readonly at: readonly string[];
  /** The names of its counts; absent if they are those of a usage object of one of the formats. */
  readonly names?: CountNames;
}

/** Names of counts, none of which includes another; those of one kind are added up. */
export interface CountNames {
  readonly input: readonly string[];
  readonly cacheRead?: readonly string[];
  readonly cacheWrite?: readonly string[];
  readonly output: readonly string[];
  /** Of the output, not beside it. */
  readonly reasoning?: readonly string[];
}

export type TokenCounts = UsageCounts;
