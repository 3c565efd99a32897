// The fields shared by requests of the dialects, and those that all ignore.
import Joi from 'joi';
import { fault } from '../../base/faults.ts';
import { list, ref } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import { MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM } from '../../base/token-limits.ts';
import { spendingFields } from '../spending.ts';
import { documentAs, optional, required } from './fields.ts';

/** The fields that chats and messages share; each dialect reads the contents of its messages itself. */
export interface TextFields {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly stream?: boolean | null;
  readonly cache_control?: object | null;
}

/** Fields that clients send and most models do not see; all other unknown fields are ignored too. */
export const IGNORED_FIELDS = [
  'temperature',
  'top_p',
  'top_k',
  'n',
  'seed',
  'logprobs',
  'presence_penalty',
  'frequency_penalty',
] as const;

export const modelField = required(
  Joi.string()
    .min(1)
    .description(
      'The id or an alias of a text model. See `GET /api/v1/models`. `smart` (or `auto`) picks a model by the complexity ' +
        'of the task; the call is reserved and billed at the price of that model, and the reply names it.',
    ),
  'must be a string and not empty',
);

/** Any whole number above zero, even beyond exact doubles; one that overflows a double, such as 1e400, is refused. */
const tokenCount = (description: string) =>
  optional(Joi.number().unsafe().integer().min(1).description(description), 'must be a whole number above zero');

const LENGTH =
  'Maximum number of output tokens; the reserve covers this many. ' +
  `Values above ${MAX_TOKENS_MAXIMUM} are taken as ${MAX_TOKENS_MAXIMUM}.`;

export const outputTokensField = tokenCount(LENGTH).default(MAX_TOKENS_DEFAULT);

export const streamField = optional(
  Joi.boolean().description('True for server-sent events.').default(false),
  'must be a boolean, true or false',
);

/** The fields of a dialect whose messages have this schema. */
export function textFields(messages: { readonly schema: string; readonly description: string }) {
  return {
    model: modelField,
    messages: required(
      documentAs(Joi.array().min(1), list(ref(messages.schema), { minItems: 1, description: messages.description })),
      'must be an array of at least 1 message',
    ),
    max_tokens: outputTokensField,
    max_completion_tokens: tokenCount('Counts when `max_tokens` is absent.'),
    stream: streamField,
    ...spendingFields,
  };
}

/** The gateway keeps no history: clients that get this error send all of theirs. */
export function refuseThread(body: unknown): void {
  if (isRecord(body) && body.thread !== undefined && body.thread !== null) throw fault('thread_unsupported');
}

/** `max_completion_tokens` counts if `max_tokens` is absent; values above the maximum are clamped. */
export function readMaxTokens(fields: TextFields): number {
  return Math.min(fields.max_tokens ?? fields.max_completion_tokens ?? MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM);
}
