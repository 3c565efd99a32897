// The errors of upstreams: how a provider makes them, and what a client may see of them.
import { type Fault, type FaultCode, fault, isFault } from '../faults.ts';
import type { UpstreamFault, UpstreamFaultKind } from './contract.ts';

/** Enough of an upstream's words to find the cause. */
const DETAIL_CHARS_MAX = 500;

class UpstreamError extends Error implements UpstreamFault {
  override readonly name = 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  readonly detail: string;
  declare readonly status?: number;

  constructor(kind: UpstreamFaultKind, detail: string, status?: number) {
    super(`${kind}${status === undefined ? '' : ` (${status})`}: ${detail}`);
    this.kind = kind;
    this.detail = detail;
    if (status !== undefined) this.status = status;
  }
}

/** A fault of an upstream; its detail is made one short line. */
export function upstreamFault(kind: UpstreamFaultKind, detail: string, status?: number): UpstreamFault {
  return new UpstreamError(kind, shorten(detail), status);
}

function shorten(detail: string): string {
  const line = detail
    .slice(0, DETAIL_CHARS_MAX * 4)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length > DETAIL_CHARS_MAX ? `${line.slice(0, DETAIL_CHARS_MAX)}…` : line;
}

const CODES = {
  request: 'upstream_refused',
  timeout: 'upstream_timeout',
  auth: 'upstream_failed',
  quota: 'upstream_failed',
  rate: 'upstream_failed',
  overloaded: 'upstream_failed',
  server: 'upstream_failed',
  network: 'upstream_failed',
  protocol: 'upstream_failed',
} satisfies Record<UpstreamFaultKind, FaultCode>;

/** By its shape, not its class: the maker may come from another copy of this module. */
export function isUpstreamFault(value: unknown): value is UpstreamFault {
  return (
    value instanceof Error && value.name === 'UpstreamFault' && 'kind' in value && Object.hasOwn(CODES, `${value.kind}`)
  );
}

/** The kind that an HTTP status stands for by itself; one that is no error does not belong where it came. */
export function kindOfStatus(status: number): UpstreamFaultKind {
  if (status < 400 || status > 599) return 'protocol';
  switch (status) {
    case 401:
    case 403:
      return 'auth';
    case 402:
      return 'quota';
    case 408:
      return 'timeout';
    case 429:
      return 'rate';
    case 503:
    case 529:
      return 'overloaded';
    default:
      return status < 500 ? 'request' : 'server';
  }
}

/** What a provider threw → what a client sees; the original stays as the cause, for the log. */
export function toClientFault(error: unknown): Fault {
  if (isFault(error)) return error;
  return fault(isUpstreamFault(error) ? CODES[error.kind] : 'upstream_failed', {}, error);
}

/** Whether only the operator can end it: a wrong key, or no money at the upstream. */
export function isOperatorAlert(kind: UpstreamFaultKind): boolean {
  return kind === 'auth' || kind === 'quota';
}
