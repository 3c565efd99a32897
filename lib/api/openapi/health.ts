// Health checks and the document itself, in the API document.
import { type Chapter, choice, constant, count, headers, type Json, json, object, ref } from './schema.ts';

/** An operation that needs no key. */
function open(operation: Json): Json {
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
      get: open({
        operationId: 'getHealth',
        summary: 'Check that the process is alive',
        responses: { 200: reply('It does.', 'Health', { status: 'ok' }) },
      }),
    },
    '/readyz': {
      get: open({
        operationId: 'getReadiness',
        summary: 'Check that calls can be served',
        responses: {
          200: reply('They can.', 'Readiness', { status: 'ok', store: true, models: 12 }),
          503: reply('The store does not answer, or there is no model.', 'Readiness', {
            status: 'unavailable',
            store: false,
            models: 12,
          }),
        },
      }),
    },
    '/openapi.json': {
      get: open({
        operationId: 'getApiDocument',
        summary: 'This document',
        responses: { 200: reply('OpenAPI 3.1.', 'ApiDocument') },
      }),
    },
  },
  schemas: {
    Health: object({ status: constant('ok') }),
    Readiness: object({
      status: choice(['ok', 'unavailable']),
      store: { type: 'boolean', description: 'True when the store answers.' },
      models: count('Models in the catalog.'),
    }),
    ApiDocument: { type: 'object', required: ['openapi', 'info', 'paths'] },
  },
};
