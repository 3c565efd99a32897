// The vocabulary of the MongoDB store's validators.
import type { Document, IndexDescription } from 'mongodb';

export interface CollectionSchema {
  readonly name: string;
  readonly validator: Document;
  readonly indexes?: readonly IndexDescription[];
}

export const text = { bsonType: 'string' };
export const name = { bsonType: 'string', minLength: 1 };
/** Without `long` a JavaScript number would be stored as a double, which loses kopecks. */
export const money = { bsonType: 'long' };
export const amount = { bsonType: 'long', minimum: 0 };
export const count = { bsonType: ['int', 'long', 'double'], minimum: 0, multipleOf: 1 };
export const integer = { bsonType: ['int', 'long', 'double'], multipleOf: 1 };
export const time = { bsonType: ['int', 'long', 'double'], minimum: 0 };
export const orNull = (schema: { readonly bsonType: string | readonly string[] }) => ({
  ...schema,
  bsonType: ['null', ...[schema.bsonType].flat()],
});
export const oneOf = (...values: readonly string[]) => ({ enum: values });

/** Every field is required and no other allowed. */
export function fields(properties: Document, ...rules: readonly Document[]): Document {
  const $jsonSchema = {
    bsonType: 'object',
    required: Object.keys(properties),
    properties,
    additionalProperties: false,
  };
  return rules.length === 0 ? { $jsonSchema } : { $and: [{ $jsonSchema }, ...rules] };
}

/** The validator with fields that a row may lack. */
export function withOptional(properties: Document, { $and: [first, ...rules] }: Document): Document {
  const { $jsonSchema } = first;
  return {
    $and: [{ $jsonSchema: { ...$jsonSchema, properties: { ...$jsonSchema.properties, ...properties } } }, ...rules],
  };
}

/**
 * Rows of calls are checked by plain conditions, because a `$jsonSchema` takes as long as the insert itself. A
 * condition on the type also requires the field.
 */
export const isText = { $type: 'string' };
/** With the type: otherwise the server would not use an index that covers only rows with a text. */
export const isExactly = (value: string) => ({ $eq: value, ...isText });
export const isTime = { $type: 'number', $gte: 0 };
export const isMoney = { $type: 'long' };
export const isAmount = { $type: 'long', $gte: 0 };
