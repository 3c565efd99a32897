// The part of the contract about requests to an upstream: types only.

/** The `options` of the catalog's route, which override settings. The same object in every call. */
export type RouteOptions = Readonly<Record<string, unknown>>;

export type HeaderFields = Readonly<Record<string, string>>;

/** The headers that carry a key. A promise if the key has to be exchanged first: `host.tokens` does that. */
export type KeyHeaders = (key: string, signal: AbortSignal) => HeaderFields | Promise<HeaderFields>;

/** What `host.tokens` makes: a request answered with 401 is sent once more, with a new token. */
export interface TokenAuth {
  (key: string, signal: AbortSignal): Promise<HeaderFields>;
  /** For the host: the token in these headers was refused before it expired. */
  refuse(key: string, headers: HeaderFields): void;
}

/** The headers of replies in which a vendor says how much of one limit a key has left, and until when. */
export interface LimitHeaders {
  /** The name, in lower case, of the header with what is left: a number. */
  readonly remaining: string;
  /**
   * The name of the header that says when there is more: a date, seconds since the epoch or from now, or a duration from
   * now (`1m30s`, `250ms`).
   */
  readonly reset: string;
}

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Adds the headers of one of the settings' keys (`apiKey`, a string or a list), in rotation; not called without keys.
   */
  readonly auth?: KeyHeaders | TokenAuth;
  /** The key that an earlier reply was obtained with, for a job that only its own account sees. */
  readonly keyId?: string | undefined;
  /**
   * The call's `conversation`: its requests go by the same key, which may have its prompt cached, instead of taking turns.
   */
  readonly conversation?: string | undefined;
  /**
   * `JsonBody` and `Multipart` set their own content type. A call that may have images uses one of the two, unless a
   * signature has to be made of the body.
   */
  readonly body?: string | Uint8Array | JsonBody | Multipart;
  readonly signal: AbortSignal;
  /** For `answer`: what the request asks for is paid once it has arrived, so it is never sent a second time. */
  readonly once?: boolean;
  /** For `answer`: the maximum length of one event with inline images. Default 1 Mi characters, at most 32 Mi. */
  readonly eventCharsMax?: number;
  /**
   * For `answer`: how the bytes of the reply are cut into values. Absent, it is detected: events, lines or one
   * document. Named, nothing else is read: server-sent `events`, one JSON value in each of the `lines`, one `json`
   * document, or the binary messages of an `aws-event-stream`. A function does it for any other framing; make a new one
   * for each request, because it keeps what is incomplete.
   */
  readonly framing?: 'events' | 'lines' | 'json' | 'aws-event-stream' | Framing;
}

/**
 * Turns the next bytes of a reply into the frames that they complete; `undefined` is the end of the body. What it
 * throws fails the call.
 */
export type Framing = (chunk: Uint8Array | undefined) => readonly Frame[];

export interface Frame {
  /** The value, or its JSON; `[DONE]` ends the answer. */
  readonly data: string | JsonObject;
  /** What the reader gets as the name of the event; of an error, its code. */
  readonly name?: string;
  /** True if it says that the answer has failed. */
  readonly isError?: boolean;
}

/**
 * Makes a JSON body; called each time the request is sent. `base64(bytes)` stands for the base64 of bytes inside one of
 * its strings: it is encoded piece by piece while the body is sent, so that no copy of an image is kept.
 */
export type JsonBody = (base64: Base64) => object;

export type Base64 = (bytes: Uint8Array) => string;

/** A body of `multipart/form-data`: the fields, then the files, in order. */
export interface Multipart {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly MultipartFile[];
}

export interface MultipartFile {
  /** The field's name; several files may share one. */
  readonly field: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A JSON object in a reply. */
export type JsonObject = Readonly<Record<string, unknown>>;
