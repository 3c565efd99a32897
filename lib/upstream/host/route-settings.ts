// An upstream's settings with the `options` of one route applied, computed once per route.
import type Joi from 'joi';
import type { Host, HostLog } from '../contract/host.ts';
import type { RouteOptions } from '../contract/request.ts';
import { describeSchema } from './account-settings.ts';
import { isSecret } from './secret.ts';

interface RouteSettingsOptions {
  /** The plugin's schema: an option is checked like the setting of its name. */
  readonly schema: Joi.ObjectSchema;
  readonly log: HostLog;
}

/** Settings of the account or the connection, not of a route. */
const UPSTREAM_ONLY: ReadonlySet<string> = new Set(['apiKey', 'proxy', 'ca']);

export function createPerRoute({ schema, log }: RouteSettingsOptions): Host['perRoute'] {
  const names = listOverridableNames(schema);

  function override<Settings extends object>(settings: Settings, options: RouteOptions, model: string): Settings {
    const given = names.filter((name) => name in options);
    const wrong = given.filter((name) => !isValid(schema, name, options[name]));
    if (wrong.length > 0) log.warn('route options with unknown values are ignored', { model, names: wrong });
    const right = given.filter((name) => !wrong.includes(name)).map((name) => [name, options[name]]);
    return trimBaseUrl({ ...settings, ...Object.fromEntries(right) });
  }

  return (settings, make) => {
    type Made = ReturnType<typeof make>;
    const made = new WeakMap<RouteOptions, { readonly it: Made }>();
    return ({ model, options }) => {
      const known = made.get(options);
      if (known) return known.it;
      const it = make(override(settings, options, model), options);
      made.set(options, { it });
      return it;
    };
  };
}

function trimBaseUrl<Settings extends { readonly baseUrl?: unknown }>(settings: Settings): Settings {
  const { baseUrl } = settings;
  return typeof baseUrl === 'string' ? { ...settings, baseUrl: baseUrl.replace(/\/+$/, '') } : settings;
}

function listOverridableNames(schema: Joi.ObjectSchema): readonly string[] {
  const keys: Readonly<Record<string, Joi.Description>> = describeSchema(schema).keys ?? {};
  return Object.keys(keys).filter((name) => !UPSTREAM_ONLY.has(name) && !isSecret(keys[name] as Joi.Description));
}

function isValid(schema: Joi.ObjectSchema, name: string, value: unknown): boolean {
  return schema.extract(name).required().validate(value, { convert: false }).error === undefined;
}
