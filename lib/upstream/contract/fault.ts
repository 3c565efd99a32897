// The part of the contract that names upstream faults: types only.

/**
 * What went wrong upstream: `request`: the upstream refuses this very request (400, 413, 422), so retrying or another
 * route cannot help; `missing`: it does not know what the route asks for, model, path or parameter (404 whatever its
 * body): a mistake in the catalog; `auth`: our key or its rights (401, 403); `quota`: our money or quota there (402,
 * 429 by quota); `rate`: too many requests (429); `overloaded` (503, 529); `server` (other 5xx); `network`: no
 * connection, reset; `timeout`: no answer in time; `protocol`: an unreadable answer.
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

/** Why a `request` is refused: too long for the model, content rules, an unreadable image. */
export type RefusalCause = 'length' | 'content' | 'image';

/** What is known about a fault besides its kind. */
export interface FaultFacts {
  /** The HTTP status, from the reply or named in its body. */
  readonly status?: number;
  /** For kind `request`: tells the client what to fix. */
  readonly about?: RefusalCause;
  /** The earliest time at which the upstream wants to be asked again. */
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
 * Codes in an upstream's error messages, separated by white space, in lower case: `{ quota: '1113 1308', content:
 * '1301' }`. `length`, `content` and `image` are causes of a `request`.
 */
export type FaultWords = Readonly<Partial<Record<UpstreamFaultKind | RefusalCause, string>>>;

/**
 * Texts in an upstream's error messages, for vendors without codes: `{ content: /\bnsfw\b/i }`. They are matched after
 * codes and before the texts that the host knows, and only if the status does not say more: without one, with a 400 and
 * a 422. With a 429 those of `quota` are matched, for it is `rate` otherwise.
 */
export type FaultTexts = Readonly<Partial<Record<UpstreamFaultKind | RefusalCause, RegExp>>>;

/**
 * Statuses, 400 to 599, that this vendor uses in a way of its own: `{ 498: 'auth', 424: 'server' }`. They count after its
 * own codes and texts, and before everything that the host knows.
 */
export type FaultStatuses = Readonly<Record<number, UpstreamFaultKind | RefusalCause>>;

export interface HostFault {
  /** A fault of a known kind; `detail` is what the upstream said, shortened and without secrets. */
  make(kind: UpstreamFaultKind, detail: string, facts?: FaultFacts): UpstreamFault;
  /** The kind that an HTTP status implies by itself. */
  kindOfStatus(status: number): UpstreamFaultKind;
  /** The fault of a reply with an error status, taking its body into account. */
  ofReply(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    text: string,
  ): UpstreamFault;
  /**
   * The fault described by a JSON value in a reply, in any of the shapes servers use; undefined if there is none.
   * `certain`: it is an error whatever its shape, so there always is a fault.
   */
  ofComplaint(value: unknown, certain?: false): UpstreamFault | undefined;
  ofComplaint(value: unknown, certain: true): UpstreamFault;
}
