// Shorthand for writing the objects of an OpenAPI document that hold schemas.
import type { Json } from '../../base/json-schema.ts';

/** One area of the API in the document. */
export interface Chapter {
  readonly paths: Readonly<Record<string, Json>>;
  readonly schemas: Readonly<Record<string, Json>>;
}

/** The media type of a JSON body. */
export const json = (schema: Json, more: Json = {}): Json => ({ 'application/json': { schema, ...more } });

/** References to header components. */
export const headers = (...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
