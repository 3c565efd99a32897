// What a request says about the form of its answer and the reasoning before it, in the fields of either dialect.
import Joi from 'joi';
import { BUDGET_MIN, type ReasoningWish } from '../../calls/text/reasoning.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import type { Effort, OutputFormat } from '../../upstream/contract/provider.ts';
import { choice, constant, type Json, object, text } from '../openapi/schema.ts';
import { documented, invalidField, optional } from './fields.ts';

type Fields = Readonly<Record<string, unknown>>;

const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[];
/** Of the chat dialect; the other one turns reasoning off with `thinking`. */
const CHAT_EFFORTS = ['none', ...EFFORTS] as const;
const MESSAGE_EFFORTS = EFFORTS.slice(1);
const FORMATS = ['text', 'json_object', 'json_schema'] as const;
const THINKING = ['enabled', 'disabled', 'adaptive', 'between_tools'] as const;
const NAME = /^[\w-]{1,64}$/;

const ELSEWHERE = 'Ignored by models without this feature.';
const NO_SCHEMA = 'A schema is refused for a model that supports JSON but no schemas.';
const schemaOfAnswer: Json = { type: 'object', description: 'A JSON schema.' };

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const objectField = (document: Json) => optional(documented(Joi.object().unknown(), document), 'must be an object');

export const responseFormatField = objectField({
  description: `The answer is to be JSON, of a schema if one is given. ${NO_SCHEMA} ${ELSEWHERE}`,
  ...object(
    {
      type: choice(FORMATS),
      json_schema: object(
        {
          name: text('The name of the schema.', { pattern: NAME.source }),
          schema: schemaOfAnswer,
          description: { type: ['string', 'null'] },
          strict: { type: ['boolean', 'null'] },
        },
        { optional: ['schema', 'description', 'strict'] },
      ),
    },
    { optional: ['json_schema'] },
  ),
});

export const outputConfigField = objectField({
  description: `The form of the answer, and how hard the model tries. ${NO_SCHEMA} ${ELSEWHERE}`,
  ...object(
    {
      format: { anyOf: [object({ type: constant('json_schema'), schema: schemaOfAnswer }), { type: 'null' }] },
      effort: { type: ['string', 'null'], enum: [...MESSAGE_EFFORTS, null] },
    },
    { optional: ['format', 'effort'] },
  ),
});

export const reasoningEffortField = optional(
  Joi.string()
    .valid(...CHAT_EFFORTS)
    .description(
      `How much the model reasons before it answers; reasoning is billed as output and not delivered. ${ELSEWHERE}`,
    ),
  `must be one of ${CHAT_EFFORTS.join(', ')}`,
);

export const thinkingField = objectField({
  description: `Whether the model thinks before it answers; its thoughts are billed as output and not delivered. ${ELSEWHERE}`,
  ...object(
    {
      type: choice(THINKING),
      budget_tokens: {
        type: 'integer',
        minimum: BUDGET_MIN,
        description: 'Most tokens for it, where `type` is `enabled`; it stays below `max_tokens`.',
      },
    },
    { optional: ['budget_tokens'] },
  ),
});

/** Absent for plain text. Throws 400 faults that name the field. */
export function readResponseFormat(given: unknown): Pick<TextRequest, 'format' | 'formatField'> {
  if (given == null) return {};
  const { type, json_schema: wanted } = given as Fields;
  checkChoice('response_format.type', type, FORMATS);
  if (type === 'text') return {};
  if (type === 'json_object') return { format: { type: 'json' }, formatField: 'response_format' };
  return { format: namedFormat('response_format.json_schema', wanted), formatField: 'response_format' };
}

function namedFormat(field: string, wanted: unknown): OutputFormat {
  if (!isFields(wanted)) throw invalidField(field, 'must be an object');
  const { name, schema, description, strict } = wanted;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw invalidField(`${field}.name`, 'must be up to 64 letters, digits, underscores and dashes');
  }
  if (schema != null && !isFields(schema)) throw invalidField(`${field}.schema`, 'must be an object');
  if (description != null && typeof description !== 'string') {
    throw invalidField(`${field}.description`, 'must be a string');
  }
  if (strict != null && typeof strict !== 'boolean') {
    throw invalidField(`${field}.strict`, 'must be a boolean, true or false');
  }
  if (schema == null) return { type: 'json' };
  return {
    type: 'json-schema',
    name,
    schema,
    ...(description != null && { description }),
    ...(strict != null && { strict }),
  };
}

/** For a schema without a name. */
const ANSWER = 'answer';

export function readOutputConfig(given: unknown): Pick<TextRequest, 'format' | 'formatField'> {
  if (given == null) return {};
  const { format } = given as Fields;
  if (format == null) return {};
  if (!isFields(format)) throw invalidField('output_config.format', 'must be an object');
  checkChoice('output_config.format.type', format.type, ['json_schema']);
  const { schema } = format;
  if (!isFields(schema)) throw invalidField('output_config.format.schema', 'must be an object');
  return { format: { type: 'json-schema', name: ANSWER, schema }, formatField: 'output_config.format' };
}

export function readReasoningEffort(effort: unknown): Pick<TextRequest, 'reasoning'> {
  if (effort == null) return {};
  return { reasoning: effort === 'none' ? { mode: 'off' } : { mode: 'on', effort: effort as Effort } };
}

/** What `thinking` and `output_config.effort` ask for; without `thinking`, the effort alone decides. */
export function readThinking(thinking: unknown, config: unknown): Pick<TextRequest, 'reasoning'> {
  const effort = readEffort(config);
  const wish = thinking == null ? undefined : wishOf(thinking as Fields);
  if (effort === undefined || wish?.mode === 'off' || (wish && 'budgetTokens' in wish)) {
    return wish ? { reasoning: wish } : {};
  }
  return { reasoning: { mode: 'on', effort } };
}

function readEffort(config: unknown): Effort | undefined {
  const { effort } = (config ?? {}) as Fields;
  if (effort == null) return undefined;
  checkChoice('output_config.effort', effort, MESSAGE_EFFORTS);
  return effort as Effort;
}

function wishOf({ type, budget_tokens: budget }: Fields): ReasoningWish {
  checkChoice('thinking.type', type, THINKING);
  if (type === 'disabled') return { mode: 'off' };
  if (type !== 'enabled') return { mode: 'auto' };
  if (!Number.isInteger(budget) || (budget as number) < BUDGET_MIN) {
    throw invalidField('thinking.budget_tokens', `must be a whole number of at least ${BUDGET_MIN}`);
  }
  return { mode: 'on', budgetTokens: budget as number };
}

function checkChoice(field: string, value: unknown, values: readonly string[]): void {
  if (!(values as readonly unknown[]).includes(value)) throw invalidField(field, `must be one of ${values.join(', ')}`);
}
