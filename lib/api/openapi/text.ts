// What the text endpoints share in the API document: prices, routing, statuses.

import { choice, count, type Json, list, object, ref, rub } from '../../base/json-schema.ts';
import { SMART_TIERS } from '../../base/smart-tiers.ts';

/** Error statuses of generating endpoints. */
export const GENERATING_STATUSES = [400, 401, 402, 403, 408, 409, 413, 415, 422, 429, 500, 502, 503] as const;

/** A header of generating endpoints. */
const IDEMPOTENCY_KEY: Json = {
  name: 'idempotency-key',
  in: 'header',
  description:
    'A unique key that makes retries safe: for 24 hours, the same request with the same key returns the first response ' +
    'again and is not charged twice. A call that failed and was refunded frees its key.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
};

/** A header of generating endpoints. */
const RUN_BUDGET: Json = {
  name: 'x-run-budget',
  in: 'header',
  description:
    'The name of a run and its budget in RUB, such as `nightly; 50`: calls of the account with this name share the budget ' +
    'for 24 hours from the first. A call that the budget does not cover is refused with 402.',
  schema: { type: 'string', pattern: '^[^;]{1,128}; *\\d+(\\.\\d{1,6})?$' },
};

/** Headers that every generating endpoint takes. */
export const PAID_HEADERS: readonly Json[] = [IDEMPOTENCY_KEY, RUN_BUDGET];

/** A header of the text endpoints. */
export const SESSION_ID: Json = {
  name: 'x-session-id',
  in: 'header',
  description:
    'Names the conversation, so that its calls find the prompt that a vendor has cached of it. Counts where there is no ' +
    '`prompt_cache_key`; without either, `metadata.user_id` does, or the system prompt and the first user message.',
  schema: { type: 'string' },
};

/** Adds the routing info of the smart model to a response. */
export function withRouting(answer: Json): Json {
  const routing = { ...ref('SmartRouting'), description: 'Present if the request was for `smart`.' };
  return { ...answer, properties: { ...(answer.properties as Json), smart_routing: routing } };
}

/** Only there if such tokens were billed. */
const OPTIONAL_BILLING_FIELDS: Readonly<Record<string, Json>> = {
  rub_per_mtok_audio: rub('Price per million input tokens of recordings; only if there were any'),
  rub_per_mtok_cache_read: rub('Price per million input tokens read from a cache; only if there were any'),
  rub_per_mtok_cache_write: rub('Price per million input tokens written to a cache; only if there were any'),
  rub_per_mtok_cache_write_1h: rub('The same for input tokens that are cached for an hour'),
};

/** Fields of a billing block that may be absent. */
export const BILLING_OPTIONAL = Object.keys(OPTIONAL_BILLING_FIELDS);

export const BILLING_FIELDS: Readonly<Record<string, Json>> = {
  charged_rub: rub('The amount charged for the actual usage'),
  reserved_rub: rub('The amount reserved at the start of the call'),
  balance_rub: rub('The available balance after settlement'),
  unit: { type: 'string', const: '1M_tokens' },
  rub_per_mtok_in: rub('Price per million input tokens'),
  rub_per_mtok_out: rub('Price per million output tokens'),
  rub_per_mtok: rub('Same as `rub_per_mtok_in`, for older clients'),
  ...OPTIONAL_BILLING_FIELDS,
};

export const textSchemas: Readonly<Record<string, Json>> = {
  SmartRouting: {
    ...object({
      tier: choice(SMART_TIERS, 'The complexity of the task; each tier has its own model.'),
      score: { type: 'number', minimum: 0, maximum: 100, description: 'Complexity score; higher is more complex.' },
      signals: list(
        { type: 'string' },
        { description: 'Routing signals detected in the request. New values may be added.' },
      ),
    }),
    examples: [{ tier: 'lite', score: 13.7, signals: ['short', 'translate'] }],
  },
  TextBlock: object(
    {
      type: { type: 'string', const: 'text' },
      text: { type: 'string' },
      citations: {
        description: 'What an answer is based on; goes back with the block.',
        anyOf: [list(ref('MessageCitation')), { type: 'null' }],
      },
    },
    { optional: ['citations'] },
  ),
  MessageCitation: {
    description: 'As the vendor of the messages format writes it: `char_location`, `web_search_result_location`, …',
    ...object({ type: { type: 'string' }, cited_text: { type: 'string' } }, { optional: ['cited_text'] }),
  },
  TextBilling: object(BILLING_FIELDS, { optional: BILLING_OPTIONAL }),
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

const outputTokens = count('Output tokens, including reasoning tokens.');
const someTokens = (description: string) => count(description, { minimum: 1 });

/** Token counts of a message-style reply; `output` in place of those so far. */
export const messageUsageSchema = (output: Json = outputTokens): Json =>
  object(
    {
      input_tokens: count('Input tokens that were neither read from a prompt cache nor written to one.'),
      output_tokens: output,
      cache_creation_input_tokens: someTokens('Input tokens written to a cache; absent if there are none.'),
      cache_creation: object({
        ephemeral_5m_input_tokens: count('Those kept for five minutes.'),
        ephemeral_1h_input_tokens: count('Those kept for an hour.'),
      }),
      cache_read_input_tokens: someTokens('Input tokens read from a cache; absent if there are none.'),
    },
    { optional: ['cache_creation_input_tokens', 'cache_creation', 'cache_read_input_tokens'] },
  );

export const responsesUsageSchema: Json = object({
  input_tokens: count('Input tokens, including cached tokens.'),
  input_tokens_details: object({
    cached_tokens: count('Input tokens read from a cache.'),
    cache_write_tokens: count('Input tokens written to a cache.'),
  }),
  output_tokens: outputTokens,
  output_tokens_details: object({ reasoning_tokens: count('The part of the output that is reasoning.') }),
  total_tokens: count('Input and output tokens.'),
});

export const chatUsageSchema: Json = object(
  {
    prompt_tokens: count('Input tokens, including cached tokens.'),
    completion_tokens: outputTokens,
    total_tokens: count('Input and output tokens.'),
    prompt_tokens_details: object(
      {
        cached_tokens: count('Input tokens read from a cache.'),
        cache_write_tokens: someTokens('Input tokens written to a cache; absent if there are none.'),
        audio_tokens: someTokens(
          'Input tokens of recordings that were not read from a cache; absent if there are none.',
        ),
      },
      { optional: ['cache_write_tokens', 'audio_tokens'] },
    ),
    completion_tokens_details: object({
      reasoning_tokens: someTokens('The part of the output that is reasoning.'),
      accepted_prediction_tokens: count('Always 0.'),
      rejected_prediction_tokens: count('Always 0.'),
    }),
  },
  { optional: ['prompt_tokens_details', 'completion_tokens_details'] },
);
