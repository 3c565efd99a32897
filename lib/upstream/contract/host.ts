// The part of the contract that the gateway passes to a plugin: types only.
import type { FinishReason, ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from './answer.ts';
import type { Content, TextMessage } from './content.ts';
import type { EmbedCall, Embeddings, EmbeddingsFormat, EmbedRequest } from './embedding.ts';
import type { HostFault } from './fault.ts';
import type { ChatQuirks, ContentsFormat, MessageFormat, ResponsesFormat, WireFormat } from './format.ts';
import type { HostImage } from './image.ts';
import type { Reasoning } from './output.ts';
import type { HeaderFields, HostRequest, JsonObject, KeyHeaders, RouteOptions, TokenAuth } from './request.ts';
import type { VendorModel } from './vendor-model.ts';
import type { HostVideo } from './video.ts';

/** What the gateway passes to a plugin: everything it needs at run time. */
export interface Host {
  /** The name of the upstream in the catalog. */
  readonly upstream: string;
  /**
   * Sends one request; follows no redirect, asks for no compression, and reaches only the origins in the settings:
   * `baseUrl` and every other setting whose name ends in `Url`. A body that comes compressed anyway is decoded.
   * Resolves when the headers have arrived, whatever the status; a 403 when its body has, which tells whether it is about
   * the key. Throws a `network`, `timeout` or `protocol` fault. The
   * only timeout is for connecting: the signal limits the rest.
   */
  request(url: string, init: HostRequest): Promise<HostResponse>;
  /**
   * Sends a request and reads its reply as one JSON value, as most image and video upstreams need. Throws the fault
   * of a status other than 2xx, and a `protocol` fault beyond `limitBytes` (default 1 MiB).
   */
  json(url: string, init: HostRequest, limitBytes?: number): Promise<JsonReply>;
  /**
   * Sends a request and reads its reply as a stream of JSON values with `reader`: for most upstreams, all that `text`
   * has to return. Nothing is sent before the first `next`.
   */
  answer(url: string, init: HostRequest, reader: AnswerReader): AsyncIterable<readonly ProviderPart[]>;
  /**
   * All that `embed` has to return, for most upstreams: sends the inputs, in as many requests as the vendor needs, and
   * joins the vectors and counts of its replies.
   */
  embed(call: EmbedCall, request: EmbedRequest): Promise<Embeddings>;
  /**
   * All that `models` has to return, for most vendors: reads a list of models in the form of chat completions, messages
   * or contents.
   */
  models(url: string, init: Omit<HostRequest, 'method' | 'body'>): Promise<readonly VendorModel[]>;
  /** Polls until there is a value: for images that an upstream makes as a job. */
  poll<T>(polling: Polling<T>): Promise<T>;
  /**
   * Computes once per route what its calls share. `make` gets the settings with the route's `options` applied: an
   * option is checked like the setting of the same name, and a wrong one is dropped with a warning. Other options are
   * for the plugin to read. `baseUrl` comes without a trailing slash.
   */
  perRoute<Settings extends object, T>(
    settings: Settings,
    make: (settings: Settings, options: RouteOptions) => T,
  ): (call: { readonly model: string; readonly options: RouteOptions }) => T;
  /**
   * Makes `auth` from keys that must be exchanged for tokens: a token is kept until shortly before it expires,
   * concurrent calls wait for the same exchange, which may take 20 seconds, and tokens stay out of the log. Create one
   * per provider.
   */
  tokens(source: TokenSource): TokenAuth;
  /** The URL of a path, without a leading slash, below a `baseUrl`, whose query string stays at the end. */
  urlBelow(baseUrl: string, path: string): string;
  /** `authorization: Bearer …`: the usual `auth`. */
  readonly bearer: KeyHeaders;
  /**
   * The object at `path` in a JSON value, by names and list indexes; an object without fields if there is none:
   * `fields(reply, 'choices', 0, 'delta').content`.
   */
  fields(value: unknown, ...path: readonly (string | number)[]): JsonObject;
  /**
   * What an upstream's word for the end of an answer means, in any case, such as `end_turn`, `max_tokens`, `safety`,
   * `tool_calls`: `other` for an unknown word, undefined for
   * none (`''`, `null`, `…_unspecified`). Throws for a word of failure, such as `error` or `timeout`: the fault in
   * `complaint`, if the upstream says more beside the word.
   */
  finishReason(word: unknown, complaint?: unknown): FinishReason | undefined;
  /** The text of a message for text-only models: its text parts, separated by empty lines. */
  textOf(content: readonly Content[]): string;
  /** The headers of one key, for a result that the gateway fetches itself; none if the settings have no key. */
  authorize(auth: KeyHeaders | TokenAuth, keyId?: string): Promise<Readonly<Record<string, string>>>;
  /** A tool call's arguments as an object, for upstreams that take no text: anything else is wrapped in one. */
  argumentsOf(json: string): JsonObject;
  /** Messages of one role in a row as one, for vendors that refuse them. */
  joinTurns(messages: readonly TextMessage[]): readonly TextMessage[];
  /** A schema for vendors that hold an answer to it, and refuse open objects, most limits and unknown formats. */
  closeSchema(schema: JsonObject): JsonObject;
  /** The nearest effort that an upstream takes: none above what is wanted, if there is one, and the least for none. */
  fitEffort(reasoning: Reasoning, taken: readonly string[]): string;
  /** Chat completions, as many upstreams speak them. */
  readonly chat: WireFormat<ChatQuirks>;
  /** The messages format, as some do. */
  readonly message: MessageFormat;
  /** The contents format, as others do. */
  readonly contents: ContentsFormat;
  /** The responses format, the newer one beside chat completions. */
  readonly responses: ResponsesFormat;
  /** Embeddings, as the upstreams with chat completions speak them; vectors may come as numbers or as base64. */
  readonly embeddings: EmbeddingsFormat;
  /** For images. */
  readonly image: HostImage;
  /** For videos that an upstream makes as jobs. */
  readonly video: HostVideo;
  readonly fault: HostFault;
  readonly log: HostLog;
  readonly clock: HostClock;
}

/** A vendor that wants keys exchanged for tokens. */
export interface TokenSource {
  /** Exchanges a key. The signal belongs to no single call: it aborts when nobody waits for the token any more. */
  exchange(key: string, signal: AbortSignal): Promise<Token>;
  /** The headers that carry a token. Default: `authorization: Bearer …`. */
  headers?(token: string): HeaderFields;
}

export interface Token {
  readonly value: string;
  /** Milliseconds since the epoch. A new token is fetched a minute earlier. */
  readonly expiresAt: number;
}

export interface HostReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Identifies the key that was sent, the same in every process, without revealing it. */
  readonly keyId: string | undefined;
  /** What `retry-after` says. */
  readonly retryAfterMs: number | undefined;
}

export interface HostResponse extends HostReply {
  readonly body: HostBody;
}

export interface JsonReply extends HostReply {
  readonly value: unknown;
}

/** The bytes of a reply. Read it once, or drop it. */
export interface HostBody {
  /** The whole body as UTF-8 text. Throws a `protocol` fault beyond `limitBytes` (default 1 MiB). */
  text(limitBytes?: number): Promise<string>;
  /** The whole body as JSON; whole numbers beyond 2^53 come as their text. Throws a `protocol` fault otherwise. */
  json(limitBytes?: number): Promise<unknown>;
  /** The whole body. */
  bytes(limitBytes?: number): Promise<Uint8Array>;
  /** The body as it arrives, for formats that `answer` does not read: arrays of what arrived together. */
  chunks(): AsyncIterable<readonly Uint8Array[]>;
  /** Closes the connection without reading further. */
  drop(): void;
}

export interface Polling<T> {
  /**
   * Polls once. Transport errors (`network`, `timeout`, `rate`, `overloaded`, `server`, `protocol`), and a 400, 404 or
   * 409 that gives no cause (`about`), are tolerated, up to `errorsMax` in a row; other faults end the polling.
   */
  ask(signal: AbortSignal): Promise<Poll<T>>;
  /** The first interval; it grows slowly, up to fivefold, and twice as fast after errors. */
  readonly everyMs: number;
  /** Default 5. */
  readonly errorsMax?: number;
  readonly signal: AbortSignal;
}

/** The result of one poll: the value, or nothing yet. */
export type Poll<T> = { readonly value: T } | { readonly value?: never; readonly retryAfterMs?: number | undefined };

export interface HostLog {
  /** Something odd in an upstream's answer that did not fail the call; never its words, which may quote a prompt. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface HostClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
