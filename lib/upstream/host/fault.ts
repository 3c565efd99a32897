// Upstream faults, and the kinds that statuses stand for.
import type { FaultFacts, RefusalCause, UpstreamFault, UpstreamFaultKind } from '../contract/fault.ts';

/** Enough of an upstream's words to find the cause. */
const DETAIL_CHARS_MAX = 500;

class UpstreamError extends Error implements UpstreamFault {
  override readonly name = 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  readonly detail: string;
  declare readonly status?: number;
  declare readonly about?: RefusalCause;
  declare readonly retryAfterMs?: number;
  declare readonly unsent?: boolean;

  constructor(kind: UpstreamFaultKind, detail: string, { status, about, retryAfterMs, unsent }: FaultFacts) {
    super(`${kind}${status === undefined ? '' : ` (${status})`}: ${detail}`);
    this.kind = kind;
    this.detail = detail;
    if (status !== undefined) this.status = status;
    if (about !== undefined) this.about = about;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    if (unsent !== undefined) this.unsent = unsent;
  }
}

/** An upstream fault; its detail is shortened to one line. */
export function upstreamFault(kind: UpstreamFaultKind, detail: string, facts: FaultFacts = {}): UpstreamFault {
  return new UpstreamError(kind, shorten(detail), facts);
}

/** An upstream may repeat an image it was sent; none belongs in the log. */
const INLINE_BYTES = /data:[\w/+.-]{1,80};base64,[\w+/\\=-]*|[\w+/\\-]{64,}={0,2}/g;

export function dropInlineBytes(text: string): string {
  return text.replace(INLINE_BYTES, '[bytes]');
}

function shorten(detail: string): string {
  const line = dropInlineBytes(detail)
    .slice(0, DETAIL_CHARS_MAX * 4)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length > DETAIL_CHARS_MAX ? `${line.slice(0, DETAIL_CHARS_MAX)}…` : line;
}

/** Every kind of fault. */
export const FAULT_KINDS: readonly UpstreamFaultKind[] = [
  'request',
  'missing',
  'auth',
  'quota',
  'rate',
  'overloaded',
  'server',
  'network',
  'timeout',
  'protocol',
];

/** Every cause of a refusal that a client can fix. */
export const REFUSAL_CAUSES: readonly RefusalCause[] = ['length', 'content', 'image'];

export function isCause(name: string): name is RefusalCause {
  return (REFUSAL_CAUSES as readonly string[]).includes(name);
}

/** By shape, not class: it may come from another copy of this module. */
export function isUpstreamFault(value: unknown): value is UpstreamFault {
  if (!(value instanceof Error) || value.name !== 'UpstreamFault' || !('kind' in value)) return false;
  return (FAULT_KINDS as readonly unknown[]).includes(value.kind);
}

/** The kind that an HTTP status implies by itself; a non-error status does not belong there. */
export function classifyStatus(status: number): UpstreamFaultKind {
  if (status < 400 || status > 599) return 'protocol';
  switch (status) {
    case 401:
    case 403:
      return 'auth';
    case 402:
      return 'quota';
    case 404:
    case 405:
    case 410:
      return 'missing';
    case 408:
      return 'timeout';
    // Misdirected, a failed model behind it, too early, cancelled: of the upstream itself.
    case 421:
    case 424:
    case 425:
    case 499:
      return 'server';
    case 429:
      return 'rate';
    case 503:
    case 529:
      return 'overloaded';
    default:
      return status < 500 ? 'request' : 'server';
  }
}
