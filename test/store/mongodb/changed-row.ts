// A row of a collection with one field changed.
import type { Document } from 'mongodb';

/** The row with one field changed or, without a value, missing. */
export function changed(row: Document, path: string, value?: unknown): Document {
  const [name = '', inner] = path.split('.');
  if (inner === undefined) return value === undefined ? without(row, name) : { ...row, [name]: value };
  return { ...row, [name]: changed(row[name] ?? {}, inner, value) };
}

export function without(row: Document, name: string): Document {
  return Object.fromEntries(Object.entries(row).filter(([field]) => field !== name));
}
