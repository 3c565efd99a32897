// POST /api/v1/embeddings in the API document.

import { constant, count, type Json, list, object, ref, rub, text } from '../../base/json-schema.ts';
import { embeddingFields } from '../embedding-request.ts';
import { describeFields } from './body.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, json } from './schema.ts';
import { GENERATING_STATUSES, PAID_HEADERS } from './text.ts';

const EMBEDDING: Json = {
  operationId: 'createEmbedding',
  tags: ['Embeddings'],
  summary: 'Create embeddings',
  description:
    'Turns texts into vectors. An estimate of the price is reserved before the call; the tokens that the provider ' +
    'counts are charged, at least 0.5 RUB per call, and nothing if it fails. If the client disconnects after the upstream ' +
    'request has started, the estimated tokens are charged.',
  parameters: PAID_HEADERS,
  requestBody: {
    required: true,
    content: json(ref('EmbeddingRequest'), { example: { model: 'embedding-1', input: ['A lighthouse', 'A harbour'] } }),
  },
  responses: {
    200: {
      description: 'The vectors, in the order of the texts.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: json(ref('EmbeddingReply'), {
        example: {
          object: 'list',
          data: [
            { object: 'embedding', index: 0, embedding: [0.0023064255, -0.009327292] },
            { object: 'embedding', index: 1, embedding: [0.0123987345, 0.000183716] },
          ],
          model: 'embedding-1',
          usage: { prompt_tokens: 6, total_tokens: 6 },
          billing: {
            charged_rub: 0.5,
            reserved_rub: 0.5,
            balance_rub: 999.5,
            unit: '1M_tokens',
            rub_per_mtok_in: 4,
            rub_per_mtok: 4,
          },
        },
      }),
    },
    ...errorResponses('chat', GENERATING_STATUSES),
  },
};

const BILLING = {
  charged_rub: rub('The amount charged for the counted tokens'),
  reserved_rub: rub('The amount reserved at the start of the call'),
  balance_rub: rub('The available balance after settlement'),
  unit: constant('1M_tokens'),
  rub_per_mtok_in: rub('Price per million tokens'),
  rub_per_mtok: rub('Same as `rub_per_mtok_in`'),
};

export const embeddingChapter: Chapter = {
  paths: { '/api/v1/embeddings': { post: EMBEDDING } },
  schemas: {
    EmbeddingRequest: describeFields(embeddingFields, ['user']),
    EmbeddingReply: object({
      object: constant('list'),
      data: list(
        object({
          object: constant('embedding'),
          index: count('The position of the text in the request.'),
          embedding: {
            description: 'The vector, in the requested encoding.',
            anyOf: [list({ type: 'number' }, { minItems: 1 }), text('Base64 of little-endian 32-bit floats.')],
          },
        }),
        { minItems: 1 },
      ),
      model: text('The id of the model.'),
      usage: object({
        prompt_tokens: count('Tokens of all texts.'),
        total_tokens: count('The same: embeddings have no output tokens.'),
      }),
      billing: object(BILLING),
    }),
  },
};
