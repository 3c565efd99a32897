// Request fields as joi schemas. One schema is the check, the words of a refusal, and the entry in the API document.
import Joi, { type ObjectSchema, type Schema } from 'joi';
import joiToJson from 'joi-to-json';
import { type Fault, fault } from '../../base/faults.ts';
import type { Json } from '../openapi/schema.ts';

/** Its types describe an ES module, it is a CommonJS one. */
const toJsonSchema = joiToJson as unknown as typeof joiToJson.default;

/** The top-level fields of a body. Unknown fields are ignored. */
export type BodySchema = ObjectSchema;

export function body(fields: Readonly<Record<string, Schema>>): BodySchema {
  return Joi.object(fields).unknown().prefs({ convert: false, noDefaults: true });
}

/** `hint` is the requirement, as the end of a sentence about the field. */
export function required<S extends Schema>(schema: S, hint: string): S {
  return schema.required().messages({ '*': hint, 'any.required': 'is required' }) as S;
}

/** `null` means absent. */
export function optional<S extends Schema>(schema: S, hint: string): S {
  return schema.empty(null).messages({ '*': hint }) as S;
}

/** What the API document says about a field whose content the dialect reads itself. */
export function documented<S extends Schema>(schema: S, document: Json): S {
  return schema.meta({ document }) as S;
}

/** Throws a 400 fault for the first wrong field. */
export function checkFields<Fields>(schema: BodySchema, value: unknown): Fields {
  if (!isRecord(value)) throw fault('invalid_json', { hint: 'an object is expected' });
  const { value: fields, error } = schema.validate(value);
  const [wrong] = error?.details ?? [];
  if (wrong) throw invalidField(String(wrong.path[0]), wrong.message);
  return fields;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function invalidField(field: string, hint: string): Fault {
  return fault('invalid_field', { field, hint });
}

interface Described {
  readonly keys: Readonly<Record<string, { readonly metas?: readonly { readonly document?: Json }[] }>>;
}

/** The JSON schema of a body; ignored fields are listed, to show that they are not refused. */
export function describeFields(schema: BodySchema, ignored: readonly string[] = []): Json {
  const { properties, required: names = [] } = toJsonSchema(schema, 'open-api-3.1') as {
    readonly properties: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  const { keys } = schema.describe() as Described;
  const described = Object.entries(properties).map(([name, converted]) => {
    const own = keys[name]?.metas?.find(({ document }) => document)?.document ?? converted;
    return [name, names.includes(name) ? own : orNull(own)];
  });
  const rest = ignored.map((name) => [name, IGNORED]);
  return { type: 'object', required: names, properties: Object.fromEntries([...described, ...rest]) };
}

const IGNORED: Json = { description: 'Accepted and ignored.' };

function orNull(schema: Json): Json {
  const { type, enum: values, const: value, anyOf } = schema;
  if (value !== undefined) return orNull({ ...schema, const: undefined, enum: [value] });
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  };
}
