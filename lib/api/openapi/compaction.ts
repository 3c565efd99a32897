// POST /api/v1/responses/compact in the API document.

import { constant, count, type Json, list, object, ref, text } from '../../base/json-schema.ts';
import { errorResponses } from './errors.ts';
import { RESPONSE_BILLING } from './responses.ts';
import { type Chapter, headers, json } from './schema.ts';
import { GENERATING_STATUSES, PAID_HEADERS, responsesUsageSchema, SESSION_ID, withRouting } from './text.ts';

const KEPT: Json = {
  description: 'A message of the user, with what else the client sent of it.',
  ...object({
    id: text('As the client sent it, or with the prefix `msg_`.'),
    type: constant('message'),
    status: text('`completed`.'),
    role: constant('user'),
    content: list({ type: 'object', required: ['type'] }),
  }),
};

const COMPACTED = withRouting(
  object(
    {
      id: text('The request id with the prefix `resp_`.', { pattern: '^resp_' }),
      created_at: count('Unix time in seconds.'),
      model: text('The id of the model that wrote the summary.'),
      output: list({ anyOf: [KEPT, ref('ResponseCompaction')] }),
      usage: { anyOf: [responsesUsageSchema, { type: 'null' }] },
      billing: RESPONSE_BILLING,
      object: constant('response.compaction'),
    },
    { optional: ['billing'] },
  ),
);

const COMPACT: Json = {
  operationId: 'compactResponse',
  tags: ['Text'],
  summary: 'Compact a conversation',
  description:
    'A model summarises the conversation, for clients whose history has become too long. `output` takes its place: the ' +
    'latest messages of the user, up to 256 KiB, and one `compaction`. The same request as for `POST /api/v1/responses`, billed like it; ' +
    '`stream`, `text`, `stop` and `tool_choice` do not count.',
  parameters: [...PAID_HEADERS, SESSION_ID],
  requestBody: { required: true, content: json(ref('ResponseRequest')) },
  responses: {
    200: {
      description: 'What to go on with.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: json(ref('CompactedResponse')),
    },
    ...errorResponses('chat', GENERATING_STATUSES),
  },
};

export const compactionChapter: Chapter = {
  paths: { '/api/v1/responses/compact': { post: COMPACT } },
  schemas: { CompactedResponse: COMPACTED },
};
