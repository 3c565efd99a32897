// The part of the contract that says what messages are made of, and which tools a model may call: types only.
import type { JsonObject } from './request-contract.ts';

export interface TextMessage {
  readonly role: 'user' | 'assistant';
  /** Never empty. */
  readonly content: readonly Content[];
}

/** Calls and results of tools come only to a provider with `tools`; each result has its call in an earlier message. */
export type Content = TextContent | ImageContent | ToolCallContent | ToolResultContent;

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** A picture in a message of the user, or in a result. */
export interface ImageContent extends Picture {
  readonly type: 'image';
}

/** A picture of the client's: checked by its first bytes. A URL of a client's never reaches a provider. */
export interface Picture {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly bytes: Uint8Array;
  /** By its header; absent where that does not tell. A small file may be a picture that takes gigabytes. */
  readonly size?: Size | undefined;
}

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A tool of the client's. */
export interface Tool {
  /** Letters, digits, `_` and `-`, up to 128. */
  readonly name: string;
  readonly description?: string;
  /** The JSON schema of its arguments, which are an object. */
  readonly schema: JsonObject;
  /** Whether the arguments have to keep to the schema; absent when the client does not say. */
  readonly strict?: boolean;
}

export interface Tools {
  /** At least one, each with a name of its own. */
  readonly list: readonly Tool[];
  /** Whether the model calls one: as it likes, not at all, in any case, or this one. Absent when the client does not say. */
  readonly choice?: 'auto' | 'none' | 'any' | { readonly name: string };
  /** True: at most one call an answer. What is called beyond it is dropped, so an upstream that cannot be told is not. */
  readonly single?: true;
}

/** A call that a model made earlier, in a message of the assistant. */
export interface ToolCallContent {
  readonly type: 'tool-call';
  /** Unique within the messages. */
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them: JSON of an object, unless it failed; `host.argumentsOf` reads it. */
  readonly json: string;
  /** The `state` of the block that it came in. */
  readonly state?: string;
}

/** What a call came to, in a message of the user that follows it. */
export interface ToolResultContent {
  readonly type: 'tool-result';
  /** Of the call. */
  readonly id: string;
  /** Of the tool. */
  readonly name: string;
  readonly isError: boolean;
  readonly content: readonly (TextContent | ImageContent)[];
}
