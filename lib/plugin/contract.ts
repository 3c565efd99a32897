// The contract between the gateway and a provider plugin: types only, so that a plugin imports nothing at run time.
import type Joi from 'joi';
import type { FinishReason, ProviderPart } from '../stream/provider-part.ts';
import type { FaultWords, UpstreamFault } from './fault-contract.ts';
import type { Host, RouteOptions } from './host-contract.ts';

export type * from './fault-contract.ts';
export type * from './host-contract.ts';
export type * from './video-contract.ts';
export type { FinishReason, ProviderPart };

/** What a plugin folder exports by default from its `index`. */
export interface ProviderPlugin<Settings extends object = object> {
  /** Version of this contract; a plugin with another one is refused at start. */
  readonly contract: 1;
  /** Equals the folder's name; the catalog's `upstreams.*.plugin` refers to it. */
  readonly name: string;
  /**
   * The schema of `upstreams.*.settings`, checked when the catalog loads. `joi` is handed in, because a folder outside
   * the checkout cannot import it. Mark secrets with `.meta({ secret: true })`: they are scrubbed from the log.
   */
  settings(joi: Joi.Root): Joi.ObjectSchema<Settings>;
  /** Codes by which this vendor says what went wrong, beside those that the host knows already. */
  readonly faultWords?: FaultWords;
  /** Makes a provider from checked settings. Pure: no I/O, no timers. Called again when the settings change. */
  create(settings: Settings, host: Host): Provider;
}

/**
 * One upstream account of one vendor. A capability that is absent is one the vendor does not sell. Every await takes the
 * `signal`: when it aborts, the connection to the upstream is closed at once. All of them throw what `host.fault` makes.
 */
export interface Provider {
  /**
   * Starts one text answer and yields its parts: arrays of all parts that arrived together, in the grammar
   * `start, (block-start, block-delta*, block-end)*, finish`, with `usage` anywhere. Ends after the upstream's end.
   */
  text?(call: TextCall, signal: AbortSignal): AsyncIterable<readonly ProviderPart[]>;
  /** Makes or edits pictures; resolves when they are there. It asks the upstream for them once: asking again costs again. */
  image?(call: ImageCall, signal: AbortSignal): Promise<ImageResult>;
  readonly video?: VideoProvider;
  /** Frees what the provider holds; called once, after its last call ended. */
  close?(): Promise<void>;
}

export interface VideoProvider {
  /** Submits a job, once. A fault says that there is none, or that nobody knows: it is never sent again by itself. */
  start(call: VideoCall, signal: AbortSignal): Promise<VideoRef>;
  /**
   * Looks at a job. A fault it throws says nothing about the job, which is then looked at again later; only
   * `status: 'failed'` is the upstream's verdict. A word for the state that nobody knows is `processing`.
   */
  poll(ref: VideoRef, signal: AbortSignal): Promise<VideoState>;
}

/** What every call has. */
export interface ProviderCall {
  /** The upstream's own name of the model: the `model` of the catalog's route. */
  readonly model: string;
  readonly options: RouteOptions;
}

/** A text call, free of any wire format. */
export interface TextCall extends ProviderCall {
  /** The system prompt; absent when there is none. */
  readonly system?: string;
  /** History and prompt, oldest first; never empty. */
  readonly messages: readonly TextMessage[];
  /** Most output tokens the answer may have, reasoning included: 1 to 32768. */
  readonly maxTokens: number;
}

export interface TextMessage {
  readonly role: 'user' | 'assistant';
  /** Never empty. */
  readonly content: readonly Content[];
}

export type Content = TextContent | ImageContent;

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** A picture in a message of the user. */
export interface ImageContent extends Picture {
  readonly type: 'image';
}

/** A picture of the client's: checked by its first bytes. A URL of a client's never reaches a provider. */
export interface Picture {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly bytes: Uint8Array;
}

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface ImageCall extends ProviderCall {
  readonly prompt: string;
  /** Absent when the client leaves it to the upstream. */
  readonly size?: Size;
  /** `16:9`; absent when the client leaves it to the upstream, or `size` says it. */
  readonly aspect?: string;
  /** None: a picture is made. 1 to 4: they are edited. */
  readonly images: readonly Picture[];
}

export interface ImageResult {
  /** None is a failure of the upstream. */
  readonly images: readonly MediaSource[];
}

/** A result: its bytes, or where the gateway fetches them. */
export type MediaSource = { readonly bytes: Uint8Array } | RemoteMedia;

export interface RemoteMedia {
  readonly url: string;
  /** Sent only to the upstream's own origins, and never across a redirect; `host.authorize` makes those with a key. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface VideoCall extends ProviderCall {
  readonly prompt: string;
  readonly seconds: number;
  readonly size: Size;
  /** `16:9` */
  readonly aspect: string;
  /** Our label, such as `720p`; null for a model that has none. */
  readonly resolution: string | null;
  /** The first picture of the video. */
  readonly image?: Picture;
}

/** What names a job: stored as JSON, and given back in any process, after any restart. No secrets. */
export type VideoRef = Readonly<Record<string, string>> & { readonly id: string };

export type VideoState =
  | {
      readonly status: 'queued' | 'processing';
      /** 0 to 100. */
      readonly progress?: number;
      /** When the upstream wants to be asked again at the earliest. */
      readonly retryAfterMs?: number;
    }
  | { readonly status: 'completed'; readonly result: MediaSource }
  | { readonly status: 'failed'; readonly fault: UpstreamFault };
