// POST /api/v1/chat/completions in the API document.

import { choice, constant, count, type Json, list, object, ref, text } from '../../base/json-schema.ts';
import { toolCall } from '../dialects/calls.ts';
import { chatFields } from '../dialects/chat/schema.ts';
import { audioPart, filePart } from '../dialects/files.ts';
import { imageUrlBlock, inputImagePart } from '../dialects/images.ts';
import { describeMessage } from '../dialects/messages.ts';
import { IGNORED_FIELDS } from '../dialects/text-fields.ts';
import { describeFields } from './body.ts';
import { errorResponses } from './errors.ts';
import { BLOCKS } from './message.ts';
import { type Chapter, headers, json } from './schema.ts';
import {
  BILLING_EXAMPLE,
  chatUsageSchema,
  GENERATING_STATUSES,
  PAID_HEADERS,
  SESSION_ID,
  withRouting,
} from './text.ts';

const ID = text('The request id with the prefix `chatcmpl_`.', { pattern: '^chatcmpl_' });
const CREATED = count('Unix time in seconds.');
const MODEL = text('The id of the model that answered.');
const FINISH_REASON = choice(['stop', 'length', 'content_filter', 'tool_calls', 'function_call']);
const INDEX: Json = { type: 'integer', const: 0 };

/** A chunk of a stream; it always has one choice. */
function chunk(delta: Json, finishReason: Json, more: Readonly<Record<string, Json>> = {}): Json {
  return object({
    id: ID,
    object: constant('chat.completion.chunk'),
    created: CREATED,
    model: MODEL,
    choices: list(object({ index: INDEX, delta, finish_reason: finishReason }), { minItems: 1, maxItems: 1 }),
    ...more,
  });
}

const NOT_YET: Json = { type: 'null' };

const CHUNK_EXAMPLE = { id: 'chatcmpl_req_0f3b', object: 'chat.completion.chunk', created: 1_790_000_000 };
const USAGE_EXAMPLE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };

function chunkExample(delta: Json, finishReason: string | null, more: Json = {}): Json {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { value: { ...CHUNK_EXAMPLE, model: 'standard-1', choices, ...more } };
}

const STREAM: Json = {
  schema: {
    description:
      'The data of one event. Each event is a line `data: <JSON>` and an empty line, in the order of the examples. ' +
      'Content chunks repeat; tool calls are sent in separate chunks. An error ends the stream early. The last event is ' +
      'always `data: [DONE]`, which is not JSON. Comments (`: keep-alive`) may precede any event.',
    oneOf: [
      'ChatRoleChunk',
      'ChatReasoningChunk',
      'ChatContentChunk',
      'ChatImagesChunk',
      'ChatAnnotationsChunk',
      'ChatToolChunk',
      'ChatFunctionChunk',
      'ChatFinalChunk',
      'ChatError',
      'ChatStreamEnd',
    ].map(ref),
  },
  examples: {
    role: chunkExample({ role: 'assistant', content: '' }, null),
    content: chunkExample({ content: 'Hello' }, null),
    final: chunkExample({}, 'stop', { usage: USAGE_EXAMPLE, billing: BILLING_EXAMPLE }),
    error: {
      value: {
        error: {
          message: 'The upstream provider failed. Charge refunded.',
          type: 'api_error',
          code: 'upstream_error',
        },
      },
    },
    end: { value: '[DONE]' },
  },
};

const OPERATION: Json = {
  operationId: 'createChatCompletion',
  tags: ['Text'],
  summary: 'Create a chat completion',
  description: 'Same models, prices and limits as `POST /api/v1/messages`, in the chat completions format.',
  parameters: [...PAID_HEADERS, SESSION_ID],
  requestBody: {
    required: true,
    content: json(ref('ChatRequest'), {
      example: {
        model: 'standard-1',
        max_tokens: 1000,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello!' },
        ],
      },
    }),
  },
  responses: {
    200: {
      description: 'The completion; with `stream: true`, a stream of chunks.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: {
        ...json(ref('ChatReply'), {
          example: {
            id: 'chatcmpl_req_0f3b',
            object: 'chat.completion',
            created: 1_790_000_000,
            model: 'standard-1',
            choices: [
              { index: 0, message: { role: 'assistant', content: 'Hello! How can I help?' }, finish_reason: 'stop' },
            ],
            usage: USAGE_EXAMPLE,
            billing: BILLING_EXAMPLE,
          },
        }),
        'text/event-stream': STREAM,
      },
    },
    ...errorResponses('chat', GENERATING_STATUSES),
  },
};

const REASONING_DETAIL: Json = {
  type: 'object',
  description:
    'What the upstream wants back with the next request: send the entries of an answer unchanged in its `assistant` ' +
    'message.',
};

const ANNOTATION: Json = {
  description:
    'What the answer is based on, from models that search or read: `url_citation` with `url`, `title` and where it is ' +
    'in the text. Other types are as the vendor writes them.',
  ...object({ type: { type: 'string' }, url_citation: { type: 'object' } }, { optional: ['url_citation'] }),
};
const ANNOTATIONS = list(ref('ChatAnnotation'), { minItems: 1 });

const IMAGE: Json = object({
  type: constant('image_url'),
  index: count('The index of the image in the answer.'),
  image_url: object({ url: text('A data URI: `data:image/png;base64,…`.') }),
});
const IMAGES: Json = {
  ...list(ref('ChatImage'), { minItems: 1 }),
  description: 'Whole images, from models that draw; send them back unchanged in the `assistant` message.',
};

/** The first chunk of a tool call contains its id, type and name. */
const TOOL_PIECE = object(
  {
    index: count('The index of the tool call in the answer.'),
    id: { type: 'string' },
    type: choice(['function', 'custom']),
    function: object(
      { name: { type: 'string' }, arguments: text('The next part of the arguments.') },
      { optional: ['name'] },
    ),
    custom: object(
      { name: { type: 'string' }, input: text('The next part of the input of a custom tool.') },
      { optional: ['name'] },
    ),
  },
  { optional: ['id', 'type', 'function', 'custom'] },
);

/** In answers to requests with `functions` instead of `tools`. */
const FUNCTION_CALL: Json = object({ name: text('The function.'), arguments: text('JSON of an object.') });
const FUNCTION_PIECE: Json = object(
  { name: text('Only in the first piece.'), arguments: text('The next part of the arguments.') },
  { optional: ['name'] },
);

export const chatChapter: Chapter = {
  paths: { '/api/v1/chat/completions': { post: OPERATION } },
  schemas: {
    ChatRequest: describeFields(chatFields, IGNORED_FIELDS),
    ChatMessage: describeMessage('ChatPart'),
    ChatPart: { anyOf: BLOCKS },
    ChatImagePart: imageUrlBlock,
    InputImagePart: inputImagePart,
    FilePart: filePart,
    AudioPart: audioPart,
    ChatReply: withRouting(
      object({
        id: ID,
        object: constant('chat.completion'),
        created: CREATED,
        model: MODEL,
        choices: list(
          object({
            index: INDEX,
            message: object(
              {
                role: constant('assistant'),
                content: { type: ['string', 'null'], description: 'Null if the answer has only tool calls.' },
                annotations: ANNOTATIONS,
                images: IMAGES,
                reasoning_content: text("The model's reasoning."),
                reasoning_details: list(REASONING_DETAIL, { minItems: 1 }),
                tool_calls: list(toolCall, { minItems: 1 }),
                function_call: FUNCTION_CALL,
              },
              {
                optional: [
                  ...['annotations', 'images', 'reasoning_content', 'reasoning_details', 'tool_calls', 'function_call'],
                ],
              },
            ),
            finish_reason: FINISH_REASON,
          }),
          { minItems: 1, maxItems: 1 },
        ),
        usage: chatUsageSchema,
        billing: ref('TextBilling'),
      }),
    ),
    ChatRoleChunk: chunk(object({ role: constant('assistant'), content: constant('') }), NOT_YET),
    ChatContentChunk: chunk(object({ content: text('The next part of the answer.', { minLength: 1 }) }), NOT_YET),
    ChatAnnotation: ANNOTATION,
    ChatImage: IMAGE,
    ChatImagesChunk: chunk(object({ images: IMAGES }), NOT_YET),
    ChatAnnotationsChunk: chunk(object({ annotations: ANNOTATIONS }), NOT_YET),
    ChatReasoningChunk: chunk(
      object(
        {
          reasoning_content: text('The next part of the reasoning.', { minLength: 1 }),
          reasoning_details: list(REASONING_DETAIL, { minItems: 1 }),
        },
        { optional: ['reasoning_content', 'reasoning_details'] },
      ),
      NOT_YET,
    ),
    ChatToolChunk: chunk(object({ tool_calls: list(TOOL_PIECE, { minItems: 1, maxItems: 1 }) }), NOT_YET),
    ChatFunctionChunk: chunk(object({ function_call: FUNCTION_PIECE }), NOT_YET),
    ChatFinalChunk: withRouting(
      chunk({ type: 'object', maxProperties: 0 }, FINISH_REASON, {
        usage: chatUsageSchema,
        billing: ref('TextBilling'),
      }),
    ),
    ChatStreamEnd: constant('[DONE]'),
  },
};
