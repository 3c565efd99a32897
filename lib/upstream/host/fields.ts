// Reads untrusted JSON: whatever is missing reads as empty.
import type { JsonObject } from '../contract/request.ts';

const NONE: JsonObject = {};

/** `Host.fields`. */
export function readFields(value: unknown, ...path: readonly (string | number)[]): JsonObject {
  const [step, ...rest] = path;
  if (!isFields(value)) return NONE;
  return step === undefined ? value : readFields(value[step], ...rest);
}

/** The objects of a list; what is none reads as empty. */
export function readObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item) => readFields(item)) : [];
}

/** What a client gives back, as JSON, may be anything; undefined if it is neither an object nor a list. */
export function parseFields(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Lists too: fields they don't have are missing. */
export function isFields(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}
