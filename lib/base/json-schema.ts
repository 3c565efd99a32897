// Shorthand for writing JSON schemas.

export type Json = Readonly<Record<string, unknown>>;

/** A schema among the components of an OpenAPI document. */
export const ref = (schema: string): Json => ({ $ref: `#/components/schemas/${schema}` });

/** An object schema; all properties are required but those in `optional`. */
export function object(properties: Readonly<Record<string, Json>>, { optional = [] as readonly string[] } = {}): Json {
  return { type: 'object', required: Object.keys(properties).filter((name) => !optional.includes(name)), properties };
}

export const list = (items: Json, more: Json = {}): Json => ({ type: 'array', items, ...more });
export const constant = (value: string): Json => ({ type: 'string', const: value });
export const choice = (values: readonly string[], description?: string): Json => ({
  type: 'string',
  enum: values,
  ...(description && { description }),
});
export const text = (description: string, more: Json = {}): Json => ({ type: 'string', description, ...more });
export const count = (description: string, more: Json = {}): Json => ({
  type: 'integer',
  minimum: 0,
  description,
  ...more,
});
export const rub = (description: string): Json => ({ type: 'number', description: `${description}, in RUB` });

export const nullable = (schema: Json): Json => ({ ...schema, type: [schema.type, 'null'].flat() });
export const time = (description: string): Json => text(description, { format: 'date-time' });
export const flag = (description: string): Json => ({ type: 'boolean', description });
export const any = (description: string): Json => ({ description });
