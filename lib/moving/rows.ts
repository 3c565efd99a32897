// Rows of another gateway's store, as the readers of its file and of a dump hand them over.

/** A value by the name of its column; numbers are text, exactly as they were stored. */
export type Row = ReadonlyMap<string, string | null>;

export interface Table {
  readonly columns: readonly string[];
  /** Empty for a table that is not wanted. */
  readonly rows: readonly Row[];
  readonly count: number;
}

/** By name. */
export type Tables = ReadonlyMap<string, Table>;
