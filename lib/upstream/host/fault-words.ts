// Classifies an upstream's error message, by codes that mean the same everywhere and by its text.

import type { FaultStatuses, FaultTexts, FaultWords, RefusalCause, UpstreamFaultKind } from '../contract/fault.ts';
import type { Complaint } from './error-body.ts';
import { classifyStatus, FAULT_KINDS, isCause, REFUSAL_CAUSES } from './fault.ts';
import {
  ALLOCATED,
  BANNED,
  CAUSES,
  FAILED_BEHIND,
  isOtherTooLong,
  KEY,
  MODERATED,
  MONEY,
  NO_ITEM,
  NO_MODEL,
  REFUSED_AT_500,
  SPENT,
  TOO_BUSY,
  TOO_FAST,
  TOO_LONG_AT_500,
  UNABLE_AT_500,
} from './fault-texts.ts';

/** What an error message is about. */
interface Verdict {
  readonly kind: UpstreamFaultKind;
  readonly about?: RefusalCause;
}

/** Codes and types used by several vendors or converting proxies; those of a single vendor are in its plugin. */
const WORDS: FaultWords = {
  quota: `insufficient_quota insufficient_user_quota insufficient_balance insufficient_balance_error insufficient_credits
    billing_error billing_not_active billing_hard_limit_reached exceeded_current_quota_error quota_exceeded
    payment_required not_enough_balance arrearage overduepayment accountoverdueerror allocationquota.freetieronly
    pre_consume_token_quota_failed budget_exceeded`,
  missing: `model_not_found model_not_exist model_not_available modelnotfound unsupported_model unavailable_model
    deploymentnotfound
    invalidendpointormodel.notfound resource_not_found_error invalid_model unsupported_parameter unknown_parameter`,
  auth: `invalid_api_key invalid_iam_token invalid_authentication_error incorrect_api_key_error authentication_error
    authentication_failed failed_to_auth unauthorized unauthenticated permission_error permission_denied
    permission_denied_error access_denied access_deny access_terminated_error account_deactivated`,
  rate: `rate_limit_exceeded rate_limit_error rate_limit_reached_error rate_limited rate_limit too_many_requests
    resource_exhausted throttling throttling.ratequota throttling.allocationquota throttlingexception throttled
    limit_requests tokens_per_minute token_limit_exceeded requests tokens`,
  overloaded: `overloaded overloaded_error server_overloaded server_is_overloaded engine_overloaded
    engine_overloaded_error model_overloaded service_unavailable service_unavailable_error serviceunavailableexception service_not_available unavailable
    capacity_exceeded serveroverloaded provider_overloaded insufficient_system_resource no_available_channel
    model_not_ready unavailable_error slow_down`,
  timeout: 'timeout timeout_error request_timeout gateway_timeout deadline_exceeded',
  length:
    'context_length_exceeded exceed_context_size_error request_too_large string_above_max_length max_tokens_per_request',
  content: `content_filter content_filter_error content_policy_violation image_content_policy_violation moderation
    moderation_blocked data_inspection_failed datainspectionfailed responsibleaipolicyviolation cyber_policy bio_policy
    misalignment_policy_violation censorship_blocked new_sensitive`,
  image: `invalid_image invalid_image_format invalid_base64_image invalid_image_url invalid_image_mode
    image_parse_error image_too_large image_too_small image_file_too_large unsupported_image_media_type empty_image_file
    failed_to_download_image invalid_image_file unsupported_file_mimetype`,
  request: 'invalid_encrypted_content thinking_signature_invalid',
};

/** Most significant first: an answer that mentions both quota and rate limit is about money. */
const WEIGHT: readonly (keyof FaultWords)[] = [
  'quota',
  'missing',
  'auth',
  'rate',
  'overloaded',
  'timeout',
  'content',
  'image',
  'length',
  'request',
  'server',
  'network',
  'protocol',
];

/** Vague words: they decide only if no status does. */
const VAGUE = new Map<string, UpstreamFaultKind>([
  ...`invalid_request_error invalid_argument invalidparameter bad_request bad_request_error badrequesterror
  validation_error validation validationexception invalid_value`
    .split(/\s+/)
    .map((word): [string, UpstreamFaultKind] => [word, 'request']),
  ['not_found', 'missing'],
  ['not_found_error', 'missing'],
  ['notfounderror', 'missing'],
]);

const FORBIDDEN = 403;

/** A status that some answer with when a tier is full. */
const CAPACITY_EXCEEDED = 498;
const TOO_LARGE = 413;
const TEXT_CHARS = 1000;

/** Statuses that only say that the request is refused. */
const MERE_REFUSALS: ReadonlySet<number | undefined> = new Set([undefined, 400, 422]);

/** Statuses that say more than the host's texts do, unless those are about money. */
const TOLD_BY_STATUS: ReadonlySet<number | undefined> = new Set([402, 408, 429]);

/** Classifies messages by common words and texts, after the plugin's own. */
export function createJudge(
  own: FaultWords = {},
  texts: FaultTexts = {},
  statuses: FaultStatuses = {},
): (complaint: Complaint, status: number | undefined) => Verdict {
  const known = new Map([...listWordEntries(WORDS), ...listWordEntries(own)]);
  const ownTexts = Object.entries(texts) as [keyof FaultTexts, RegExp][];

  function findNamedKind(words: readonly string[]): keyof FaultWords | undefined {
    const names = words.map((word) => known.get(word));
    return WEIGHT.find((name) => names.includes(name));
  }

  /** Of a 429, only that it is about money: many say that in words alone. */
  function findOwnKind(message: string, status: number | undefined): keyof FaultTexts | undefined {
    const isAsked = (kind: keyof FaultTexts) => MERE_REFUSALS.has(status) || (status === 429 && kind === 'quota');
    return ownTexts.find(([kind, text]) => isAsked(kind) && message.search(text) >= 0)?.[0];
  }

  function classifyComplaint(complaint: Complaint, status: number | undefined): UpstreamFaultKind | RefusalCause {
    // Whatever else its body says: the route leads nowhere.
    if (status === 404 && statuses[status] === undefined)
      return NO_ITEM.test(complaint.message) ? 'request' : 'missing';
    // A key may lack a model that another key has.
    const kind = classifyWords(complaint, status);
    if (status === FORBIDDEN && statuses[status] === undefined) return classifyForbidden(kind, complaint);
    return kind === 'missing' && (status === 401 || status === 402) ? classifyStatus(status) : kind;
  }

  /** Content that breaks rules breaks them with every key, but many vendors call that, too, a lack of rights. */
  function classifyForbidden(kind: UpstreamFaultKind | RefusalCause, { message, words }: Complaint): typeof kind {
    if (words.some((word) => known.get(word) === 'content')) return 'content';
    if (!['auth', 'missing', 'content'].includes(kind)) return kind;
    const text = message.slice(0, TEXT_CHARS);
    if (BANNED.test(text)) return 'auth';
    const isModerated =
      kind === 'content' || MODERATED.test(text) || (texts.content && text.search(texts.content) >= 0);
    return isModerated ? 'content' : 'auth';
  }

  function classifyWords({ message, words }: Complaint, status: number | undefined): UpstreamFaultKind | RefusalCause {
    const name = findNamedKind(words);
    const text = message.slice(0, TEXT_CHARS);
    if (name === 'rate' && SPENT.test(text)) return 'quota';
    if (name === 'quota' && ALLOCATED.test(text)) return 'rate';
    if (name !== undefined) return name;
    const owned = findOwnKind(text, status);
    if (owned !== undefined) return owned;
    const redefined = status === undefined ? undefined : statuses[status];
    if (redefined !== undefined) return redefined;
    // Many servers report their operator's mistakes as a bad request: the text says more than the status.
    const told = status === undefined || status < 500 ? classifyText(message) : undefined;
    if (told !== undefined && (!TOLD_BY_STATUS.has(status) || told === 'quota')) return told;
    if (status === 500) return classifyText500(text) ?? classifyStatus(status);
    if (status === CAPACITY_EXCEEDED) return 'overloaded';
    if (status === TOO_LARGE) return 'length';
    if (status !== undefined) return classifyStatus(status);
    return words.map((word) => VAGUE.get(word)).find((kind) => kind !== undefined) ?? 'server';
  }

  return (complaint, status) => {
    const said = classifyComplaint(complaint, status);
    // The vendor behind the upstream refuses the upstream's account: ours would be refused by the upstream itself.
    const isOther = complaint.isBehind && (said === 'quota' || said === 'auth');
    const kind = isOther ? (status === 429 ? 'rate' : 'server') : said;
    const text = complaint.message.slice(0, TEXT_CHARS);
    const about = isCause(kind) ? kind : kind === 'request' ? findRefusalCause(text) : undefined;
    if (about === undefined || (about === 'length' && isOtherTooLong(text))) {
      return { kind: isCause(kind) ? 'request' : kind };
    }
    return { kind: 'request', about };
  };
}

/** What is wrong with a plugin's own words, texts and statuses; undefined if nothing is. */
export function findWordsFlaw(words: unknown, texts?: unknown, statuses?: unknown): string | undefined {
  const isString = (text: unknown) => typeof text === 'string';
  const isPattern = (text: unknown) => text instanceof RegExp;
  return (
    findFlaw('faultWords', words, isString, 'a string') ??
    findFlaw('faultTexts', texts, isPattern, 'a RegExp') ??
    findStatusesFlaw(statuses)
  );
}

function findStatusesFlaw(statuses: unknown): string | undefined {
  if (statuses === undefined) return undefined;
  if (typeof statuses !== 'object' || statuses === null) return 'its faultStatuses are not an object';
  const known: readonly unknown[] = [...FAULT_KINDS, ...REFUSAL_CAUSES];
  const wrong = Object.entries(statuses).find(([status, kind]) => !/^[45]\d\d$/.test(status) || !known.includes(kind));
  return (
    wrong && `its faultStatuses have ${wrong[0]}: ${wrong[1]}, which is no status from 400 to 599 with a kind of fault`
  );
}

function findFlaw(
  member: string,
  said: unknown,
  isRight: (text: unknown) => boolean,
  what: string,
): string | undefined {
  if (said === undefined) return undefined;
  if (typeof said !== 'object' || said === null) return `its ${member} are not an object`;
  const known: readonly string[] = [...FAULT_KINDS, ...REFUSAL_CAUSES];
  const wrong = Object.entries(said).find(([name, text]) => !known.includes(name) || !isRight(text));
  return wrong && `its ${member} have ${wrong[0]}, which is not a kind of fault with ${what}`;
}

function listWordEntries(words: FaultWords): [string, keyof FaultWords][] {
  return Object.entries(words).flatMap(([name, text]) =>
    text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word): [string, keyof FaultWords] => [word, name as keyof FaultWords]),
  );
}

function classifyText(message: string): UpstreamFaultKind | RefusalCause | undefined {
  const text = (endsWithJson(message) ? message : maskQuotes(message.slice(0, QUOTED_CHARS))).slice(0, TEXT_CHARS);
  if (MONEY.test(text) || SPENT.test(text)) return 'quota';
  if (KEY.test(text) || BANNED.test(text)) return 'auth';
  if (NO_MODEL.test(text)) return 'missing';
  if (TOO_FAST.test(text)) return 'rate';
  if (TOO_BUSY.test(text)) return 'overloaded';
  return findRefusalCause(message.slice(0, TEXT_CHARS)) ?? (FAILED_BEHIND.test(text) ? 'server' : undefined);
}

/** In quotes, or in brackets behind the name of a list; an apostrophe is no quote. */
const QUOTED =
  /(?<![\p{L}\p{N}])(["'`])(?:(?!\1(?![\p{L}\p{N}])).){1,1000}\1(?![\p{L}\p{N}])|(?<=\w)\[[\w.-]{1,100}\]/gsu;
/** How far quotes are searched for: one that begins in the text may end behind it. */
const QUOTED_CHARS = 4 * TEXT_CHARS;
const JSON_BEGIN = /\{|\[\s*\{/;

/** Of a vendor behind the upstream: its own words are in quotes, too. */
function endsWithJson(text: string): boolean {
  const start = text.search(JSON_BEGIN);
  if (start < 0) return false;
  try {
    JSON.parse(text.slice(start));
    return true;
  } catch {
    return false;
  }
}

/**
 * Refusals quote names and values that a client chose: a tool for billing must not look like an upstream without money,
 * which pauses its key for everybody.
 */
function maskQuotes(text: string): string {
  return text.replace(QUOTED, (_, quote: string | undefined) => (quote === undefined ? '[x]' : `${quote}x${quote}`));
}

function classifyText500(text: string): UpstreamFaultKind | RefusalCause | undefined {
  if (TOO_LONG_AT_500.test(text)) return 'length';
  if (UNABLE_AT_500.test(text)) return 'missing';
  return REFUSED_AT_500.test(text) ? 'request' : undefined;
}

function findRefusalCause(text: string): RefusalCause | undefined {
  return CAUSES.find(([, said]) => said.test(text))?.[0];
}
