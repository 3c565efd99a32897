// The contract between the gateway and a provider plugin: types only, so that a plugin imports nothing at run time.
import type Joi from 'joi';
import type { FinishReason, ProviderPart } from '../stream/provider-part.ts';
import type { MakeAccountSchema } from './account-contract.ts';
import type { ImageCall, ImageResult, TextCall } from './call-contract.ts';
import type { FaultTexts, FaultWords } from './fault-contract.ts';
import type { Host } from './host-contract.ts';
import type { VideoProvider } from './video-contract.ts';

export type * from './account-contract.ts';
export type * from './answer-contract.ts';
export type * from './call-contract.ts';
export type * from './content-contract.ts';
export type * from './fault-contract.ts';
export type * from './host-contract.ts';
export type * from './image-contract.ts';
export type * from './job-contract.ts';
export type * from './output-contract.ts';
export type * from './request-contract.ts';
export type * from './video-contract.ts';
export type * from './wire-contract.ts';
export type { FinishReason, ProviderPart };

/** What a plugin folder exports by default from its `index`. */
export interface ProviderPlugin<Settings extends object = object> {
  /** Version of this contract; a plugin with another one is refused at start. */
  readonly contract: 1;
  /** Equals the folder's name; the catalog's `upstreams.*.plugin` refers to it. */
  readonly name: string;
  /**
   * The schema of `upstreams.*.settings`, checked when the catalog loads. `joi` is handed in, because a folder outside
   * the checkout cannot import it; `account` makes what nearly every upstream has. Mark secrets of your own with
   * `.meta({ secret: true })`: they are scrubbed from the log.
   */
  settings(joi: Joi.Root, account: MakeAccountSchema): Joi.ObjectSchema<Settings>;
  /** Codes by which this vendor says what went wrong, beside those that the host knows already. */
  readonly faultWords?: FaultWords;
  /** Texts by which this vendor alone says it, where it has no codes. */
  readonly faultTexts?: FaultTexts;
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
  /** True when `text` carries tools: their definitions, calls and results. Calls with tools pass over other providers. */
  readonly tools?: boolean;
  /** Makes or edits pictures; resolves when they are there. It asks the upstream for them once: asking again costs again. */
  image?(call: ImageCall, signal: AbortSignal): Promise<ImageResult>;
  readonly video?: VideoProvider;
  /** Frees what the provider holds; called once, after its last call ended. */
  close?(): Promise<void>;
}
