// The definition of a request field in one place: its check, the words of its refusal, and its schema in the API
// document. joi takes 4 µs a call, 1.1 % of its CPU, and 12 µs with the messages (docs/decisions/table-of-fields.md).
import { type Fault, fault } from '../../faults.ts';
import { type Json, object } from '../openapi/schema.ts';

export interface FieldRule {
  readonly required: boolean;
  readonly accepts: (value: unknown) => boolean;
  /** The requirement, as the end of a sentence. */
  readonly hint: string;
  /** Its JSON schema in the API document, which accepts the same values; null is added as absent. */
  readonly schema: Json;
}

/** By name, in the order of checking. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

/** Checks the fields of a body; throws a 400 fault for the first wrong one. `null` means absent. */
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

/** The schema of a body with these fields; ignored ones are listed, to show that they are not refused. */
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
