// The fields of a responses request; its items are read by `input.ts`.
import Joi from 'joi';
import { list, ref } from '../../../base/json-schema.ts';
import { spendingFields } from '../../spending.ts';
import { textFormatField } from '../answer-format.ts';
import { cacheFields } from '../cache.ts';
import { body, documentAs, optional, required } from '../fields.ts';
import { reasoningField } from '../reasoning-wish.ts';
import { stopField } from '../stops.ts';
import { modelField, outputTokensField, streamField } from '../text-fields.ts';
import { responsesToolFields, type ToolFields } from './tools.ts';

/** The fields of a request apart from the contents of its items. */
export interface ResponsesFields extends ToolFields {
  readonly model: string;
  readonly input: string | readonly unknown[];
  readonly instructions?: string | null;
  readonly max_output_tokens?: number | null;
  readonly stream?: boolean | null;
  readonly reasoning?: Readonly<Record<string, unknown>> | null;
  readonly text?: Readonly<Record<string, unknown>> | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly stop?: string | readonly unknown[] | null;
  readonly prompt_cache_key?: string | null;
  readonly prompt_cache_retention?: string | null;
}

const METADATA_ENTRIES_MAX = 16;
const METADATA_CHARACTERS_MAX = 512;

/** Fields that clients send and most models do not see; all other unknown fields are ignored too. */
export const RESPONSES_IGNORED_FIELDS = [
  'include',
  'temperature',
  'top_p',
  'top_logprobs',
  'max_tool_calls',
  'truncation',
  'service_tier',
  'stream_options',
  'safety_identifier',
  'user',
] as const;

/** What this service has no memory for. */
const stored = (description: string) => optional(documentAs(Joi.any(), { description }), 'is not supported');

export const responsesFields = body({
  model: modelField,
  input: required(
    documentAs(Joi.alternatives(Joi.string(), Joi.array().min(1)), {
      description:
        'A prompt, or the items of the conversation, oldest first. Nothing is stored: every request has all of them.',
      anyOf: [{ type: 'string', minLength: 1 }, list(ref('ResponseInputItem'), { minItems: 1 })],
    }),
    'must be a string or an array of at least 1 item',
  ),
  instructions: optional(
    Joi.string().allow('').description('The system prompt; `system` and `developer` messages follow it.'),
    'must be a string',
  ),
  max_output_tokens: outputTokensField,
  stream: streamField,
  ...spendingFields,
  ...responsesToolFields,
  ...cacheFields,
  reasoning: reasoningField,
  text: textFormatField,
  stop: stopField,
  metadata: optional(
    documentAs(
      Joi.object().max(METADATA_ENTRIES_MAX).pattern(/^/, Joi.string().allow('').max(METADATA_CHARACTERS_MAX)),
      {
        type: 'object',
        description: 'Returned with the response.',
        maxProperties: METADATA_ENTRIES_MAX,
        additionalProperties: { type: 'string', maxLength: METADATA_CHARACTERS_MAX },
      },
    ),
    `must be an object of up to ${METADATA_ENTRIES_MAX} strings of up to ${METADATA_CHARACTERS_MAX} characters`,
  ),
  store: optional(
    Joi.boolean().description('Accepted; nothing is stored.').default(false),
    'must be a boolean, true or false',
  ),
  background: optional(
    Joi.boolean().description('Only false: a response is read while it is made.').default(false),
    'must be a boolean, true or false',
  ),
  previous_response_id: stored('Refused: send the items of the earlier response in `input`.'),
  conversation: stored('Refused: send the items of the conversation in `input`.'),
  prompt: stored('Refused: send the text of the prompt in `instructions` and `input`.'),
});
