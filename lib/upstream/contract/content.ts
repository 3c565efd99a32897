// The part of the contract about messages and the tools a model may call: types only.
import type { BlockState, Citation } from '../../stream/provider-part.ts';
import type { JsonObject } from './request.ts';

export interface TextMessage {
  /** `system`: texts that a system prompt would have, where they come in; only for a provider with `systemMessages`. */
  readonly role: 'user' | 'assistant' | 'system';
  /** Never empty. */
  readonly content: readonly Content[];
}

/**
 * Tool calls and results are passed only to a provider with `tools`, documents and audio to one that has a flag for
 * them; each result has its call in an earlier message.
 */
export type Content =
  | TextContent
  | ImageContent
  | DocumentContent
  | AudioContent
  | ReasoningContent
  | ToolCallContent
  | ToolResultContent
  | ToolReferenceContent;

/** What may end a part of the prompt that the client wants cached. */
export interface Cacheable {
  /** The client's marker; absent where it wrote none. An upstream that knows no markers never sees it. */
  readonly cache?: CacheMarker;
}

export interface CacheMarker {
  /** How long the prompt up to here stays in the vendor's cache after its last use. */
  readonly ttl: '5m' | '1h';
}

export interface TextContent extends Cacheable {
  readonly type: 'text';
  /** More than white space. */
  readonly text: string;
  /** Of a text in an assistant message, as a client of the messages format gives them back; others may leave them out. */
  readonly citations?: readonly Citation[];
  /** Of a text in an assistant message: the phase that its vendor gave it, for the responses format. */
  readonly phase?: string;
}

/** An image in a user message, or in a result; for a provider with `answerImages`, also one of an earlier answer. */
export interface ImageContent extends ImageInput, Cacheable {
  readonly type: 'image';
  /** How closely the client wants it looked at, which a vendor counts; absent: as the vendor sees fit. */
  readonly detail?: ImageDetail;
}

/** `original`: not made smaller, which only the newest formats know. */
export type ImageDetail = 'low' | 'high' | 'original';

/** A document in a user message, or in a result. */
export interface DocumentContent extends Cacheable {
  readonly type: 'document';
  /** `application/pdf`, `text/plain`, or what the client calls it. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** The name of the file, or the title of the document. */
  readonly name?: string;
  /** The client wants citations from it; a vendor without them leaves this out. */
  readonly citations?: true;
  /** The pieces of a text that citations name by their numbers; `bytes` are all of them together. */
  readonly pieces?: readonly string[];
}

/** A recording in a user message. */
export interface AudioContent extends Cacheable {
  readonly type: 'audio';
  /** `audio/wav`, `audio/mpeg`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/**
 * Earlier reasoning of the model, in an assistant message and in its order; or what a vendor made of earlier turns, which
 * only it can read: `redacted`, with a state, in any message. With a state it is for the wire format that
 * wrote it, unchanged; every other format leaves it out as a whole.
 */
export interface ReasoningContent {
  readonly type: 'reasoning';
  readonly text: string;
  /** It has no text that anybody may see, only a state. */
  readonly redacted?: true;
  readonly state?: BlockState;
}

/** An image from the client, checked by its first bytes. A client's URL never reaches a provider. */
export interface ImageInput {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly bytes: Uint8Array;
  /** From its header; absent if that does not say. A small file may be an image that takes gigabytes. */
  readonly size?: Size | undefined;
}

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A tool of the client. */
export interface Tool extends Cacheable {
  /** As the provider's `toolNames` wants it. */
  readonly name: string;
  readonly description?: string;
  /** The JSON schema of its arguments: `type: "object"` with `properties`, named as `argumentNames` wants them. */
  readonly schema: JsonObject;
  /** Whether the arguments must conform to the schema; absent if the client does not say. */
  readonly strict?: boolean;
  /**
   * Set for a custom tool, which takes plain text. `description` and `schema` are then those of a function with that
   * text as its only argument, `input`, which stands for it with vendors that know functions only.
   */
  readonly custom?: CustomTool;
  /** Further fields of the messages format (`defer_loading`), unchanged: only for a provider with `messageFormat`. */
  readonly messageFields?: JsonObject;
  /**
   * A tool that the messages format itself defines and the client runs (`bash_20250124`): `messageFields` are its whole
   * definition, its schema is empty.
   */
  readonly isPredefined?: true;
}

/** A custom tool, which takes plain text, as the client describes it. */
export interface CustomTool {
  readonly description?: string;
  /** What the text must keep to: `{ type: "grammar", syntax, definition }`. */
  readonly format?: JsonObject;
}

export interface Tools {
  /** At least one, with unique names. */
  readonly list: readonly Tool[];
  /**
   * Whether the model calls one: as it likes, not at all, in any case, or this one. Absent if the client does not say.
   * With `none` the list is for calls in the history: an upstream without that choice gets the list alone, and what it
   * calls reaches the client.
   */
  readonly choice?: 'auto' | 'none' | 'any' | { readonly name: string };
  /**
   * True: at most one call per answer. Further calls are dropped, so an upstream need not have such an option.
   */
  readonly single?: true;
}

/** An earlier call by the model, in an assistant message. */
export interface ToolCallContent extends Cacheable {
  readonly type: 'tool-call';
  /** Unique within the messages. */
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them: JSON of an object, unless it failed; `host.argumentsOf` reads it. */
  readonly json: string;
  /** A call of a custom tool: the JSON is `{ "input": … }`. */
  readonly isCustom?: true;
  /** What the upstream that wrote it wants back; only its own wire format reads it. */
  readonly state?: BlockState;
}

/** The result of a call, in a later user message. */
export interface ToolResultContent extends Cacheable {
  readonly type: 'tool-result';
  /** The call's id. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  readonly isError: boolean;
  readonly content: readonly (TextContent | ImageContent | DocumentContent | ToolReferenceContent)[];
}

/** A tool that a search by the client has found, in a result: only for a provider with `messageFormat`. */
export interface ToolReferenceContent extends Cacheable {
  readonly type: 'tool-reference';
  readonly name: string;
}
