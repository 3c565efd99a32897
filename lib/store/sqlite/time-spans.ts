// The spans of a time as a table of a query.

/** A clause for the parameter of this name: the JSON of `TimeSpan`s. */
export function selectSpans(name: string): string {
  // Materialized, because the JSON would otherwise be read again for every row.
  return `WITH ${name} AS MATERIALIZED (SELECT value ->> 'grain' AS grain, value ->> 'start' AS start,
    value ->> 'from' AS since, value ->> 'until' AS until, value ->> 'sign' AS sign FROM json_each(:${name}))`;
}
