// POST /api/v1/messages in the API document.

import { choice, constant, count, type Json, list, object, ref, text } from '../../base/json-schema.ts';
import { toolReferenceBlock, toolResultBlock, toolUseBlock } from '../dialects/calls.ts';
import { documentBlock } from '../dialects/files.ts';
import { imageBlock } from '../dialects/images.ts';
import { messageEffort } from '../dialects/message/effort.ts';
import { messageFields } from '../dialects/message/schema.ts';
import { describeMessage, OTHER_BLOCK } from '../dialects/messages.ts';
import { IGNORED_FIELDS } from '../dialects/text-fields.ts';
import { describeFields } from './body.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, json } from './schema.ts';
import {
  BILLING_EXAMPLE,
  BILLING_FIELDS,
  BILLING_OPTIONAL,
  GENERATING_STATUSES,
  messageUsageSchema,
  PAID_HEADERS,
  SESSION_ID,
  withRouting,
} from './text.ts';

const ID = text('The request id with the prefix `msg_`.', { pattern: '^msg_' });
const MODEL = text('The id of the model that answered.');
const STOP_REASON = choice(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal']);

/** The events of a stream by name, in order; `error` ends a stream early. */
const EVENTS: Readonly<Record<string, { readonly schema: string; readonly example: unknown }>> = {
  message_start: {
    schema: 'MessageStartEvent',
    example: {
      type: 'message_start',
      message: {
        id: 'msg_req_0f3b',
        type: 'message',
        role: 'assistant',
        model: 'standard-1',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 12, output_tokens: 0 },
      },
    },
  },
  content_block_start: {
    schema: 'ContentBlockStartEvent',
    example: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  },
  content_block_delta: {
    schema: 'ContentBlockDeltaEvent',
    example: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  },
  content_block_stop: { schema: 'ContentBlockStopEvent', example: { type: 'content_block_stop', index: 0 } },
  message_delta: {
    schema: 'MessageDeltaEvent',
    example: {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 12, output_tokens: 2 },
    },
  },
  message_stop: { schema: 'MessageStopEvent', example: { type: 'message_stop' } },
  billing: { schema: 'BillingEvent', example: { type: 'ping', ...BILLING_EXAMPLE } },
  error: {
    schema: 'MessageError',
    example: {
      type: 'error',
      error: { type: 'api_error', message: 'The upstream provider failed. Charge refunded.' },
    },
  },
};

const STREAM: Json = {
  schema: {
    description:
      'The data of one event. Each event is a line `event: <name>`, a line `data: <JSON>` and an empty line. The names ' +
      'are those of the examples, in this order. `content_block_delta` repeats within a block, and the block events repeat ' +
      'for each block. `billing` is always last; clients that do not know it can ignore it. `error` ends a stream that ' +
      'fails. Comments (`: keep-alive`) may precede any event.',
    oneOf: Object.values(EVENTS).map(({ schema }) => ref(schema)),
  },
  examples: Object.fromEntries(Object.entries(EVENTS).map(([name, { example }]) => [name, { value: example }])),
};

const OPERATION: Json = {
  operationId: 'createMessage',
  tags: ['Text'],
  summary: 'Create a message',
  description:
    'A call first reserves the estimated input tokens at the input price, plus `max_tokens` (at least 512) at ' +
    'the output price. When the answer is complete, the actual usage is charged, at least 0.5 RUB, and the rest of the ' +
    'reserve is returned.',
  parameters: [...PAID_HEADERS, SESSION_ID],
  requestBody: {
    required: true,
    content: json(ref('MessageRequest'), {
      example: { model: 'standard-1', max_tokens: 1000, messages: [{ role: 'user', content: 'Hello!' }] },
    }),
  },
  responses: {
    200: {
      description: 'The message; with `stream: true`, a stream of events.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: {
        ...json(ref('MessageReply'), {
          example: {
            id: 'msg_req_0f3b',
            type: 'message',
            role: 'assistant',
            model: 'standard-1',
            content: [{ type: 'text', text: 'Hello! How can I help?' }],
            stop_reason: 'end_turn',
            stop_sequence: null,
            usage: { input_tokens: 12, output_tokens: 7 },
          },
        }),
        'text/event-stream': STREAM,
      },
    },
    ...errorResponses('message', GENERATING_STATUSES),
  },
};

const INDEX = count('The index of the content block, starting at 0.');
const STOP_SEQUENCE: Json = {
  type: ['string', 'null'],
  description: 'The stop sequence that ended the answer; null if it ended for another reason.',
};

export const BLOCKS: readonly Json[] = [
  ...[
    'TextBlock',
    'MessageImageBlock',
    'ChatImagePart',
    'InputImagePart',
    'DocumentBlock',
    'FilePart',
    'AudioPart',
  ].map(ref),
  ...['ToolUseBlock', 'ToolResultBlock', 'ToolReferenceBlock'].map(ref),
  OTHER_BLOCK,
];

/** Only in answers to requests with `thinking`. */
const THINKING_BLOCKS = ['ThinkingBlock', 'RedactedThinkingBlock'];

export const messageChapter: Chapter = {
  paths: { '/api/v1/messages': { post: OPERATION } },
  schemas: {
    MessageRequest: describeFields(messageFields, IGNORED_FIELDS),
    Message: describeMessage('MessageBlock', { output_config: messageEffort }),
    MessageBlock: { anyOf: BLOCKS },
    ToolUseBlock: toolUseBlock,
    ThinkingBlock: object({
      type: constant('thinking'),
      thinking: text("The model's reasoning; may be empty."),
      signature: text('Goes back with the block, unchanged.'),
    }),
    RedactedThinkingBlock: object({
      type: constant('redacted_thinking'),
      data: text('Reasoning that nobody may read; goes back unchanged.'),
    }),
    BillingEvent: object(
      {
        type: { ...constant('ping'), description: 'Clients that do not know the event skip it for its type.' },
        ...BILLING_FIELDS,
      },
      { optional: BILLING_OPTIONAL },
    ),
    ToolResultBlock: toolResultBlock('MessageBlock'),
    ToolReferenceBlock: toolReferenceBlock,
    MessageImageBlock: imageBlock,
    DocumentBlock: documentBlock,
    MessageReply: withRouting(
      object({
        id: ID,
        type: constant('message'),
        role: constant('assistant'),
        model: MODEL,
        content: list(
          { anyOf: ['TextBlock', 'ToolUseBlock', 'MessageImageBlock', ...THINKING_BLOCKS].map(ref) },
          { minItems: 1 },
        ),
        stop_reason: STOP_REASON,
        stop_sequence: STOP_SEQUENCE,
        usage: messageUsageSchema(),
      }),
    ),
    MessageStartEvent: object({
      type: constant('message_start'),
      message: withRouting(
        object({
          id: ID,
          type: constant('message'),
          role: constant('assistant'),
          model: MODEL,
          content: { type: 'array', maxItems: 0 },
          stop_reason: { type: 'null' },
          usage: messageUsageSchema({ type: 'integer', const: 0 }),
        }),
      ),
    }),
    ContentBlockStartEvent: object({
      type: constant('content_block_start'),
      index: INDEX,
      content_block: {
        oneOf: [
          object(
            { type: constant('text'), text: constant(''), citations: { type: 'array', maxItems: 0 } },
            { optional: ['citations'] },
          ),
          ...['ToolUseBlock', 'MessageImageBlock', ...THINKING_BLOCKS].map(ref),
        ],
      },
    }),
    ContentBlockDeltaEvent: object({
      type: constant('content_block_delta'),
      index: INDEX,
      delta: {
        oneOf: [
          object({ type: constant('text_delta'), text: text('The next part of the answer.', { minLength: 1 }) }),
          object({ type: constant('citations_delta'), citation: ref('MessageCitation') }),
          object({ type: constant('thinking_delta'), thinking: text('The next part of the reasoning.') }),
          object({ type: constant('signature_delta'), signature: text('Goes back with the block, unchanged.') }),
          object({ type: constant('input_json_delta'), partial_json: text('The next part of the arguments.') }),
        ],
      },
    }),
    ContentBlockStopEvent: object({ type: constant('content_block_stop'), index: INDEX }),
    MessageDeltaEvent: object({
      type: constant('message_delta'),
      delta: object({ stop_reason: STOP_REASON, stop_sequence: STOP_SEQUENCE }),
      usage: messageUsageSchema(),
    }),
    MessageStopEvent: object({ type: constant('message_stop') }),
  },
};
