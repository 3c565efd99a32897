// Schemas that an answer must conform to. Unless told otherwise the vendor takes each for a strict one, and refuses those
// that say more, or leave more open, than it can hold the model to.
import type { JsonObject, JsonSchemaFormat } from '../../lib/upstream/contract/provider.ts';

/** A strict schema has none of them. */
const LOOSE = [
  ...['default', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'],
  ...['patternProperties', 'propertyNames', 'minProperties', 'maxProperties', 'unevaluatedProperties'],
  ...['prefixItems', 'contains', 'minContains', 'maxContains', 'uniqueItems', 'unevaluatedItems'],
];
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
/** Their values are schemas by name. */
const MAPS = ['properties', '$defs', 'definitions'];

/** What the client leaves to the vendor stays so where a strict schema is possible; the others are not strict. */
export function writeSchema(format: JsonSchemaFormat): object {
  const { strict, schema } = format;
  return { ...format, type: 'json_schema', ...(strict === undefined && !isStrictRoot(schema) && { strict: false }) };
}

/** An answer is an object of one kind. */
function isStrictRoot(schema: JsonObject): boolean {
  return schema.type === 'object' && schema.anyOf === undefined && isStrict(schema);
}

/** All have a type, objects are closed and their properties required, references stand alone, and so on within. */
function isStrict(schema: unknown): boolean {
  if (!isObject(schema) || LOOSE.some((keyword) => schema[keyword] !== undefined)) return false;
  if (schema.$ref !== undefined) return Object.keys(schema).length === 1;
  if (schema.type === undefined && schema.anyOf === undefined) return false;
  if (schema.format !== undefined && !FORMATS.includes(schema.format as string)) return false;
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
