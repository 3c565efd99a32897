// The contract between the gateway and a provider plugin: types only, so that a plugin imports nothing at run time.
import type Joi from 'joi';
import type { FinishReason, StreamPart } from '../stream/part.ts';
import type { ServerSentEvent } from '../stream/sse.ts';

export type { FinishReason, ServerSentEvent, StreamPart };

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
  /** Makes a provider from checked settings. Pure: no I/O, no timers. Called again when the settings change. */
  create(settings: Settings, host: Host): Provider;
}

/** One upstream account of one vendor. A capability that is absent is one the vendor does not sell. */
export interface Provider {
  /**
   * Starts one text answer and yields its parts: arrays of all parts that arrived together, in the grammar
   * `start, (block-start, block-delta*, block-end)*, finish`, with `usage` anywhere. Ends after the upstream's end.
   * Every await takes `signal`; aborting it closes the upstream connection at once. Throws what `host.fault` makes.
   */
  text?(call: TextCall, signal: AbortSignal): AsyncIterable<readonly StreamPart[]>;
  /** Frees what the provider holds; called once, after its last call ended. */
  close?(): Promise<void>;
}

/** A text call, free of any wire format. */
export interface TextCall {
  /** The upstream's own name of the model: the `model` of the catalog's route. */
  readonly model: string;
  /** The system prompt; absent when there is none. */
  readonly system?: string;
  /** History and prompt, oldest first; never empty. */
  readonly messages: readonly TextMessage[];
  /** Most output tokens the answer may have, reasoning included: 1 to 32768. */
  readonly maxTokens: number;
  /** The `options` of the catalog's route: what the route overrides in the settings. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface TextMessage {
  readonly role: 'user' | 'assistant';
  /** Never empty. */
  readonly content: readonly TextContent[];
}

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/**
 * What went wrong upstream:
 * `request` the upstream refuses this very request (400, 404, 413, 422): sending it again cannot help;
 * `auth` our key or its rights (401, 403); `quota` our money or quota there (402, 429 by quota);
 * `rate` too many requests (429); `overloaded` (503, 529); `server` (other 5xx);
 * `network` no connection, reset; `timeout` no answer in time; `protocol` an answer that does not read.
 */
export type UpstreamFaultKind =
  | 'request'
  | 'auth'
  | 'quota'
  | 'rate'
  | 'overloaded'
  | 'server'
  | 'network'
  | 'timeout'
  | 'protocol';

/** The error a provider throws; `detail` is for the operator's log and never reaches a client. */
export interface UpstreamFault extends Error {
  readonly name: 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  readonly status?: number;
  readonly detail: string;
}

/** What the gateway hands to a plugin. */
export interface Host {
  /** The name of the upstream in the catalog. */
  readonly upstream: string;
  readonly http: HostHttp;
  /**
   * Sends a request and reads the lines of its reply with `reader`: all that `text` returns, for most upstreams. Nothing
   * is sent before the first `next`.
   */
  answer(url: string, init: HostRequest, reader: ReplyReader): AsyncIterable<readonly StreamPart[]>;
  /** The body of a reply as server-sent events, decoded on bytes; arrays hold all events that arrived together. */
  events(body: HostBody, signal: AbortSignal): AsyncIterable<readonly ServerSentEvent[]>;
  /** The body of a reply as lines of JSON text, one value each; empty lines are passed over. */
  lines(body: HostBody, signal: AbortSignal): AsyncIterable<readonly string[]>;
  readonly fault: HostFault;
  readonly log: HostLog;
  readonly clock: HostClock;
}

/** HTTP limited to the origins that the settings name: `baseUrl` and every other setting whose name ends in `Url`. */
export interface HostHttp {
  /**
   * Sends one request; never follows redirects, never inflates. Resolves when the headers have arrived.
   * Throws a `network` or `timeout` fault. `url` must be on an allowed origin.
   */
  request(url: string, init: HostRequest): Promise<HostResponse>;
}

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

export interface HostResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: HostBody;
}

/** The bytes of a reply. Read it with `text`, `json`, `host.events` or `host.lines`, once, or drop it. */
export interface HostBody {
  /** The whole body as UTF-8 text. Throws a `protocol` fault beyond `limitBytes` (default 1 MiB). */
  text(limitBytes?: number): Promise<string>;
  /** The whole body as JSON. Throws a `protocol` fault when it is none. */
  json(limitBytes?: number): Promise<unknown>;
  /** Closes the connection without reading on. */
  drop(): void;
}

/** What a plugin makes of one reply: lines go in, parts come out. Synchronous; no method throws. */
export interface ReplyReader {
  /** All lines that arrived together → all parts they bring. */
  push(lines: readonly string[]): readonly StreamPart[];
  /** The body ended by itself: the parts that were kept back until then. */
  end(): readonly StreamPart[];
  /** The body broke off, with this error. Sets `failure` unless the answer was complete. */
  break(error: unknown): readonly StreamPart[];
  /** The reply's status is no success: the fault for it. `text` is empty when the body did not arrive whole. */
  refuse(status: number, text: string): UpstreamFault;
  /** True when nothing that follows counts: the rest of the body is dropped. */
  readonly done: boolean;
  /** Set when the reply turned out to have failed; thrown after the parts before it. */
  readonly failure: unknown;
}

export interface HostFault {
  /** A fault of a known kind; `detail` says what the upstream said, shortened. */
  make(kind: UpstreamFaultKind, detail: string, status?: number): UpstreamFault;
  /** The kind that an HTTP status stands for by itself. */
  kindOfStatus(status: number): UpstreamFaultKind;
}

export interface HostLog {
  /** Something odd in an upstream's answer that did not fail the call. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface HostClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
