// Schemas as some vendors take them where an answer or a call must conform to one. They refuse open objects, most limits
// and unknown formats; their own SDKs rewrite schemas in the same way.
import { isRecord } from '../../base/record.ts';
import type { JsonObject } from '../contract/provider.ts';

/** They go into the description, where the model still reads them. */
const LIMITS = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
]);

const FORMATS = new Set<unknown>([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]);

/** Their values are schemas by name. */
const MAPS = new Set(['properties', '$defs', 'definitions']);
/** Their values are schemas, or lists of them. */
const NESTED = new Set(['items', 'anyOf', 'allOf', 'not']);

export function closeSchema({ oneOf, ...schema }: JsonObject): JsonObject {
  const closed: Record<string, unknown> = {};
  const limits: string[] = [];
  for (const [name, value] of Object.entries(oneOf === undefined ? schema : { ...schema, anyOf: oneOf })) {
    if (isLimit(name, value)) limits.push(`${name}: ${JSON.stringify(value)}`);
    else closed[name] = closeWithin(name, value);
  }
  if (isObjectSchema(schema)) closed.additionalProperties = false;
  if (limits.length > 0) closed.description = describe(schema.description, limits);
  return closed;
}

function isLimit(name: string, value: unknown): boolean {
  if (name === 'minItems') return value !== 0 && value !== 1;
  return LIMITS.has(name) || (name === 'format' && !FORMATS.has(value));
}

function closeWithin(name: string, value: unknown): unknown {
  if (MAPS.has(name) && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, closeValue(schema)]));
  }
  if (!NESTED.has(name)) return value;
  return Array.isArray(value) ? value.map(closeValue) : closeValue(value);
}

const closeValue = (value: unknown): unknown => (isRecord(value) ? closeSchema(value) : value);

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined;
}

function describe(description: unknown, limits: readonly string[]): string {
  const said = `{${limits.join(', ')}}`;
  return typeof description === 'string' && description !== '' ? `${description}\n\n${said}` : said;
}
