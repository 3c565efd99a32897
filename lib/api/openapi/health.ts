// Health checks and the document itself, in the API document.

import { choice, count, type Json, object, ref } from '../../base/json-schema.ts';
import { type Chapter, headers, json } from './schema.ts';

/** An operation without authentication. */
function withoutKey(operation: Json): Json {
  return { tags: ['Service'], security: [], ...operation };
}

const reply = (description: string, schema: string, example?: Json): Json => ({
  description,
  headers: headers('x-request-id', 'request-id'),
  content: json(ref(schema), example && { example }),
});

export const healthChapter: Chapter = {
  paths: {
    '/healthz': {
      get: withoutKey({
        operationId: 'getHealth',
        summary: 'Liveness check',
        responses: {
          200: reply('The process is alive.', 'Health', { status: 'ok' }),
          503: reply('The process is about to stop; it still answers calls.', 'Health', { status: 'stopping' }),
        },
      }),
    },
    '/readyz': {
      get: withoutKey({
        operationId: 'getReadiness',
        summary: 'Readiness check',
        responses: {
          200: reply('The service can handle calls.', 'Readiness', { status: 'ok', store: true, models: 12 }),
          503: reply(
            'The store does not respond or takes no writes, no model is available, or the process is about to stop.',
            'Readiness',
            {
              status: 'unavailable',
              store: false,
              models: 12,
            },
          ),
        },
      }),
    },
    '/openapi.json': {
      get: withoutKey({
        operationId: 'getApiDocument',
        summary: 'This document',
        responses: { 200: reply('An OpenAPI 3.1 document.', 'ApiDocument') },
      }),
    },
  },
  schemas: {
    Health: object({ status: choice(['ok', 'stopping']) }),
    Readiness: object({
      status: choice(['ok', 'unavailable']),
      store: { type: 'boolean', description: 'Whether the store responds and takes writes.' },
      models: count('Number of available models.'),
    }),
    ApiDocument: { type: 'object', required: ['openapi', 'info', 'paths'] },
  },
};
