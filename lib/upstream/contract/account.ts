// The part of the contract with the settings that nearly every upstream has: types only.
import type Joi from 'joi';

/** An account with an upstream; a plugin's settings extend it. */
export interface AccountSettings {
  readonly baseUrl: string;
  /** One key, or several used in rotation; absent only if the schema allows it. */
  readonly apiKey?: string | readonly string[];
  readonly proxy?: string;
}

/**
 * Makes the schema of an account: `baseUrl` with the vendor's own as default, `apiKey`, `proxy`, and the plugin's
 * additional settings.
 */
export interface MakeAccountSchema extends MakeSchema {
  /** The same for servers that may need no key. */
  readonly keyOptional: MakeSchema;
}

export type MakeSchema = <Settings extends AccountSettings>(
  baseUrl: string,
  ...own: OwnSchemas<Settings>
) => Joi.ObjectSchema<Settings>;

type OwnName<Settings> = Exclude<keyof Settings, keyof AccountSettings>;

type Own<Settings> = { readonly [Name in OwnName<Settings>]-?: Joi.Schema } & { readonly apiKey?: Joi.Schema };

/** Every additional setting must be described. */
type OwnSchemas<Settings> = [OwnName<Settings>] extends [never] ? [own?: Own<Settings>] : [own: Own<Settings>];
