// Schemas of functions and answers as Gemini takes them: beside a reference it refuses everything but names with a `$`, and
// it knows no `allOf`. Pydantic writes both for a field with a description whose type is another model.
import type { JsonObject } from '../../lib/upstream/contract/provider.ts';

/** Their values are schemas by name. */
const MAPS = new Set(['properties', '$defs', 'definitions']);
/** Their values are schemas, or lists of them. */
const NESTED = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']);

/** The reference becomes the only alternative, beside which there may be others. The same object if nothing changes. */
export function placeReferences(schema: JsonObject): JsonObject {
  const placed = mapValues(schema, placeWithin);
  const { $ref, allOf, ...others } = placed;
  if ($ref !== undefined) {
    const names = Object.keys(placed).filter((name) => !name.startsWith('$'));
    if (names.length === 0) return placed;
    return others.anyOf === undefined ? { ...others, anyOf: [{ $ref }] } : without(placed, names);
  }
  const isOne = Array.isArray(allOf) && allOf.length === 1 && others.anyOf === undefined;
  return isOne ? { ...others, anyOf: allOf } : placed;
}

function placeWithin(value: unknown, name: string): unknown {
  if (MAPS.has(name)) return isObject(value) ? mapValues(value, placeValue) : value;
  if (!NESTED.has(name)) return value;
  return Array.isArray(value) ? mapList(value) : placeValue(value);
}

const placeValue = (value: unknown): unknown => (isObject(value) ? placeReferences(value) : value);

function mapList(values: readonly unknown[]): readonly unknown[] {
  const mapped = values.map(placeValue);
  return mapped.every((each, at) => each === values[at]) ? values : mapped;
}

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

function without(schema: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
