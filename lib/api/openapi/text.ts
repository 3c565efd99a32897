// What both text endpoints share in the API document: prices, roles, the fields of requests, the statuses.
import { SMART_TIERS } from '../../stream/smart.ts';
import { choice, count, type Json, list, object, ref, rub, text } from './schema.ts';

/** Errors of a generating endpoint. */
export const GENERATING_STATUSES = [400, 401, 402, 403, 408, 413, 415, 429, 500, 502, 503] as const;

const nullable = (type: string, description: string, more: Json = {}): Json => ({
  type: [type, 'null'],
  description,
  ...more,
});

/** What clients send that no model is told of; whatever else is unknown is ignored too. */
export const IGNORED_FIELDS = [
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'stop_sequences',
  'tools',
  'tool_choice',
  'response_format',
  'thinking',
  'reasoning_effort',
  'n',
  'seed',
  'logprobs',
  'presence_penalty',
  'frequency_penalty',
] as const;

const IGNORED: Json = { description: 'Accepted and ignored.' };

export const ROLES = choice(
  ['user', 'assistant', 'system', 'developer', 'tool', 'function'],
  '`system` and `developer` messages are part of the system prompt wherever they stand.',
);

/** The fields of a request of either style, besides its messages. */
export const commonFields: Readonly<Record<string, Json>> = {
  model: text(
    'The id or an alias of a text model. See `GET /api/v1/models`. `smart` (or `auto`) picks a model by the complexity ' +
      'of the task; the call is held and billed at the price of that model, and the reply names it.',
    { minLength: 1 },
  ),
  max_tokens: nullable(
    'integer',
    'Most output tokens; the reserve is made for so many. Values above 32768 are taken as 32768.',
    { minimum: 1, default: 8192 },
  ),
  max_completion_tokens: nullable('integer', 'Counts when `max_tokens` is absent.', { minimum: 1 }),
  stream: nullable('boolean', 'True for server-sent events.', { default: false }),
  ...Object.fromEntries(IGNORED_FIELDS.map((name) => [name, IGNORED])),
};

/** All of the common fields that may be absent. */
export const OPTIONAL_FIELDS = Object.keys(commonFields).filter((name) => name !== 'model');

/** The content of a message: a string, or an array of the dialect's blocks. */
export function contentOf(block: string): Json {
  return {
    description: 'Null, like its absence, is for `assistant` messages only. A `user` message may hold up to 4 images.',
    anyOf: [{ type: 'string' }, list(ref(block)), { type: 'null' }],
  };
}

/** A block of a type that a text gateway does not use. */
export const OTHER_BLOCK: Json = {
  description: 'Blocks of other types never fail a call: the text in them is kept, the rest is dropped.',
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string', not: { enum: ['text', 'image', 'image_url'] } } },
};

/** What the answer of a call with `smart` has besides. */
export function withRouting(answer: Json): Json {
  const routing = { ...ref('SmartRouting'), description: 'Present when `smart` was asked for.' };
  return { ...answer, properties: { ...(answer.properties as Json), smart_routing: routing } };
}

export const textSchemas: Readonly<Record<string, Json>> = {
  SmartRouting: {
    ...object({
      tier: choice(SMART_TIERS, 'How hard the task is; the model is the one that the service has for the tier.'),
      score: { type: 'number', minimum: 0, maximum: 100, description: 'The harder the task, the higher.' },
      signals: list({ type: 'string' }, { description: 'What was found in the request; more may come.' }),
    }),
    examples: [{ tier: 'lite', score: 13.7, signals: ['short', 'translate'] }],
  },
  TextBlock: object({ type: { type: 'string', const: 'text' }, text: { type: 'string' } }),
  TextBilling: object({
    charged_rub: rub('What the call cost by its actual usage'),
    reserved_rub: rub('What was held at its start'),
    balance_rub: rub('What the wallet can spend after settlement'),
    unit: { type: 'string', const: '1M_tokens' },
    rub_per_mtok_in: rub('Price of a million input tokens'),
    rub_per_mtok_out: rub('Price of a million output tokens'),
    rub_per_mtok: rub('The input price again, for older clients'),
  }),
};

export const BILLING_EXAMPLE = {
  charged_rub: 0.5,
  reserved_rub: 12.3012,
  balance_rub: 999.5,
  unit: '1M_tokens',
  rub_per_mtok_in: 300,
  rub_per_mtok_out: 1500,
  rub_per_mtok: 300,
};

export const outputTokens = count('Output tokens, reasoning included.');
export const inputTokens = count('Input tokens, cached ones included.');
