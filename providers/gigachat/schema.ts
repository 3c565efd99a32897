// Schemas of functions as GigaChat accepts them. It answers 422 to references, alternatives, objects without properties,
// and values without a single type; its own SDKs rewrite schemas in the same way.
import type { JsonObject } from '../../lib/upstream/contract/provider.ts';

/** How often a definition is written out: a recursive one has no end, and several that repeat others grow fast. */
const COPIES_MAX = 4;

const FORMATS = new Set<unknown>(['date', 'date-time', 'time']);

/** References become what they name, and alternatives the first one that is not null. */
export function simplifySchema(root: JsonObject): JsonObject {
  const copies = new Map<unknown, number>();

  function simplify(schema: JsonObject): JsonObject {
    const { $ref, $defs, definitions, anyOf, oneOf, allOf, ...own } = schema;
    const meant = typeof $ref === 'string' ? follow($ref) : findVariant(anyOf ?? oneOf ?? allOf);
    return meant ? simplify({ ...meant, ...own }) : { ...own, ...simplifyValue(own) };
  }

  /** `#/$defs/Name` */
  function follow(reference: string): JsonObject | undefined {
    const names = reference.split('/').slice(1);
    const found = names.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), root);
    const count = copies.get(found) ?? 0;
    copies.set(found, count + 1);
    return isObject(found) && count < COPIES_MAX ? found : undefined;
  }

  /** What differs; undefined fields are not sent. */
  function simplifyValue({ type, format, enum: values, items, properties }: JsonObject): JsonObject {
    const one = Array.isArray(type) ? type.find((name) => name !== 'null') : type;
    const known = one ?? (Array.isArray(values) ? 'string' : 'object');
    return {
      type: known,
      format: FORMATS.has(format) ? format : undefined,
      enum: Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : undefined,
      // An empty schema allows any item, which GigaChat's schemas cannot say.
      items: isObject(items) ? (Object.keys(items).length > 0 ? simplify(items) : undefined) : items,
      properties: known === 'object' ? simplifyAll(isObject(properties) ? properties : {}) : undefined,
    };
  }

  function simplifyAll(properties: JsonObject): JsonObject {
    const entries = Object.entries(properties);
    return Object.fromEntries(entries.map(([name, value]) => [name, isObject(value) ? simplify(value) : simplify({})]));
  }

  return simplify(root);
}

function findVariant(variants: unknown): JsonObject | undefined {
  return Array.isArray(variants) ? variants.find((variant) => isObject(variant) && variant.type !== 'null') : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
