// Compares two versions of something in the catalog, value by value.

/** One value that differs; undefined where there is none. */
export interface ValueChange {
  /** Such as `models.gpt-x.price.markup`. */
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Values = ReadonlyMap<string, string>;

export function listValueChanges(before: Values, after: Values): readonly ValueChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const pairs = names.map((name) => ({ name, before: before.get(name), after: after.get(name) }));
  return pairs.filter((pair) => pair.before !== pair.after);
}
