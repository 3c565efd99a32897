// A text request independent of its wire format: what every dialect parses into and the engine runs.

import type { RequestImage } from '../../media/reference.ts';
import type { ImageTokens } from '../../stream/meter.ts';
import type {
  AudioContent,
  DocumentContent,
  JsonObject,
  OutputFormat,
  ReasoningContent,
  TextCall,
  TextContent,
  TextMessage,
  ToolCallContent,
  ToolReferenceContent,
  ToolResultContent,
  Tools,
  Verbosity,
} from '../../upstream/contract/provider.ts';
import type { RequestSpending } from '../spending.ts';
import type { ReasoningWish } from './reasoning.ts';
import type { SamplingWish } from './sampling.ts';

/** A message as read, before its images are fetched. */
export interface RequestMessage extends Pick<TextMessage, 'role'> {
  readonly content: readonly RequestContent[];
  /** Added here, not sent by the client: `smart` does not weigh it. */
  readonly isFromGateway?: boolean;
}

export type RequestContent =
  | TextContent
  | RequestImage
  | DocumentContent
  | AudioContent
  | ReasoningContent
  | ToolCallContent
  | RequestResult
  | ToolReferenceContent;

export interface RequestResult extends Omit<ToolResultContent, 'content'> {
  readonly content: readonly (TextContent | RequestImage | DocumentContent | ToolReferenceContent)[];
}

export interface RequestTools extends Tools {
  /** The definitions as text, for the estimate. */
  readonly text: string;
  /** The field of the first tool that the messages format defines, for refusals; absent if there is none. */
  readonly predefined?: PredefinedTool;
}

export interface PredefinedTool {
  readonly field: string;
  /** Such as `bash_20250124`. */
  readonly type: string;
}

/** The fields of the first document that is more than text, and of the first recording, for refusals. */
export interface RequestFiles {
  readonly document?: string | undefined;
  readonly audio?: string | undefined;
}

/** How many input tokens a request has, estimated before any model has counted them. */
export interface InputEstimate {
  /** Tokens to bill if nobody counts them: the documented formula. */
  readonly tokens: number;
  /** Tokens that the hold covers: `tokens`, or more for a text that has more by our count. */
  readonly tokensHeld: number;
  /** No more input tokens are believed, beyond what the upstream adds to each prompt. */
  readonly tokensMax: number;
  /** Input tokens of a buffered model, which reports none: by characters, plus a fixed number per image. */
  readonly tokensBuffered: number;
  /** What its images add; undefined if it has none. */
  readonly images: ImageTokens | undefined;
  /** Tokens that its documents may have above what is held; absent: none. */
  readonly documentsExcess?: number;
  /** The part of each of these numbers that is recordings; absent: none. */
  readonly audioTokens?: number | undefined;
  /** Tokens that its recordings may have above that; absent: none. */
  readonly audioExcess?: number;
}

export interface TextRequest {
  /** As the client wrote it: an id or an alias. */
  readonly model: string;
  /** The parts of the system prompt; undefined if there are none. */
  readonly system: readonly TextContent[] | undefined;
  /** History and prompt, oldest first; at least one user message. */
  readonly messages: readonly RequestMessage[];
  /** Its format has system messages between others for every model, also for those that take none; absent otherwise. */
  readonly hasSystemAnywhere?: true;
  /** Messages on the wire, for the estimate. */
  readonly messageCount: number;
  /** Images in user messages. */
  readonly images: number;
  /** Images in assistant messages, which do not decide who answers; absent if there are none. */
  readonly answerImages?: number;
  /** Absent if there are neither documents nor audio. */
  readonly files?: RequestFiles;
  /** Tools that the model may call; absent if there are none. */
  readonly tools?: RequestTools;
  /** True if messages contain tool calls; absent otherwise. */
  readonly hasCalls?: true;
  /** Clamped to the maximum. */
  readonly maxTokens: number;
  readonly stream: boolean;
  /** The answer ends before the first of these strings; absent if there are none. */
  readonly stops?: readonly string[];
  /** For models that get them; absent if the client sends none. */
  readonly sampling?: SamplingWish;
  /** For providers that draw; absent unless the client asks for images. */
  readonly modalities?: TextCall['modalities'];
  /** Passed to models that support it; absent for text. */
  readonly format?: OutputFormat;
  /** The field where the client wrote it. */
  readonly formatField?: string;
  /** For upstreams that take it; absent if the client does not say. */
  readonly verbosity?: Verbosity;
  /** Passed to models that reason; absent if the client does not say. */
  readonly reasoning?: ReasoningWish;
  /** Reasoning that the upstream shows is delivered. */
  readonly showsReasoning?: boolean;
  /** The answer is of no use before it is whole: nothing of it is delivered earlier. */
  readonly buffersAnswer?: boolean;
  /** Both as the client wrote them; for upstreams that take them. */
  readonly cacheKey?: string;
  readonly cacheRetention?: string;
  /** Tool references in results; absent if there are none. */
  readonly hasReferences?: true;
  /** For upstreams of the messages format, as in the contract. */
  readonly messageFields?: JsonObject;
  readonly betas?: readonly string[];
  /** `metadata.user_id`: of an agent, it names the session too. */
  readonly userId?: string;
  readonly spending?: RequestSpending;
  /** What the dialect needs again to write the answer; the engine does not look at it. */
  readonly echo?: object;
  /** For a long request, computed where it was parsed: not on the thread that serves everybody. */
  readonly estimate?: InputEstimate;
}
