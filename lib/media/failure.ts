// Why a fetch failed. Messages of Node and undici contain hosts and addresses, so clients only see these reasons.

export type FailureReason =
  | 'not-public'
  /** The name has no address, or the name servers do not respond. */
  | 'unknown-host'
  /** No connection, or a certificate for another name. */
  | 'no-connection'
  /** The connection broke, or the reply is not HTTP. */
  | 'broken'
  /** The body ended by itself, before the file did. */
  | 'cut-short'
  | 'slow'
  | 'status'
  | 'redirects'
  | 'encoded'
  | 'too-large'
  | 'unsupported'
  | 'no-memory';

export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  readonly reason: FailureReason;
  /** The HTTP status, if the reason is `status`. */
  readonly status: number | undefined;

  constructor(reason: FailureReason, detail: { readonly cause?: unknown; readonly status?: number } = {}) {
    super(reason + describe(detail));
    this.reason = reason;
    this.status = detail.status;
  }
}

/** Error codes of Node, OpenSSL and undici; other values might contain a part of the URL. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;

function describe({ cause, status }: { readonly cause?: unknown; readonly status?: number }): string {
  if (status !== undefined) return ` ${status}`;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return CODE.test(code) ? ` (${code})` : '';
}

/** Runs a step of a fetch; errors other than failures and aborts become a failure with this reason. */
export async function failAs<T>(reason: FailureReason, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    signal.throwIfAborted();
    throw cause instanceof FetchFailure ? cause : new FetchFailure(reason, { cause });
  }
}
