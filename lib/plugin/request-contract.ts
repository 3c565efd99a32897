// The part of the contract that says what a request to an upstream is made of: types only.

/** The `options` of the catalog's route: what the route overrides in the settings. The same object in every call. */
export type RouteOptions = Readonly<Record<string, unknown>>;

export type HeaderFields = Readonly<Record<string, string>>;

/** The headers that carry a key. A promise where the key has to be exchanged first: `host.tokens` does that. */
export type KeyHeaders = (key: string, signal: AbortSignal) => HeaderFields | Promise<HeaderFields>;

/** What `host.tokens` makes: a request that is answered 401 is sent once more, with a new token. */
export interface TokenAuth {
  (key: string, signal: AbortSignal): Promise<HeaderFields>;
  /** For the host: the token of these headers was refused before its end. */
  refuse(key: string, headers: HeaderFields): void;
}

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Adds the headers of one of the settings' keys (`apiKey`, a string or a list), which take turns; without keys not called. */
  readonly auth?: KeyHeaders | TokenAuth;
  /** The key that an earlier reply was got with, for a job that only its own account sees. */
  readonly keyId?: string | undefined;
  /** `JsonBody` and `Multipart` bring their own content type. A call that may have pictures takes one of the two. */
  readonly body?: string | Uint8Array | JsonBody | Multipart;
  readonly signal: AbortSignal;
  /** For `answer`: how long one event may be where a picture comes inline. Default 1 Mi characters, at most 32 Mi. */
  readonly eventCharsMax?: number;
}

/**
 * Makes a body of JSON; called whenever the request is sent. `base64(bytes)` stands for the base64 of bytes inside a text
 * of it: it is made piece by piece while the body is sent, so that no copy of a picture stands around.
 */
export type JsonBody = (base64: Base64) => object;

export type Base64 = (bytes: Uint8Array) => string;

/** A body of `multipart/form-data`: the fields, then the files, in order. */
export interface Multipart {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly MultipartFile[];
}

export interface MultipartFile {
  /** The name of the field; several files may share one. */
  readonly field: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A JSON object in a reply. */
export type JsonObject = Readonly<Record<string, unknown>>;
