// Schemas of tools as all vendors take them: for one that a vendor does not like it refuses the whole request. What gets lost
// on the way is what the tool itself checks.
import { isRecord } from '../../base/record.ts';
import type { JsonObject } from '../../upstream/contract/provider.ts';

/**
 * Vendors refuse a schema without its type or its properties, alternatives in their place, and lists that do not say of
 * what. The same object if there is nothing to mend.
 */
export function completeSchema(schema: JsonObject): JsonObject {
  return completeLists(completeObject(joinAlternatives(schema)));
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

/** `#/$defs/Name` */
function follow(reference: unknown, { root, followed }: Reading): readonly JsonObject[] {
  if (typeof reference !== 'string' || followed.has(reference)) return [];
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
const SCHEMAS = new Set(['items', 'additionalProperties', 'contains', 'not', 'if', 'then', 'else']);

const completeLists = (schema: JsonObject): JsonObject => completeItems(mapValues(schema, completeWithin));

function completeWithin(value: unknown, name: string): unknown {
  if (typeof value !== 'object') return value;
  if (MAPS.has(name) && isRecord(value)) return mapValues(value, completeValue);
  if (LISTS.has(name) && Array.isArray(value)) {
    const completed = value.map(completeValue);
    return completed.every((each, at) => each === value[at]) ? value : completed;
  }
  return SCHEMAS.has(name) ? completeValue(value) : value;
}

const completeValue = (value: unknown): unknown => (isRecord(value) ? completeLists(value) : value);

/**
 * The same object if its values are the same: a copy would not keep the digits of long numbers. Agents send a hundred
 * tools with each call, of which hardly any changes.
 */
function mapValues(values: JsonObject, map: (value: unknown, name: string) => unknown): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const name in values) {
    const mapped = map(values[name], name);
    if (mapped === values[name]) continue;
    changed ??= { ...values };
    changed[name] = mapped;
  }
  return changed ?? values;
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
