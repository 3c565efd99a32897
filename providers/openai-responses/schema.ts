// Schemas that an answer must conform to. Unless told otherwise the vendor takes each for a strict one, and refuses those
// that say more, or leave more open, than it can hold the model to.
import type { JsonObject, JsonSchemaFormat } from '../../lib/upstream/contract/provider.ts';

/** A strict schema has none of them. */
const LOOSE = ['oneOf', 'allOf', 'not', 'if', 'dependentRequired', 'dependentSchemas', 'patternProperties'];
/** Their values are schemas by name. */
const MAPS = ['properties', '$defs', 'definitions'];

/** What the client leaves to the vendor stays so where a strict schema is possible; the others are not strict. */
export function writeSchema(format: JsonSchemaFormat): object {
  const { strict, schema } = format;
  return { ...format, type: 'json_schema', ...(strict === undefined && !isStrict(schema) && { strict: false }) };
}

/** Objects are closed, all of their properties are required, references stand alone, and so on within. */
function isStrict(schema: unknown): boolean {
  if (!isObject(schema) || LOOSE.some((keyword) => schema[keyword] !== undefined)) return false;
  if (schema.$ref !== undefined) return Object.keys(schema).length === 1;
  if (isObjectSchema(schema) && !isClosed(schema)) return false;
  const named = MAPS.flatMap((keyword) => (isObject(schema[keyword]) ? Object.values(schema[keyword]) : []));
  const { items, anyOf } = schema;
  return [...named, ...(items === undefined ? [] : [items]), ...(Array.isArray(anyOf) ? anyOf : [])].every(isStrict);
}

function isClosed({ properties, required, additionalProperties }: JsonObject): boolean {
  const names = isObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && names.every((name) => Array.isArray(required) && required.includes(name));
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
