// A tool's schema without alternatives or references in its own place: many vendors take nothing but an object there.
import { isRecord } from '../../base/record.ts';
import type { JsonObject } from '../../upstream/contract/provider.ts';

/** Keywords by which a schema has properties that it does not name itself. */
const PARTS = ['$ref', 'allOf', 'anyOf', 'oneOf'];

export function hasParts(schema: JsonObject): boolean {
  return PARTS.some((part) => schema[part] !== undefined);
}

/** One object with the properties of all that it may be, of which those are required that all require. */
export function joinAlternatives(schema: JsonObject): JsonObject {
  if (!hasParts(schema)) return schema;
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  const reading: Reading = { root: schema, properties: new Map(), followed: new Set() };
  const required = collectProperties(schema, reading);
  const joined = [...reading.properties].map(([name, values]) => [name, joinValues([...values.values()])]);
  return { ...own, properties: Object.fromEntries(joined), ...(required.size > 0 && { required: [...required] }) };
}

const joinValues = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : { anyOf: values });

interface Reading {
  readonly root: JsonObject;
  /** The values that each property may have, by their JSON. */
  readonly properties: Map<string, Map<string, unknown>>;
  /** Each reference once: definitions may name each other. */
  readonly followed: Set<string>;
}

/** Returns the names of those that are required. */
function collectProperties(schema: JsonObject, reading: Reading): ReadonlySet<string> {
  for (const [name, value] of Object.entries(isRecord(schema.properties) ? schema.properties : {})) {
    const values = reading.properties.get(name) ?? new Map<string, unknown>();
    reading.properties.set(name, values.set(JSON.stringify(value), value));
  }
  const required = new Set(listTexts(schema.required));
  const collect = (parts: readonly JsonObject[]) => parts.map((part) => collectProperties(part, reading));
  for (const names of collect([...follow(schema.$ref, reading), ...listObjects(schema.allOf)])) {
    for (const name of names) required.add(name);
  }
  for (const alternatives of [schema.anyOf, schema.oneOf]) {
    const [first = [], ...others] = collect(listObjects(alternatives));
    for (const name of first) if (others.every((other) => other.has(name))) required.add(name);
  }
  return required;
}

/** How many references are followed; a chain of thousands would overflow the stack. */
const REFERENCES_MAX = 200;

/** What `#/$defs/Name` stands for, if that is an object. */
function follow(reference: unknown, { root, followed }: Reading): readonly JsonObject[] {
  if (typeof reference !== 'string' || followed.has(reference) || followed.size >= REFERENCES_MAX) return [];
  followed.add(reference);
  const names = reference.split('/').slice(1);
  return listObjects([names.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), root)]);
}

/** Arguments are an object: other schemas do not matter. */
function listObjects(schemas: unknown): readonly JsonObject[] {
  if (!Array.isArray(schemas)) return [];
  return schemas.filter((each) => isRecord(each) && (each.type == null || [each.type].flat().includes('object')));
}

function listTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
