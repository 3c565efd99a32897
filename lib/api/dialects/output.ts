// What a request says about the form of its answer and the reasoning before it, in the fields of each dialect.
import Joi from 'joi';
import { choice, constant, type Json, object, text } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import { BUDGET_MIN, type ReasoningWish } from '../../calls/text/reasoning.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import type { Effort, OutputFormat } from '../../upstream/contract/provider.ts';
import { documentAs, invalidField, optional } from './fields.ts';
import { nameDefinitions } from './tool-schema.ts';

type Fields = Readonly<Record<string, unknown>>;

const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[];
/** The message dialect turns reasoning off with `thinking`. */
const CHAT_EFFORTS = ['none', ...EFFORTS] as const;
const MESSAGE_EFFORTS = EFFORTS.slice(1);
const FORMATS = ['text', 'json_object', 'json_schema'] as const;
/** The least that some models have: they do not think before an answer, and what they think between calls is shown. */
const BETWEEN_TOOLS = 'between_tools';
const THINKING = ['enabled', 'disabled', 'adaptive', BETWEEN_TOOLS] as const;
const DISPLAYS = ['summarized', 'omitted'] as const;
/** Of the responses format; `none` and whatever else there may be shows none. */
const SUMMARIES = ['auto', 'concise', 'detailed'] as const;
const NAME = /^[\w-]{1,64}$/;

const ELSEWHERE = 'Ignored by models without this feature.';
const NO_SCHEMA = 'A schema is refused for a model that supports JSON but no schemas.';
const schemaOfAnswer: Json = { type: 'object', description: 'A JSON schema.' };

const objectField = (document: Json) => optional(documentAs(Joi.object().unknown(), document), 'must be an object');

export const responseFormatField = objectField({
  description: `Forces a JSON response, optionally matching a schema. ${NO_SCHEMA} ${ELSEWHERE}`,
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

export const textFormatField = objectField({
  description: `The form of the answer: JSON, optionally matching a schema. ${NO_SCHEMA} ${ELSEWHERE}`,
  ...object(
    {
      format: {
        ...object(
          {
            type: choice(FORMATS),
            name: text('The name of the schema.', { pattern: NAME.source }),
            schema: schemaOfAnswer,
            description: { type: ['string', 'null'] },
            strict: { type: ['boolean', 'null'] },
          },
          { optional: ['name', 'schema', 'description', 'strict'] },
        ),
        type: ['object', 'null'],
      },
      verbosity: { description: 'Accepted and ignored.' },
    },
    { optional: ['format', 'verbosity'] },
  ),
});

const ANSWER_FORMAT: Json = object({ type: constant('json_schema'), schema: schemaOfAnswer });

export const outputFormatField = objectField({
  description: `The older form of \`output_config.format\`, which counts if both are sent. ${NO_SCHEMA} ${ELSEWHERE}`,
  deprecated: true,
  ...ANSWER_FORMAT,
});

export const nullableEffort: Json = { type: ['string', 'null'], enum: [...MESSAGE_EFFORTS, null] };

export const outputConfigField = objectField({
  description: `Response format and reasoning effort. ${NO_SCHEMA} ${ELSEWHERE}`,
  ...object(
    {
      format: { anyOf: [ANSWER_FORMAT, { type: 'null' }] },
      effort: nullableEffort,
    },
    { optional: ['format', 'effort'] },
  ),
});

export const reasoningEffortField = optional(
  Joi.string()
    .valid(...CHAT_EFFORTS)
    .description(`How much the model reasons before it answers. Reasoning is billed as output. ${ELSEWHERE}`),
  `must be one of ${CHAT_EFFORTS.join(', ')}`,
);

export const reasoningField = objectField({
  description: `Reasoning effort or a token limit for it, and whether the reasoning is left out of the answer. ${ELSEWHERE}`,
  ...object(
    {
      effort: { type: ['string', 'null'], enum: [...CHAT_EFFORTS, null] },
      max_tokens: { type: ['integer', 'null'], minimum: BUDGET_MIN, description: 'Most tokens for reasoning.' },
      exclude: { type: ['boolean', 'null'], description: 'If true, the reasoning is billed but not delivered.' },
      enabled: {
        description: 'False turns reasoning off, true leaves it to the model; an effort or a limit counts more.',
      },
    },
    { optional: ['effort', 'max_tokens', 'exclude', 'enabled'] },
  ),
});

const otherField = (description: string) =>
  optional(documentAs(Joi.any(), { description: `${description} ${ELSEWHERE}` }), 'is ignored');

export const chatThinkingFields = {
  thinking: otherField(
    'An object whose `type` is `enabled`, with or without `budget_tokens`, `adaptive` or `disabled`, as clients of other ' +
      'vendors send it; `reasoning_effort` and `reasoning` count more.',
  ),
  enable_thinking: otherField('The same as a boolean.'),
  chat_template_kwargs: otherField(
    'An object whose `enable_thinking` or `thinking` is the same as a boolean, as clients of local servers send it.',
  ),
};

export const thinkingField = objectField({
  description: `Whether the model thinks before it answers. Thinking is billed as output and delivered as blocks of its own. ${ELSEWHERE}`,
  ...object(
    {
      type: choice(THINKING),
      budget_tokens: {
        type: 'integer',
        minimum: BUDGET_MIN,
        description: 'Most tokens for it, where `type` is `enabled`; it stays below `max_tokens`.',
      },
      display: {
        type: ['string', 'null'],
        description: `What is shown of it, where the vendor can: ${DISPLAYS.join(' or ')}. Anything else is ignored.`,
      },
    },
    { optional: ['budget_tokens', 'display'] },
  ),
});

/** Absent for plain text. Throws 400 faults that name the field. */
export function readResponseFormat(given: unknown): Pick<TextRequest, 'format' | 'formatField'> {
  if (given == null) return {};
  const { type, json_schema: wanted, schema } = given as Fields;
  checkChoice('response_format.type', type, FORMATS);
  if (type === 'text') return {};
  if (type === 'json_object') {
    // Other servers' clients send a schema beside it.
    const format = isRecord(schema)
      ? { type: 'json-schema' as const, name: ANSWER, schema: nameDefinitions(schema) }
      : { type: 'json' as const };
    return { format, formatField: 'response_format' };
  }
  return { format: namedFormat('response_format.json_schema', wanted), formatField: 'response_format' };
}

/** The same from `text.format`, or from a `format` in another place. */
export function readTextFormat(given: unknown, place = 'text'): Pick<TextRequest, 'format' | 'formatField'> {
  const { format } = (given ?? {}) as Fields;
  const formatField = `${place}.format`;
  if (format == null) return {};
  if (!isRecord(format)) throw invalidField(formatField, 'must be an object');
  checkChoice(`${formatField}.type`, format.type, FORMATS);
  if (format.type === 'text') return {};
  if (format.type === 'json_object') return { format: { type: 'json' }, formatField };
  return { format: namedFormat(formatField, format), formatField };
}

function namedFormat(field: string, wanted: unknown): OutputFormat {
  if (!isRecord(wanted)) throw invalidField(field, 'must be an object');
  const { name, schema, description, strict } = wanted;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw invalidField(`${field}.name`, 'must be up to 64 letters, digits, underscores and dashes');
  }
  if (schema != null && !isRecord(schema)) throw invalidField(`${field}.schema`, 'must be an object');
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
    schema: nameDefinitions(schema),
    ...(description != null && { description }),
    ...(strict != null && { strict }),
  };
}

/** For a schema without a name. */
const ANSWER = 'answer';

/** `output_config.format`, or `output_format` of clients that know its beta. */
export function readOutputConfig(config: unknown, older: unknown): Pick<TextRequest, 'format' | 'formatField'> {
  const { format } = (config ?? {}) as Fields;
  if (format != null) return readAnswerFormat('output_config.format', format);
  return older == null ? {} : readAnswerFormat('output_format', older);
}

function readAnswerFormat(field: string, format: unknown): Pick<TextRequest, 'format' | 'formatField'> {
  if (!isRecord(format)) throw invalidField(field, 'must be an object');
  checkChoice(`${field}.type`, format.type, ['json_schema']);
  const { schema } = format;
  if (!isRecord(schema)) throw invalidField(`${field}.schema`, 'must be an object');
  return { format: { type: 'json-schema', name: ANSWER, schema: nameDefinitions(schema) }, formatField: field };
}

/**
 * What `reasoning_effort` and `reasoning` ask for; the object decides where it says something. Its `summary` is a field of
 * the responses format. `other` counts if they say nothing.
 */
export function readReasoning(
  effort: unknown,
  given: unknown,
  other?: ReasoningWish,
): Pick<TextRequest, 'reasoning' | 'showsReasoning'> {
  const { effort: own, max_tokens: budget, exclude, enabled, generate_summary: older } = (given ?? {}) as Fields;
  const { summary = older } = (given ?? {}) as Fields;
  if (own != null) checkEffort('reasoning.effort', own);
  if (budget != null) checkBudget('reasoning.max_tokens', budget);
  if (exclude != null && typeof exclude !== 'boolean') {
    throw invalidField('reasoning.exclude', 'must be a boolean, true or false');
  }
  const showsReasoning = exclude !== true;
  const display = SUMMARIES.some((each) => each === summary) ? ({ display: 'summarized' } as const) : {};
  if (budget != null) return { reasoning: { mode: 'on', budgetTokens: budget as number, ...display }, showsReasoning };
  const wanted = own ?? effort;
  if (wanted === 'none') return { reasoning: { mode: 'off' }, showsReasoning };
  if (wanted != null) return { reasoning: { mode: 'on', effort: wanted as Effort, ...display }, showsReasoning };
  if (enabled === false) return { reasoning: { mode: 'off' }, showsReasoning };
  const isAsked = enabled === true || 'display' in display;
  const wish = isAsked ? ({ mode: 'auto', ...display } as const) : other;
  return { ...(wish && { reasoning: wish }), showsReasoning };
}

/** What clients of other vendors of chats say about it. Nothing is refused: elsewhere these fields are unknown. */
export function readOtherThinking(thinking: unknown, enabled: unknown, template: unknown): ReasoningWish | undefined {
  const { type, budget_tokens: budget } = isRecord(thinking) ? thinking : {};
  const { enable_thinking: inTemplate, thinking: inOther } = isRecord(template) ? template : {};
  const isOn = [enabled, inTemplate, inOther].find((value) => typeof value === 'boolean');
  const wanted = type ?? (isOn === undefined ? undefined : isOn ? 'enabled' : 'disabled');
  if (wanted === 'disabled' || wanted === BETWEEN_TOOLS) return { mode: 'off' };
  if (wanted !== 'enabled' && wanted !== 'adaptive') return undefined;
  return isBudget(budget) ? { mode: 'on', budgetTokens: budget } : { mode: 'auto' };
}

/**
 * What `thinking` and `output_config.effort` ask for; without `thinking`, the effort alone decides. One that was set since
 * replaces it.
 */
export function readThinking(
  thinking: unknown,
  config: unknown,
  since?: Effort,
): Pick<TextRequest, 'reasoning' | 'showsReasoning'> {
  const before = readEffort(config, 'output_config');
  const effort = since ?? before;
  const wish = thinking == null ? undefined : readThinkingMode(thinking as Fields);
  // Delivered to those who ask for it.
  const showsReasoning = wish !== undefined && (thinking as Fields).type !== 'disabled';
  const shown = showsReasoning ? { showsReasoning } : {};
  if (effort === undefined || (wish && 'budgetTokens' in wish)) return { ...(wish && { reasoning: wish }), ...shown };
  if (wish?.mode === 'off') return { reasoning: { mode: 'off', effort }, ...shown };
  const display = wish && 'display' in wish ? { display: wish.display } : {};
  return { reasoning: { mode: 'on', effort, ...display }, ...shown };
}

/** Of an `output_config` at this place. */
export function readEffort(config: unknown, field: string): Effort | undefined {
  const { effort } = (config ?? {}) as Fields;
  if (effort == null) return undefined;
  checkChoice(`${field}.effort`, effort, MESSAGE_EFFORTS);
  return effort as Effort;
}

function readThinkingMode({ type, budget_tokens: budget, display: wanted }: Fields): ReasoningWish {
  checkChoice('thinking.type', type, THINKING);
  const display = DISPLAYS.find((each) => each === wanted);
  // A newer word is the vendor's choice: agents try theirs first.
  if (wanted != null && typeof wanted !== 'string') throw invalidField('thinking.display', 'must be a string');
  if (type === 'disabled' || type === BETWEEN_TOOLS) return { mode: 'off' };
  if (type !== 'enabled') return { mode: 'auto', ...(display && { display }) };
  checkBudget('thinking.budget_tokens', budget);
  return { mode: 'on', budgetTokens: budget as number, ...(display && { display }) };
}

/** Of a chat or a response. */
export function checkEffort(field: string, effort: unknown): void {
  checkChoice(field, effort, CHAT_EFFORTS);
}

function checkBudget(field: string, budget: unknown): void {
  if (!isBudget(budget)) throw invalidField(field, `must be a whole number of at least ${BUDGET_MIN}`);
}

function isBudget(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= BUDGET_MIN;
}

function checkChoice(field: string, value: unknown, values: readonly string[]): void {
  if (!(values as readonly unknown[]).includes(value)) throw invalidField(field, `must be one of ${values.join(', ')}`);
}
