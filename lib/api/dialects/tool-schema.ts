// Mends the schemas of tools so that every vendor takes them: a vendor refuses the whole request for one that it does not
// know. What a schema loses here, the tool itself checks.
import { isRecord } from '../../base/record.ts';
import type { JsonObject } from '../../upstream/contract/provider.ts';
import { hasParts, joinAlternatives } from './schema-alternatives.ts';

/**
 * Vendors refuse a schema without `type` or `properties`, alternatives in their place, lists without `items`, and what only
 * older drafts of JSON Schema allow. Returns the same object if there is nothing to mend.
 */
export function mendToolSchema(schema: JsonObject): JsonObject {
  return mendSchema(addProperties(joinAlternatives(nameDefinitions(schema))));
}

/** Some vendors follow references to `$defs` alone, the newer name of `definitions`; schemas of answers need it as well. */
export function nameDefinitions(schema: JsonObject): JsonObject {
  const { definitions, $defs, ...rest } = schema;
  if (!isRecord(definitions) || $defs !== undefined) return schema;
  return nameReferences({ ...rest, $defs: definitions }) as JsonObject;
}

function nameReferences(value: unknown, name?: string): unknown {
  if (Array.isArray(value)) {
    const named = value.map((each) => nameReferences(each));
    return named.every((each, at) => each === value[at]) ? value : named;
  }
  if (isRecord(value)) return mapValues(value, nameReferences);
  return name === '$ref' && typeof value === 'string' ? value.replace(/^#\/definitions\//, '#/$defs/') : value;
}

/** Arguments are always an object. */
function addProperties(schema: JsonObject): JsonObject {
  const { type, properties } = schema;
  if (type === 'object' && isRecord(properties)) return schema;
  return { ...schema, type: 'object', ...(!isRecord(properties) && { properties: {} }) };
}

/** Mends any schema, from the inside out. */
function mendSchema(schema: JsonObject): JsonObject {
  const inside = mapValues(schema, mendInside);
  const known = mapValues(inside, mendKeyword);
  return addItems(addType(known));
}

/**
 * The same object if its values are the same: a copy would not keep the digits of long numbers. Agents send a hundred
 * tools with each call, of which hardly any changes, so nothing else is made for those.
 */
function mapValues(values: JsonObject, map: (value: unknown, name: string, values: JsonObject) => unknown): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const name in values) {
    const mapped = map(values[name], name, values);
    if (mapped === values[name]) continue;
    changed ??= { ...values };
    if (mapped === undefined) delete changed[name];
    else changed[name] = mapped;
  }
  return changed ?? values;
}

function mendInside(value: unknown, name: string, schema: JsonObject): unknown {
  const mend = INSIDE.get(name);
  return mend ? mend(value, schema) : value;
}

function mendKeyword(value: unknown, name: string, schema: JsonObject): unknown {
  const mend = KEYWORDS.get(name);
  return mend ? mend(value, schema) : value;
}

/** What becomes of the value of a keyword; undefined: the keyword is left out. */
type Mend = (value: unknown, schema: JsonObject) => unknown;

/** Keywords with schemas in their value. */
const INSIDE: ReadonlyMap<string, Mend> = new Map<string, Mend>([
  ['properties', mendNamed],
  ['patternProperties', mendNamed],
  ['dependentSchemas', mendNamed],
  ['$defs', mendNamed],
  ['definitions', mendNamed],
  ['anyOf', mendListed],
  ['oneOf', mendListed],
  ['allOf', mendListed],
  ['prefixItems', mendListed],
  ['items', mendListed],
  // A boolean is no schema here: it says whether there may be other properties.
  ['additionalProperties', (value) => (typeof value === 'boolean' ? value : mendMember(value))],
  ['propertyNames', mendMember],
  ['contains', mendMember],
  ['not', mendMember],
  ['if', mendMember],
  ['then', mendMember],
  ['else', mendMember],
]);

/** Keywords by themselves, once the schemas in them are mended. */
const KEYWORDS: ReadonlyMap<string, Mend> = new Map<string, Mend>([
  ['type', mendType],
  ['enum', (value) => (Array.isArray(value) && value.length > 0 ? listOnce(value) : undefined)],
  // In the oldest drafts, a property says of itself that it is required.
  ['required', (value, schema) => (Array.isArray(value) ? mendRequired(value, schema) : undefined)],
  ['pattern', (value) => (typeof value === 'string' && isKnownEverywhere(value) ? value : undefined)],
  ['anyOf', dropRequirements],
  ['oneOf', dropRequirements],
  ['minimum', mendLimit],
  ['maximum', mendLimit],
  // In older drafts, `exclusiveMinimum: true` makes `minimum` exclusive.
  ['exclusiveMinimum', (value, { minimum }) => mendLimit(typeof value === 'boolean' ? value && minimum : value)],
  ['exclusiveMaximum', (value, { maximum }) => mendLimit(typeof value === 'boolean' ? value && maximum : value)],
  ['minLength', mendLimit],
  ['maxLength', mendLimit],
  ['minItems', mendLimit],
  ['maxItems', mendLimit],
  ['multipleOf', dropNull],
  ['uniqueItems', dropNull],
  ['title', dropNull],
  ['description', dropNull],
  ['format', dropNull],
]);

/** PHP writes an empty object as a list. */
function mendNamed(value: unknown): unknown {
  return isRecord(value) ? mapValues(value, mendMember) : undefined;
}

function mendListed(value: unknown): unknown {
  if (!Array.isArray(value)) return mendMember(value);
  const mended = value.map((each) => mendMember(each)).filter((each) => each !== undefined);
  if (mended.length === 0) return undefined;
  const isSame = mended.length === value.length && mended.every((each, at) => each === value[at]);
  return isSame ? value : mended;
}

/** Some vendors read only schemas that are objects, not booleans. Anything else is left out. */
function mendMember(value: unknown): unknown {
  if (isRecord(value)) return mendSchema(value);
  if (typeof value === 'boolean') return value ? {} : { not: {} };
  return undefined;
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

/** Some clients write types in capitals, or name those of their language. */
function mendType(value: unknown): unknown {
  if (typeof value === 'string') return [value, value.toLowerCase()].find((type) => TYPES.has(type));
  if (!Array.isArray(value)) return undefined;
  const known = value.map((each) => mendType(each));
  if (known.length === 0 || known.includes(undefined)) return undefined;
  return known.every((type, at) => type === value[at]) ? value : known;
}

/** Some vendors refuse a required name that is no property. */
function mendRequired(names: readonly unknown[], schema: JsonObject): readonly unknown[] | undefined {
  const { type, properties } = schema;
  const once = listOnce(names);
  if ((!isRecord(properties) && type !== 'object') || hasParts(schema)) return once;
  const known = once.filter(
    (name) => isRecord(properties) && typeof name === 'string' && Object.hasOwn(properties, name),
  );
  if (known.length === once.length) return once;
  return known.length > 0 ? known : undefined;
}

/**
 * Most vendors match patterns in linear time: they have neither lookaround nor backreferences, and a bracket within brackets
 * begins a class of characters.
 */
function isKnownEverywhere(pattern: string): boolean {
  const bare = pattern.replaceAll(/\\[^1-9k]/g, '');
  return !/\(\?<?[=!]|\\[1-9k]|\[[^\]]*\[/.test(bare);
}

const REQUIREMENT = new Set(['required', 'title', 'description']);

/** Leaves out alternatives that only list what is required. */
function dropRequirements(alternatives: unknown): unknown {
  return Array.isArray(alternatives) && alternatives.every(isRequirement) ? undefined : alternatives;
}

function isRequirement(value: unknown): boolean {
  return isRecord(value) && 'required' in value && Object.keys(value).every((name) => REQUIREMENT.has(name));
}

/** Some clients write null for what is not there. */
function dropNull(value: unknown): unknown {
  return value ?? undefined;
}

/** Some vendors refuse a limit of 64 bits. */
function mendLimit(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** The same list if nothing is in it twice. */
function listOnce(values: readonly unknown[]): readonly unknown[] {
  if (new Set(values).size === values.length && values.every((value) => typeof value === 'string')) return values;
  const once = new Map(values.map((value) => [JSON.stringify(value), value]));
  return once.size === values.length ? values : [...once.values()];
}

/** The type of an `enum` is that of its values. */
function addType(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (type !== undefined || !Array.isArray(values) || hasParts(schema)) return schema;
  const [first, ...others] = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  if ([first, ...others].includes('object')) return schema;
  return { type: others.length === 0 ? first : [first, ...others], ...schema };
}

/** In older drafts, `items` may be a list: the schema of each place. */
function addItems(schema: JsonObject): JsonObject {
  if (Array.isArray(schema.items)) {
    const { items, additionalItems, ...list } = schema;
    return { ...list, prefixItems: list.prefixItems ?? items, items: isRecord(additionalItems) ? additionalItems : {} };
  }
  const isList = schema.type === 'array' || (Array.isArray(schema.type) && schema.type.includes('array'));
  return isList && schema.items === undefined ? { ...schema, items: {} } : schema;
}
