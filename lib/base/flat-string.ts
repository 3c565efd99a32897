// V8 keeps a slice as a view of its whole source string, and a concatenation as a tree of its parts: long-lived strings
// are copied.

/** Copies a string into memory of its own. */
export function flattenString(text: string): string {
  return Buffer.from(text).toString();
}
