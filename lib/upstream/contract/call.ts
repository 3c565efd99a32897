// The part of the contract about what a provider is asked for and what it returns: types only.
import type { ImageInput, Size, TextContent, TextMessage, Tools } from './content.ts';
import type { UpstreamFault } from './fault.ts';
import type { OutputFormat, Reasoning, Sampling, Verbosity } from './output.ts';
import type { JsonObject, RouteOptions } from './request.ts';

/** What every call has. */
export interface ProviderCall {
  /** The upstream's own name for the model: the `model` of the catalog's route. */
  readonly model: string;
  readonly options: RouteOptions;
}

/** A text call, independent of any wire format. */
export interface TextCall extends ProviderCall {
  /** The system prompt in parts, at least one; absent if there is none. `host.textOf` joins them. */
  readonly system?: readonly TextContent[];
  /** History and prompt, oldest first; never empty. */
  readonly messages: readonly TextMessage[];
  /** Maximum output tokens, including reasoning: 1 to 32768. */
  readonly maxTokens: number;
  /** Only for a provider with `tools`; absent if the model may call none. */
  readonly tools?: Tools;
  /** Absent for text; an upstream without support ignores it. */
  readonly format?: OutputFormat;
  /** Absent if it is left to the model; an upstream without it ignores it. */
  readonly verbosity?: Verbosity;
  /** Absent if it is left to the model. */
  readonly reasoning?: Reasoning;
  /**
   * True for a model that reasons unless `reasoning` says no: a vendor that gives only on request what it wants back of the
   * reasoning is asked for it.
   */
  readonly mayReason?: boolean;
  /**
   * Strings that the answer must end before. The gateway sees to it by itself: an upstream that takes them too saves the
   * tokens after them.
   */
  readonly stops?: readonly string[];
  /** Absent if it is left to the model. */
  readonly sampling?: Sampling;
  /** What the answer may have, where the client asks for images; only for a provider with `answerImages`. */
  readonly modalities?: readonly ('text' | 'image')[];
  /** The client's key for the vendor's prompt cache, for upstreams that take one. */
  readonly cacheKey?: string;
  /** How long the client wants the vendor to keep the prompt: `in_memory`, `24h`. */
  readonly cacheRetention?: string;
  /**
   * What only the messages format has, unchanged: `metadata`, `context_management`. Like `betas` only for a provider with
   * `messageFormat`.
   */
  readonly messageFields?: JsonObject;
  /** The vendor's betas that the client asks for. */
  readonly betas?: readonly string[];
  /** For `HostRequest.conversation`; absent where no cache depends on it. */
  readonly conversation?: string;
}

export interface ImageCall extends ProviderCall {
  readonly prompt: string;
  /** Absent if the client leaves it to the upstream. */
  readonly size?: Size;
  /** `16:9`; absent if the client leaves it to the upstream, or `size` implies it. */
  readonly aspect?: string;
  /** Empty: an image is generated. 1 to 4: they are edited. */
  readonly images: readonly ImageInput[];
}

export interface ImageResult {
  /** An empty list is a failure of the upstream. */
  readonly images: readonly MediaSource[];
}

/** A result: its bytes, or where the gateway can fetch them. */
export type MediaSource = { readonly bytes: Uint8Array } | RemoteMedia;

export interface RemoteMedia {
  readonly url: string;
  /**
   * Sent only to the upstream's own origins, up to the first redirect that leaves them; `host.authorize` makes those
   * with a key.
   */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface VideoCall extends ProviderCall {
  readonly prompt: string;
  readonly seconds: number;
  readonly size: Size;
  /** `16:9` */
  readonly aspect: string;
  /** Our label, such as `720p`; null for a model without resolutions. */
  readonly resolution: string | null;
  /** The first frame of the video. */
  readonly image?: ImageInput;
}

/** Identifies a job: stored as JSON, and passed back in any process, after any restart. No secrets. */
export type VideoRef = Readonly<Record<string, string>> & { readonly id: string };

export type VideoState =
  | {
      readonly status: 'queued' | 'processing';
      /** 0 to 100. */
      readonly progress?: number;
      /** The earliest time at which the upstream wants to be polled again. */
      readonly retryAfterMs?: number;
      /** The upstream calls the job completed but has no result yet. */
      readonly lacksResult?: true;
    }
  | { readonly status: 'completed'; readonly result: MediaSource }
  | { readonly status: 'failed'; readonly fault: UpstreamFault };
