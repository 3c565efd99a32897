// What an upstream's complaint means for us: the kind its type, status and words stand for.
import type { HostFault, UpstreamFault, UpstreamFaultKind } from '../../lib/plugin/contract.ts';

/** An error as an upstream words it. */
export interface Complaint {
  readonly message: string;
  /** Its types and codes in lower case. */
  readonly words: readonly string[];
  /** An HTTP status named in the body. */
  readonly status?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The documented types, then those of compatible endpoints. What only the operator can mend is `auth`: a model's name is
 * in the catalog. 1113, 1308 and 1309 are GLM's codes for no money, 1302 and 1305 for too much traffic.
 */
const KINDS = new Map<string, UpstreamFaultKind>([
  ['authentication_error', 'auth'],
  ['permission_error', 'auth'],
  ['not_found_error', 'auth'],
  ['billing_error', 'quota'],
  ['rate_limit_error', 'rate'],
  ['overloaded_error', 'overloaded'],
  ['timeout_error', 'timeout'],
  ['request_too_large', 'request'],
  ['invalid_authentication_error', 'auth'],
  ['resource_not_found_error', 'auth'],
  ['model_not_found', 'auth'],
  ['invalid_api_key', 'auth'],
  ['insufficient_quota', 'quota'],
  ['insufficient_user_quota', 'quota'],
  ['insufficient_balance_error', 'quota'],
  ['exceeded_current_quota_error', 'quota'],
  ['1113', 'quota'],
  ['1308', 'quota'],
  ['1309', 'quota'],
  ['1302', 'rate'],
  ['rate_limit_reached_error', 'rate'],
  ['throttlingexception', 'rate'],
  ['resource_exhausted', 'rate'],
  ['1305', 'overloaded'],
  ['engine_overloaded_error', 'overloaded'],
  ['serviceunavailableexception', 'overloaded'],
]);

const REFUSALS = new Set(['invalid_request_error', 'validationexception', 'invalid_argument']);

/** Anthropic answers 400 when its credit is used up. */
const MONEY =
  /credit balance|insufficient[_ -]?(balance|quota|credit|fund)|usage limits|billing|arrears|recharge|top up|余额|欠费|充值/i;
const SET_UP =
  /(api[ _-]?key|access token).{0,60}(invalid|incorrect|not valid|expired)|(invalid|incorrect|expired).{0,20}(api[ _-]?key|access token)|model\b.{0,120}(not found|not exist|not available|not supported)|unknown model|^not found$/i;

/** Makes the faults of one upstream; the host takes secrets out of what they say and shortens it. */
export class Faults {
  readonly #host: HostFault;

  constructor(host: HostFault) {
    this.#host = host;
  }

  /** The fault of a reply with an error status. */
  ofReply(status: number, body: string): UpstreamFault {
    const complaint = complaintOf(parse(body)) ?? { message: body, words: [] };
    return this.#make(this.#kindOf(complaint, status), complaint, status);
  }

  /** The fault of an error inside a reply that began well. */
  ofComplaint(complaint: Complaint): UpstreamFault {
    return this.#make(this.#kindOf(complaint, complaint.status), complaint, complaint.status);
  }

  ofKind(kind: UpstreamFaultKind, message: string): UpstreamFault {
    return this.#make(kind, { message, words: [] });
  }

  #make(kind: UpstreamFaultKind, { message, words }: Complaint, status?: number): UpstreamFault {
    const said = [...new Set(words)].join(' ');
    return this.#host.make(kind, said === '' ? message : `${said}: ${message}`, status);
  }

  #kindOf({ message, words }: Complaint, status: number | undefined): UpstreamFaultKind {
    const text = message.slice(0, TEXT_CHARS);
    const isRefusal = status === undefined || status < 500;
    if (isRefusal && MONEY.test(text)) return 'quota';
    for (const word of words) {
      const kind = KINDS.get(word);
      if (kind !== undefined) return kind;
    }
    if (isRefusal && status !== 429 && SET_UP.test(text)) return 'auth';
    if (status !== undefined) return this.#host.kindOfStatus(status);
    return words.some((word) => REFUSALS.has(word)) ? 'request' : 'server';
  }
}

const TEXT_CHARS = 1000;
const EXCERPT_CHARS = 2000;

/** Whether a value says that it is an error and no part of an answer. */
export function isComplaint(value: Fields): boolean {
  if (value.type === 'error' || value.success === false || value.error) return true;
  return value.type === undefined && ['code', 'message', 'msg', 'detail'].some((name) => (value[name] ?? '') !== '');
}

/** The error in a JSON value, documented shape or not; undefined when the value is no object. */
export function complaintOf(value: unknown): Complaint | undefined {
  const outer = fieldsOf(Array.isArray(value) ? value[0] : value);
  if (!outer) return undefined;
  const inner = outer.error ?? outer.detail;
  const error = fieldsOf(inner) ?? outer;
  const message =
    textOf(error.message ?? error.msg) ?? textOf(inner) ?? textOf(outer.message ?? outer.msg) ?? JSON.stringify(outer);
  const codes = [error.type, error.code, error.status, outer.code, error.http_code, outer.status]
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map((code) => `${code}`.toLowerCase());
  const status = codes.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  const words = codes.filter((code) => code !== 'error' && code !== '' && code.length < 100);
  return { message: message.slice(0, EXCERPT_CHARS), words, ...(status !== undefined && { status }) };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
