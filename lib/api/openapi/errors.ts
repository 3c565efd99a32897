// Errors in the API document: the envelopes, and a response per status with examples from the fault table.

import { type Fault, fault, faultWithWallet, walletPage } from '../../base/faults.ts';
import { choice, constant, type Json, object, ref, text } from '../../base/json-schema.ts';
import { chatFault } from '../dialects/chat/fault.ts';
import { messageFault } from '../dialects/message/fault.ts';
import { headers, json } from './schema.ts';

interface Refusal {
  readonly description: string;
  readonly examples: readonly Fault[];
}

const NO_RETRY = 'Retrying the same request will not help.';

const REFUSALS: Readonly<Record<string, Refusal>> = {
  400: {
    description: `The request is malformed or refers to a model that does not exist. Nothing was charged. ${NO_RETRY}`,
    examples: [
      fault('invalid_json'),
      fault('invalid_field', { field: 'messages[0].content', hint: 'must be a string or an array of blocks' }),
      fault('thread_unsupported'),
      fault('response_not_stored'),
      fault('unknown_model', { model: 'no-such-model' }),
      fault('retired_model', { model: 'small-1', hint: 'Use `small-2` instead' }),
      fault('invalid_form', { hint: 'it ends too early' }),
      fault('wrong_model_type', { model: 'image-1', hint: 'POST /api/v1/images/generations' }),
    ],
  },
  401: {
    description: `The API key is missing, malformed, unknown, expired or revoked. ${NO_RETRY}`,
    examples: [fault('missing_key'), fault('invalid_key')],
  },
  402: {
    description: `The balance is too low for this call, or a budget, a cap or \`max_cost_rub\` does not cover it. Nothing was charged. ${NO_RETRY}`,
    examples: [
      fault('never_topped_up', { minimumRub: '1000.00' }),
      fault('insufficient_balance', { isReserve: true, priceRub: '12.3012', balanceRub: '4.50', heldRub: '2.00' }),
    ],
  },
  403: {
    description: `The account is suspended, or the key may not be used for this model or route, or from this address. ${NO_RETRY}`,
    examples: [fault('account_suspended'), fault('key_scope', { hint: 'topup' })],
  },
  404: {
    description: `The resource does not exist. ${NO_RETRY}`,
    examples: [
      fault('not_found', { hint: 'The link is unknown or has expired' }),
      fault('no_such_model', { model: 'standrad-1', hint: '`standard-1`' }),
      fault('unknown_video', { everyDialect: true }),
      fault('no_such_object', { hint: 'there is no account "acc_5f0c"' }),
    ],
  },
  408: { description: 'The request body did not arrive in time.', examples: [fault('body_timeout')] },
  409: {
    description:
      'A call with the same idempotency key is still running (retry after `retry-after` seconds), or it was charged and ' +
      'its reply was not stored; or a change is not possible as things are.',
    examples: [
      fault('idempotency_running', { retryAfterS: 2 }),
      fault('idempotency_done', { charge: 'req_0f3b' }),
      fault('idempotency_lost'),
      fault('change_refused', { hint: 'the balance is 5.00 RUB: this would take it below zero' }),
    ],
  },
  422: {
    description: `The idempotency key was used for a different request. ${NO_RETRY}`,
    examples: [fault('idempotency_mismatch')],
  },
  413: {
    description: `The request body is larger than 48 MiB. ${NO_RETRY}`,
    examples: [fault('body_too_large', { hint: '48 MiB' })],
  },
  415: {
    description: 'The request body is not JSON (or, for image edits, a form), or it is compressed.',
    examples: [fault('unsupported_media_type', { field: 'content-type', hint: '`application/json`' })],
  },
  416: {
    description: 'The range starts after the end of the file. `content-range` contains the size of the file.',
    examples: [fault('range_not_satisfiable', { bytes: 1024 })],
  },
  429: {
    description: 'Too many requests in a minute, or too many calls at once. Retry after `retry-after` seconds.',
    examples: [fault('rate_limited', { hint: '30 per minute', retryAfterS: 12 })],
  },
  500: { description: 'An internal error of the gateway.', examples: [fault('internal')] },
  502: {
    description:
      'The upstream provider failed. The charge was refunded. ' +
      'With `x-should-retry: false`, the request itself is the cause, and retrying it will not help.',
    examples: [
      fault('upstream_failed', { refunded: true }),
      fault('upstream_refused', { refunded: true }),
      fault('upstream_too_long', { refunded: true }),
      fault('upstream_content', { refunded: true }),
      fault('upstream_picture', { refunded: true }),
      fault('upstream_timeout', { refunded: true }),
      fault('vision_unavailable', { refunded: true }),
    ],
  },
  503: {
    description:
      'The service is temporarily unavailable. Nothing was charged; anything reserved is returned automatically.',
    examples: [
      fault('store_unavailable'),
      fault('change_unconfirmed'),
      fault('shutting_down'),
      fault('images_unavailable', { hint: 'Image editing' }),
      fault('video_unavailable'),
    ],
  },
};

/** The error formats of the two families of endpoints. */
const ENVELOPES = {
  message: { schema: 'MessageError', prefix: 'Error', render: messageFault },
  chat: { schema: 'ChatError', prefix: 'ChatError', render: chatFault },
} as const;

type Envelope = keyof typeof ENVELOPES;

/** The error `responses` of an operation. */
export function errorResponses(envelope: Envelope, statuses: readonly number[]): Json {
  const { prefix } = ENVELOPES[envelope];
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${prefix}${status}` }]));
}

/** All responses that `errorResponses` refers to, for a service with this `publicUrl`. */
export function errorComponents(publicUrl: string): Json {
  const asSent = (example: Fault) => faultWithWallet(example, walletPage(publicUrl, 'acc_5f0c'));
  const entries = Object.values(ENVELOPES).flatMap(({ schema, prefix, render }) =>
    Object.entries(REFUSALS).map(([status, { description, examples }]) => [
      `${prefix}${status}`,
      {
        description,
        headers: headers('x-request-id', 'request-id', status === '429' ? 'retry-after' : 'x-should-retry'),
        content: json(ref(schema), { examples: listExamples(examples.map(asSent), render) }),
      },
    ]),
  );
  return Object.fromEntries(entries);
}

function listExamples(faults: readonly Fault[], render: (reason: Fault) => object): Json {
  return Object.fromEntries(faults.map((reason) => [String(reason.data?.code), { value: render(reason) }]));
}

const TYPES = choice([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'rate_limit_error',
  'api_error',
]);

const CHAT_CODES = choice([
  'invalid_request',
  'previous_response_not_found',
  'invalid_api_key',
  'insufficient_balance',
  'account_suspended',
  'model_not_allowed',
  'address_not_allowed',
  'scope_not_allowed',
  'not_found',
  'method_not_allowed',
  'conflict',
  'idempotency_mismatch',
  'request_timeout',
  'request_too_large',
  'unsupported_media_type',
  'range_not_satisfiable',
  'no_websockets',
  'rate_limit_exceeded',
  'internal_error',
  'upstream_error',
  'service_unavailable',
]);

const MESSAGE = text('A human-readable message; safe to log.');

const DETAILS = {
  ...object({ error_code: constant('thread_unsupported_request') }),
  description: 'Present only if the request has a `thread`.',
};

const UNKNOWN_ONLY =
  'Present only for an unknown path and for an unknown video, so that clients of any format can read it.';

export const errorSchemas: Readonly<Record<string, Json>> = {
  MessageError: object({
    type: constant('error'),
    error: object(
      {
        type: TYPES,
        message: MESSAGE,
        code: { ...constant('not_found'), description: UNKNOWN_ONLY },
        details: DETAILS,
      },
      { optional: ['code', 'details'] },
    ),
  }),
  ChatError: object(
    {
      type: { ...constant('error'), description: UNKNOWN_ONLY },
      error: object({ message: MESSAGE, type: TYPES, code: CHAT_CODES, details: DETAILS }, { optional: ['details'] }),
    },
    { optional: ['type'] },
  ),
};

export const headerComponents: Json = {
  'x-request-id': {
    description: 'The id of the request and of its charge. Include it when you report a problem.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9a-f]{32}$' },
  },
  'request-id': {
    description: 'Same as `x-request-id`.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9a-f]{32}$' },
  },
  'retry-after': {
    description: 'Seconds to wait before the next request.',
    required: true,
    schema: { type: 'integer', minimum: 1, maximum: 59 },
  },
  'idempotent-replayed': {
    description: 'Present if the response is the stored response of an earlier call with the same idempotency key.',
    schema: constant('true'),
  },
  'x-should-retry': {
    description: 'Present if retrying the same request will not help.',
    schema: constant('false'),
  },
};
