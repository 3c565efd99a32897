// The account's view in the API document: models and balance.
import { errorResponses } from './errors.ts';
import {
  type Chapter,
  choice,
  constant,
  count,
  headers,
  type Json,
  json,
  list,
  object,
  ref,
  rub,
  text,
} from './schema.ts';

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
};

const MODELS: Json = {
  operationId: 'listModels',
  tags: ['Account'],
  summary: 'List the models with their prices',
  description: 'Not counted in any rate limit. The list and its prices are data of the service and change.',
  responses: {
    200: {
      description: 'Everything that the key can use now.',
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
  summary: 'Show one model with its prices',
  description: 'By its id or an alias; the entry is that of the list. Not counted in any rate limit.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      required: true,
      description: 'An id or an alias; slashes in it are written as `%2F`.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'The entry of the list.',
      headers: headers('x-request-id', 'request-id'),
      content: json(ref('ModelEntry'), { example: TEXT_EXAMPLE }),
    },
    ...errorResponses('message', [400, 401, 403, 404]),
  },
};

const BALANCE: Json = {
  operationId: 'getBalance',
  tags: ['Account'],
  summary: 'Show the wallet',
  description: 'Has a rate limit of its own: 120 requests per minute and key, unless the operator chose another.',
  responses: {
    200: {
      description: 'The wallet of the account, and the key that asked.',
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

const ALIASES = list({ type: 'string' }, { description: 'Other names that `model` takes.' });

/** What all entries of text models have. */
const TEXT_ENTRY: Readonly<Record<string, Json>> = {
  type: constant('text'),
  endpoint: text('The path of its endpoint below `/api`. Text models answer on both text endpoints.', {
    const: '/v1/messages',
  }),
  unit: constant('1M_tokens'),
  min_rub: rub('Minimum charge per call'),
};

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
      balance_rub: rub('What the wallet can spend'),
      data: list(ref('ModelEntry')),
    }),
    ModelEntry: { anyOf: [ref('TextModel'), ref('SmartModel'), ref('ImageModel'), ref('VideoModel')] },
    TextModel: object({
      id: text('What `model` takes.'),
      aliases: ALIASES,
      ...TEXT_ENTRY,
      price_rub: rub('The input price again, for older clients'),
      input_price_rub: rub('Price of a million input tokens'),
      output_price_rub: rub('Price of a million output tokens'),
      provider: text('Who makes the model.'),
    }),
    ImageModel: object({
      id: text('What `model` takes.'),
      aliases: ALIASES,
      type: constant('image'),
      endpoint: text('The path of its endpoint below `/api`. Many edit pictures too.', {
        const: '/v1/images/generations',
      }),
      unit: constant('request'),
      price_rub: rub('Price of a picture'),
      provider: text('Who makes the model.'),
    }),
    VideoModel: object(
      {
        id: text('What `model` takes.'),
        aliases: ALIASES,
        type: constant('video'),
        endpoint: constant('/v1/videos'),
        unit: choice(['second', 'request'], 'What the price is for.'),
        price_rub: rub('Price of a unit, at the default resolution'),
        price_rub_by_resolution: {
          type: 'object',
          description: 'Prices of a second by the labels that `resolution` takes; absent where all have one price.',
          additionalProperties: { type: 'number' },
        },
        provider: text('Who makes the model.'),
      },
      { optional: ['price_rub_by_resolution'] },
    ),
    SmartModel: object({
      id: constant('smart'),
      aliases: ALIASES,
      ...TEXT_ENTRY,
      price_rub: { type: 'null', description: 'A call has the prices of the model that it is routed to.' },
      provider: text('Who routes.'),
      description: text('What it does.'),
    }),
    Balance: object({
      currency: CURRENCY,
      balance_rub: rub('What can be spent; holds of running calls are subtracted'),
      topped_up_total_rub: rub('All top-ups together'),
      spent_30d_rub: rub('Charges of the last 30 times 24 hours less refunds, whatever the time zone'),
      min_topup_rub: rub('Minimum first top-up'),
      auto_topup: object({
        enabled: { type: 'boolean' },
        amount_rub: rub('Amount of an automatic top-up'),
        threshold_rub: rub('The balance below which it is made'),
      }),
      key: object({
        name: text('The name of the key.'),
        requests_count: count('Requests made with the key, including this one.'),
        last_used_at: text('UTC with milliseconds.', { format: 'date-time' }),
      }),
    }),
  },
};
