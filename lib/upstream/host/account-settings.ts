// The settings that nearly every upstream has, so that a plugin only describes its own.
import Joi from 'joi';
import type { MakeAccountSchema, MakeSchema } from '../contract/account.ts';
import type { ProviderPlugin } from '../contract/provider.ts';

const schemas = new WeakMap<object, Joi.ObjectSchema>();
const descriptions = new WeakMap<Joi.Schema, Joi.Description>();

/** The schema of a plugin's settings, whatever its `settings` returns at the first call. */
export function createAccountSchema(plugin: Pick<ProviderPlugin, 'settings'>): Joi.ObjectSchema {
  const schema = schemas.get(plugin) ?? plugin.settings(Joi, makeAccountSchema);
  schemas.set(plugin, schema);
  return schema;
}

/** Describing takes longer than everything else that is done with the settings of an upstream. */
export function describeSchema(schema: Joi.Schema): Joi.Description {
  const description = descriptions.get(schema) ?? schema.describe();
  descriptions.set(schema, description);
  return description;
}

/** Line breaks at the end, such as those of a file from another system, are refused as white space. */
const SENDABLE = /^[\x20-\x7e]*[\r\n]*$/;

/** As Docker's `--env-file` leaves a value that was written in quotes. */
const QUOTED = /^(["']).*\1$/;

const makeAccountSchema: MakeAccountSchema = Object.assign(createSchemaMaker('required'), {
  keyOptional: createSchemaMaker('optional'),
});

function createSchemaMaker(presence: 'required' | 'optional'): MakeSchema {
  const url = Joi.string().uri({ scheme: ['http', 'https'] });
  const key = Joi.string()
    .trim()
    .pattern(SENDABLE)
    .pattern(QUOTED, { invert: true })
    .messages({
      'string.pattern.base': '{#label} has a character that no header can carry, perhaps an invisible one',
      'string.pattern.invert.base': '{#label} is in quotes, which would be sent as a part of it',
    })
    .meta({ secret: true });
  const apiKey = Joi.alternatives(key, Joi.array().items(key).min(1)).presence(presence).meta({ secret: true });
  return (baseUrl, ...[own]) => Joi.object({ baseUrl: url.default(baseUrl), apiKey, proxy: url, ...own });
}
