// Schemas of tools as all vendors take them: for one that a vendor does not like it refuses the whole request. What gets lost
// on the way is what the tool itself checks.
import { isRecord } from '../../base/record.ts';
import type { JsonObject } from '../../upstream/contract/provider.ts';

/**
 * Vendors refuse a schema without its type or its properties, alternatives in their place, lists that do not say of what,
 * and what only older drafts of JSON Schema allow. The same object if there is nothing to mend.
 */
export function completeSchema(schema: JsonObject): JsonObject {
  return completeAll(completeObject(joinAlternatives(nameDefinitions(schema))));
}

/** Some follow references to the newer name of definitions only; the same is true of schemas of answers. */
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

function completeObject(schema: JsonObject): JsonObject {
  const { type, properties } = schema;
  if (type === 'object' && isRecord(properties)) return schema;
  return { ...schema, type: 'object', ...(!isRecord(properties) && { properties: {} }) };
}

interface Reading {
  readonly root: JsonObject;
  /** The values that each property may have, by their JSON. */
  readonly properties: Map<string, Map<string, unknown>>;
  /** Each reference once: definitions may name each other. */
  readonly followed: Set<string>;
}

/** One object with the properties of all that it may be, of which those are required that all require. */
function joinAlternatives(schema: JsonObject): JsonObject {
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  if ([$ref, anyOf, oneOf, allOf].every((each) => each === undefined)) return schema;
  const reading: Reading = { root: schema, properties: new Map(), followed: new Set() };
  const required = readMembers(schema, reading);
  const joined = [...reading.properties].map(([name, values]) => [name, joinValues([...values.values()])]);
  return { ...own, properties: Object.fromEntries(joined), ...(required.size > 0 && { required: [...required] }) };
}

const joinValues = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : { anyOf: values });

/** The names of those that are required. */
function readMembers(schema: JsonObject, reading: Reading): ReadonlySet<string> {
  for (const [name, value] of Object.entries(isRecord(schema.properties) ? schema.properties : {})) {
    const values = reading.properties.get(name) ?? new Map<string, unknown>();
    reading.properties.set(name, values.set(JSON.stringify(value), value));
  }
  const required = new Set(listTexts(schema.required));
  const read = (variants: readonly JsonObject[]) => variants.map((variant) => readMembers(variant, reading));
  for (const names of read([...follow(schema.$ref, reading), ...listObjects(schema.allOf)])) {
    for (const name of names) required.add(name);
  }
  for (const alternatives of [schema.anyOf, schema.oneOf]) {
    const [first = [], ...others] = read(listObjects(alternatives));
    for (const name of first) if (others.every((other) => other.has(name))) required.add(name);
  }
  return required;
}

/** In place of properties; a chain of thousands would overflow the stack. */
const REFERENCES_MAX = 200;

/** `#/$defs/Name` */
function follow(reference: unknown, { root, followed }: Reading): readonly JsonObject[] {
  if (typeof reference !== 'string' || followed.has(reference) || followed.size >= REFERENCES_MAX) return [];
  followed.add(reference);
  const names = reference.split('/').slice(1);
  return listObjects([names.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), root)]);
}

/** Arguments are an object. */
function listObjects(variants: unknown): readonly JsonObject[] {
  if (!Array.isArray(variants)) return [];
  return variants.filter((each) => isRecord(each) && (each.type == null || [each.type].flat().includes('object')));
}

function listTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Keywords whose values are schemas by name, lists of schemas, or schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items']);
const SCHEMAS = new Set(['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else']);

const completeAll = (schema: JsonObject): JsonObject =>
  completeItems(completeType(completeKeywords(mapValues(schema, completeWithin))));

function completeWithin(value: unknown, name: string): unknown {
  // PHP writes an object without anything in it as a list.
  if (MAPS.has(name)) return isRecord(value) ? mapValues(value, completeMember) : undefined;
  if (LISTS.has(name) && Array.isArray(value)) return completeMembers(value);
  // Whether there may be other properties is all that this says.
  if (name === 'additionalProperties' && typeof value === 'boolean') return value;
  return SCHEMAS.has(name) || LISTS.has(name) ? completeMember(value) : value;
}

function completeMembers(values: readonly unknown[]): readonly unknown[] | undefined {
  const completed = values.map(completeMember).filter((value) => value !== undefined);
  if (completed.length === 0) return undefined;
  const isSame = completed.length === values.length && completed.every((each, at) => each === values[at]);
  return isSame ? values : completed;
}

/** Some read only schemas that are objects. What is none at all is left out. */
function completeMember(value: unknown): unknown {
  if (isRecord(value)) return completeAll(value);
  if (typeof value === 'boolean') return value ? {} : { not: {} };
  return undefined;
}

/**
 * The same object if its values are the same: a copy would not keep the digits of long numbers. Agents send a hundred
 * tools with each call, of which hardly any changes, so nothing else is made for those.
 */
function mapValues(values: JsonObject, map: (value: unknown, name: string) => unknown): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const name in values) {
    const mapped = map(values[name], name);
    if (mapped === values[name]) continue;
    changed ??= { ...values };
    if (mapped === undefined) delete changed[name];
    else changed[name] = mapped;
  }
  return changed ?? values;
}

const LIMITS = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems'],
]);
/** Keywords of which some say null in place of nothing. */
const NEVER_NULL = new Set([
  ...[...MAPS, ...LISTS, ...SCHEMAS, ...LIMITS],
  ...['type', 'title', 'description', 'format', 'pattern', 'enum', 'required', 'multipleOf', 'uniqueItems'],
]);

const completeKeywords = (schema: JsonObject): JsonObject => mapValues(schema, completeKeyword(schema));

function completeKeyword(schema: JsonObject) {
  const { minimum, maximum } = schema;
  return (value: unknown, name: string): unknown => {
    if (value === null && NEVER_NULL.has(name)) return undefined;
    switch (name) {
      case 'required':
        // In the oldest drafts, a property says that it is.
        return Array.isArray(value) ? readRequired(value, schema) : undefined;
      case 'anyOf':
      case 'oneOf':
        return Array.isArray(value) && value.every(isRequirement) ? undefined : value;
      case 'enum':
        return Array.isArray(value) && value.length > 0 ? listOnce(value) : undefined;
      case 'type':
        return readType(value);
      case 'pattern':
        return typeof value === 'string' && isKnownEverywhere(value) ? value : undefined;
      case 'exclusiveMinimum':
        return readLimit(typeof value === 'boolean' ? value && minimum : value);
      case 'exclusiveMaximum':
        return readLimit(typeof value === 'boolean' ? value && maximum : value);
      default:
        return LIMITS.has(name) ? readLimit(value) : value;
    }
  };
}

/** In older drafts, an exclusive limit says of the other one that it is. A limit of 64 bits is too long for some. */
function readLimit(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** Most read patterns in linear time: they know none that look around or back, and a bracket within brackets is of a class. */
function isKnownEverywhere(pattern: string): boolean {
  const bare = pattern.replaceAll(/\\[^1-9k]/g, '');
  return !/\(\?<?[=!]|\\[1-9k]|\[[^\]]*\[/.test(bare);
}

/** Keywords by which a schema has properties that it does not name itself. */
const PARTS = ['$ref', 'allOf', 'anyOf', 'oneOf'];

/** Some refuse what is required and is no property. */
function readRequired(names: readonly unknown[], schema: JsonObject): readonly unknown[] | undefined {
  const { type, properties } = schema;
  const once = listOnce(names);
  if ((!isRecord(properties) && type !== 'object') || PARTS.some((part) => schema[part] !== undefined)) return once;
  const known = once.filter(
    (name) => isRecord(properties) && typeof name === 'string' && Object.hasOwn(properties, name),
  );
  if (known.length === once.length) return once;
  return known.length > 0 ? known : undefined;
}

const REQUIREMENT = new Set(['required', 'title', 'description']);

/** An alternative that says of nothing what it is. */
function isRequirement(value: unknown): boolean {
  return isRecord(value) && 'required' in value && Object.keys(value).every((name) => REQUIREMENT.has(name));
}

/** Values to choose from are of their types. */
function completeType(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (type !== undefined || !Array.isArray(values) || PARTS.some((part) => schema[part] !== undefined)) return schema;
  const [first, ...others] = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  if ([first, ...others].includes('object')) return schema;
  return { type: others.length === 0 ? first : [first, ...others], ...schema };
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

/** Some write them in capitals, or name types of their language. */
function readType(value: unknown): unknown {
  if (typeof value === 'string') return [value, value.toLowerCase()].find((type) => TYPES.has(type));
  if (!Array.isArray(value)) return undefined;
  const known = value.map(readType);
  if (known.length === 0 || known.includes(undefined)) return undefined;
  return known.every((type, at) => type === value[at]) ? value : known;
}

/** The same list if nothing is in it twice. */
function listOnce(values: readonly unknown[]): readonly unknown[] {
  if (new Set(values).size === values.length && values.every((value) => typeof value === 'string')) return values;
  const once = new Map(values.map((value) => [JSON.stringify(value), value]));
  return once.size === values.length ? values : [...once.values()];
}

/** In older drafts, a list of items says of each place what it has. */
function completeItems(schema: JsonObject): JsonObject {
  if (Array.isArray(schema.items)) {
    const { items, additionalItems, ...list } = schema;
    return { ...list, prefixItems: list.prefixItems ?? items, items: isRecord(additionalItems) ? additionalItems : {} };
  }
  const isList = schema.type === 'array' || (Array.isArray(schema.type) && schema.type.includes('array'));
  return isList && schema.items === undefined ? { ...schema, items: {} } : schema;
}
