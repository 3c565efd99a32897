// What a request says about the form and the length of an answer, in the fields of each dialect.
import Joi from 'joi';
import { choice, constant, type Json, object, text } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import type { OutputFormat, Verbosity } from '../../upstream/contract/provider.ts';
import { checkAllowed, ELSEWHERE, invalidField, objectField, optional } from './fields.ts';
import { nullableEffort } from './reasoning-wish.ts';
import { nameDefinitions } from './tool-schema.ts';

type Fields = Readonly<Record<string, unknown>>;
/** Empty for plain text. */
type AskedFormat = Pick<TextRequest, 'format' | 'formatField'>;

const FORMATS = ['text', 'json_object', 'json_schema'] as const;
const VERBOSITIES = ['low', 'medium', 'high'] as const satisfies readonly Verbosity[];
const LENGTH = `How long the answer is. ${ELSEWHERE}`;
const NAME = /^[\w-]{1,64}$/;

const NO_SCHEMA = 'A schema is refused for a model that supports JSON but no schemas.';
const schemaOfAnswer: Json = { type: 'object', description: 'A JSON schema.' };
const namedSchema = {
  name: text('The name of the schema.', { pattern: NAME.source }),
  schema: schemaOfAnswer,
  description: { type: ['string', 'null'] },
  strict: { type: ['boolean', 'null'] },
};

export const responseFormatField = objectField({
  description: `Forces a JSON response, optionally matching a schema. ${NO_SCHEMA} ${ELSEWHERE}`,
  ...object(
    {
      type: choice(FORMATS),
      json_schema: object(namedSchema, { optional: ['schema', 'description', 'strict'] }),
    },
    { optional: ['json_schema'] },
  ),
});

export const verbosityField = optional(
  Joi.string()
    .valid(...VERBOSITIES)
    .description(LENGTH),
  `must be one of ${VERBOSITIES.join(', ')}`,
);

export const textFormatField = objectField({
  description: `The form of the answer: JSON, optionally matching a schema. ${NO_SCHEMA} ${ELSEWHERE}`,
  ...object(
    {
      format: {
        ...object({ type: choice(FORMATS), ...namedSchema }, { optional: ['name', 'schema', 'description', 'strict'] }),
        type: ['object', 'null'],
      },
      verbosity: { type: ['string', 'null'], enum: [...VERBOSITIES, null], description: LENGTH },
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

/** Throws 400 faults that name the field. */
export function readResponseFormat(given: unknown): AskedFormat {
  if (given == null) return {};
  const { type, json_schema: wanted, schema } = given as Fields;
  checkAllowed('response_format.type', type, FORMATS);
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
export function readTextFormat(given: unknown, place = 'text'): AskedFormat {
  const { format } = (given ?? {}) as Fields;
  const formatField = `${place}.format`;
  if (format == null) return {};
  if (!isRecord(format)) throw invalidField(formatField, 'must be an object');
  checkAllowed(`${formatField}.type`, format.type, FORMATS);
  if (format.type === 'text') return {};
  if (format.type === 'json_object') return { format: { type: 'json' }, formatField };
  return { format: namedFormat(formatField, format), formatField };
}

/** From `text.verbosity`, or from a `verbosity` in another place. Throws a 400 fault that names the field. */
export function readVerbosity(given: unknown, place = 'text'): Pick<TextRequest, 'verbosity'> {
  const { verbosity } = (given ?? {}) as Fields;
  if (verbosity == null) return {};
  checkAllowed(`${place}.verbosity`, verbosity, VERBOSITIES);
  return { verbosity: verbosity as Verbosity };
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
export function readOutputConfig(config: unknown, older: unknown): AskedFormat {
  const { format } = (config ?? {}) as Fields;
  if (format != null) return readAnswerFormat('output_config.format', format);
  return older == null ? {} : readAnswerFormat('output_format', older);
}

function readAnswerFormat(field: string, format: unknown): AskedFormat {
  if (!isRecord(format)) throw invalidField(field, 'must be an object');
  checkAllowed(`${field}.type`, format.type, ['json_schema']);
  const { schema } = format;
  if (!isRecord(schema)) throw invalidField(`${field}.schema`, 'must be an object');
  return { format: { type: 'json-schema', name: ANSWER, schema: nameDefinitions(schema) }, formatField: field };
}
