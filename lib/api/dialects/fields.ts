// Request fields as joi schemas. One schema is the check, the words of a refusal, and the entry in the API document.
import Joi, { type ObjectSchema, type Schema } from 'joi';
import { type Fault, fault } from '../../base/faults.ts';
import type { Json } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';

/** The top-level fields of a body. Unknown fields are ignored. */
export interface BodySchema {
  /** What the API document shows. */
  readonly schema: ObjectSchema;
  readonly fields: readonly Field[];
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly hint: string;
}

export function body(fields: Readonly<Record<string, Schema>>): BodySchema {
  return { schema: Joi.object(fields).unknown(), fields: Object.entries(fields).map(readField) };
}

/** The part of a description that `required` and `optional` wrote. */
interface FieldDescription {
  readonly flags?: { readonly presence?: string };
  readonly metas?: readonly { readonly hint?: string }[];
}

function readField([name, schema]: [string, Schema]): Field {
  const { flags, metas = [] } = schema.describe() as FieldDescription;
  const { hint } = metas.find((meta) => meta.hint !== undefined) ?? {};
  if (hint === undefined) throw new TypeError(`field ${name} has no hint`);
  return { name, hint, required: flags?.presence === 'required', schema: schema.prefs({ convert: false }) };
}

/** `hint` is the requirement, as the end of a sentence about the field. */
export function required<S extends Schema>(schema: S, hint: string): S {
  return schema.required().meta({ hint }) as S;
}

/** `null` means absent. */
export function optional<S extends Schema>(schema: S, hint: string): S {
  return schema.meta({ hint }) as S;
}

/** What the API document says about a field whose content the dialect reads itself. */
export function documentAs<S extends Schema>(schema: S, document: Json): S {
  return schema.meta({ document }) as S;
}

/** The end of the description of a field that not every model knows. */
export const ELSEWHERE = 'Ignored by models without this feature.';

/** An object whose content the dialect reads itself. */
export function objectField(document: Json): Schema {
  return optional(documentAs(Joi.object().unknown(), document), 'must be an object');
}

/**
 * Throws a 400 fault for the first wrong field. Only fields that were sent are validated, each alone: for a whole body,
 * joi would merge the words and settings of every field anew for each request.
 */
export function checkFields<Fields>({ fields }: BodySchema, value: unknown): Fields {
  if (!isRecord(value)) throw fault('invalid_json', { hint: 'an object is expected' });
  for (const { name, schema, required, hint } of fields) {
    const sent = value[name];
    if (sent === undefined && required) throw invalidField(name, 'is required');
    if (sent === undefined || (sent === null && !required)) continue;
    if (schema.validate(sent).error) throw invalidField(name, hint);
  }
  return value as Fields;
}

interface MisplacedBody {
  readonly needs: string;
  readonly has: string;
  readonly path: string;
}

/** Some clients send the body of one endpoint to the other. */
export function refuseMisplacedBody(body: unknown, { needs, has, path }: MisplacedBody): void {
  if (!isRecord(body) || body[needs] !== undefined || body[has] === undefined) return;
  throw invalidField(needs, `is required; requests with \`${has}\` go to POST ${path}`);
}

export function invalidField(field: string, hint: string): Fault {
  return fault('invalid_field', { field, hint });
}

export function checkAllowed(field: string, value: unknown, values: readonly unknown[]): void {
  if (!values.includes(value)) throw invalidField(field, `must be one of ${values.join(', ')}`);
}
