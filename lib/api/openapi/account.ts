// Models and balance in the API document.

import { choice, constant, count, type Json, list, object, ref, rub, text } from '../../base/json-schema.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, json } from './schema.ts';

const CURRENCY = constant('RUB');

const TEXT_EXAMPLE: Json = {
  id: 'standard-1',
  aliases: ['standard'],
  type: 'text',
  endpoint: '/v1/messages',
  unit: '1M_tokens',
  price_rub: 300,
  input_price_rub: 300,
  output_price_rub: 1500,
  min_rub: 0.5,
  provider: 'Example',
  object: 'model',
  created: 0,
  owned_by: 'Example',
  display_name: 'standard-1',
  context_length: 200_000,
  max_output_tokens: 32_768,
  input_modalities: ['text'],
  supported_parameters: ['max_tokens', 'stop', 'tools', 'tool_choice', 'parallel_tool_calls'],
};

const MODELS: Json = {
  operationId: 'listModels',
  tags: ['Account'],
  summary: 'List models with their prices',
  description:
    'Returns the models that the key can use, at the prices that its account pays. Models and prices may change at any time. Not rate limited.',
  responses: {
    200: {
      description: 'The models that the key can use.',
      headers: headers('x-request-id', 'request-id'),
      content: json(ref('ModelList'), {
        example: {
          object: 'list',
          currency: 'RUB',
          balance_rub: 999.5,
          data: [
            TEXT_EXAMPLE,
            {
              id: 'smart',
              aliases: ['auto'],
              type: 'text',
              endpoint: '/v1/messages',
              unit: '1M_tokens',
              price_rub: null,
              min_rub: 0.5,
              provider: 'Tollgate',
              description:
                "Automatic selection by complexity (lite/standard/heavy), billed at the routed model's price.",
            },
          ],
        },
      }),
    },
    ...errorResponses('message', [401, 403, 500, 503]),
  },
};

const MODEL: Json = {
  operationId: 'getModel',
  tags: ['Account'],
  summary: 'Retrieve a model',
  description: 'Returns a model by its id or an alias. Not rate limited.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      required: true,
      description: 'The id or an alias of the model. Encode slashes as `%2F`.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'The model.',
      headers: headers('x-request-id', 'request-id'),
      content: json(ref('ModelEntry'), { example: TEXT_EXAMPLE }),
    },
    ...errorResponses('message', [400, 401, 403, 404]),
  },
};

const BALANCE: Json = {
  operationId: 'getBalance',
  tags: ['Account'],
  summary: 'Retrieve the balance',
  description: 'Has a separate rate limit of 120 requests per minute and key by default.',
  responses: {
    200: {
      description: 'The wallet of the account, and the usage of the API key.',
      headers: headers('x-request-id', 'request-id'),
      content: json(ref('Balance'), {
        example: {
          currency: 'RUB',
          balance_rub: 999.5,
          topped_up_total_rub: 1000,
          spent_30d_rub: 0.5,
          min_topup_rub: 1000,
          auto_topup: { enabled: false, amount_rub: 0, threshold_rub: 0 },
          key: { name: 'production', requests_count: 2, last_used_at: '2026-10-07T09:30:00.000Z' },
        },
      }),
    },
    ...errorResponses('message', [401, 403, 429, 500, 503]),
  },
};

const ALIASES = list({ type: 'string' }, { description: 'Other names accepted in `model`.' });

/** Properties of all text models. */
const TEXT_ENTRY: Readonly<Record<string, Json>> = {
  type: constant('text'),
  endpoint: text('Path of the endpoint, relative to `/api`. Text models are available on all text endpoints.', {
    const: '/v1/messages',
  }),
  unit: constant('1M_tokens'),
  min_rub: rub('Minimum charge per call'),
};

/** A model without a price of its own for audio or cached tokens charges them as input. */
const TOKEN_PRICES: Readonly<Record<string, Json>> = {
  input_price_rub: rub('Price per million input tokens'),
  output_price_rub: rub('Price per million output tokens'),
  audio_price_rub: rub('Price per million input tokens of recordings; absent if it is the input price'),
  cache_read_price_rub: rub('Price per million input tokens read from a cache; absent if it is the input price'),
  cache_write_price_rub: rub('Price per million input tokens written to a cache; absent if it is the input price'),
  cache_write_1h_price_rub: rub('The same for input tokens that are cached for an hour'),
};
const OPTIONAL_PRICES = Object.keys(TOKEN_PRICES).filter((name) => !/^(input|output)_/.test(name));

const TEXT_FACTS: Readonly<Record<string, Json>> = {
  object: constant('model'),
  created: { type: 'integer', const: 0, description: 'Not recorded.' },
  owned_by: text('Same as `provider`.'),
  display_name: text('A name for people.'),
  context_length: count('Tokens of a prompt and its answer together; absent if unknown.'),
  max_output_tokens: count('The most tokens of an answer; a higher `max_tokens` is taken as this.'),
  input_modalities: list(choice(['text', 'image', 'file', 'audio'])),
  supported_parameters: list({ type: 'string' }, { description: 'Optional fields of a chat that the model heeds.' }),
  created_at: text(
    'The same as `created`. This and the next two: only for requests with the version of the messages format.',
  ),
  max_input_tokens: { type: ['integer', 'null'], description: 'Same as `context_length`.' },
  max_tokens: { type: ['integer', 'null'], description: 'Same as `max_output_tokens`.' },
};

const MESSAGE_FACTS = ['created_at', 'max_input_tokens', 'max_tokens'];

export const accountChapter: Chapter = {
  paths: {
    '/api/v1/models': { get: MODELS },
    '/api/v1/models/{id}': { get: MODEL },
    '/api/v1/balance': { get: BALANCE },
  },
  schemas: {
    ModelList: object({
      object: constant('list'),
      currency: CURRENCY,
      balance_rub: rub('The available balance'),
      data: list(ref('ModelEntry')),
    }),
    ModelEntry: {
      anyOf: [ref('TextModel'), ref('SmartModel'), ref('EmbeddingModel'), ref('ImageModel'), ref('VideoModel')],
    },
    TextModel: object(
      {
        id: text('The model id, for `model`.'),
        aliases: ALIASES,
        ...TEXT_ENTRY,
        price_rub: rub('Same as `input_price_rub`, for older clients'),
        ...TOKEN_PRICES,
        price_bands: list(
          object(
            { above_tokens: count('The band is for longer prompts.', { minimum: 1 }), ...TOKEN_PRICES },
            { optional: OPTIONAL_PRICES },
          ),
          { description: 'Prices of all tokens of a call with a long prompt; absent if there is one price for all.' },
        ),
        provider: text('The provider of the model.'),
        ...TEXT_FACTS,
      },
      { optional: [...OPTIONAL_PRICES, 'price_bands', 'context_length', ...MESSAGE_FACTS] },
    ),
    EmbeddingModel: object(
      {
        id: text('The model id, for `model`.'),
        aliases: ALIASES,
        type: constant('embedding'),
        endpoint: constant('/v1/embeddings'),
        unit: constant('1M_tokens'),
        price_rub: rub('Same as `input_price_rub`'),
        input_price_rub: rub('Price per million tokens'),
        min_rub: rub('Minimum charge per call'),
        max_inputs: count('The maximum number of texts in one call.', { minimum: 1 }),
        dimensions: {
          ...object(
            {
              default: count('The length of a vector.', { minimum: 1 }),
              min: count('The shortest length that may be requested.', { minimum: 1 }),
              max: count('The longest length that may be requested.', { minimum: 1 }),
            },
            { optional: ['min', 'max'] },
          ),
          description: 'Without `min` and `max` the length cannot be chosen. Absent if unknown.',
        },
        context_length: count('The maximum number of tokens of one text; absent if unknown.', { minimum: 1 }),
        provider: text('The provider of the model.'),
      },
      { optional: ['dimensions', 'context_length'] },
    ),
    ImageModel: object({
      id: text('The model id, for `model`.'),
      aliases: ALIASES,
      type: constant('image'),
      endpoint: text('Path of the endpoint, relative to `/api`. Many image models are also available for edits.', {
        const: '/v1/images/generations',
      }),
      unit: constant('request'),
      price_rub: rub('Price per image'),
      provider: text('The provider of the model.'),
    }),
    VideoModel: object(
      {
        id: text('The model id, for `model`.'),
        aliases: ALIASES,
        type: constant('video'),
        endpoint: constant('/v1/videos'),
        unit: choice(['second', 'request'], 'The unit of the price.'),
        price_rub: rub('Price per unit at the default resolution'),
        price_rub_by_resolution: {
          type: 'object',
          description: 'Price per second by resolution label; absent if all resolutions have the same price.',
          additionalProperties: { type: 'number' },
        },
        provider: text('The provider of the model.'),
      },
      { optional: ['price_rub_by_resolution'] },
    ),
    SmartModel: object({
      id: constant('smart'),
      aliases: ALIASES,
      ...TEXT_ENTRY,
      price_rub: {
        type: 'null',
        description: 'Always null: a call is billed at the price of the model that it is routed to.',
      },
      provider: text('The provider of the routing.'),
      description: text('How the model works.'),
    }),
    Balance: object(
      {
        currency: CURRENCY,
        balance_rub: rub('The available balance, less what running calls reserve'),
        granted_rub: rub(
          'Absent without grants: the part of the balance that was given, such as by a promo code, and is spent first',
        ),
        spendable_rub: rub('Absent without grants: what calls can spend now, which is 0 before the first top-up'),
        topped_up_total_rub: rub('Total of all top-ups'),
        spent_30d_rub: rub('Charges of the last 30 days (720 hours), less refunds'),
        min_topup_rub: rub('Minimum amount of the first top-up'),
        auto_topup: object({
          enabled: { type: 'boolean' },
          amount_rub: rub('Amount of an automatic top-up'),
          threshold_rub: rub('The balance that triggers an automatic top-up'),
        }),
        key: object({
          name: text('The name of the key.'),
          requests_count: count('Requests made with the key, including this one.'),
          last_used_at: text('Time of the last request with the key, in UTC.', { format: 'date-time' }),
        }),
      },
      { optional: ['granted_rub', 'spendable_rub'] },
    ),
  },
};
