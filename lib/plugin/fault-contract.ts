// The part of the contract that names what goes wrong upstream: types only.

/**
 * What went wrong upstream:
 * `request` the upstream refuses this very request (400, 413, 422): sending it again or elsewhere cannot help;
 * `missing` it does not know what the route asks for: model, path or parameter (404 whatever its body), the catalog's
 * mistake;
 * `auth` our key or its rights (401, 403); `quota` our money or quota there (402, 429 by quota);
 * `rate` too many requests (429); `overloaded` (503, 529); `server` (other 5xx);
 * `network` no connection, reset; `timeout` no answer in time; `protocol` an answer that cannot be read.
 */
export type UpstreamFaultKind =
  | 'request'
  | 'missing'
  | 'auth'
  | 'quota'
  | 'rate'
  | 'overloaded'
  | 'server'
  | 'network'
  | 'timeout'
  | 'protocol';

/** Why a `request` is refused: too long for the model, the content rules, an unreadable picture. */
export type RefusalCause = 'length' | 'content' | 'picture';

/** What is known about a fault besides its kind. */
export interface FaultFacts {
  /** The HTTP status, of the reply or named in it. */
  readonly status?: number;
  /** For kind `request`: the client is then told what to mend. */
  readonly about?: RefusalCause;
  /** When the upstream wants to be asked again at the earliest. */
  readonly retryAfterMs?: number;
  /** True when the request certainly did not reach the upstream. */
  readonly unsent?: boolean;
}

/** The error a provider throws; `detail` is for the operator's log and never reaches a client. */
export interface UpstreamFault extends Error, FaultFacts {
  readonly name: 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  readonly detail: string;
}

/**
 * Codes in an upstream's complaints, separated by white space, in lower case: `{ quota: '1113 1308', content: '1301' }`.
 * `length`, `content` and `picture` are causes of a `request`.
 */
export type FaultWords = Readonly<Partial<Record<UpstreamFaultKind | RefusalCause, string>>>;

/**
 * Texts in an upstream's complaints, for vendors that have no codes: `{ content: /\bnsfw\b/i }`. They come after codes
 * and before the texts that the host knows, and count where no status says more: without one, with a 400 and a 422.
 */
export type FaultTexts = Readonly<Partial<Record<UpstreamFaultKind | RefusalCause, RegExp>>>;

export interface HostFault {
  /** A fault of a known kind; `detail` is what the upstream said, shortened and without secrets. */
  make(kind: UpstreamFaultKind, detail: string, facts?: FaultFacts): UpstreamFault;
  /** The kind that an HTTP status stands for by itself. */
  kindOfStatus(status: number): UpstreamFaultKind;
  /** The fault of a reply with an error status; its body tells more than the status. */
  ofReply(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    text: string,
  ): UpstreamFault;
  /**
   * The fault that a JSON value in a reply describes, in any of the shapes servers use; undefined for none.
   * `certain` says that it is an error, whatever its shape: then there always is a fault.
   */
  ofComplaint(value: unknown, certain?: false): UpstreamFault | undefined;
  ofComplaint(value: unknown, certain: true): UpstreamFault;
}
