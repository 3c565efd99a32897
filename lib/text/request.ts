// A text request free of its wire format: what both dialects parse into and the engine runs.
import type { Image } from '../media/image.ts';
import type { TextContent, TextMessage } from '../plugin/contract.ts';
import type { InputEstimate } from './estimate.ts';

/** A message as it was read, before its pictures are there. */
export interface RequestMessage extends Pick<TextMessage, 'role'> {
  readonly content: readonly RequestContent[];
}

export type RequestContent = TextContent | RequestPicture;

export interface RequestPicture {
  readonly type: 'picture';
  /** The request field it stands in, for faults. */
  readonly field: string;
  /** A link that is not fetched yet, or the picture itself. */
  readonly source: string | Image;
}

export interface TextRequest {
  /** As the client wrote it: an id or an alias. */
  readonly model: string;
  /** All system prompts, joined; undefined when there is none. */
  readonly system: string | undefined;
  /** History and prompt, oldest first; at least one user message. */
  readonly messages: readonly RequestMessage[];
  /** Messages on the wire, for the estimate. */
  readonly messageCount: number;
  /** Images in user messages. */
  readonly images: number;
  /** Clamped to the maximum. */
  readonly maxTokens: number;
  readonly stream: boolean;
  /** Of a long request, counted where it was parsed: not on the thread that serves everybody. */
  readonly input?: InputEstimate;
}

export const MAX_TOKENS_DEFAULT = 8192;
export const MAX_TOKENS_MAXIMUM = 32_768;
