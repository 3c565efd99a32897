// POST /api/v1/messages/count_tokens and /api/v1/responses/input_tokens in the API document.

import { constant, count, type Json, object, ref } from '../../base/json-schema.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, json } from './schema.ts';

const DESCRIPTION =
  'No model is called, no linked image is fetched and nothing is charged. Has a separate rate limit of 120 requests per ' +
  'minute and key by default.';
const TOKENS = count('Estimated number of input tokens.');
const STATUSES = [400, 401, 403, 408, 413, 415, 429, 503];

const MESSAGE_COUNT: Json = {
  operationId: 'countMessageTokens',
  tags: ['Text'],
  summary: 'Count input tokens',
  description: `Returns the estimate that the reserve of the same message is based on. ${DESCRIPTION}`,
  requestBody: {
    required: true,
    content: json(ref('MessageRequest'), {
      example: { model: 'standard-1', messages: [{ role: 'user', content: 'Hello!' }] },
    }),
  },
  responses: {
    200: {
      description: 'The number of input tokens.',
      headers: headers('x-request-id', 'request-id'),
      content: json(ref('TokenCount'), { example: { input_tokens: 6 } }),
    },
    ...errorResponses('message', STATUSES),
  },
};

const RESPONSE_COUNT: Json = {
  operationId: 'countResponseTokens',
  tags: ['Text'],
  summary: 'Count input tokens of a response',
  description: `Returns the estimate that the reserve of the same request is based on. ${DESCRIPTION}`,
  requestBody: {
    required: true,
    content: json(ref('ResponseRequest'), { example: { model: 'standard-1', input: 'Hello!' } }),
  },
  responses: {
    200: {
      description: 'The number of input tokens.',
      headers: headers('x-request-id', 'request-id'),
      content: json(ref('ResponseTokenCount'), { example: { object: 'response.input_tokens', input_tokens: 6 } }),
    },
    ...errorResponses('chat', STATUSES),
  },
};

export const tokenCountsChapter: Chapter = {
  paths: {
    '/api/v1/messages/count_tokens': { post: MESSAGE_COUNT },
    '/api/v1/responses/input_tokens': { post: RESPONSE_COUNT },
  },
  schemas: {
    TokenCount: object({ input_tokens: TOKENS }),
    ResponseTokenCount: object({ object: constant('response.input_tokens'), input_tokens: TOKENS }),
  },
};
