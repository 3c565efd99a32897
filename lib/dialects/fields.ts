// The rules of the fields that requests of both dialects share, and the fault that names a wrong one.
import Joi from 'joi';
import { type Fault, fault } from '../faults.ts';
import { MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM } from '../text/request.ts';

/** A field that may be absent; `null` is the same as absent. */
const optional = (schema: Joi.Schema): Joi.Schema => schema.empty(null);

/** Any whole number above zero, also beyond what a double counts exactly; the value is clamped. */
const maxTokens = Joi.any().custom((value: unknown, helpers) => {
  const whole = typeof value === 'number' && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY);
  return whole && value > 0 ? Math.min(value, MAX_TOKENS_MAXIMUM) : helpers.error('maxTokens.bad');
});

/** The fields of a request besides its messages, which each dialect reads itself. */
export interface CommonFields {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
  readonly system?: string | readonly unknown[];
}

export const commonFields = {
  model: Joi.string().required(),
  messages: Joi.array().min(1).required(),
  max_tokens: optional(maxTokens),
  max_completion_tokens: optional(maxTokens),
  stream: optional(Joi.boolean()),
};

export const systemField = optional(Joi.alternatives(Joi.string().allow(''), Joi.array()));

/** For the whole schema, once: given at each validation they would be compiled each time. */
export const preferences: Joi.ValidationOptions = {
  convert: false,
  allowUnknown: true,
  errors: { wrap: { label: false } },
  messages: { 'maxTokens.bad': '{{#label}} must be a whole number above zero' },
};

/** Checks the fields of a body; throws a 400 fault that names the first wrong one. */
export function checkFields(schema: Joi.ObjectSchema, body: unknown): CommonFields {
  const { value, error } = schema.validate(body);
  if (!error) return value;
  const [detail] = error.details;
  const field = detail?.path.join('.') ?? '';
  if (field === '') throw fault('invalid_json', { hint: 'an object is expected' });
  throw invalidField(field, detail?.message.replace(`${field} `, '') ?? 'is wrong');
}

export function invalidField(field: string, hint: string): Fault {
  return fault('invalid_field', { field, hint });
}

/** `max_completion_tokens` counts when `max_tokens` is absent. */
export function maxTokensOf(fields: CommonFields): number {
  return fields.max_tokens ?? fields.max_completion_tokens ?? MAX_TOKENS_DEFAULT;
}
