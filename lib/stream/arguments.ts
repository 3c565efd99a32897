// Tool call arguments: text where a wire format has text, an object where it has an object.

import { parseExactJson } from '../base/exact-json.ts';
import { isRecord } from '../base/record.ts';

/** Wraps arguments that are not a JSON object, where only an object is possible. */
const BROKEN = 'INVALID_JSON';

type JsonObject = Readonly<Record<string, unknown>>;

/** Never throws: a model may write anything. */
export function readArguments(json: string): JsonObject {
  if (json.trim() === '') return {};
  try {
    const value = parseExactJson(json);
    if (isRecord(value)) return value;
    if (isEmptyList(value)) return {};
  } catch {
    // As below.
  }
  return { [BROKEN]: json };
}

/** How PHP writes an object without members. */
export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The text that `readArguments` made the object from, apart from spaces. */
export function writeArguments(input: JsonObject): string {
  const broken = input[BROKEN];
  return typeof broken === 'string' && Object.keys(input).length === 1 ? broken : JSON.stringify(input);
}
