// `${NAME}` in the settings of a catalog: what the environment puts there.

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Replaces `${NAME}` in every string of a value; `missing` collects the names that are unset or empty. */
export function substitute(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  missing: Set<string>,
): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (_match, variable: string) => {
      if (!env[variable]) missing.add(variable);
      return env[variable] ?? '';
    });
  }
  if (Array.isArray(value)) return value.map((item) => substitute(item, env, missing));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, env, missing)]));
}

/** The names of all variables that a value mentions. */
export function variablesOf(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  substitute(value, {}, names);
  return names;
}
