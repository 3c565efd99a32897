// The one error table: every refusal and failure a client can see, with its status, names, words and retry advice.
import { Boom } from '@hapi/boom';

/** `error.type` of both envelopes. */
export type FaultType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'api_error';

interface Row {
  readonly status: number;
  readonly type: FaultType;
  /** `error.code` of the chat-style envelope. */
  readonly chatCode: string;
  /** Whether the same request may succeed when retried; false becomes `x-should-retry: false`. */
  readonly retryable: boolean;
  readonly text: (detail: FaultDetail) => string;
  /** The name by which clients recognise the fault, in `error.details`. */
  readonly errorCode?: string;
}

/** Values for the message of a fault; all of them are safe to show to a client. */
export interface FaultDetail {
  /** True if clients of any dialect may read it: its envelope has what each of them expects. */
  readonly everyDialect?: true;
  /** A request field, as a path: `messages[0].role`. */
  readonly field?: string;
  /** What is wrong, or what would be right, as the end of a sentence. */
  readonly hint?: string;
  /** True for a request that only reads: its refusal does not speak of changes. */
  readonly reads?: true;
  readonly model?: string;
  /** Amounts for money refusals, already formatted in RUB. */
  readonly priceRub?: string;
  /** True when the price is a reserve, which a smaller request would lower. */
  readonly isReserve?: boolean;
  /** True while only the least price of such a call is known. */
  readonly isLeast?: boolean;
  readonly balanceRub?: string;
  readonly heldRub?: string;
  readonly minimumRub?: string;
  /** The page where its owner adds money. */
  readonly walletUrl?: string;
  /**
   * The budget of a key, its period (`day`), and when the next one starts; without these two there is only one period.
   */
  readonly budgetRub?: string;
  readonly reset?: string;
  readonly resetsAt?: string;
  /** What is left of it. */
  readonly leftRub?: string;
  readonly retryAfterS?: number;
  /** The id of a charge. */
  readonly charge?: string;
  readonly bytes?: number;
  /** True once the hold of the call was returned; the message then says so. */
  readonly refunded?: boolean;
  /** True while it is unknown whether the hold of the call was made. */
  readonly unconfirmed?: boolean;
}

const invalid = (text: Row['text']): Row => ({
  status: 400,
  type: 'invalid_request_error',
  chatCode: 'invalid_request',
  retryable: false,
  text,
});

const unpaid = (text: Row['text']): Row => ({
  status: 402,
  type: 'billing_error',
  chatCode: 'insufficient_balance',
  retryable: false,
  text,
});

const price = ({ isReserve, isLeast, priceRub }: FaultDetail) =>
  `${isReserve ? 'needs a reserve of' : 'costs'}${isLeast ? ' at least' : ''} ${priceRub} RUB`;

const budget = ({ budgetRub, reset, resetsAt }: FaultDetail) =>
  `${budgetRub} RUB ${resetsAt ? `per ${reset} and resets at ${resetsAt}` : 'in total and does not reset'}`;

const left = ({ leftRub }: FaultDetail) => (leftRub ? ` ${leftRub} RUB of it is left.` : '');

const upstream = (text: string, retryable = true): Row => ({
  status: 502,
  type: 'api_error',
  chatCode: 'upstream_error',
  retryable,
  text: () => text,
});

const unavailable = (text: Row['text']): Row => ({
  ...upstream(''),
  status: 503,
  chatCode: 'service_unavailable',
  text,
});

const refused = (status: number, chatCode: string, text: string): Row => ({
  status,
  type: 'invalid_request_error',
  chatCode,
  retryable: true,
  text: () => text,
});

const held = (detail: FaultDetail) =>
  detail.heldRub ? ` A further ${detail.heldRub} RUB is reserved by calls still running.` : '';

const unknownModel = ({ model, hint }: FaultDetail) =>
  `Unknown model \`${model}\`.${hint ? ` Did you mean ${hint}?` : ''} See GET /api/v1/models for the list.`;

const table = {
  invalid_json: invalid((d) => `The request body is not valid JSON${d.hint ? `: ${d.hint}` : ''}.`),
  invalid_form: invalid((d) => `The request body is not valid form data${d.hint ? `: ${d.hint}` : ''}.`),
  invalid_field: invalid((d) => `Invalid \`${d.field}\`: ${d.hint}.`),
  thread_unsupported: {
    ...invalid(() => 'Server-side threads are not supported. Send the full message history and omit `thread`.'),
    errorCode: 'thread_unsupported_request',
  },
  // The vendor's code of the format: after it, clients that remember the id of a response send the whole conversation.
  response_not_stored: {
    ...invalid(
      () =>
        'Invalid `previous_response_id`: names a response, but responses are not stored here; send the items of the ' +
        'conversation in `input` instead.',
    ),
    chatCode: 'previous_response_not_found',
  },
  unknown_model: invalid((d) => unknownModel(d)),
  retired_model: invalid((d) => `Model \`${d.model}\` is retired.${d.hint ? ` ${d.hint}.` : ''}`),
  cannot_edit: invalid(
    (d) => `Model \`${d.model}\` makes images but does not edit them.${d.hint ? ` Use ${d.hint}.` : ''}`,
  ),
  wrong_model_type: invalid((d) => `Model \`${d.model}\` cannot be used on this endpoint. Use it with ${d.hint}.`),
  image_unreachable: invalid((d) => `Invalid \`${d.field}\`: the image cannot be fetched from a public https address.`),
  image_refused: invalid((d) => `Invalid \`${d.field}\`: the image's server ${d.hint}.`),
  image_too_large: invalid((d) => `Invalid \`${d.field}\`: the image is larger than ${d.hint}.`),
  image_unsupported: invalid((d) => `Invalid \`${d.field}\`: the file is not a PNG, JPEG, GIF or WebP image.`),
  image_gone: invalid((d) => `Invalid \`${d.field}\`: the link to the stored image is unknown or has expired.`),
  missing_key: {
    status: 401,
    type: 'authentication_error',
    chatCode: 'invalid_api_key',
    retryable: false,
    text: () => 'No API key was sent. Pass it as `x-api-key: <key>` or `Authorization: Bearer <key>`.',
  },
  invalid_key: {
    status: 401,
    type: 'authentication_error',
    chatCode: 'invalid_api_key',
    retryable: false,
    text: () => 'The API key is malformed, unknown or revoked.',
  },
  expired_key: {
    status: 401,
    type: 'authentication_error',
    chatCode: 'invalid_api_key',
    retryable: false,
    text: (d) => `The API key has expired: it was valid until ${d.hint}.`,
  },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    chatCode: 'model_not_allowed',
    retryable: false,
    text: (d) => `This API key may not be used for model \`${d.model}\`. It may be used for ${d.hint}.`,
  },
  never_topped_up: unpaid(
    (d) =>
      `The wallet has never been topped up. The minimum first top-up is ${d.minimumRub} RUB.` +
      (d.walletUrl ? ` Top it up at ${d.walletUrl}.` : ''),
  ),
  insufficient_balance: unpaid(
    (d) =>
      `The balance is too low: ${d.priceRub ? `this call ${price(d)} and the balance` : 'it'} is ${d.balanceRub} RUB.` +
      `${held(d)} Top up the wallet${d.walletUrl ? ` at ${d.walletUrl}` : ''}${d.isReserve ? ` or ${d.hint ?? 'lower `max_tokens`'}` : ''}.`,
  ),
  play_money: unpaid(
    () =>
      'The wallet holds money from test payments, which cannot pay for real models. Ask the operator of this service to ' +
      'convert it or write it off.',
  ),
  key_budget: unpaid(
    (d) =>
      `The budget of the key "${d.field}" does not cover this call, which ${price(d)}. The budget is ${budget(d)}.${left(d)}`,
  ),
  user_budget: unpaid(
    (d) =>
      `The budget of ${d.field ? `the end user "${d.field}"` : 'calls that name no end user'} does not cover this call, which ` +
      `${price(d)}. The budget is ${budget(d)}.${left(d)}`,
  ),
  member_budget: unpaid(
    (d) =>
      `The cap of the member who owns this key does not cover this call, which ${price(d)}. The cap is ${budget(d)}.${left(d)} ` +
      'An owner of the account can raise it.',
  ),
  run_budget: unpaid(
    (d) =>
      `The budget of the run "${d.field}" does not cover this call, which ${price(d)}. The budget is ${d.budgetRub} RUB ` +
      `for 24 hours from the first call of the run.${left(d)}`,
  ),
  call_budget: unpaid(
    (d) =>
      `This call ${price(d)}, which is above its \`max_cost_rub\` of ${d.budgetRub} RUB. Raise it` +
      `${d.hint ? ` or ${d.hint}` : ''}.`,
  ),
  account_suspended: {
    status: 403,
    type: 'permission_error',
    chatCode: 'account_suspended',
    retryable: false,
    text: () => 'The account of this key is suspended.',
  },
  member_suspended: {
    status: 403,
    type: 'permission_error',
    chatCode: 'account_suspended',
    retryable: false,
    text: () => 'The user who owns this key is suspended.',
  },
  role_not_allowed: {
    status: 403,
    type: 'permission_error',
    chatCode: 'account_suspended',
    retryable: false,
    text: () => 'Your role in this account does not include this page. Ask an owner of the account.',
  },
  address_not_allowed: {
    status: 403,
    type: 'permission_error',
    chatCode: 'address_not_allowed',
    retryable: false,
    text: (d) => `This API key may not be used from the address ${d.hint}.`,
  },
  key_scope: {
    status: 403,
    type: 'permission_error',
    chatCode: 'scope_not_allowed',
    retryable: false,
    text: (d) => `This management key does not have the scope \`${d.hint}\`.`,
  },
  stale_form: {
    status: 403,
    type: 'permission_error',
    chatCode: 'account_suspended',
    retryable: false,
    text: () => 'The form is out of date. Open the page again.',
  },
  foreign_form: {
    status: 403,
    type: 'permission_error',
    chatCode: 'account_suspended',
    retryable: false,
    text: () => 'The form was sent by another site.',
  },
  code_needed: {
    status: 403,
    type: 'permission_error',
    chatCode: 'account_suspended',
    retryable: false,
    text: () => 'This needs a fresh code from your authenticator app. Go back and enter one.',
  },
  try_later: {
    status: 429,
    type: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
    retryable: true,
    text: (d) => `Too many attempts. Try again in ${d.retryAfterS} s.`,
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    chatCode: 'not_found',
    retryable: false,
    text: (d) => `There is nothing at this path. ${d.hint ? `${d.hint}.` : 'See GET /openapi.json for the endpoints.'}`,
  },
  no_such_model: {
    status: 404,
    type: 'not_found_error',
    chatCode: 'not_found',
    retryable: false,
    text: (d) => unknownModel(d),
  },
  unknown_video: {
    status: 404,
    type: 'not_found_error',
    chatCode: 'not_found',
    retryable: false,
    text: () => 'This account has no video with this id.',
  },
  no_such_object: {
    status: 404,
    type: 'not_found_error',
    chatCode: 'not_found',
    retryable: false,
    text: (d) => `Not found: ${d.hint}.`,
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    chatCode: 'method_not_allowed',
    retryable: false,
    text: (d) => `Method not allowed. Use ${d.hint}.`,
  },
  idempotency_running: {
    status: 409,
    type: 'conflict_error',
    chatCode: 'conflict',
    retryable: true,
    text: (d) => `A call with this idempotency key is still running. Retry in ${d.retryAfterS} s.`,
  },
  idempotency_done: {
    status: 409,
    type: 'conflict_error',
    chatCode: 'conflict',
    retryable: false,
    text: (d) =>
      `A call with this idempotency key has been charged as ${d.charge}, and its reply was not kept.` +
      (d.hint ? ` ${d.hint}.` : ''),
  },
  idempotency_lost: {
    status: 409,
    type: 'conflict_error',
    chatCode: 'conflict',
    retryable: false,
    text: () =>
      'A request with this idempotency key was interrupted, and it is not known whether it changed anything. Check, then send it with another key.',
  },
  change_refused: {
    status: 409,
    type: 'conflict_error',
    chatCode: 'conflict',
    retryable: false,
    text: (d) => `${d.reads ? 'This cannot be answered' : 'Nothing was changed'}: ${d.hint}.`,
  },
  idempotency_mismatch: {
    ...refused(422, 'idempotency_mismatch', 'This idempotency key was used for another request.'),
    retryable: false,
  },
  body_timeout: refused(408, 'request_timeout', 'The request did not arrive in time.'),
  body_too_large: {
    ...refused(413, 'request_too_large', ''),
    retryable: false,
    text: (d) => `The request body is larger than ${d.hint}.`,
  },
  unsupported_media_type: {
    ...refused(415, 'unsupported_media_type', ''),
    retryable: false,
    text: (d) => `Unsupported ${d.field}: send the body as ${d.hint}.`,
  },
  range_not_satisfiable: {
    ...refused(416, 'range_not_satisfiable', ''),
    retryable: false,
    text: (d) => `The range is outside the file, which has ${d.bytes} bytes.`,
  },
  no_websockets: {
    ...refused(426, 'no_websockets', ''),
    retryable: false,
    text: (d) => `WebSockets are not supported. Send ${d.hint} with \`stream: true\`.`,
  },
  headers_too_large: { ...refused(431, 'request_too_large', 'The request headers are too large.'), retryable: false },
  bad_http: invalid((d) => `The request is not valid HTTP${d.hint === undefined ? '' : `: ${d.hint}`}.`),
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
    retryable: true,
    text: (d) => `Too many requests on this key: the limit is ${d.hint}. Retry in ${d.retryAfterS} s.`,
  },
  too_many_calls: {
    status: 429,
    type: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
    retryable: true,
    text: (d) => `Too many calls at once: the limit is ${d.hint}. Retry when one of them has ended.`,
  },
  internal: {
    status: 500,
    type: 'api_error',
    chatCode: 'internal_error',
    retryable: true,
    text: () => 'The gateway failed to process the request.',
  },
  store_unavailable: {
    status: 503,
    type: 'api_error',
    chatCode: 'service_unavailable',
    retryable: true,
    text: (d) =>
      `The service is temporarily unavailable. ${d.unconfirmed ? 'Anything reserved for this call will be returned automatically.' : 'Nothing was charged.'}`,
  },
  change_unconfirmed: {
    status: 503,
    type: 'api_error',
    chatCode: 'service_unavailable',
    retryable: true,
    text: () => 'The change was not confirmed. Repeat the request with the same idempotency key.',
  },
  result_not_kept: {
    status: 503,
    type: 'api_error',
    chatCode: 'service_unavailable',
    retryable: true,
    text: () => 'The service could not store the result.',
  },
  no_room: unavailable(() => 'Too many large requests are being received at the moment. Nothing was charged.'),
  no_room_for_answer: unavailable(() => 'Too many large answers are being delivered at the moment.'),
  busy: unavailable((d) => `Too many people are signing in at the moment. Try again in ${d.retryAfterS} s.`),
  images_unavailable: {
    status: 503,
    type: 'api_error',
    chatCode: 'service_unavailable',
    retryable: true,
    text: (d) => `${d.hint} is temporarily unavailable. Nothing was charged.`,
  },
  video_unavailable: {
    status: 503,
    type: 'api_error',
    chatCode: 'service_unavailable',
    retryable: true,
    text: () => 'Video generation is temporarily unavailable. Nothing was charged.',
  },
  still_counting: {
    status: 503,
    type: 'api_error',
    chatCode: 'service_unavailable',
    retryable: true,
    text: (d) => `These figures are still being counted. Try again in ${d.retryAfterS} s.`,
  },
  shutting_down: {
    status: 503,
    type: 'api_error',
    chatCode: 'service_unavailable',
    retryable: true,
    text: () => 'The service is restarting.',
  },
  upstream_failed: upstream('The upstream provider failed.'),
  upstream_refused: upstream('The upstream provider refused this request.', false),
  // Agents know "prompt is too long", and shorten their conversation.
  upstream_too_long: upstream('The prompt is too long for the model. Shorten it or lower `max_tokens`.', false),
  upstream_content: upstream("The upstream provider's content rules do not allow this request. Rephrase it.", false),
  upstream_picture: upstream(
    'The upstream provider could not read an image in this request, or it is too large. Send another or a smaller file.',
    false,
  ),
  upstream_timeout: upstream('The upstream provider did not answer in time.'),
  upstream_truncated: upstream('The upstream provider stopped before the answer was complete.'),
  upstream_empty: upstream('The upstream provider returned an empty answer.'),
  no_summary: upstream('The model wrote no summary of the conversation.', false),
  upstream_image: upstream('The upstream provider sent an image that is broken or too large.'),
  vision_unavailable: upstream('Vision backend unavailable.'),
} satisfies Record<string, Row>;

export type FaultCode = keyof typeof table;

/** Every code of the table. */
export const FAULT_CODES = Object.keys(table) as readonly FaultCode[];

interface FaultData {
  readonly code: FaultCode;
  readonly type: FaultType;
  readonly chatCode: string;
  readonly retryable: boolean;
  readonly detail: FaultDetail;
  readonly errorCode?: string;
}

/** A failure that a client may see: a Boom whose message is one of ours. */
export type Fault = Boom<FaultData>;

/** Makes a fault from the table; `cause` stays in the process, for the log. */
export function fault(code: FaultCode, detail: FaultDetail = {}, cause?: unknown): Fault {
  const row: Row = table[code];
  const message = row.text(detail) + (detail.refunded ? ' Charge refunded.' : '');
  const { status: statusCode, type, chatCode, retryable, errorCode } = row;
  const data = { code, type, chatCode, retryable, detail, errorCode };
  const boom = new Boom<FaultData>(message, { statusCode, data, ctor: fault });
  if (cause !== undefined) boom.cause = cause;
  return boom;
}

export function isFault(value: unknown): value is Fault {
  return value instanceof Boom && typeof value.data === 'object' && value.data !== null && 'chatCode' in value.data;
}

/** Turns anything thrown into a fault; whatever is not one already is our own failure. */
export function toFault(thrown: unknown): Fault {
  return isFault(thrown) ? thrown : fault('internal', {}, thrown);
}

/** Where the owners of an account add money: to its wallet, also if they have other accounts. */
export function walletPage(publicUrl: string, account: string): string {
  return `${publicUrl}/account/wallet?account=${encodeURIComponent(account)}`;
}

/** The same fault with the page to add money at, if money is what is missing. */
export function faultWithWallet(original: Fault, walletUrl: string): Fault {
  const { code, detail } = original.data as FaultData;
  if (code !== 'insufficient_balance' && code !== 'never_topped_up') return original;
  return fault(code, { ...detail, walletUrl }, original.cause);
}

/** The same fault, saying that the hold was returned. */
export function refundedFault(original: Fault): Fault {
  const { code, detail } = original.data as FaultData;
  return fault(code, { ...detail, refunded: true }, original.cause);
}
