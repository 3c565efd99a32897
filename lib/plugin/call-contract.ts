// The part of the contract that says what a provider is asked for, and what it gives: types only.
import type { Picture, Size, TextMessage, Tools } from './content-contract.ts';
import type { UpstreamFault } from './fault-contract.ts';
import type { OutputFormat, Reasoning } from './output-contract.ts';
import type { RouteOptions } from './request-contract.ts';

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
  /** Only for a provider with `tools`; absent when the model may call none. */
  readonly tools?: Tools;
  /** Absent for text; an upstream that cannot do it ignores it. */
  readonly format?: OutputFormat;
  /** Absent where it is left to the model. */
  readonly reasoning?: Reasoning;
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
