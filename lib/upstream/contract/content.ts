// The part of the contract about messages and the tools a model may call: types only.
import type { BlockState } from '../../stream/provider-part.ts';
import type { JsonObject } from './request.ts';

export interface TextMessage {
  readonly role: 'user' | 'assistant';
  /** Never empty. */
  readonly content: readonly Content[];
}

/**
 * Tool calls and results are passed only to a provider with `tools`; each result has its call in an earlier message.
 */
export type Content = TextContent | ImageContent | ToolCallContent | ToolResultContent;

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** A picture in a user message, or in a result. */
export interface ImageContent extends Picture {
  readonly type: 'image';
}

/** A picture from the client, checked by its first bytes. A client's URL never reaches a provider. */
export interface Picture {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly bytes: Uint8Array;
  /** From its header; absent if that does not say. A small file may be a picture that takes gigabytes. */
  readonly size?: Size | undefined;
}

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A tool of the client. */
export interface Tool {
  /** Letters, digits, `_` and `-`, up to 128. */
  readonly name: string;
  readonly description?: string;
  /** The JSON schema of its arguments, which are an object. */
  readonly schema: JsonObject;
  /** Whether the arguments must conform to the schema; absent if the client does not say. */
  readonly strict?: boolean;
}

export interface Tools {
  /** At least one, with unique names. */
  readonly list: readonly Tool[];
  /**
   * Whether the model calls one: as it likes, not at all, in any case, or this one. Absent if the client does not say.
   */
  readonly choice?: 'auto' | 'none' | 'any' | { readonly name: string };
  /**
   * True: at most one call per answer. Further calls are dropped, so an upstream without such an option is not told.
   */
  readonly single?: true;
}

/** An earlier call by the model, in an assistant message. */
export interface ToolCallContent {
  readonly type: 'tool-call';
  /** Unique within the messages. */
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them: JSON of an object, unless it failed; `host.argumentsOf` reads it. */
  readonly json: string;
  /** What the upstream that wrote it wants back; only its own wire format reads it. */
  readonly state?: BlockState;
}

/** The result of a call, in a later user message. */
export interface ToolResultContent {
  readonly type: 'tool-result';
  /** The call's id. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  readonly isError: boolean;
  readonly content: readonly (TextContent | ImageContent)[];
}
