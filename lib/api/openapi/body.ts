// Request bodies in the API document: joi schemas as JSON schemas.
import { createRequire } from 'node:module';
import type joiToJson from 'joi-to-json';
import type { Json } from '../../base/json-schema.ts';
import { SAMPLING_FIELDS } from '../../calls/text/sampling.ts';
import type { BodySchema } from '../dialects/fields.ts';

const load = createRequire(import.meta.url);

interface Described {
  readonly keys: Readonly<Record<string, { readonly metas?: readonly { readonly document?: Json }[] }>>;
}

/** The JSON schema of a body; ignored fields are listed, to show that they are not refused. */
export function describeFields({ schema }: BodySchema, ignored: readonly string[] = []): Json {
  // For the first reader of a document: with the library that it needs, it takes 2 MB. Its types describe an ES module.
  const toJsonSchema: typeof joiToJson.default = load('joi-to-json');
  const { properties, required: names = [] } = toJsonSchema(schema, 'open-api-3.1') as {
    readonly properties: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  const { keys } = schema.describe() as Described;
  const described = Object.entries(properties).map(([name, converted]) => {
    const own = keys[name]?.metas?.find(({ document }) => document)?.document ?? converted;
    return [name, names.includes(name) ? own : orNull(own)];
  });
  const rest = ignored.map((name) => [name, isSampling(name) ? SAMPLING : IGNORED]);
  return { type: 'object', required: names, properties: Object.fromEntries([...described, ...rest]) };
}

const IGNORED: Json = { description: 'Accepted and ignored.' };
const SAMPLING: Json = {
  description:
    'Checked and passed on by models whose `supported_parameters` have it; others ignore it, whatever it is.',
};

const isSampling = (name: string) => SAMPLING_FIELDS.some((field) => field === name);

function orNull(schema: Json): Json {
  const { type, enum: values, const: value, anyOf } = schema;
  if (value !== undefined) return orNull({ ...schema, const: undefined, enum: [value] });
  return {
    ...schema,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  };
}
