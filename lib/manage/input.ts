// The inputs of verbs: joi schemas that check what was sent and describe it in the API document, and how each value becomes
// what the command line would have read.
import Joi, { type Schema } from 'joi';
import { UNITS_MAX } from '../money/usage-units.ts';
import { readAmount, readId, readPayment, readText, readTime } from './arguments.ts';

/** One input of a verb. */
export interface InputField {
  readonly schema: Schema;
  /** The requirement, as the end of a sentence about the field. */
  readonly hint: string;
  readonly isRequired: boolean;
  /** What the action gets if it is not sent. */
  readonly byDefault?: unknown;
  /** Turns a valid value into what the action takes; may throw an `InvalidInputError`. */
  readonly read: (value: never) => unknown;
}

export type InputFields = Readonly<Record<string, InputField>>;

const keep = (value: unknown) => value;

function field(schema: Schema, hint: string, read: InputField['read'] = keep): InputField {
  return { schema, hint, isRequired: false, read };
}

/** The same field, which must be sent. */
export function must(input: InputField): InputField {
  return { ...input, isRequired: true };
}

/** The same field, with what the action gets if it is not sent. */
export function withDefault(input: InputField, byDefault: unknown): InputField {
  return { ...input, byDefault };
}

/** The same field, in which null removes a limit: the action then gets `removed`. */
export function orNull(input: InputField, removed: unknown): InputField {
  const { schema, hint, read } = input;
  const description = `${schema.describe().flags?.['description' as never] ?? ''} Null removes it.`.trim();
  return {
    ...input,
    schema: schema.allow(null).description(description),
    hint: `${hint}, or null`,
    read: (value: unknown) => (value === null ? removed : read(value as never)),
  };
}

export const textField = (description: string) =>
  field(Joi.string().max(200).description(description), 'must be a text of 1 to 200 characters', readText);

export const idField = (description: string) =>
  field(Joi.string().max(200).description(description), 'must be a text of 1 to 200 visible characters', readId);

export const choiceField = (values: readonly string[], description: string) =>
  field(
    Joi.string()
      .valid(...values)
      .description(description),
    `must be one of ${values.join(', ')}`,
  );

export const flagField = (description: string) =>
  field(Joi.boolean().description(description), 'must be true or false');

export const countField = (description: string, most = 1_000_000_000) =>
  field(Joi.number().integer().min(1).max(most).description(description), `must be a whole number from 1 to ${most}`);

/** An amount above zero; the action gets micro-roubles, and refuses parts of a kopeck where it takes 2 decimals. */
export const paymentField = (description: string, decimals: 2 | 6 = 6) =>
  field(
    Joi.number().positive().unsafe().description(`${description}, in RUB with at most ${decimals} decimals.`),
    `must be an amount in RUB above zero, with at most ${decimals} decimals`,
    (value: number) => readPayment(String(value)),
  );

/** An amount of either sign. */
export const amountField = (description: string) =>
  field(
    Joi.number().unsafe().description(`${description}, in RUB with at most 6 decimals; may be negative.`),
    'must be an amount in RUB, with at most 6 decimals',
    (value: number) => readAmount(String(value)),
  );

/** Also zero. */
export const costField = (description: string) =>
  field(
    Joi.number().min(0).unsafe().description(`${description}, in RUB with at most 6 decimals.`),
    'must be an amount in RUB, with at most 6 decimals',
    (value: number) => (value === 0 ? 0n : readPayment(String(value))),
  );

export const timeField = (description: string) =>
  field(
    Joi.string().max(40).description(`${description}: a day (UTC), or a time with its zone.`).example('2026-12-01'),
    'must be a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z',
    readTime,
  );

export const listField = (description: string) =>
  field(
    Joi.array().items(Joi.string().min(1).max(200)).min(1).max(100).description(description),
    'must be an array of 1 to 100 texts',
  );

/** Counts of units, such as `{ "seconds": 12 }`. */
export const unitsField = (names: readonly string[], description: string) =>
  field(
    Joi.object(
      Object.fromEntries(names.map((name) => [name, Joi.number().integer().min(0).max(UNITS_MAX)])),
    ).description(description),
    `must be an object of whole numbers up to ${UNITS_MAX} under the names ${names.join(', ')}`,
  );
