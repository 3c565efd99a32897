// Substitutes `${NAME}` in a catalog, and checks which environment variables it may use.
import { matchesPattern, VARIABLES } from '../config.ts';

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Replaces `${NAME}` in every string of a value; `missing` collects names that are unset or blank. */
export function substituteVariables(
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
  if (Array.isArray(value)) return value.map((item) => substituteVariables(item, env, missing));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substituteVariables(item, env, missing)]));
}

/** A blank variable counts as unset: no secret consists of spaces. */
export function isSet(env: Readonly<Record<string, string | undefined>>, variable: string): boolean {
  return (env[variable] ?? '').trim() !== '';
}

/** The names of all variables in a value. */
export function listVariables(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  substituteVariables(value, {}, names);
  return names;
}

/**
 * The problems of a value's variables, each with its field. An editor of the catalog chooses the host that settings are
 * sent to, so the service's own secrets are excluded, whatever `patterns` allow (`*` is any text).
 */
export function findForbiddenVariables(value: unknown, field: string, patterns: readonly string[]): readonly string[] {
  if (typeof value === 'string') {
    return [...listVariables(value)].flatMap((name) => {
      if (VARIABLES.includes(name))
        return [`${field}: ${name} belongs to the service itself and is never available to a catalog`];
      if (patterns.some((pattern) => matchesPattern(name, pattern))) return [];
      return [`${field}: ${name} is not among the variables that CATALOG_VARIABLES allows a catalog to name`];
    });
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => findForbiddenVariables(item, `${field}.${key}`, patterns));
}
