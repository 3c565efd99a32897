// POST /api/v1/responses in the API document.

import { choice, constant, count, type Json, list, object, ref, text } from '../../base/json-schema.ts';
import { RESPONSES_IGNORED_FIELDS, responsesFields } from '../dialects/responses/schema.ts';
import { describeFields } from './body.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, json } from './schema.ts';
import {
  BILLING_EXAMPLE,
  BILLING_FIELDS,
  BILLING_OPTIONAL,
  GENERATING_STATUSES,
  PAID_HEADERS,
  responsesUsageSchema,
  SESSION_ID,
  withRouting,
} from './text.ts';

const STATUS = choice(['in_progress', 'completed', 'incomplete']);
const ITEM_ID = text('Its name within the response.');
const CALL_ID = text('The id that the output of the call names.');
const NAMESPACE = text('Of a tool in a namespace.');

const OUTPUT_TEXT = object({
  type: constant('output_text'),
  text: { type: 'string' },
  annotations: list(ref('ResponseAnnotation')),
  logprobs: { type: 'array', maxItems: 0 },
});
const ANNOTATION: Json = {
  description:
    'What the answer is based on, from models that search or read: `url_citation` with `url`, `title`, `start_index` and ' +
    '`end_index` in the text of the part. Other types are as the vendor writes them.',
  ...object({ type: { type: 'string' } }),
};
const REFUSAL = object({ type: constant('refusal'), refusal: text('Why the model declines.') });
const PART: Json = { anyOf: [ref('ResponseOutputText'), ref('ResponseRefusal')] };
const SUMMARY = object({ type: constant('summary_text'), text: { type: 'string' } });

const MESSAGE = object(
  {
    id: ITEM_ID,
    type: constant('message'),
    status: STATUS,
    role: constant('assistant'),
    content: list(PART),
    phase: text("The vendor's word for what the message is within its turn: `commentary`, `final_answer`."),
  },
  { optional: ['phase'] },
);

const REASONING = object(
  {
    id: ITEM_ID,
    type: constant('reasoning'),
    summary: list(SUMMARY),
    encrypted_content: text('What has to come back: send the item unchanged in the `input` of the next request.'),
  },
  { optional: ['encrypted_content'] },
);

const CALLED = { id: ITEM_ID, call_id: CALL_ID, name: { type: 'string' }, namespace: NAMESPACE, status: STATUS };

const FUNCTION_CALL = object(
  { type: constant('function_call'), ...CALLED, arguments: text('JSON of an object, as the model wrote it.') },
  { optional: ['namespace'] },
);
const CUSTOM_CALL = object(
  { type: constant('custom_tool_call'), ...CALLED, input: text('The input of a custom tool.') },
  { optional: ['namespace'] },
);

const SEARCH_CALL = object({
  type: constant('tool_search_call'),
  id: ITEM_ID,
  call_id: CALL_ID,
  status: STATUS,
  execution: { ...constant('client'), description: 'The client searches, and answers with a `tool_search_output`.' },
  arguments: { type: 'object', description: 'What the model looks for.' },
});

const IMAGE = object({
  id: ITEM_ID,
  type: constant('image_generation_call'),
  status: STATUS,
  result: {
    type: ['string', 'null'],
    description: 'An image that the model drew, in base64; null before it is whole.',
  },
  output_format: choice(['png', 'jpeg', 'gif', 'webp']),
});

const OUTPUT_ITEM: Json = {
  anyOf: [
    ...['ResponseMessage', 'ResponseReasoning', 'ResponseFunctionCall', 'ResponseCustomToolCall'],
    ...['ResponseToolSearchCall', 'ResponseImage', 'ResponseCompaction'],
  ].map(ref),
};

/** As a response has them, or as a client writes them. */
const INPUT_ITEM: Json = {
  description:
    'A message, a call of a tool, its output, or reasoning. Items of responses are sent back as they came. Items of a ' +
    "vendor's own tools reach models as calls of functions and their results, or left out; a reference to a stored " +
    'item is refused.',
  type: 'object',
  properties: {
    type: text(
      'Default: `message`. `message`, `reasoning`, `function_call`, `custom_tool_call`, `…_output` of the two, ' +
        '`additional_tools`, `configuration_update`, whose `reasoning.effort`, `text.format` and `text.verbosity` count ' +
        'from then on, `compaction`, `compaction_trigger`, which asks for one instead of an answer, `agent_message`, ' +
        'which is a message of the user, or an item of a tool of the vendor: `shell_call`, `apply_patch_call`, `computer_call`, `mcp_call` ' +
        'and others.',
    ),
    role: choice(
      ['user', 'assistant', 'system', 'developer'],
      'Of a message. `system` and `developer` messages before all others are part of the system prompt; later ones stay ' +
        'where they are, at vendors that take them there.',
    ),
    content: {
      description:
        'A text, or parts: `input_text`, `input_image`, `input_file`, `input_audio`, `output_text`, `refusal`.',
      anyOf: [{ type: 'string' }, list({ type: 'object', required: ['type'] }), { type: 'null' }],
    },
    tools: {
      ...list({ type: 'object', required: ['type'] }),
      description:
        'Of `additional_tools` and `tool_search_output`: as `tools` of the request. The later of two of the same name counts.',
    },
    output: {
      description: 'Of a tool: a text, or parts.',
      anyOf: [{ type: 'string' }, list({ type: 'object', required: ['type'] }), { type: 'null' }],
    },
  },
};

const COMPACTION = object({
  id: ITEM_ID,
  type: constant('compaction'),
  encrypted_content: text('The summary of a conversation; empty while it is written. Sent back, any model reads it.'),
});

const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] });

export const RESPONSE_BILLING = object(
  { payer: { ...constant('developer'), description: 'As at the vendor of the format.' }, ...BILLING_FIELDS },
  { optional: BILLING_OPTIONAL },
);

const RESPONSE = withRouting(
  object(
    {
      id: text('The request id with the prefix `resp_`.', { pattern: '^resp_' }),
      object: constant('response'),
      created_at: count('Unix time in seconds.'),
      completed_at: { type: ['integer', 'null'] },
      status: choice(['in_progress', 'completed', 'incomplete', 'failed']),
      error: orNull(
        object({
          code: text('`upstream_error`; if trying again does not help, `context_length_exceeded` or `invalid_prompt`.'),
          type: text('As in an error.'),
          message: text('In words.'),
        }),
      ),
      incomplete_details: orNull(object({ reason: choice(['max_output_tokens', 'content_filter']) })),
      model: text('The id of the model that answered.'),
      output: list(OUTPUT_ITEM),
      usage: orNull(responsesUsageSchema),
      billing: RESPONSE_BILLING,
      instructions: {
        type: ['string', 'null'],
        description: 'These and the following fields repeat the request; long instructions and tools are left out.',
      },
      metadata: { type: 'object' },
      parallel_tool_calls: { type: 'boolean' },
      tool_choice: { type: ['string', 'object'] },
      tools: list({ type: 'object' }),
      background: { type: 'boolean', const: false },
      frequency_penalty: { type: 'integer', const: 0 },
      presence_penalty: { type: 'integer', const: 0 },
      max_output_tokens: { type: ['integer', 'null'] },
      previous_response_id: { type: 'null' },
      prompt_cache_key: { type: 'string' },
      reasoning: { type: 'object' },
      store: { type: 'boolean', const: false },
      temperature: { type: 'null' },
      text: { type: 'object' },
      top_p: { type: 'null' },
      truncation: constant('disabled'),
    },
    { optional: ['billing', 'prompt_cache_key'] },
  ),
);

const RESPONSE_EXAMPLE: Json = {
  id: 'resp_req_0f3b',
  object: 'response',
  created_at: 1_790_000_000,
  completed_at: 1_790_000_002,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'standard-1',
  output: [
    {
      id: 'msg_req_0f3b_0',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Hello! How can I help?' }],
    },
  ],
  usage: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 19,
  },
  billing: { payer: 'developer', ...BILLING_EXAMPLE },
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  background: false,
  frequency_penalty: 0,
  presence_penalty: 0,
  max_output_tokens: 1000,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  top_p: null,
  truncation: 'disabled',
};

const PLACE = { item_id: ITEM_ID, output_index: count('The place of the item.') };
const IN_MESSAGE = { ...PLACE, content_index: count('The place of the part.') };
const IN_REASONING = { ...PLACE, summary_index: count('The place of the part.') };
const LOGPROBS: Json = { type: 'array', maxItems: 0 };
const WHOLE: Json = { type: 'string' };

function event(types: readonly string[], fields: Readonly<Record<string, Json>>): Json {
  const names = types.map((type) => `response.${type}`);
  return object({ type: choice(names), sequence_number: count('Counts the events of the stream from 0.'), ...fields });
}

/** Of a stream that fails. */
const FAILURE: Readonly<Record<string, Json>> = {
  code: text('As in the `error` of the response.'),
  message: text('In words.'),
  param: { type: 'null' },
};

const DELTA = text('The next part.', { minLength: 1 });

/** An image is in the item that follows them. */
const IMAGE_STEPS = ['in_progress', 'generating', 'completed'].map((step) => `image_generation_call.${step}`);

/** The events of a stream, in the order of an answer that has all of them. */
const EVENTS: Readonly<Record<string, Json>> = {
  ResponseLifecycleEvent: event(['created', 'in_progress', 'completed', 'incomplete', 'failed'], {
    response: ref('Response'),
  }),
  ResponseItemEvent: event(['output_item.added', 'output_item.done'], {
    output_index: PLACE.output_index,
    item: OUTPUT_ITEM,
  }),
  ResponsePartEvent: event(['content_part.added', 'content_part.done'], { ...IN_MESSAGE, part: PART }),
  ResponseTextDeltaEvent: event(['output_text.delta'], { ...IN_MESSAGE, delta: DELTA, logprobs: LOGPROBS }),
  ResponseTextDoneEvent: event(['output_text.done'], { ...IN_MESSAGE, text: WHOLE, logprobs: LOGPROBS }),
  ResponseAnnotationEvent: event(['output_text.annotation.added'], {
    ...IN_MESSAGE,
    annotation_index: count('The place of the annotation.'),
    annotation: ref('ResponseAnnotation'),
  }),
  ResponseRefusalDeltaEvent: event(['refusal.delta'], { ...IN_MESSAGE, delta: DELTA }),
  ResponseRefusalDoneEvent: event(['refusal.done'], { ...IN_MESSAGE, refusal: WHOLE }),
  ResponseSummaryPartEvent: event(['reasoning_summary_part.added', 'reasoning_summary_part.done'], {
    ...IN_REASONING,
    part: SUMMARY,
  }),
  ResponseSummaryDeltaEvent: event(['reasoning_summary_text.delta'], { ...IN_REASONING, delta: DELTA }),
  ResponseSummaryDoneEvent: event(['reasoning_summary_text.done'], { ...IN_REASONING, text: WHOLE }),
  ResponseCallDeltaEvent: event(['function_call_arguments.delta', 'custom_tool_call_input.delta'], {
    ...PLACE,
    delta: DELTA,
  }),
  ResponseArgumentsDoneEvent: event(['function_call_arguments.done'], { ...PLACE, name: WHOLE, arguments: WHOLE }),
  ResponseInputDoneEvent: event(['custom_tool_call_input.done'], { ...PLACE, input: WHOLE }),
  ResponseImageEvent: event(IMAGE_STEPS, PLACE),
  ResponseErrorEvent: object({
    type: constant('error'),
    sequence_number: count('Counts the events of the stream from 0.'),
    ...FAILURE,
    error: object({ type: text('As in an error.'), ...FAILURE }),
  }),
};

const STREAM: Json = {
  schema: {
    description:
      'The data of one event. Each event is a line `event: <type>`, a line `data: <JSON>` and an empty line. ' +
      '`response.created` and `response.in_progress` come first; each item begins with `response.output_item.added` and ' +
      'ends with `response.output_item.done`; the last event is `response.completed`, `response.incomplete` or ' +
      '`response.failed`, whose `response` has all items, usage and `billing`. An `error` precedes `response.failed`. ' +
      'Comments (`: keep-alive`) may precede any event.',
    oneOf: Object.keys(EVENTS).map(ref),
  },
  examples: {
    delta: {
      value: {
        type: 'response.output_text.delta',
        sequence_number: 4,
        item_id: 'msg_req_0f3b_0',
        output_index: 0,
        content_index: 0,
        delta: 'Hello',
        logprobs: [],
      },
    },
    completed: { value: { type: 'response.completed', sequence_number: 9, response: RESPONSE_EXAMPLE } },
  },
};

const OPERATION: Json = {
  operationId: 'createResponse',
  tags: ['Text'],
  summary: 'Create a response',
  description:
    'Same models, prices and limits as `POST /api/v1/messages`, in the responses format. Nothing is stored: each request ' +
    'has the whole conversation in `input`.',
  parameters: [...PAID_HEADERS, SESSION_ID],
  requestBody: {
    required: true,
    content: json(ref('ResponseRequest'), {
      example: { model: 'standard-1', max_output_tokens: 1000, instructions: 'Be brief.', input: 'Hello!' },
    }),
  },
  responses: {
    200: {
      description: 'The response; with `stream: true`, a stream of events.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: { ...json(ref('Response'), { example: RESPONSE_EXAMPLE }), 'text/event-stream': STREAM },
    },
    ...errorResponses('chat', GENERATING_STATUSES),
  },
};

export const responsesChapter: Chapter = {
  paths: { '/api/v1/responses': { post: OPERATION } },
  schemas: {
    ResponseRequest: describeFields(responsesFields, RESPONSES_IGNORED_FIELDS),
    ResponseInputItem: INPUT_ITEM,
    Response: RESPONSE,
    ResponseMessage: MESSAGE,
    ResponseReasoning: REASONING,
    ResponseFunctionCall: FUNCTION_CALL,
    ResponseCustomToolCall: CUSTOM_CALL,
    ResponseToolSearchCall: SEARCH_CALL,
    ResponseImage: IMAGE,
    ResponseCompaction: COMPACTION,
    ResponseOutputText: OUTPUT_TEXT,
    ResponseAnnotation: ANNOTATION,
    ResponseRefusal: REFUSAL,
    ...EVENTS,
  },
};
