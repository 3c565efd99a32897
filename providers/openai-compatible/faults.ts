// What an upstream's complaint means for us: the shapes of its error bodies and the kind its code, type, status and words
// stand for.
import type { HostFault, UpstreamFault, UpstreamFaultKind } from '../../lib/plugin/contract.ts';

/** An error as an upstream words it, out of whatever body it came in. */
export interface Complaint {
  readonly message: string;
  /** Its codes and types in lower case. */
  readonly words: readonly string[];
  /** An HTTP status named in the body. */
  readonly status?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whose fault it is, by words that mean one thing wherever they come from. `auth` stands for everything the operator has
 * to put right: the key, its rights, a model's name, a parameter's style. Numbers are codes of: 1113 to 1309 GLM, 11200
 * Spark, 20012 to 30011 SiliconFlow, `base:` MiniMax.
 */
const WORDS: Readonly<Partial<Record<UpstreamFaultKind, string>>> = {
  quota: `insufficient_quota insufficient_user_quota insufficient_balance insufficient_balance_error insufficient_credits
    billing_error billing_not_active billing_hard_limit_reached exceeded_current_quota_error quota_exceeded
    payment_required not_enough_balance arrearage overduepayment accountoverdueerror allocationquota.freetieronly
    pre_consume_token_quota_failed 1113 1304 1308 1309 30001 30011 base:1008 base:2056`,
  auth: `invalid_api_key invalid_iam_token invalid_authentication_error incorrect_api_key_error authentication_error
    authentication_failed failed_to_auth unauthorized unauthenticated permission_error permission_denied permission_denied_error
    access_denied access_deny access_terminated_error account_deactivated model_not_found model_not_exist model_not_available
    modelnotfound unsupported_model deploymentnotfound invalidendpointormodel.notfound resource_not_found_error
    invalid_model unsupported_parameter unknown_parameter 1211 11200 20012 base:1004 base:2049`,
  rate: `rate_limit_exceeded rate_limit_error rate_limit_reached_error rate_limited rate_limit too_many_requests
    resource_exhausted throttling throttling.ratequota throttling.allocationquota throttled limit_requests
    tokens_per_minute token_limit_exceeded requests tokens 1302 1303 base:1002 base:1039 base:1041`,
  overloaded: `overloaded overloaded_error server_overloaded engine_overloaded engine_overloaded_error model_overloaded
    service_unavailable service_unavailable_error service_not_available unavailable capacity_exceeded serveroverloaded provider_overloaded
    insufficient_system_resource no_available_channel model_not_ready unavailable_error 1305 base:1033`,
  timeout: 'timeout timeout_error request_timeout gateway_timeout deadline_exceeded base:1001',
  request: `context_length_exceeded exceed_context_size_error content_filter content_filter_error content_policy_violation
    data_inspection_failed datainspectionfailed responsibleaipolicyviolation request_too_large string_above_max_length
    moderation 1301 base:1026 base:1027 base:2013`,
};

/** From the weightiest: an answer that says both quota and rate limit is about money. */
const WEIGHT: readonly UpstreamFaultKind[] = ['quota', 'auth', 'rate', 'overloaded', 'timeout', 'request'];

const KIND_OF_WORD = new Map(
  WEIGHT.flatMap((kind) => (WORDS[kind] ?? '').split(/\s+/).map((word): [string, UpstreamFaultKind] => [word, kind])),
);

/** Words that say little: they decide only where no status does. */
const VAGUE_REFUSALS = new Set(
  `invalid_request_error invalid_argument invalidparameter bad_request bad_request_error badrequesterror validation_error
  validation invalid_value not_found not_found_error notfounderror`.split(/\s+/),
);

const MONEY =
  /insufficient[_ -]?(balance|quota|credit|fund)|credit balance|(not enough|out of|used all|add|more) (available )?credits|exceeded your current quota|spending limit|billing|arrears|overdue|in good standing|recharge|top up|余额|欠费|充值/i;
const KEY =
  /(api[ _-]?key|access token|credential).{0,60}(invalid|incorrect|not valid|expired|missing|disabled)|(invalid|incorrect|expired|missing).{0,20}(api[ _-]?key|access token)/i;
const NO_MODEL =
  /(model|deployment|endpoint)\b.{0,120}(not found|not exist|not available|no longer available|not supported|deprecated|decommissioned)|(unknown|unsupported|no such) model|no endpoints found|^not found$|page not found|cannot post|invalid url|模型不存在/i;

/** What only the words of a refusal tell: a filter, or too long a text, under the status of another thing. */
const REFUSED = /was flagged|content policy|context (length|window|size)|too long\b/i;

/** Groq's status for a full flexible tier. */
const CAPACITY_EXCEEDED = 498;

/** Makes the faults of one upstream; the host takes secrets out of what they say and shortens it. */
export class Faults {
  readonly #host: HostFault;

  constructor(host: HostFault) {
    this.#host = host;
  }

  /** The fault of a reply with an error status. */
  ofReply(status: number, body: string): UpstreamFault {
    const complaint = complaintOf(parse(body), true) ?? { message: body, words: [] };
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
    const kinds = words.map((word) => KIND_OF_WORD.get(word));
    const named = WEIGHT.find((kind) => kinds.includes(kind));
    if (named !== undefined) return named;
    // Many servers file their operator's mistakes as a bad request: what they say tells more than the status.
    const told = status === undefined || status < 500 ? kindOfText(message) : undefined;
    if (told !== undefined && (status !== 429 || told === 'quota')) return told;
    if (status === CAPACITY_EXCEEDED) return 'overloaded';
    if (status !== undefined) return this.#host.kindOfStatus(status);
    return words.some((word) => VAGUE_REFUSALS.has(word)) ? 'request' : 'server';
  }
}

function kindOfText(message: string): UpstreamFaultKind | undefined {
  const text = message.slice(0, 1000);
  if (MONEY.test(text)) return 'quota';
  if (KEY.test(text) || NO_MODEL.test(text)) return 'auth';
  return REFUSED.test(text) ? 'request' : undefined;
}

/**
 * The error in a JSON value, in any of the shapes servers use; undefined when there is none. `sure` says that it must be
 * one: a message alone is then enough.
 */
export function complaintOf(value: unknown, sure = false): Complaint | undefined {
  if (typeof value === 'string') return sure ? { message: value, words: [] } : undefined;
  if (Array.isArray(value)) return value.length > 0 ? complaintOf(value[0], sure) : undefined;
  const fields = fieldsOf(value);
  if (!fields) return undefined;
  for (const key of ['error', 'errors', 'detail', 'Error', 'ErrorMsg'] as const) {
    const inner = fields[key];
    if (isFilled(inner)) return within(inner, fields);
  }
  const base = fieldsOf(fields.base_resp);
  if (base && base.status_code !== 0 && base.status_code !== undefined) {
    return { message: textOf(base.status_msg) ?? 'no message', words: [`base:${base.status_code}`] };
  }
  return saysFailure(fields) || sure ? within(fields, fields) : undefined;
}

function saysFailure(fields: Fields): boolean {
  if (fields.type === 'error' || fields.object === 'error' || fields.success === false) return true;
  if (fields.error_code !== undefined || fields.error_msg !== undefined) return true;
  if (typeof fields.status === 'number' && isErrorStatus(fields.status)) return true;
  const code = fields.code ?? undefined;
  if (code !== undefined) return !HARMLESS_CODES.has(`${code}`.toLowerCase());
  return fields.choices === undefined && textOf(fields.message ?? fields.msg) !== undefined;
}

const HARMLESS_CODES = new Set(['', '0', '200', '20000', 'ok', 'success']);

/** Reads the error object and, for what it lacks, the object around it. */
function within(inner: unknown, outer: Fields): Complaint {
  const error: Fields = fieldsOf(Array.isArray(inner) ? inner[0] : inner) ?? {};
  const message =
    textOf(
      error.message ?? error.msg ?? error.error_msg ?? error.details ?? error.Message ?? error.Msg ?? error.title,
    ) ??
    textOf(inner) ??
    textOf(outer.message ?? outer.msg) ??
    JSON.stringify(inner ?? null).slice(0, EXCERPT_CHARS);
  const metadata = fieldsOf(error.metadata);
  const codes = [error.code, error.type, error.status, error.error_code, error.http_code, error.Code];
  const others = [metadata?.error_type, outer.code, outer.type, outer.error_type, outer.error_code, outer.status];
  const all = [...codes, ...others].filter((code) => typeof code === 'string' || typeof code === 'number');
  const words = all.map((code) => `${code}`.toLowerCase()).filter((word) => !SILENT.has(word) && word.length < 100);
  const status = [...all, outer.status_code, error.status_code].map(Number).find(isErrorStatus);
  return { message, words, ...(status !== undefined && { status }) };
}

const SILENT = new Set(['', '0', 'error', 'null', 'none', 'api_error']);
const EXCERPT_CHARS = 2000;

function isErrorStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 400 && code < 600;
}

function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).slice(0, EXCERPT_CHARS) : undefined;
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
