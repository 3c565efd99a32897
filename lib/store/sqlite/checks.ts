// The CHECKs of the SQLite store, and how a migration changes one.
import type { DatabaseSync } from 'node:sqlite';

/** Not `IN`: with more than two values SQLite builds a temporary index for every row it checks, 2 µs each. */
export function matchAny(column: string, values: readonly string[]): string {
  return values.map((value) => `${column} = '${value}'`).join(' OR ');
}

/**
 * Replaces texts of a table's CHECKs, as https://sqlite.org/lang_altertable.html (7) describes for changes that do not
 * affect stored rows. A CHECK cannot be altered, copying the table would take hours, and adding a column with one reads
 * every row.
 */
export function changeChecks(
  db: DatabaseSync,
  table: string,
  changes: readonly (readonly [from: string, to: string])[],
) {
  db.enableDefensive(false);
  db.exec('PRAGMA writable_schema = ON');
  const change = db.prepare("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name = ?");
  for (const [from, to] of changes) change.run(from, to, table);
  // Other connections, as of gateways that start at the same time, would go on with the CHECKs that they have read.
  const { version } = db.prepare('SELECT schema_version AS version FROM pragma_schema_version').get() ?? {};
  db.exec(`PRAGMA schema_version = ${Number(version) + 1}; PRAGMA writable_schema = RESET`);
  db.enableDefensive(true);
}
