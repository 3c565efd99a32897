// What a field of a request must be, in one place: the check, the words of its refusal, and what the API document says.
import { type Fault, fault } from '../../faults.ts';
import { type Json, object } from '../openapi/schema.ts';

export interface FieldRule {
  readonly required: boolean;
  readonly accepts: (value: unknown) => boolean;
  /** The requirement, as the end of a sentence. */
  readonly hint: string;
  /** What the API document says of it: a JSON schema that takes the same values. That null is absence is added to it. */
  readonly schema: Json;
}

/** By name, in the order in which they are checked. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

/** Checks the fields of a body; throws a 400 fault that names the first wrong one. `null` is the same as absent. */
export function checkFields<Fields>(rules: FieldRules, body: unknown): Fields {
  if (!isRecord(body)) throw fault('invalid_json', { hint: 'an object is expected' });
  for (const name in rules) {
    const { required, accepts, hint } = rules[name] as FieldRule;
    const value = body[name];
    if (value === undefined && required) throw invalidField(name, 'is required');
    if (value === undefined || (value === null && !required)) continue;
    if (!accepts(value)) throw invalidField(name, hint);
  }
  return body as Fields;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function invalidField(field: string, hint: string): Fault {
  return fault('invalid_field', { field, hint });
}

/** The schema of a body with these fields; those that are ignored are named, so that nobody thinks they are refused. */
export function describeFields(rules: FieldRules, ignored: readonly string[] = []): Json {
  const rest = ignored.map((name) => [name, IGNORED] as const);
  const properties = Object.entries(rules).map(
    ([name, { required, schema }]) => [name, required ? schema : orNull(schema)] as const,
  );
  const optional = [...Object.keys(rules).filter((name) => !rules[name]?.required), ...ignored];
  return object(Object.fromEntries([...properties, ...rest]), { optional });
}

const IGNORED: Json = { description: 'Accepted and ignored.' };

function orNull(schema: Json): Json {
  const { type, enum: values, anyOf } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  };
}
