// Building blocks for the validators of the MongoDB store.
import type { Document, IndexDescription } from 'mongodb';

export interface CollectionSchema {
  readonly name: string;
  readonly validator: Document;
  readonly indexes?: readonly IndexDescription[];
}

export const text = { bsonType: 'string' };
export const name = { bsonType: 'string', minLength: 1 };
/** `long` is required, because a double would lose kopecks. */
export const money = { bsonType: 'long' };
export const amount = { bsonType: 'long', minimum: 0 };
export const count = { bsonType: ['int', 'long', 'double'], minimum: 0, multipleOf: 1 };
export const integer = { bsonType: ['int', 'long', 'double'], multipleOf: 1 };
export const time = { bsonType: ['int', 'long', 'double'], minimum: 0 };
export const orNull = (schema: { readonly bsonType: string | readonly string[] }) => ({
  ...schema,
  bsonType: ['null', ...[schema.bsonType].flat()],
});
export const allowOnly = (...values: readonly string[]) => ({ enum: values });

/** A validator in which every field is required and no other is allowed. */
export function fields(properties: Document, ...rules: readonly Document[]): Document {
  const $jsonSchema = {
    bsonType: 'object',
    required: Object.keys(properties),
    properties,
    additionalProperties: false,
  };
  return rules.length === 0 ? { $jsonSchema } : { $and: [{ $jsonSchema }, ...rules] };
}

/** Adds optional fields to a validator, or changes what it says of fields. */
export function withOptional(properties: Document, validator: Document): Document {
  const [first, ...rules] = (validator.$and ?? [validator]) as Document[];
  const schema = first?.$jsonSchema;
  return {
    $and: [{ $jsonSchema: { ...schema, properties: { ...schema.properties, ...properties } } }, ...rules],
  };
}

/** A validator that does without fields. */
export function withoutRequired(names: readonly string[], validator: Document): Document {
  const [first, ...rules] = (validator.$and ?? [validator]) as Document[];
  const schema = first?.$jsonSchema;
  const required = schema.required.filter((name: string) => !names.includes(name));
  return { $and: [{ $jsonSchema: { ...schema, required } }, ...rules] };
}

/**
 * Rows written by every call are checked by plain conditions, because a `$jsonSchema` takes as long as the insert itself.
 * A condition on the type also requires the field.
 */
export const isText = { $type: 'string' };
/** Includes the type, without which the server would not use a partial index on text values. */
export const isExactly = (value: string) => ({ $eq: value, ...isText });
export const isTime = { $type: 'number', $gte: 0 };
export const isMoney = { $type: 'long' };
export const isAmount = { $type: 'long', $gte: 0 };
