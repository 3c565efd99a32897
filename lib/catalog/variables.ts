// `${NAME}` in a catalog: which environment variables it may use, and their values.
import { VARIABLES } from '../config.ts';

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Replaces `${NAME}` in every string of a value; `missing` collects names that are unset or blank. */
export function substitute(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  missing: Set<string>,
): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (_match, variable: string) => {
      if (!isSet(env, variable)) missing.add(variable);
      return env[variable] ?? '';
    });
  }
  if (Array.isArray(value)) return value.map((item) => substitute(item, env, missing));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, env, missing)]));
}

/** A blank one is as good as none: no secret or key is made of spaces. */
export function isSet(env: Readonly<Record<string, string | undefined>>, variable: string): boolean {
  return (env[variable] ?? '').trim() !== '';
}

/** The names of all variables that a value uses. */
export function variablesOf(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  substitute(value, {}, names);
  return names;
}

/**
 * What is wrong with the variables that a value uses, each with its field. Whoever edits a catalog chooses the host
 * that settings are sent to, so the service's own secrets are excluded, whatever `patterns` allow (`*` is any text).
 */
export function forbiddenVariables(value: unknown, field: string, patterns: readonly string[]): readonly string[] {
  if (typeof value === 'string') {
    return [...variablesOf(value)].flatMap((name) => {
      if (VARIABLES.includes(name))
        return [`${field}: ${name} belongs to the service itself and is never available to a catalog`];
      if (patterns.some((pattern) => matches(name, pattern))) return [];
      return [`${field}: ${name} is not among the variables that CATALOG_VARIABLES allows a catalog to name`];
    });
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => forbiddenVariables(item, `${field}.${key}`, patterns));
}

/** Patterns consist of letters, digits, `_` and `*`: the configuration accepts no others. */
function matches(name: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
}
