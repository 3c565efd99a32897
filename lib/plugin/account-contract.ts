// The part of the contract that says what the settings of nearly every upstream have: types only.
import type Joi from 'joi';

/** An account with an upstream; a plugin's settings extend it. */
export interface AccountSettings {
  readonly baseUrl: string;
  /** One key, or several that take turns; absent only where the schema says that it may be. */
  readonly apiKey?: string | readonly string[];
  readonly proxy?: string;
}

/**
 * Makes the schema of an account: `baseUrl` with the vendor's own as default, `apiKey` and `proxy`, and what the plugin
 * has beside them.
 */
export interface MakeAccountSchema extends MakeSchema {
  /** The same for servers that may ask for no key. */
  readonly keyOptional: MakeSchema;
}

export type MakeSchema = <Settings extends AccountSettings>(
  baseUrl: string,
  ...own: OwnSchemas<Settings>
) => Joi.ObjectSchema<Settings>;

type OwnName<Settings> = Exclude<keyof Settings, keyof AccountSettings>;

type Own<Settings> = { readonly [Name in OwnName<Settings>]-?: Joi.Schema } & { readonly apiKey?: Joi.Schema };

/** Settings of its own have to be described, every one. */
type OwnSchemas<Settings> = [OwnName<Settings>] extends [never] ? [own?: Own<Settings>] : [own: Own<Settings>];
