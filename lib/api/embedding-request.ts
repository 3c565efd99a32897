// Turns a body into a request for embeddings, and checks it against the facts of its model.
import Joi from 'joi';
import { count, list, text } from '../base/json-schema.ts';
import { type EmbeddingRequest, listSuitableRoutes } from '../calls/embeddings/request.ts';
import type { EmbeddingModel } from '../catalog/model.ts';
import { DIMENSIONS_MAX, INPUTS_MAX } from '../catalog/schema.ts';
import { body, checkFields, documentAs, invalidField, optional, required } from './dialects/fields.ts';
import { modelField } from './media-fields.ts';
import { readSpending, spendingFields } from './spending.ts';

const TOKENS = list(count('A token id.', { maximum: 2 ** 31 - 1 }), { minItems: 1 });
const SEVERAL = { minItems: 1, maxItems: INPUTS_MAX };

const INPUT_HINT = 'must be a string, an array of strings, an array of token ids, or an array of arrays of token ids';

interface Fields {
  readonly model: string;
  readonly input: unknown;
  readonly dimensions?: number | null;
  readonly encoding_format?: EmbeddingRequest['encoding'] | null;
}

export const embeddingFields = body({
  model: modelField,
  ...spendingFields,
  input: required(
    documentAs(Joi.any(), {
      description: 'The texts. Only some models accept token ids of their own tokenizer.',
      anyOf: [
        text('One text.', { minLength: 1 }),
        list(text('A text.', { minLength: 1 }), SEVERAL),
        { ...TOKENS, description: 'One text as token ids.' },
        list(TOKENS, SEVERAL),
      ],
    }),
    INPUT_HINT,
  ),
  dimensions: optional(
    Joi.number().integer().min(1).max(DIMENSIONS_MAX).description('The length of each vector, if the model allows it.'),
    `must be a whole number from 1 to ${DIMENSIONS_MAX}`,
  ),
  encoding_format: optional(
    Joi.string()
      .valid('float', 'base64')
      .description('`base64` is an array of little-endian 32-bit floats, encoded as base64. Default: `float`.'),
    'must be float or base64',
  ),
});

export function parseEmbedding(value: unknown): EmbeddingRequest {
  const { model, input, dimensions, encoding_format: encoding } = checkFields<Fields>(embeddingFields, value);
  return {
    model,
    ...readInput(input),
    dimensions: dimensions ?? undefined,
    encoding: encoding ?? 'float',
    ...readSpending(value),
  };
}

function readInput(input: unknown): Pick<EmbeddingRequest, 'inputs' | 'tokens'> {
  if (typeof input === 'string') return { inputs: [readText(input, 'input')] };
  if (!Array.isArray(input)) throw invalidField('input', INPUT_HINT);
  const [first] = input as readonly unknown[];
  if (first === undefined) throw invalidField('input', 'must not be empty');
  // One text as tokens may be longer than a list of texts.
  if (typeof first === 'number') return { inputs: [], tokens: [readTokens(input, 'input')] };
  if (input.length > INPUTS_MAX) {
    throw invalidField('input', `has ${input.length} texts, at most ${INPUTS_MAX} are allowed in one call`);
  }
  if (Array.isArray(first)) return { inputs: [], tokens: input.map((each, at) => readTokens(each, `input[${at}]`)) };
  return { inputs: input.map((each, at) => readText(each, `input[${at}]`)) };
}

function readText(value: unknown, field: string): string {
  if (typeof value !== 'string') throw invalidField(field, 'must be a string like the texts before it');
  if (value === '') throw invalidField(field, 'must not be empty');
  return value;
}

function readTokens(value: unknown, field: string): readonly number[] {
  if (!Array.isArray(value)) throw invalidField(field, 'must be an array of token ids like those before it');
  if (value.length === 0) throw invalidField(field, 'must not be empty');
  const wrong = value.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= 2 ** 31);
  if (wrong >= 0) throw invalidField(`${field}[${wrong}]`, 'must be a token id: a whole number from 0');
  return value;
}

/** Throws 400 faults for what the model does not take. */
export function refuseUnsuitable(model: EmbeddingModel, request: EmbeddingRequest): void {
  const { id, maxInputs, context } = model;
  const { inputs, tokens } = request;
  const found = (tokens ?? inputs).length;
  if (found > maxInputs) {
    throw invalidField('input', `has ${found} texts, but model \`${id}\` takes at most ${maxInputs} in one call`);
  }
  if (tokens && listSuitableRoutes(model, request).length === 0) {
    throw invalidField('input', `must be a string or an array of strings: model \`${id}\` does not take token ids`);
  }
  const long = context === undefined ? -1 : (tokens ?? []).findIndex(({ length }) => length > context);
  if (long >= 0) {
    const length = tokens?.[long]?.length;
    throw invalidField(
      found > 1 ? `input[${long}]` : 'input',
      `has ${length} tokens, but model \`${id}\` takes at most ${context}`,
    );
  }
  refuseLength(model, request);
  const numbers = countNumbers(model, request);
  if (numbers > NUMBERS_MAX) {
    const most = `at most ${NUMBERS_MAX} are allowed in one call`;
    throw invalidField('input', `has ${found} texts, whose vectors would have ${numbers} numbers; ${most}`);
  }
}

/** In all vectors of one call: 2,048 of 4,096 each. */
const NUMBERS_MAX = 8_388_608;
/** Of a model that does not say. */
const USUAL_DIMENSIONS = 4096;

/** How many numbers all vectors will have. */
export function countNumbers(
  { dimensions: known }: EmbeddingModel,
  { inputs, tokens, dimensions }: EmbeddingRequest,
): number {
  return (tokens ?? inputs).length * (dimensions ?? known?.default ?? USUAL_DIMENSIONS);
}

function refuseLength({ id, dimensions }: EmbeddingModel, { dimensions: wanted }: EmbeddingRequest): void {
  if (!dimensions || wanted === undefined) return;
  const { default: usual, min = usual, max = usual } = dimensions;
  if (wanted >= min && wanted <= max) return;
  const allowed = min === max ? `must be ${usual}` : `must be from ${min} to ${max}`;
  throw invalidField('dimensions', `${allowed} for model \`${id}\``);
}
