// The contract between the gateway and a provider plugin: types only, so that a plugin imports nothing at run time.
import type Joi from 'joi';
import type { Citation, FinishReason, ProviderPart } from '../../stream/provider-part.ts';
import type { MakeAccountSchema } from './account.ts';
import type { ImageCall, ImageResult, TextCall } from './call.ts';
import type { EmbedCall, Embeddings } from './embedding.ts';
import type { FaultStatuses, FaultTexts, FaultWords } from './fault.ts';
import type { Host } from './host.ts';
import type { LimitHeaders } from './request.ts';
import type { VendorModel } from './vendor-model.ts';
import type { VideoProvider } from './video.ts';

export type * from './account.ts';
export type * from './answer.ts';
export type * from './call.ts';
export type * from './content.ts';
export type * from './embedding.ts';
export type * from './fault.ts';
export type * from './format.ts';
export type * from './host.ts';
export type * from './image.ts';
export type * from './job.ts';
export type * from './output.ts';
export type * from './request.ts';
export type * from './vendor-model.ts';
export type * from './video.ts';
export type { Citation, FinishReason, ProviderPart };

/** The default export of a plugin folder's `index`. */
export interface ProviderPlugin<Settings extends object = object> {
  /** Version of this contract, 2 for new plugins; those of 1 load, too. Any other is refused at the start. */
  readonly contract: 1 | 2;
  /** Equals the folder's name; the catalog's `upstreams.*.plugin` refers to it. */
  readonly name: string;
  /**
   * The schema of `upstreams.*.settings`, checked when the catalog loads. `joi` is passed in, because a folder outside
   * the checkout cannot import it; `account` makes the settings that nearly every upstream has. Mark additional secrets
   * with `.meta({ secret: true })`: they are scrubbed from the log.
   */
  settings(joi: Joi.Root, account: MakeAccountSchema): Joi.ObjectSchema<Settings>;
  /** This vendor's error codes, beyond those that the host already knows. */
  readonly faultWords?: FaultWords;
  /** This vendor's error texts, where it has no codes. */
  readonly faultTexts?: FaultTexts;
  /** This vendor's own meanings of statuses. */
  readonly faultStatuses?: FaultStatuses;
  /**
   * The header, in lower case, in which this vendor names the code of a refusal, for `faultWords`. What follows a `:` in it
   * does not count.
   */
  readonly faultHeader?: string;
  /**
   * This vendor's limits of a key, as its replies tell them. A key with nothing left of one is paused until there is more,
   * before the vendor refuses it; the other keys are taken meanwhile.
   */
  readonly limitHeaders?: readonly LimitHeaders[];
  /** Makes a provider from checked settings. Pure: no I/O, no timers. Called again when the settings change. */
  create(settings: Settings, host: Host): Provider;
}

/**
 * One upstream account with one vendor. An absent capability is one the vendor does not offer. Every await takes the
 * `signal`: when it aborts, the connection to the upstream is closed at once. All methods throw faults made by
 * `host.fault`.
 */
export interface Provider {
  /**
   * Starts one text answer and yields its parts: arrays of all parts that arrived together, in the grammar
   * `start, (block-start, block-delta*, block-end)*, finish`, with `usage` anywhere. Ends after the upstream's end.
   */
  text?(call: TextCall, signal: AbortSignal): AsyncIterable<readonly ProviderPart[]>;
  /** True if `text` supports tools: definitions, calls and results. Calls with tools skip other providers. */
  readonly tools?: boolean;
  /**
   * The names of tools that the vendor takes; default: up to 64 letters, digits, `_` and `-`. Others are replaced on the
   * way to the provider, and what it yields is replaced back.
   */
  readonly toolNames?: RegExp;
  /**
   * The names of a tool's arguments, the `properties` of its schema, that the vendor takes; default: any. Others are
   * replaced on the way to the provider, in earlier calls too, and what it yields is replaced back.
   */
  readonly argumentNames?: RegExp;
  /** True if `text` speaks the messages format and takes what only that format has: its own tools, fields and betas. */
  readonly messageFormat?: boolean;
  /**
   * The `format` of the states that `text` yields and takes back; absent if it has none, or only strings. A tool loop stays
   * on routes of the format that it began with.
   */
  readonly stateFormat?: string;
  /** True if `text` takes system messages between others; for other providers they are part of the system prompt. */
  readonly systemMessages?: boolean;
  /** True if `text` takes documents. */
  readonly documents?: boolean;
  /**
   * True if `text` takes images in assistant messages: those of earlier answers. For other providers they are moved into
   * the user message that follows.
   */
  readonly answerImages?: boolean;
  /** True if `text` takes audio. */
  readonly audio?: boolean;
  /** True if `text` passes cache markers on, so that its vendor writes to a cache only where a request has some. */
  readonly cacheMarkers?: boolean;
  /** Turns texts into vectors; resolves when there is one for each. */
  embed?(call: EmbedCall, signal: AbortSignal): Promise<Embeddings>;
  /** True if `embed` takes `tokens`. Calls with tokens skip other providers. */
  readonly embedsTokens?: boolean;
  /** Makes or edits images; resolves when they are ready. Asks the upstream only once: asking again costs again. */
  image?(call: ImageCall, signal: AbortSignal): Promise<ImageResult>;
  readonly video?: VideoProvider;
  /** Lists what the key may use, for an operator who chooses models; absent if the vendor has no list. Costs nothing. */
  models?(signal: AbortSignal): Promise<readonly VendorModel[]>;
  /** Frees what the provider holds; called once, after its last call has ended. */
  close?(): Promise<void>;
}
